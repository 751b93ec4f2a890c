// Follows one outside account: connects, does what is to be done, and waits for changes on either side.

import { pause } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { AccountTaken } from '../accounts/accounts-state.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteAccount } from '../model/records.ts'
import { type AccountServer, isRefusal, type OpenedFolder, type OpenServer, ServerError } from '../model/server.ts'
import { holderOf } from '../session/content-memory.ts'
import { requireSameAccount } from '../session/same-account.ts'
import type { AppendDue } from '../session/sent-copy.ts'
import { type RoundDeps, SyncSession } from '../session/sync-session.ts'
import { ArrivalWatch } from './arrival-watch.ts'
import { Round } from './round.ts'

/** A connection that lasted so long and was ended by the server is made again at once, ms. */
const LASTED_MS = MINUTE_MS
/** IDLE is begun again after this time, ms (RFC 2177 says 29 minutes; NAT forgets connections earlier). */
const WAIT_MAX_MS = 9 * 60_000

export interface FollowerDeps extends RoundDeps {
  open: OpenServer
  /** See `MayAppend`. */
  mayAppend(account: RemoteAccount, message: number): AppendDue
  /** Whether an account may have a second connection now. */
  mayWatch(account: RemoteAccount): boolean
}

export class Follower {
  readonly account: RemoteAccount
  /** Since when it waits for changes, ms; null while it works. */
  waitingSince: number | null = null
  readonly #deps: FollowerDeps
  readonly #token: string
  readonly #stop = new AbortController()
  /** Its second connection, during the import. */
  readonly #watch: ArrivalWatch
  #interrupt: AbortController | null = null
  #isNotified = false
  /** Up to when (ms) rounds that people asked for are done. */
  #wantedDone = 0
  #hasEnded = false
  #onQuiet: (() => void)[] = []

  constructor(deps: FollowerDeps, account: RemoteAccount, token: string) {
    this.#deps = deps
    this.account = account
    this.#token = token
    this.#watch = new ArrivalWatch({
      ...{ clock: deps.clock, log: deps.log, remote: account.id },
      open: () => deps.open(account, this.#stop.signal),
      mayOpen: () => deps.mayWatch(account),
    })
  }

  /** Its connections to the server. */
  get connections(): number {
    return this.#watch.isOpen ? 2 : 1
  }

  /** Ends the second connection. */
  endWatch(): void {
    this.#watch.stop()
  }

  /** Works until it is stopped or cannot go on; the state of the account is written then. */
  async run(): Promise<void> {
    const { states, log, clock } = this.#deps
    let server: AccountServer | undefined
    let openedAt = Number.POSITIVE_INFINITY
    try {
      server = await this.#deps.open(this.account, this.#stop.signal)
      openedAt = clock.monotonic()
      await this.#follow(server)
    } catch (error) {
      if (error instanceof AccountTaken || this.#stop.signal.aborted) return
      const isEnd = error instanceof ServerError && error.isEnd
      if (isEnd && clock.monotonic() - openedAt >= LASTED_MS) {
        const facts = { event: 'sync.connection_ended', remote: this.account.id, reason: error.message }
        return log.info(facts, 'The server of an outside account ended the connection')
      }
      log.warn({ event: 'sync.account_failed', err: error, remote: this.account.id }, 'An outside account cannot go on')
      await this.#fail(error)
    } finally {
      this.#watch.stop()
      await Promise.all([server?.close().catch(() => {}), this.#watch.closed()])
      await states.release(this.account.n, this.#token)
      this.#hasEnded = true
      this.#quieten()
    }
  }

  async #fail(error: unknown): Promise<void> {
    const { db, states } = this.#deps
    await db.write((tx) => {
      const current = states.read(this.account.n, tx)
      const isSame = current?.settingsVersion === this.account.settingsVersion && current.status !== 'paused'
      if (isSame) states.failed(tx, current, error)
    })
  }

  async #follow(server: AccountServer): Promise<void> {
    const { signal } = this.#stop
    const { states, memory, mayAppend } = this.#deps
    const { account } = this
    const session = new SyncSession(this.#deps, this.account, { server, token: this.#token, signal })
    if (account.kind === null) await memory.working(holderOf(account), () => requireSameAccount(session))
    await session.write((tx) => states.connected(tx, session.account, server.facts))
    const watch = this.#watch
    const round = new Round(
      session,
      (message) => mayAppend(session.account, message),
      () => watch.hasChanged,
    )
    for (let hasArrivals = false; !signal.aborted; ) {
      this.#isNotified = false
      const { wantedAt } = session.refresh()
      const wanted = wantedAt > this.#wantedDone
      this.#wantedDone = wantedAt
      const arrivals = watch.take() || hasArrivals
      const more = await session.working(() => round.run({ arrivals, wanted }))
      hasArrivals = false
      if (more && server.facts.hasIdle && round.arrivals !== undefined) watch.start(round.arrivals.path)
      if (more || round.hasLocalChanges || watch.hasChanged) continue
      watch.stop()
      hasArrivals = await this.#wait(session, round)
    }
  }

  /** @returns whether something changed in the folder of new mail */
  async #wait(session: SyncSession, round: Round): Promise<boolean> {
    const { clock } = this.#deps
    const folder = round.arrivals
    const ms = Math.min(Math.max(round.nextAt - clock.now(), 0), WAIT_MAX_MS)
    if (folder === undefined || this.#isNotified || ms === 0) return false
    const isWatched = session.isSelected(folder.path)
    const opened = await this.#opened(session, folder.path)
    if (this.#isNotified) return false
    // What changes while another folder is selected is not announced.
    if (!isWatched && opened !== null && isOther(folder, opened)) return true
    const interrupt = new AbortController()
    this.#interrupt = interrupt
    this.waitingSince = clock.now()
    this.#quieten()
    try {
      const signal = AbortSignal.any([interrupt.signal, this.#stop.signal])
      if (opened !== null) return (await session.server.wait(ms, signal)) === 'changed'
      await pause(clock, ms, signal)
      return false
    } finally {
      this.waitingSince = null
      this.#interrupt = null
    }
  }

  /** @returns null when the server does not open the folder now */
  async #opened(session: SyncSession, path: string): Promise<OpenedFolder | null> {
    try {
      return await session.working(() => session.ensure(path))
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }

  /** Whether a round was asked for that is not begun. */
  isWanted({ wantedAt }: RemoteAccount): boolean {
    return wantedAt > this.#wantedDone
  }

  /** Something may be to be done. */
  notify(): void {
    this.#isNotified = true
    this.#interrupt?.abort()
  }

  renewLease(): Promise<void> {
    return this.#deps.states.renew(this.account.n, this.#token)
  }

  stop(): void {
    this.#stop.abort()
  }

  /** Resolves when it waits for changes, or has ended. */
  async quiet(): Promise<void> {
    const isQuiet = () => this.#hasEnded || (this.waitingSince !== null && !this.#isNotified)
    while (!isQuiet()) await new Promise<void>((resolve) => this.#onQuiet.push(resolve))
  }

  #quieten(): void {
    for (const resolve of this.#onQuiet.splice(0)) resolve()
  }
}

/** Whether a folder is not as it was when it was last looked at. */
function isOther(folder: RemoteFolder, { uidNext, messages, modSeq }: OpenedFolder): boolean {
  return uidNext !== folder.uidNext || messages !== folder.total || modSeq !== folder.modSeq
}
