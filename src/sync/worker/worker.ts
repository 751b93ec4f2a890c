// The worker of outside accounts: takes accounts under a lease and follows each of them.

import type { Timer } from '../../base/clock.ts'
import { randomName } from '../../base/ids.ts'
import type { Service } from '../../base/lifecycle.ts'
import type { Notifier } from '../../base/notifier.ts'
import type { Inspector } from '../../workers/inspector.ts'
import type { AccessTokens } from '../accounts/access-tokens.ts'
import { EndedAccounts } from '../accounts/accounts-ended.ts'
import { AccountStates, LEASE_MS } from '../accounts/accounts-state.ts'
import { serverOpener } from '../imap/connect.ts'
import { ResponseMemory } from '../imap/response-memory.ts'
import { Intents } from '../ledger/intents.ts'
import { RemoteFolders } from '../ledger/remote-folders.ts'
import { RemoteMessages } from '../ledger/remote-messages.ts'
import type { Announcements } from '../model/announcements.ts'
import type { SyncDeps } from '../model/deps.ts'
import type { RemoteAccount } from '../model/records.ts'
import type { OpenServer } from '../model/server.ts'
import { ContentMemory, FetchBreaks } from '../session/content-memory.ts'
import { appendDue } from '../session/sent-copy.ts'
import type { RoundDeps } from '../session/sync-session.ts'
import { Follower, type FollowerDeps } from './follower.ts'

/** Poll interval, ms: the delay after a lost notification. */
const POLL_EVERY_MS = 1000
/** Share of all connections that one team may have; further accounts take turns. */
const TEAM_SHARE = 0.8
/** An account gives its connection to one that waits after this time without changes, ms. */
const TURN_MS = 60_000
/** Changes of a mailbox that come together are sent together, ms. */
const GATHER_MS = 250

interface SyncWorkerDeps extends Omit<FollowerDeps, 'mayWatch'> {
  notifier: Notifier
  /** Connections at a time: REMOTE_CONNECTIONS. */
  connectionsMax: number
}

export class SyncWorker implements Service {
  readonly name = 'sync'
  readonly #deps: SyncWorkerDeps
  /** By number of the outside account. */
  readonly #followers = new Map<number, { follower: Follower; done: Promise<void> }>()
  readonly #gathered = new Set<number>()
  #polling: Promise<void> | undefined
  #pollAgain = false
  readonly #stop = new AbortController()
  #timers: Timer[] = []
  #gathering: Timer | undefined
  #unlisten: (() => void)[] = []

  constructor(deps: SyncWorkerDeps) {
    this.#deps = deps
  }

  get #teamConnectionsMax(): number {
    return Math.max(1, Math.floor(this.#deps.connectionsMax * TEAM_SHARE))
  }

  async start(): Promise<void> {
    const { states, notifier, clock } = this.#deps
    await states.releaseAll()
    this.#unlisten = [
      notifier.listen('remotes', () => this.#poll()),
      notifier.listen('accounts', (accounts) => this.#gather(accounts)),
    ]
    this.#timers = [clock.every(POLL_EVERY_MS, () => this.#poll()), clock.every(LEASE_MS / 3, () => this.#renew())]
    this.#poll()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const timer of this.#timers) timer.cancel()
    this.#gathering?.cancel()
    for (const end of this.#unlisten) end()
    for (const { follower } of this.#followers.values()) follower.stop()
    await this.#polling
    await Promise.all([...this.#followers.values()].map(({ done }) => done))
  }

  /** Resolves when no account is due and each waits for changes. */
  async settle(): Promise<void> {
    for (;;) {
      this.#poll()
      await this.#polling
      this.#notifyGathered()
      await Promise.all([...this.#followers.values()].map(({ follower }) => follower.quiet()))
      const isDue = this.#deps.states.due(1, (account) => !this.#isHeld(account)).length > 0
      const areQuiet = [...this.#followers.values()].every(({ follower }) => follower.waitingSince !== null)
      if (!isDue && areQuiet && this.#gathered.size === 0 && !this.#pollAgain) return
      await new Promise(setImmediate)
    }
  }

  #gather(accounts: readonly number[]): void {
    for (const account of accounts) this.#gathered.add(account)
    this.#gathering ??= this.#deps.clock.after(GATHER_MS, () => this.#notifyGathered())
  }

  #notifyGathered(): void {
    this.#gathering?.cancel()
    this.#gathering = undefined
    for (const { follower } of this.#followers.values()) {
      if (!this.#gathered.has(follower.account.account) || follower.account.mode === 'collect') continue
      if (this.#hasLocalChanges(follower.account)) follower.notify()
    }
    this.#gathered.clear()
  }

  /** What the follower itself changed is noted already. */
  #hasLocalChanges({ n, account }: RemoteAccount): boolean {
    const { states, store, db } = this.#deps
    return store.accounts.seqIn(db.read, account) > (states.read(n)?.pushedSeq ?? 0)
  }

  #poll(): void {
    if (this.#stop.signal.aborted) return
    this.#pollAgain = true
    this.#polling ??= this.#pollUntilIdle()
      .catch((error: unknown) =>
        this.#deps.log.error({ event: 'sync.poll_failed', err: error }, 'Polling for outside accounts failed'),
      )
      .finally(() => {
        this.#polling = undefined
      })
  }

  async #pollUntilIdle(): Promise<void> {
    while (this.#pollAgain && !this.#stop.signal.aborted) {
      this.#pollAgain = false
      for (const { follower } of this.#followers.values()) this.#check(follower)
      const due = this.#due()
      for (const account of due) await this.#follow(account)
      this.#endTurns(due.filter(({ n }) => !this.#followers.has(n)))
      await forgetDeleted(this.#deps, this.#stop.signal)
    }
  }

  /** No more of one team than may be connected, so that those of the others are not behind them. */
  #due(): RemoteAccount[] {
    const counts = new Map<string, number>()
    return this.#deps.states.due(this.#deps.connectionsMax, (account) => {
      const count = (counts.get(account.teamId) ?? 0) + 1
      if (count > this.#teamConnectionsMax || this.#isHeld(account)) return false
      counts.set(account.teamId, count)
      return true
    })
  }

  /** Of a suspended mailbox or team no connection is open. */
  #isHeld({ mailboxId, teamId }: RemoteAccount): boolean {
    const { mailboxes, teams } = this.#deps.directory
    return mailboxes.byId(mailboxId)?.status !== 'active' || teams.get(teamId)?.status !== 'active'
  }

  /** Ends the follower of an account that is changed, paused, held or gone; wakes one that is asked for. */
  #check(follower: Follower): void {
    const { account } = follower
    const current = this.#deps.states.read(account.n)
    const isOther = current === undefined || current.settingsVersion !== account.settingsVersion
    if (isOther || current.status === 'paused' || this.#isHeld(current)) follower.stop()
    else if (follower.isWanted(current)) follower.notify()
  }

  async #follow(account: RemoteAccount): Promise<void> {
    if (this.#followers.has(account.n) || this.#stop.signal.aborted) return
    // Second connections give way; there is room with the next poll.
    if (!this.#hasRoom(account)) return this.#endWatches()
    const token = randomName()
    const claimed = await this.#deps.states.claim(account.n, token)
    if (claimed === undefined) return
    const mayWatch = (account: RemoteAccount) => this.#hasRoom(account)
    const follower = new Follower({ ...this.#deps, mayWatch }, claimed, token)
    const done = follower
      .run()
      .catch((error: unknown) =>
        this.#deps.log.error({ event: 'sync.follow_failed', err: error, remote: claimed.id }, 'Following failed'),
      )
      .then(() => {
        this.#followers.delete(account.n)
        this.#poll()
      })
    this.#followers.set(account.n, { follower, done })
    if (this.#stop.signal.aborted) follower.stop()
  }

  /** Whether another connection to the server of an account may be opened. */
  #hasRoom({ teamId }: RemoteAccount): boolean {
    const all = [...this.#followers.values()].map(({ follower }) => follower)
    const count = (followers: readonly Follower[]) => followers.reduce((sum, { connections }) => sum + connections, 0)
    const ofTeam = all.filter(({ account }) => account.teamId === teamId)
    return count(all) < this.#deps.connectionsMax && count(ofTeam) < this.#teamConnectionsMax
  }

  #endWatches(): void {
    for (const { follower } of this.#followers.values()) follower.endWatch()
  }

  /** Ends connections that wait for changes, for accounts without one: those of the same team, or of all when none is free. */
  #endTurns(unfollowed: readonly RemoteAccount[]): void {
    const teams = new Set(unfollowed.map(({ teamId }) => teamId))
    if (teams.size === 0) return
    const isFull = this.#followers.size >= this.#deps.connectionsMax
    const before = this.#deps.clock.now() - TURN_MS
    for (const { follower } of this.#followers.values()) {
      const mayEnd = isFull || teams.has(follower.account.teamId)
      if (mayEnd && follower.waitingSince !== null && follower.waitingSince <= before) follower.stop()
    }
  }

  #renew(): void {
    for (const { follower } of this.#followers.values()) {
      const { n } = follower.account
      follower
        .renewLease()
        .catch((error: unknown) =>
          this.#deps.log.error({ event: 'sync.lease_not_renewed', err: error, remote: n }, 'A lease was not renewed'),
        )
    }
  }
}

type Deps = Pick<RoundDeps, 'db' | 'states' | 'folders' | 'messages' | 'intents'>

/** Rows removed in one unit of work. */
const ROWS_PER_BATCH = 500

async function forgetDeleted({ db, states, folders, messages, intents }: Deps, signal: AbortSignal): Promise<void> {
  const kept = new Set(new EndedAccounts(db).numbers())
  const deleted = folders.remotes().filter((remote) => !states.exists(remote) && !kept.has(remote))
  for (const remote of deleted) {
    for (const { n } of folders.list(remote)) {
      for (let left = ROWS_PER_BATCH; left === ROWS_PER_BATCH && !signal.aborted; )
        left = await db.write((tx) => messages.removeSome(tx, n, ROWS_PER_BATCH))
      if (signal.aborted) return
      await db.write((tx) => folders.remove(tx, n))
    }
    await db.write((tx) => intents.removeOf(tx, remote))
  }
}

interface WorkerParts extends SyncDeps {
  tokens: AccessTokens
  announcements: Announcements
  inspector: Pick<Inspector, 'readAll'>
  /** Connects to the server of an account; the real one unless given. */
  open: OpenServer | undefined
}

export function openSyncWorker({ open, ...deps }: WorkerParts): SyncWorker {
  const { db, clock, config, announcements } = deps
  return new SyncWorker({
    ...deps,
    connectionsMax: config.REMOTE_CONNECTIONS,
    open: open ?? serverOpener({ ...deps, responses: new ResponseMemory(clock) }),
    states: new AccountStates({ db, clock, announcements }),
    folders: new RemoteFolders(db),
    messages: new RemoteMessages(db),
    intents: new Intents(db, clock),
    memory: new ContentMemory(clock),
    breaks: new FetchBreaks(),
    headBreaks: new FetchBreaks(),
    pieceBreaks: new FetchBreaks(),
    mayAppend: (account, message) => appendDue(deps, account, message),
  })
}
