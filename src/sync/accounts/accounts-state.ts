// What the worker writes of outside accounts: leases, changes of status (docs/design/outside-accounts.md §4), progress and cursors.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import { type Announcements, heldSentence, type MissingParts } from '../model/announcements.ts'
import type {
  CarryDirection,
  HeldRemoval,
  RemoteAccount,
  RemoteDifference,
  RemoteErrorKind,
  RemoteStatus,
  RemovalSide,
  SkippedMessages,
} from '../model/records.ts'
import { REMOVAL_WINDOW_MS } from '../model/removal-weight.ts'
import { ServerError, type ServerFacts } from '../model/server.ts'
import { presentRemote } from './accounts-reads.ts'

/** A lease is renewed while an account is followed; after this time without (ms) another worker may take it. */
export const LEASE_MS = MINUTE_MS
const FIRST_DELAY_MS = 15_000
const LONGEST_DELAY_MS = 30 * MINUTE_MS
/** Delays differ by up to this share, so that accounts of one server do not come back at the same time. */
const DELAY_SPREAD = 0.2
/** A wrong certificate or host is an error after this time. */
const PERSISTENT_MS = DAY_MS
/** How often an account in error by its certificate or host is tried. */
const ERROR_RETRY_MS = 4 * HOUR_MS

/** Accounts that are due are read so many at a time. */
const DUE_PAGE = 100

/** The account is paused, changed, deleted or taken by another worker: what is in progress ends without a trace. */
export class AccountTaken extends Error {}

/** What a round tells people. */
interface RoundResult {
  /** Why something waits, or differs, in one sentence. */
  reason: string | null
  skipped: SkippedMessages
  differences: readonly RemoteDifference[]
}

interface Deps {
  db: Db
  clock: Clock
  announcements: Announcements
  /** From 0 up to 1. */
  random?: () => number
}

export class AccountStates {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Numbers of deleted accounts are not used again, so that what is known of them can be forgotten later. */
  exists(n: number): boolean {
    return this.#deps.db.read.get('SELECT 1 FROM remote_accounts WHERE n = ?', [n]) !== undefined
  }

  /** Gives up all leases: those of an earlier process, which has ended. */
  async releaseAll(): Promise<void> {
    await this.#deps.db.write((tx) =>
      tx.run('UPDATE remote_accounts SET lease_token = NULL, lease_until = NULL WHERE lease_token IS NOT NULL'),
    )
  }

  /**
   * Accounts that are to be worked on now and that no worker has, those that waited longest first.
   * @param accepts others do not count for the limit
   */
  due(limit: number, accepts: (account: RemoteAccount) => boolean): RemoteAccount[] {
    const now = this.#deps.clock.now()
    const found: RemoteAccount[] = []
    for (let offset = 0; ; offset += DUE_PAGE) {
      const rows = this.#deps.db.read.all(
        `SELECT * FROM remote_accounts WHERE (lease_until IS NULL OR lease_until <= ?)
           AND (status IN ('pending', 'importing', 'active') OR (status IN ('delayed', 'error') AND next_try_at <= ?))
         ORDER BY coalesce(next_try_at, synced_at, 0), n LIMIT ? OFFSET ?`,
        [now, now, DUE_PAGE, offset],
      )
      for (const row of rows) {
        const account = presentRemote(row)
        if (accepts(account)) found.push(account)
        if (found.length === limit) return found
      }
      if (rows.length < DUE_PAGE) return found
    }
  }

  /** Takes an account. @returns it as it is now; undefined when it is no longer due */
  claim(n: number, token: string): Promise<RemoteAccount | undefined> {
    const now = this.#deps.clock.now()
    return this.#deps.db.write((tx) => {
      const row = tx.get(
        `UPDATE remote_accounts SET lease_token = ?, lease_until = ? WHERE n = ? AND status <> 'paused'
           AND (lease_until IS NULL OR lease_until <= ?) RETURNING *`,
        [token, now + LEASE_MS, n, now],
      )
      return row && presentRemote(row)
    })
  }

  async renew(n: number, token: string): Promise<void> {
    const until = this.#deps.clock.now() + LEASE_MS
    await this.#deps.db.write((tx) =>
      tx.run('UPDATE remote_accounts SET lease_until = ? WHERE n = ? AND lease_token = ?', [until, n, token]),
    )
  }

  async release(n: number, token: string): Promise<void> {
    await this.#deps.db.write((tx) =>
      tx.run('UPDATE remote_accounts SET lease_token = NULL, lease_until = NULL WHERE n = ? AND lease_token = ?', [
        ...[n, token],
      ]),
    )
  }

  /** @returns undefined when it was deleted */
  read(n: number, reader: Reader = this.#deps.db.read): RemoteAccount | undefined {
    const row = reader.get('SELECT * FROM remote_accounts WHERE n = ?', [n])
    return row && presentRemote(row)
  }

  /**
   * The account as it is in a unit of work.
   * @param held as it was claimed
   * @throws AccountTaken when the worker may not go on
   */
  require(tx: Tx, held: RemoteAccount, token: string): RemoteAccount {
    const row = tx.get('SELECT * FROM remote_accounts WHERE n = ?', [held.n])
    if (row === undefined || row.lease_token !== token || row.status === 'paused') throw new AccountTaken()
    if (row.settings_version !== held.settingsVersion) throw new AccountTaken()
    return presentRemote(row)
  }

  /** Signed in: the account goes on where it was. */
  connected(tx: Tx, account: RemoteAccount, facts: ServerFacts): void {
    const now = this.#deps.clock.now()
    const { status, statusSince } = account
    const isImported = account.import.state === 'done'
    this.#set(tx, account.n, {
      ...{ kind: facts.kind, push: facts.hasIdle ? 'idle' : 'poll', facts: JSON.stringify(facts) },
      ...this.#status(account, isImported ? 'active' : 'importing', null, null),
      ...{ resumes_as: null, next_try_at: null, failures: 0 },
      ...(account.import.state === 'waiting' ? { import_state: 'running', import_started_at: now } : {}),
    })
    const isBack = status === 'delayed' || status === 'error'
    if (isBack) this.#deps.announcements.recovered(tx, account, statusSince)
  }

  /** The account cannot go on now. @param error what a server answered, or a failure here */
  failed(tx: Tx, account: RemoteAccount, error: unknown): void {
    const failure = error instanceof ServerError ? error : null
    const reason = failure?.message ?? 'The synchronisation failed here. The operator finds the cause in the log.'
    const kind = failure?.effect === 'failed' ? failure.kind : null
    const now = this.#deps.clock.now()
    const current = account.status
    const resumes = { resumes_as: account.resumesAs ?? (current === 'delayed' || current === 'error' ? null : current) }
    const isFinal = failure?.isFinal === true
    if (current === 'error' || isFinal || (kind !== null && this.#isFinal(account, kind))) {
      const isOurs = kind === 'certificate' || kind === 'host' || (kind === null && current === 'error')
      const retries = isOurs && !isFinal
      const next = retries ? now + ERROR_RETRY_MS : null
      this.#set(tx, account.n, { ...this.#status(account, 'error', reason, kind ?? account.errorKind), ...resumes })
      this.#set(tx, account.n, { next_try_at: next, failures: account.failures + 1 })
      if (current !== 'error') this.#deps.announcements.failed(tx, account, kind!, reason)
      return
    }
    const delay = failure?.retryAfterMs ?? this.#delay(account.failures)
    this.#set(tx, account.n, { ...this.#status(account, 'delayed', reason, kind), ...resumes })
    this.#set(tx, account.n, { next_try_at: now + Math.min(delay, DAY_MS), failures: account.failures + 1 })
  }

  /** Wrong credentials are tried once more: a server may be confused for a moment. */
  #isFinal({ status, statusSince, errorKind }: RemoteAccount, kind: RemoteErrorKind): boolean {
    if (kind === 'consent') return true
    if (status !== 'delayed' || errorKind !== kind) return false
    return kind === 'credentials' || this.#deps.clock.now() - statusSince >= PERSISTENT_MS
  }

  #delay(failures: number): number {
    const { random = Math.random } = this.#deps
    const delay = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 20), LONGEST_DELAY_MS)
    return Math.round(delay * (1 + DELAY_SPREAD * (2 * random() - 1)))
  }

  /** The import has come to its end. @param missing what of the account is not here */
  imported(tx: Tx, account: RemoteAccount, missing: MissingParts): void {
    const now = this.#deps.clock.now()
    this.#set(tx, account.n, {
      ...this.#status(account, 'active', null, null),
      ...{ import_state: 'done', import_finished_at: now, synced_at: now },
    })
    const { messagesDone, startedAt } = this.read(account.n, tx)!.import
    this.#deps.announcements.imported(tx, account, { messages: messagesDone, startedAt: startedAt ?? now, missing })
  }

  /** A sign-in link to the address of the account arrived in it. */
  linkArrived(tx: Tx, n: number): void {
    this.#set(tx, n, { links_at: this.#deps.clock.now() })
  }

  /** What the import has to do, as far as it is known. */
  plan(tx: Tx, n: number, plan: { folders: number; foldersDone: number; messages: number }): void {
    this.#set(tx, n, {
      ...{ import_folders_total: plan.folders, import_folders_done: plan.foldersDone },
      import_total: plan.messages,
    })
  }

  /** Messages that the import has stored. */
  count(tx: Tx, account: RemoteAccount, { messages, bytes }: { messages: number; bytes: number }): void {
    tx.run(
      `UPDATE remote_accounts SET import_done = import_done + ?, import_bytes = import_bytes + ?,
         import_total = max(import_total, import_done + ?) WHERE n = ?`,
      [messages, bytes, messages, account.n],
    )
    this.#countBytes(tx, account, bytes)
  }

  /** After the import. @param messages those that were skipped before: the import has so many more of those it counted */
  countLate(tx: Tx, account: RemoteAccount, { messages, bytes }: { messages: number; bytes: number }): void {
    if (messages > 0) {
      tx.run('UPDATE remote_accounts SET import_done = min(import_total, import_done + ?) WHERE n = ?', [
        ...[messages, account.n],
      ])
    }
    this.#countBytes(tx, account, bytes)
  }

  #countBytes(tx: Tx, account: RemoteAccount, bytes: number): void {
    const day = Math.floor(this.#deps.clock.now() / DAY_MS)
    const dayBytes = (account.day === day ? account.dayBytes : 0) + bytes
    tx.run('UPDATE remote_accounts SET day = ?, day_bytes = ? WHERE n = ?', [day, dayBytes, account.n])
  }

  /** Messages were stored: `in` here, `out` at the server. */
  carried(tx: Tx, direction: CarryDirection, messages: number): void {
    tx.run('UPDATE remote_totals SET messages = messages + ? WHERE direction = ?', [messages, direction])
  }

  /** A round is done. @param skipped messages of the server that are not here */
  synced(tx: Tx, n: number, { reason, skipped, differences }: RoundResult): void {
    this.#set(tx, n, {
      ...{ synced_at: this.#deps.clock.now(), status_reason: reason },
      skipped: skipped.messages === 0 ? null : JSON.stringify(skipped),
      differences: differences.length === 0 ? null : JSON.stringify(differences),
    })
  }

  treeRead(tx: Tx, n: number): void {
    this.#set(tx, n, { tree_at: this.#deps.clock.now() })
  }

  /** Every change of the mailbox up to `seq` is at the server. */
  pushed(tx: Tx, n: number, seq: number): void {
    tx.run('UPDATE remote_accounts SET pushed_seq = max(pushed_seq, ?) WHERE n = ?', [seq, n])
  }

  /** The worker changed the mailbox itself: nothing of it is to be sent, unless other changes wait before it. */
  ownChange(tx: Tx, n: number, before: number, after: number): void {
    tx.run('UPDATE remote_accounts SET pushed_seq = ? WHERE n = ? AND pushed_seq = ?', [after, n, before])
  }

  /** Messages taken out here within the last day, because they were gone at the server. */
  takenOf({ taken, takenAt }: RemoteAccount): number {
    return takenAt !== null && takenAt > this.#deps.clock.now() - REMOVAL_WINDOW_MS ? taken : 0
  }

  countTaken(tx: Tx, account: RemoteAccount, count: number): void {
    const before = this.takenOf(account)
    this.#set(tx, account.n, {
      taken: before + count,
      taken_at: before === 0 ? this.#deps.clock.now() : account.takenAt,
    })
  }

  /** What was removed with the consent of a person does not count for what follows. */
  forgetTaken(tx: Tx, n: number): void {
    this.#set(tx, n, { taken: 0, taken_at: null })
  }

  /** Holds a removal back, with its event, or forgets it (null). @param side where the messages are kept */
  holdRemoval(tx: Tx, account: RemoteAccount, side: RemovalSide, removal: HeldRemoval | null): void {
    const column = side === 'here' ? 'removal' : 'removal_there'
    this.#set(tx, account.n, { [column]: removal && JSON.stringify(removal) })
    const former = side === 'here' ? account.removal : account.removalThere
    const isReported = former !== null && !former.isConfirmed
    if (removal !== null && !removal.isConfirmed && removal.isUndone !== true && !isReported)
      this.#deps.announcements.failed(tx, account, 'mass_removal', heldSentence(side, removal))
  }

  #status(account: RemoteAccount, status: RemoteStatus, reason: string | null, kind: RemoteErrorKind | null): Row {
    const since = account.status === status ? account.statusSince : this.#deps.clock.now()
    return { status, status_reason: reason, error_kind: kind, status_since: since }
  }

  #set(tx: Tx, n: number, columns: Row): void {
    const marks = [...Object.keys(columns), 'updated_at'].map((name) => `${name} = ?`).join(', ')
    const values = [...Object.values(columns), this.#deps.clock.now(), n]
    tx.run(`UPDATE remote_accounts SET ${marks} WHERE n = ?`, values)
  }
}
