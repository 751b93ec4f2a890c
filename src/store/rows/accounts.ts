// Accounts (the message store of a mailbox): change sequence, states by type, and storage used.

import type { Clock } from '../../base/clock.ts'
import type { Notifier } from '../../base/notifier.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { RowCache } from '../../db/row-cache.ts'
import type { Fragment } from './folders.ts'
import { type Account, CHANGE_TYPES, type ChangeType } from './records.ts'

interface AccountRow {
  n: number
  mailbox_id: string
  used_bytes: number
  message_count: number
  attachment_bytes: number
  is_away: number
  full_since: number | null
  last_activity_at: number | null
  messages_seq: number
  threads_seq: number
  folders_seq: number
  submissions_seq: number
  identities_seq: number
  quotas_seq: number
}

/** An account with its sequence number, of one read: a state is never newer than what is read as of the sequence number. */
interface KnownAccount {
  account: Readonly<Account>
  seq: number
}

/** Accounts kept in memory while nothing changes. */
const KNOWN_MAX = 1000
const STATES = CHANGE_TYPES.map((type) => `${type}_seq`).join(', ')
const COLUMNS = `n, mailbox_id, used_bytes, message_count, attachment_bytes, is_away, full_since, last_activity_at, ${STATES}`

// docs/design/mailbox.md §1: the first letter names the type, the rest is the sequence number in base 36. Opaque to clients.
const STATE_PREFIX: Record<ChangeType, string> = {
  messages: 'm',
  threads: 't',
  folders: 'f',
  submissions: 's',
  identities: 'i',
  quotas: 'q',
}

/** Formats a state; the inverse of {@link readState}. */
export function writeState(type: ChangeType, seq: number): string {
  return STATE_PREFIX[type] + seq.toString(36)
}

/** The sequence number in a state of that type, or null if the text is not such a state. */
export function readState(type: ChangeType, state: string): number | null {
  if (!/^[a-z][0-9a-z]{1,11}$/.test(state) || state[0] !== STATE_PREFIX[type]) return null
  const seq = Number.parseInt(state.slice(1), 36)
  return Number.isSafeInteger(seq) && seq.toString(36) === state.slice(1) ? seq : null
}

/** True if the state is the current or an earlier one of the type. */
export function isCurrentOrPast(type: ChangeType, state: string, current: string): boolean {
  const [seq, currentSeq] = [readState(type, state), readState(type, current)]
  return seq !== null && currentSeq !== null && seq <= currentSeq
}

/** Query for the sequence number of an account and of one type: a row (seq, type_seq), to be read in one statement with the data. */
export function countersQuery(account: number, type: ChangeType): Fragment {
  return { sql: `SELECT seq, ${type}_seq AS type_seq FROM accounts WHERE n = ?`, values: [account] }
}

export class Accounts {
  readonly #db: Db
  readonly #clock: Clock
  readonly #notifier: Pick<Notifier, 'notify'>
  readonly #known: RowCache<string, KnownAccount>

  constructor(db: Db, clock: Clock, notifier: Pick<Notifier, 'notify'>) {
    this.#db = db
    this.#clock = clock
    this.#notifier = notifier
    this.#known = new RowCache(db, KNOWN_MAX)
  }

  /** Creates the account of a mailbox that has none yet. @returns its number */
  create(tx: Tx, mailboxId: string): number {
    return tx.insert('accounts', { mailbox_id: mailboxId, created_at: this.#clock.now() })
  }

  /** @param reader of a transaction; without it the account may be one that is kept in memory while nothing changes */
  byMailbox(mailboxId: string, reader?: Reader): Account | undefined {
    if (reader === undefined) return this.#knownOf(mailboxId)?.account
    const row = reader.get<AccountRow>(`SELECT ${COLUMNS} FROM accounts WHERE mailbox_id = ?`, [mailboxId])
    return row && present(row)
  }

  byNumber(n: number, reader: Reader = this.#db.read): Account | undefined {
    const row = reader.get<AccountRow>(`SELECT ${COLUMNS} FROM accounts WHERE n = ?`, [n])
    return row && present(row)
  }

  /** A page of account numbers in ascending order. */
  async numbers(page: { after: number; limit: number }): Promise<number[]> {
    const sql = 'SELECT n FROM accounts WHERE n > ? ORDER BY n LIMIT ?'
    return (await this.#db.scan.all<{ n: number }>(sql, [page.after, page.limit])).map(({ n }) => n)
  }

  /** The accounts with these numbers, in one statement. */
  byNumbers(numbers: readonly number[]): Account[] {
    const sql = `SELECT ${COLUMNS} FROM accounts WHERE n IN (SELECT value FROM json_each(?))`
    return this.#db.read.all<AccountRow>(sql, [JSON.stringify(numbers)]).map(present)
  }

  /** The mailbox id of an account. */
  mailboxOf(account: number): string | undefined {
    const sql = 'SELECT mailbox_id FROM accounts WHERE n = ?'
    return this.#db.read.get<{ mailbox_id: string }>(sql, [account])?.mailbox_id
  }

  /** The accounts of several mailboxes, by mailbox id. */
  byMailboxes(mailboxIds: Iterable<string>, reader: Reader = this.#db.read): Map<string, Account> {
    const sql = `SELECT ${COLUMNS} FROM accounts WHERE mailbox_id IN (SELECT value FROM json_each(?))`
    const rows = reader.all<AccountRow>(sql, [JSON.stringify([...mailboxIds])])
    return new Map(rows.map((row) => [row.mailbox_id, present(row)]))
  }

  /** Bytes that the messages of these mailboxes take together. */
  usedBytesOf(mailboxIds: Iterable<string>): number {
    const sql = `SELECT coalesce(sum(used_bytes), 0) AS used FROM accounts
      WHERE mailbox_id IN (SELECT value FROM json_each(?))`
    return this.#db.read.get<{ used: number }>(sql, [JSON.stringify([...mailboxIds])])!.used
  }

  /** Sequence number of the last change. */
  seq(account: Account): number {
    return this.#knownOf(account.mailboxId)?.seq ?? 0
  }

  /** {@link seq} as a reader sees it, for an account by number. */
  seqIn(reader: Reader, account: number): number {
    return reader.get<{ seq: number }>('SELECT seq FROM accounts WHERE n = ?', [account])?.seq ?? 0
  }

  /** Sequence number of the last change of a type. */
  lastSeq(account: Account, type: ChangeType): number {
    const row = this.#db.read.get<{ seq: number }>(`SELECT ${type}_seq AS seq FROM accounts WHERE n = ?`, [account.n])
    return row?.seq ?? 0
  }

  /**
   * Checks whether a message of that size fits the quota. The first time it does not is stored, because the SMTP reply for a mailbox
   * changes after five full days (docs/design/mailbox.md §9).
   * @returns null if it fits, else since when (ms) the mailbox is full
   */
  async fullSince(mailboxId: string, quotaBytes: number, sizeBytes: number): Promise<number | null> {
    const account = this.byMailbox(mailboxId)
    if (!account || account.usedBytes + sizeBytes <= quotaBytes) return null
    if (account.fullSince !== null) return account.fullSince
    const now = this.#clock.now()
    await this.#db.write((tx) => this.markFull(tx, account.n, now))
    return now
  }

  /**
   * Resets the totals of a deleted account. Its row remains, so that its number is not reused: page caches and the number range of
   * its messages still refer to it.
   * @returns 1, or 0 if already reset. See `PurgeStep`.
   */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    const { changes } = tx.run(
      `UPDATE accounts SET used_bytes = 0, message_count = 0, attachment_bytes = 0, is_away = 0, full_since = NULL,
         last_activity_at = NULL
       WHERE n = ? AND (used_bytes <> 0 OR message_count <> 0 OR attachment_bytes <> 0 OR is_away <> 0
         OR full_since IS NOT NULL OR last_activity_at IS NOT NULL)`,
      [account.n],
    )
    return changes
  }

  /** Stores whether the mailbox's vacation response is active. */
  setAway(tx: Tx, account: number, isAway: boolean): void {
    tx.run('UPDATE accounts SET is_away = ? WHERE n = ?', [isAway, account])
  }

  markFull(tx: Tx, account: number, now: number): void {
    tx.run('UPDATE accounts SET full_since = ? WHERE n = ? AND full_since IS NULL', [now, account])
  }

  /**
   * Assigns the next sequence number to a unit of work, and marks the types it changes. Subscribers of the account are notified
   * after the commit.
   * @param change bytes and messages added (removed if negative)
   */
  advance(tx: Tx, account: number, types: readonly ChangeType[], change: { bytes: number; messages: number }): number {
    const assignments = types.map((type) => `${type}_seq = seq + 1`)
    const row = tx.get<{ seq: number }>(
      `UPDATE accounts SET seq = seq + 1, ${assignments.join(', ')}, used_bytes = used_bytes + ?,
         message_count = message_count + ?, full_since = CASE WHEN ? > 0 THEN NULL ELSE full_since END, last_activity_at = ?
       WHERE n = ? RETURNING seq`,
      [change.bytes, change.messages, change.bytes, this.#clock.now(), account],
    )
    tx.assignsNumbersOf(account)
    tx.afterCommit(() => this.#notifier.notify('accounts', account))
    return row!.seq
  }

  /** Advances the sequence number without a change of any type, so that cached pages are read again: search results changed. */
  advanceSeq(tx: Tx, account: number): void {
    tx.run('UPDATE accounts SET seq = seq + 1 WHERE n = ?', [account])
    tx.assignsNumbersOf(account)
  }

  #knownOf(mailboxId: string): KnownAccount | undefined {
    return this.#known.get(mailboxId, () => {
      const sql = `SELECT ${COLUMNS}, seq FROM accounts WHERE mailbox_id = ?`
      const row = this.#db.read.get<AccountRow & { seq: number }>(sql, [mailboxId])
      return row && { account: Object.freeze(present(row)), seq: row.seq }
    })
  }
}

/** The stored totals of all accounts. */
export function accountTotals(
  reader: Reader,
): { n: number; mailboxId: string; usedBytes: number; messageCount: number; attachmentBytes: number }[] {
  return reader.all(
    `SELECT n, mailbox_id AS mailboxId, used_bytes AS usedBytes, message_count AS messageCount,
       attachment_bytes AS attachmentBytes
     FROM accounts ORDER BY n`,
  )
}

/** Time of the last change in any mailbox, ms; null if there was none. */
export function lastActivity(reader: Reader): number | null {
  return reader.get<{ at: number | null }>('SELECT max(last_activity_at) AS at FROM accounts')?.at ?? null
}

/** Skips sequence numbers of all accounts: they may have been assigned by commits that were lost. */
export function skipNumbers(tx: Tx, count: number): void {
  tx.run('UPDATE accounts SET seq = seq + ?', [count])
  tx.assignsNumbersOf('all')
}

/** Skips sequence numbers of all accounts and their types. @returns the accounts with their new sequence numbers */
export function restartStates(tx: Tx, count: number): { n: number; seq: number }[] {
  const states = CHANGE_TYPES.map((type) => `${type}_seq = seq + ?`).join(', ')
  tx.run(`UPDATE accounts SET ${states}, seq = seq + ?`, Array<number>(CHANGE_TYPES.length + 1).fill(count))
  tx.assignsNumbersOf('all')
  return tx.all('SELECT n, seq FROM accounts')
}

/** Adds the attachment bytes of a new message, or subtracts those of a deleted one (negative). */
export function countAttachments(tx: Tx, account: number, bytes: number): void {
  if (bytes === 0) return
  tx.run('UPDATE accounts SET attachment_bytes = attachment_bytes + ? WHERE n = ?', [bytes, account])
}

function present(row: AccountRow): Account {
  return {
    n: row.n,
    mailboxId: row.mailbox_id,
    usedBytes: row.used_bytes,
    messageCount: row.message_count,
    attachmentBytes: row.attachment_bytes,
    isAway: row.is_away === 1,
    fullSince: row.full_since,
    lastActivityAt: row.last_activity_at,
    states: {
      messages: writeState('messages', row.messages_seq),
      threads: writeState('threads', row.threads_seq),
      folders: writeState('folders', row.folders_seq),
      submissions: writeState('submissions', row.submissions_seq),
      identities: writeState('identities', row.identities_seq),
      quotas: writeState('quotas', row.quotas_seq),
    },
  }
}
