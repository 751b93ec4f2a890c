// The mail side of a mailbox: its counter of changes, its states by type, and the room it takes.

import type { Clock } from '../base/clock.ts'
import type { Notifier } from '../base/notifier.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
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

const STATES = CHANGE_TYPES.map((type) => `${type}_seq`).join(', ')
const COLUMNS = `n, mailbox_id, used_bytes, message_count, attachment_bytes, is_away, full_since, last_activity_at, ${STATES}`

// Decisions §10.1: the first letter says the type, the rest is the counter in base 36. Opaque to clients.
const LETTER: Record<ChangeType, string> = {
  messages: 'm',
  threads: 't',
  folders: 'f',
  submissions: 's',
  identities: 'i',
  quotas: 'q',
}

/** Spells a state; the counterpart of {@link readState}. */
export function writeState(type: ChangeType, seq: number): string {
  return LETTER[type] + seq.toString(36)
}

/** The counter in a state of that type, or null when the text is none. */
export function readState(type: ChangeType, state: string): number | null {
  if (!/^[a-z][0-9a-z]{1,11}$/.test(state) || state[0] !== LETTER[type]) return null
  const seq = Number.parseInt(state.slice(1), 36)
  return Number.isSafeInteger(seq) && seq.toString(36) === state.slice(1) ? seq : null
}

/** True for a state the type is in or has been in. */
export function isPast(type: ChangeType, state: string, now: string): boolean {
  const [then, latest] = [readState(type, state), readState(type, now)]
  return then !== null && latest !== null && then <= latest
}

/** The counter of an account and that of one of its types: a row (seq, type_seq), to be read in one statement with what they count. */
export function counters(account: number, type: ChangeType): Fragment {
  return { sql: `SELECT seq, ${type}_seq AS type_seq FROM accounts WHERE n = ?`, values: [account] }
}

export class Accounts {
  readonly #db: Db
  readonly #clock: Clock
  readonly #wake: Pick<Notifier, 'notify'>

  constructor(db: Db, clock: Clock, wake: Pick<Notifier, 'notify'>) {
    this.#db = db
    this.#clock = clock
    this.#wake = wake
  }

  /** Makes the account of a mailbox that has none yet. @returns its key */
  async open(tx: Tx, mailboxId: string): Promise<number> {
    return tx.insert('accounts', { mailbox_id: mailboxId, created_at: this.#clock.now() })
  }

  async byMailbox(mailboxId: string, reader: Reader = this.#db.read): Promise<Account | undefined> {
    const row = await reader.get<AccountRow>(`SELECT ${COLUMNS} FROM accounts WHERE mailbox_id = ?`, [mailboxId])
    return row && present(row)
  }

  async byNumber(n: number, reader: Reader = this.#db.read): Promise<Account | undefined> {
    const row = await reader.get<AccountRow>(`SELECT ${COLUMNS} FROM accounts WHERE n = ?`, [n])
    return row && present(row)
  }

  /** The numbers of accounts, the lowest first: to go through all of them. */
  async numbers(page: { after: number; limit: number }): Promise<number[]> {
    const sql = 'SELECT n FROM accounts WHERE n > ? ORDER BY n LIMIT ?'
    return (await this.#db.scan.all<{ n: number }>(sql, [page.after, page.limit])).map(({ n }) => n)
  }

  /** The accounts of these numbers, in one statement however many they are. */
  async byNumbers(numbers: readonly number[]): Promise<Account[]> {
    const sql = `SELECT ${COLUMNS} FROM accounts WHERE n IN (SELECT value FROM json_each(?))`
    return (await this.#db.read.all<AccountRow>(sql, [JSON.stringify(numbers)])).map(present)
  }

  /** Id of the mailbox an account is of. */
  async mailboxOf(account: number): Promise<string | undefined> {
    const sql = 'SELECT mailbox_id FROM accounts WHERE n = ?'
    return (await this.#db.read.get<{ mailbox_id: string }>(sql, [account]))?.mailbox_id
  }

  /** The accounts of many mailboxes at once, by mailbox id. */
  async byMailboxes(mailboxIds: readonly string[]): Promise<Map<string, Account>> {
    if (mailboxIds.length === 0) return new Map()
    const marks = mailboxIds.map(() => '?').join(', ')
    const rows = await this.#db.read.all<AccountRow>(
      `SELECT ${COLUMNS} FROM accounts WHERE mailbox_id IN (${marks})`,
      mailboxIds,
    )
    return new Map(rows.map((row) => [row.mailbox_id, present(row)]))
  }

  /** The number of the last unit of work that changed anything. */
  async seq(account: Account): Promise<number> {
    const row = await this.#db.read.get<{ seq: number }>('SELECT seq FROM accounts WHERE n = ?', [account.n])
    return row?.seq ?? 0
  }

  /** The number of the last unit of work that changed something of the type. */
  async lastSeq(account: Account, type: ChangeType): Promise<number> {
    const row = await this.#db.read.get<{ seq: number }>(`SELECT ${type}_seq AS seq FROM accounts WHERE n = ?`, [
      account.n,
    ])
    return row?.seq ?? 0
  }

  /**
   * Whether mail of that size fits. The first time it does not is remembered, because a mailbox that stays full answers
   * otherwise after five days (decisions §10.9).
   * @returns null when there is room, else since when (ms) there is none
   */
  async fullSince(mailboxId: string, quotaBytes: number, sizeBytes: number): Promise<number | null> {
    const account = await this.byMailbox(mailboxId)
    if (!account || account.usedBytes + sizeBytes <= quotaBytes) return null
    if (account.fullSince !== null) return account.fullSince
    const now = this.#clock.now()
    await this.#db.write((tx) => this.markFull(tx, account.n, now))
    return now
  }

  /**
   * Notes that an account that ended for good holds nothing. Its row stays, and with it its number: a number that came again would
   * find what is remembered of the one before (kept pages, the range its messages had).
   * @returns 1, or 0 when that is noted already
   */
  async purgeIn(tx: Tx, account: Pick<Account, 'n'>): Promise<number> {
    const { changes } = await tx.run(
      `UPDATE accounts SET used_bytes = 0, message_count = 0, attachment_bytes = 0, is_away = 0, full_since = NULL,
         last_activity_at = NULL
       WHERE n = ? AND (used_bytes <> 0 OR message_count <> 0 OR attachment_bytes <> 0 OR is_away <> 0
         OR full_since IS NOT NULL OR last_activity_at IS NOT NULL)`,
      [account.n],
    )
    return changes
  }

  /** Notes whether a mailbox answers by itself. */
  async setAway(tx: Tx, account: number, isAway: boolean): Promise<void> {
    await tx.run('UPDATE accounts SET is_away = ? WHERE n = ?', [isAway, account])
  }

  async markFull(tx: Tx, account: number, now: number): Promise<void> {
    await tx.run('UPDATE accounts SET full_since = ? WHERE n = ? AND full_since IS NULL', [now, account])
  }

  /**
   * Takes the next number of the account's counter for everything one unit of work changes, and marks the types it changes. Who
   * follows the account hears of it once it is durable.
   * @param change bytes and messages that came (or went, when negative)
   */
  async advance(
    tx: Tx,
    account: number,
    types: readonly ChangeType[],
    change: { bytes: number; messages: number },
  ): Promise<number> {
    const marks = types.map((type) => `${type}_seq = seq + 1`)
    const row = await tx.get<{ seq: number }>(
      `UPDATE accounts SET seq = seq + 1, ${marks.join(', ')}, used_bytes = used_bytes + ?,
         message_count = message_count + ?, full_since = CASE WHEN ? > 0 THEN NULL ELSE full_since END, last_activity_at = ?
       WHERE n = ? RETURNING seq`,
      [change.bytes, change.messages, change.bytes, this.#clock.now(), account],
    )
    tx.afterCommit(() => this.#wake.notify('accounts', account))
    return row!.seq
  }

  /** Moves the counter where no type has changed, but what a search finds: lists that are kept are read anew. */
  async moveOn(tx: Tx, account: number): Promise<void> {
    await tx.run('UPDATE accounts SET seq = seq + 1 WHERE n = ?', [account])
  }
}

/** What every account shows of the room it takes. */
export async function accountTotals(
  reader: Reader,
): Promise<{ n: number; mailboxId: string; usedBytes: number; messageCount: number; attachmentBytes: number }[]> {
  return reader.all(
    `SELECT n, mailbox_id AS mailboxId, used_bytes AS usedBytes, message_count AS messageCount,
       attachment_bytes AS attachmentBytes
     FROM accounts ORDER BY n`,
  )
}

/** When (ms) anything last changed in any mailbox; null where nothing ever did. */
export async function lastActivity(reader: Reader): Promise<number | null> {
  return (await reader.get<{ at: number | null }>('SELECT max(last_activity_at) AS at FROM accounts'))?.at ?? null
}

/** Skips numbers of every account: those may have been given and lost. */
export async function skipNumbers(tx: Tx, count: number): Promise<void> {
  await tx.run('UPDATE accounts SET seq = seq + ?', [count])
}

/** Skips numbers of every account and lets the state of every type begin there. @returns the accounts with their numbers */
export async function restartStates(tx: Tx, count: number): Promise<{ n: number; seq: number }[]> {
  const states = CHANGE_TYPES.map((type) => `${type}_seq = seq + ?`).join(', ')
  await tx.run(`UPDATE accounts SET ${states}, seq = seq + ?`, Array<number>(CHANGE_TYPES.length + 1).fill(count))
  return tx.all('SELECT n, seq FROM accounts')
}

/** Counts files that came with a message, or went with one (bytes below 0); nothing where there are none. */
export async function countAttachments(tx: Tx, account: number, bytes: number): Promise<void> {
  if (bytes === 0) return
  await tx.run('UPDATE accounts SET attachment_bytes = attachment_bytes + ? WHERE n = ?', [bytes, account])
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
