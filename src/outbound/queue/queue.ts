// The queue: which deliveries are due, when, and which runner leases them. The messages themselves are stored in `log/`.

import { sha256 } from '../../base/secrets.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { placeholders, Where } from '../../db/sql-text.ts'
import { domainOf } from '../../mime/address.ts'
import type { Email } from '../model/records.ts'

/** One queued delivery. */
export interface QueuedDelivery {
  delivery: number
  email: number
  teamId: string
  /** See {@link originOf}. */
  origin: string
  /** The recipient's domain, lower-case. */
  lane: string
  /** ms */
  dueAt: number
  /** True when an attempt was started and its outcome is unknown. */
  uncertain: boolean
  /** True when the operator requested an immediate retry, regardless of earlier failures of its destination. */
  isUrgent: boolean
}

/** A row of the queue as shown to the operator. */
export interface QueueRow extends QueuedDelivery {
  /** True while a runner leases it. */
  isLeased: boolean
}

export interface QueueFilter {
  teamId?: string
  /** The recipient's domain. */
  lane?: string
  limit: number
  after: PageKey | null
}

/** A place in the order of the queue: by due time (ms), then by delivery. */
export type QueuePosition = Pick<QueuedDelivery, 'dueAt' | 'delivery'>

/** The deliveries that a query for due deliveries skips. */
export interface QueueExclusions {
  teams: readonly string[]
  origins: readonly string[]
  /** Pairs of an origin and a recipient domain, each made by {@link laneOf}. */
  lanes: readonly string[]
}

/** The holder of a delivery, and when (ms) the lease ends. */
export interface Lease {
  token: string
  until: number
}

interface Row {
  delivery: number
  email: number
  team_id: string
  origin: string
  lane: string
  due_at: number
  lease: string | null
  handed: number
  is_urgent: number
}

const COLUMNS = 'delivery, email, team_id, origin, lane, due_at, lease, handed, is_urgent'
// Few distinct list lengths mean few distinct statements, which stay prepared.
const LIST_STEP = 16

/** Messages with the same origin may use the same sending accounts: same team, mailbox, scope and From address. */
export function originOf(email: Email): string {
  const parts = [email.teamId, email.mailboxId, email.scope, email.from.email.toLowerCase()]
  return sha256(JSON.stringify(parts)).toString('base64url').slice(0, 16)
}

/** The key of all deliveries of one origin to one recipient domain. */
export function laneOf(waiting: QueuedDelivery): string {
  return `${waiting.origin} ${waiting.lane}`
}

export class Queue {
  readonly #db: Db

  constructor(deps: { db: Db }) {
    this.#db = deps.db
  }

  /**
   * Queues deliveries in the unit of work that accepts their message; the caller notifies `deliver` after the commit.
   * @param dueAt earliest time of the first attempt, ms
   */
  add(tx: Tx, email: Email, deliveries: readonly { n: number; to: string }[], dueAt: number): void {
    if (deliveries.length === 0) return
    const origin = originOf(email)
    const values = deliveries.flatMap(({ n, to }) => [n, email.n, email.teamId, origin, domainOf(to), dueAt])
    const marks = deliveries.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')
    tx.run(`INSERT INTO queue (delivery, email, team_id, origin, lane, due_at) VALUES ${marks}`, values)
  }

  /**
   * The due deliveries, the longest due first, read from one covering index.
   * @param after position behind which they are
   * @param upTo last position; null for all
   */
  due(
    now: number,
    limit: number,
    exclusions: QueueExclusions,
    { after, upTo }: { after: QueuePosition; upTo: QueuePosition | null },
  ): QueuedDelivery[] {
    const lists = [
      ['team_id', exclusions.teams],
      ['origin', exclusions.origins],
      [`origin || ' ' || lane`, exclusions.lanes],
    ] as const
    const notIn = lists.filter(([, list]) => list.length > 0)
    const rows = this.#db.read.all<Omit<Row, 'lease' | 'handed' | 'is_urgent'>>(
      `SELECT delivery, email, team_id, origin, lane, due_at FROM queue
       WHERE due_at <= ? AND (due_at, delivery) > (?, ?)
         ${upTo === null ? '' : 'AND (due_at, delivery) <= (?, ?)'}
         ${notIn.map(([column, list]) => `AND ${column} NOT IN (${marksOf(list)})`).join(' ')}
       ORDER BY due_at, delivery LIMIT ?`,
      [
        ...[Math.min(now, upTo?.dueAt ?? now), after.dueAt, after.delivery],
        ...(upTo === null ? [] : [upTo.dueAt, upTo.delivery]),
        ...notIn.flatMap(([, list]) => padded(list)),
        limit,
      ],
    )
    return rows.map((row) => present({ ...row, lease: null, handed: 0, is_urgent: 0 }))
  }

  /**
   * Leases all due deliveries of some messages to one holder, in one transaction; no other holder takes them while the lease lasts.
   * @returns the deliveries as they were before the lease
   */
  claim(lease: Lease, emails: readonly number[], now: number): Promise<QueuedDelivery[]> {
    if (emails.length === 0) return Promise.resolve([])
    const where = `email IN (${marksOf(emails)}) AND due_at <= ?`
    return this.#db.write((tx) => {
      tx.keepsCaches()
      const values = [...padded(emails), now]
      const rows = tx.all<Row>(`SELECT ${COLUMNS} FROM queue WHERE ${where}`, values)
      tx.run(`UPDATE queue SET lease = ?, due_at = ? WHERE ${where}`, [lease.token, lease.until, ...values])
      return rows.map(present)
    })
  }

  /**
   * Marks deliveries as about to be handed over: if the process crashes after this, their outcome is unknown.
   * @returns the deliveries this holder still leases; the others have been dropped in the meantime
   */
  markHanded(tx: Tx, token: string, deliveries: readonly number[]): number[] {
    const rows = tx.all<{ delivery: number }>(
      `UPDATE queue SET handed = 1 WHERE delivery IN (SELECT value FROM json_each(?)) AND lease = ? RETURNING delivery`,
      [JSON.stringify(deliveries), token],
    )
    return rows.map(({ delivery }) => delivery)
  }

  /** Returns leased deliveries to the queue, due at the given times. */
  requeue(tx: Tx, token: string, waiting: readonly QueuedDelivery[]): void {
    for (const { delivery, dueAt } of waiting) {
      const values = [dueAt, delivery, token]
      tx.run('UPDATE queue SET lease = NULL, due_at = ? WHERE delivery = ? AND lease = ?', values)
    }
  }

  /** Ends the leases of one holder on deliveries it has not handed over; they are due now. */
  release(token: string, now: number): Promise<void> {
    return this.#db.write((tx) => {
      tx.run('UPDATE queue SET lease = NULL, due_at = ? WHERE lease = ? AND handed = 0', [now, token])
    })
  }

  /** Extends the leases of one holder on some messages. */
  renew(lease: Lease, emails: readonly number[]): Promise<void> {
    return this.#db.write((tx) => {
      const values = [lease.until, lease.token, ...padded(emails)]
      tx.run(`UPDATE queue SET due_at = ? WHERE lease = ? AND email IN (${marksOf(emails)})`, values)
    })
  }

  /**
   * Makes deliveries leased by earlier runners due now. Only the runner of the data folder calls it, before it starts.
   * @returns the number of deliveries, and how many of them were marked as handed over
   */
  reclaim(now: number): Promise<{ deliveries: number; handed: number }> {
    return this.#db.write((tx) => {
      const row = tx.get<{ deliveries: number; handed: number }>(
        'SELECT count(*) AS deliveries, coalesce(sum(handed), 0) AS handed FROM queue WHERE lease IS NOT NULL',
      )
      tx.run('UPDATE queue SET lease = NULL, due_at = ? WHERE lease IS NOT NULL', [now])
      return row!
    })
  }

  /** Reschedules a delivery to `dueAt`, and clears its hand-over mark because the outcome of the last attempt is known. */
  postpone(tx: Tx, delivery: number, dueAt: number): void {
    tx.run('UPDATE queue SET lease = NULL, handed = 0, is_urgent = 0, due_at = ? WHERE delivery = ?', [dueAt, delivery])
  }

  /** Keys of the next messages after `after` (0 at first) that have queued deliveries. */
  emailsAfter(tx: Tx, after: number, limit: number): number[] {
    const sql = 'SELECT DISTINCT email FROM queue WHERE email > ? ORDER BY email LIMIT ?'
    return tx.all<{ email: number }>(sql, [after, limit]).map(({ email }) => email)
  }

  /** Makes deliveries due now that would be due only after their message expires: a wrong clock set that time. */
  pullBack(tx: Tx, emails: readonly { n: number; expiresAt: number }[], now: number): void {
    tx.run(
      `UPDATE queue SET due_at = ? FROM json_each(?) AS email
       WHERE queue.email = email.value ->> 0 AND due_at > email.value ->> 1 AND lease IS NULL`,
      [now, JSON.stringify(emails.map(({ n, expiresAt }) => [n, expiresAt]))],
    )
  }

  /** Removes deliveries from the queue. */
  drop(tx: Tx, deliveries: readonly number[]): void {
    if (deliveries.length === 0) return
    tx.run('DELETE FROM queue WHERE delivery IN (SELECT value FROM json_each(?))', [JSON.stringify(deliveries)])
  }

  /** When (ms) the next delivery becomes due after `now`; null when none does. */
  nextDueAt(now: number): number | null {
    const row = this.#db.read.get<{ at: number | null }>('SELECT min(due_at) AS at FROM queue WHERE due_at > ?', [now])
    return row?.at ?? null
  }

  /** The number of queued deliveries, how many of them are leased, and the oldest due time (ms); null when the queue is empty. */
  async depth(): Promise<{ queued: number; leased: number; oldestDueAt: number | null }> {
    const row = await this.#db.scan.get<{ queued: number; leased: number; oldestDueAt: number | null }>(
      'SELECT count(*) AS queued, count(lease) AS leased, min(due_at) AS oldestDueAt FROM queue',
    )
    return row!
  }

  /** The queued deliveries of a message, including leased ones. */
  ofEmail(reader: Reader, email: number): QueueRow[] {
    const rows = reader.all<Row>(`SELECT ${COLUMNS} FROM queue WHERE email = ? ORDER BY delivery`, [email])
    return rows.map(presentRow)
  }

  /** The queue row of one delivery. */
  ofDelivery(reader: Reader, delivery: number): QueueRow | undefined {
    const row = reader.get<Row>(`SELECT ${COLUMNS} FROM queue WHERE delivery = ?`, [delivery])
    return row && presentRow(row)
  }

  /** Makes a delivery that is not leased due now. Not urgent: what is known of its destination protects other teams too. */
  retryDelivery(tx: Tx, delivery: number, now: number): void {
    tx.run('UPDATE queue SET due_at = ? WHERE delivery = ? AND lease IS NULL', [now, delivery])
  }

  /** All queued deliveries, ordered by due time. */
  async list(filter: QueueFilter): Promise<Page<QueueRow>> {
    const where = new Where()
    if (filter.teamId !== undefined) where.add('team_id = ?', filter.teamId)
    if (filter.lane !== undefined) where.add('lane = ?', filter.lane)
    if (filter.after !== null) where.add('(due_at, delivery) > (?, ?)', ...filter.after)
    // A filter may scan the whole queue.
    const rows = await this.#db.scan.all<Row>(
      `SELECT ${COLUMNS} FROM queue WHERE ${where.sql} ORDER BY due_at, delivery LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    return pageOf(rows, filter.limit, (row) => [row.due_at, row.delivery], presentRow)
  }

  /** Makes the deliveries of a message that are not leased due now. @returns the number of deliveries */
  retryNow(tx: Tx, email: number, now: number): number {
    const { changes } = tx.run('UPDATE queue SET due_at = ?, is_urgent = 1 WHERE email = ? AND lease IS NULL', [
      now,
      email,
    ])
    return changes
  }
}

function present(row: Row): QueuedDelivery {
  return {
    delivery: row.delivery,
    email: row.email,
    teamId: row.team_id,
    origin: row.origin,
    lane: row.lane,
    dueAt: row.due_at,
    uncertain: row.handed === 1,
    isUrgent: row.is_urgent === 1,
  }
}

function presentRow(row: Row): QueueRow {
  return { ...present(row), isLeased: row.lease !== null }
}

/** The list padded to a multiple of {@link LIST_STEP} with its last value, which does not change IN or NOT IN. */
function padded<T>(list: readonly T[]): T[] {
  const missing = (LIST_STEP - (list.length % LIST_STEP)) % LIST_STEP
  return list.length === 0 ? [] : [...list, ...Array<T>(missing).fill(list.at(-1)!)]
}

function marksOf(list: readonly unknown[]): string {
  return placeholders(padded(list))
}
