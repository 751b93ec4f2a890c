// The queue: which deliveries wait, since when, and who has them in hand; everything about the mails themselves is elsewhere.

import { sha256 } from '../base/secrets.ts'
import type { Db, Reader, SqlValue, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import type { Email } from './records.ts'

/** One delivery that waits. */
export interface Waiting {
  delivery: number
  email: number
  teamId: string
  /** See {@link originOf}. */
  origin: string
  /** The recipient's domain, lower-case. */
  lane: string
  /** ms */
  dueAt: number
  /** True when a try began of which nobody knows how it ended. */
  uncertain: boolean
  /** True when the operator wants it tried now, whatever failed for its destination before. */
  isUrgent: boolean
}

/** A row of the queue as the operator sees it. */
export interface QueueRow extends Waiting {
  /** True while a runner has it in hand. */
  inHand: boolean
}

export interface QueueFilter {
  teamId?: string
  /** A domain of recipients. */
  lane?: string
  limit: number
  after: PageKey | null
}

/** Whose deliveries are passed over when work is looked for. */
export interface PassedOver {
  teams: readonly string[]
  origins: readonly string[]
  /** Origins at one domain of recipients only, each made by {@link laneOf}. */
  lanes: readonly string[]
}

/** Who has a delivery in hand, and until when (ms) nobody else takes it. */
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
// Few lengths of lists give few statements, and those stay prepared.
const LIST_STEP = 16

/** Mails with the same origin may go through the same sending accounts: same team, mailbox, scope and From address. */
export function originOf(email: Email): string {
  const parts = [email.teamId, email.mailboxId, email.scope, email.from.email.toLowerCase()]
  return sha256(JSON.stringify(parts)).toString('base64url').slice(0, 16)
}

/** The deliveries of one origin to one domain. */
export function laneOf(waiting: Waiting): string {
  return `${waiting.origin} ${waiting.lane}`
}

export class Queue {
  readonly #db: Db

  constructor(parts: { db: Db }) {
    this.#db = parts.db
  }

  /**
   * Lets deliveries wait as part of the unit of work that accepts their mail; ring `deliver` after it.
   * @param dueAt when they may first leave, ms
   */
  async add(tx: Tx, email: Email, deliveries: readonly { n: number; to: string }[], dueAt: number): Promise<void> {
    if (deliveries.length === 0) return
    const origin = originOf(email)
    const values = deliveries.flatMap(({ n, to }) => [n, email.n, email.teamId, origin, domainOf(to), dueAt])
    const marks = deliveries.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')
    await tx.run(`INSERT INTO queue (delivery, email, team_id, origin, lane, due_at) VALUES ${marks}`, values)
  }

  /**
   * What is due, the longest waiting first, read from one index alone.
   * @param after where the page before ended
   */
  async due(now: number, limit: number, over: PassedOver, after: Waiting | null): Promise<Waiting[]> {
    const lists = [
      ['team_id', over.teams],
      ['origin', over.origins],
      [`origin || ' ' || lane`, over.lanes],
    ] as const
    const notIn = lists.filter(([, list]) => list.length > 0)
    const rows = await this.#db.read.all<Omit<Row, 'lease' | 'handed' | 'is_urgent'>>(
      `SELECT delivery, email, team_id, origin, lane, due_at FROM queue
       WHERE due_at <= ? AND (due_at, delivery) > (?, ?)
         ${notIn.map(([column, list]) => `AND ${column} NOT IN (${marksOf(list)})`).join(' ')}
       ORDER BY due_at, delivery LIMIT ?`,
      [now, after?.dueAt ?? -1, after?.delivery ?? 0, ...notIn.flatMap(([, list]) => padded(list)), limit],
    )
    return rows.map((row) => present({ ...row, lease: null, handed: 0, is_urgent: 0 }))
  }

  /**
   * Takes everything that is due of some mails into one hand, in one transaction: nobody else takes it while the lease lasts.
   * @returns it as it waited
   */
  claim(lease: Lease, emails: readonly number[], now: number): Promise<Waiting[]> {
    if (emails.length === 0) return Promise.resolve([])
    const where = `email IN (${marksOf(emails)}) AND due_at <= ?`
    return this.#db.write(async (tx) => {
      const values = [...padded(emails), now]
      const rows = await tx.all<Row>(`SELECT ${COLUMNS} FROM queue WHERE ${where}`, values)
      await tx.run(`UPDATE queue SET lease = ?, due_at = ? WHERE ${where}`, [lease.token, lease.until, ...values])
      return rows.map(present)
    })
  }

  /**
   * Writes down that deliveries are about to be handed over: after a crash nobody can say how that ended.
   * @returns those that still are in this hand; others were dropped meanwhile
   */
  async markHanded(tx: Tx, token: string, deliveries: readonly number[]): Promise<number[]> {
    const rows = await tx.all<{ delivery: number }>(
      `UPDATE queue SET handed = 1 WHERE delivery IN (${marksOf(deliveries)}) AND lease = ? RETURNING delivery`,
      [...padded(deliveries), token],
    )
    return rows.map(({ delivery }) => delivery)
  }

  /** Gives deliveries back that wait as before, or until another time. */
  async giveBack(tx: Tx, token: string, waiting: readonly Waiting[]): Promise<void> {
    for (const { delivery, dueAt } of waiting) {
      const values = [dueAt, delivery, token]
      await tx.run('UPDATE queue SET lease = NULL, due_at = ? WHERE delivery = ? AND lease = ?', values)
    }
  }

  /** Lets go of everything that one hand holds and has not handed over; it is due now. */
  letGo(token: string, now: number): Promise<void> {
    return this.#db.write(async (tx) => {
      await tx.run('UPDATE queue SET lease = NULL, due_at = ? WHERE lease = ? AND handed = 0', [now, token])
    })
  }

  /** Keeps the mails that one hand holds for longer. */
  renew(lease: Lease, emails: readonly number[]): Promise<void> {
    return this.#db.write(async (tx) => {
      const values = [lease.until, lease.token, ...padded(emails)]
      await tx.run(`UPDATE queue SET due_at = ? WHERE lease = ? AND email IN (${marksOf(emails)})`, values)
    })
  }

  /**
   * Makes due at once what runners before this one had in hand. Only for the one runner of the data folder, before it begins.
   * @returns how many deliveries, and how many of them had been handed over
   */
  takeBack(now: number): Promise<{ deliveries: number; handed: number }> {
    return this.#db.write(async (tx) => {
      const row = await tx.get<{ deliveries: number; handed: number }>(
        'SELECT count(*) AS deliveries, coalesce(sum(handed), 0) AS handed FROM queue WHERE lease IS NOT NULL',
      )
      await tx.run('UPDATE queue SET lease = NULL, due_at = ? WHERE lease IS NOT NULL', [now])
      return row!
    })
  }

  /** Lets a delivery wait until `dueAt`; how the last try ended is known then. */
  async postpone(tx: Tx, delivery: number, dueAt: number): Promise<void> {
    await tx.run('UPDATE queue SET lease = NULL, handed = 0, is_urgent = 0, due_at = ? WHERE delivery = ?', [
      dueAt,
      delivery,
    ])
  }

  /** Keys of the next emails after `after` (0 at first) that have deliveries here. */
  async emailsAfter(tx: Tx, after: number, limit: number): Promise<number[]> {
    const sql = 'SELECT DISTINCT email FROM queue WHERE email > ? ORDER BY email LIMIT ?'
    return (await tx.all<{ email: number }>(sql, [after, limit])).map(({ email }) => email)
  }

  /** Makes due now what would be due only after its email has expired: the clock was wrong when that was set. */
  async pullBack(tx: Tx, emails: readonly { n: number; expiresAt: number }[], now: number): Promise<void> {
    await tx.run(
      `UPDATE queue SET due_at = ? FROM json_each(?) AS email
       WHERE queue.email = email.value ->> 0 AND due_at > email.value ->> 1 AND lease IS NULL`,
      [now, JSON.stringify(emails.map(({ n, expiresAt }) => [n, expiresAt]))],
    )
  }

  /** Ends the waiting of a delivery. */
  async drop(tx: Tx, delivery: number): Promise<void> {
    await tx.run('DELETE FROM queue WHERE delivery = ?', [delivery])
  }

  /** When the next delivery becomes due after `now`; null when none waits for a time to come. */
  async nextDueAt(now: number): Promise<number | null> {
    const row = await this.#db.read.get<{ at: number | null }>('SELECT min(due_at) AS at FROM queue WHERE due_at > ?', [
      now,
    ])
    return row?.at ?? null
  }

  /** How much waits, how much of it is in hand, and since when (ms) the oldest of it is due; null when nothing is. */
  async depth(): Promise<{ waiting: number; inHand: number; oldestDueAt: number | null }> {
    const row = await this.#db.scan.get<{ waiting: number; in_hand: number; oldest: number | null }>(
      'SELECT count(*) AS waiting, count(lease) AS in_hand, min(due_at) AS oldest FROM queue',
    )
    return { waiting: row!.waiting, inHand: row!.in_hand, oldestDueAt: row!.oldest }
  }

  /** The deliveries of a mail that still wait or are in hand. */
  async ofEmail(reader: Reader, email: number): Promise<QueueRow[]> {
    const rows = await reader.all<Row>(`SELECT ${COLUMNS} FROM queue WHERE email = ? ORDER BY delivery`, [email])
    return rows.map(presentRow)
  }

  /** Everything that waits, what is due first on top. */
  async list(filter: QueueFilter): Promise<Page<QueueRow>> {
    const where = ['1 = 1']
    const values: SqlValue[] = []
    const add = (condition: string, ...given: SqlValue[]) => {
      where.push(condition)
      values.push(...given)
    }
    if (filter.teamId !== undefined) add('team_id = ?', filter.teamId)
    if (filter.lane !== undefined) add('lane = ?', filter.lane)
    if (filter.after !== null) add('(due_at, delivery) > (?, ?)', ...filter.after)
    // A filter may have to look at everything that waits.
    const rows = await this.#db.scan.all<Row>(
      `SELECT ${COLUMNS} FROM queue WHERE ${where.join(' AND ')} ORDER BY due_at, delivery LIMIT ?`,
      [...values, filter.limit + 1],
    )
    return pageOf(rows, filter.limit, (row) => [row.due_at, row.delivery], presentRow)
  }

  /** Makes what waits of a mail due now; what is in hand goes on. @returns how many deliveries */
  async hurry(tx: Tx, email: number, now: number): Promise<number> {
    const { changes } = await tx.run('UPDATE queue SET due_at = ?, is_urgent = 1 WHERE email = ? AND lease IS NULL', [
      now,
      email,
    ])
    return changes
  }
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

function present(row: Row): Waiting {
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
  return { ...present(row), inHand: row.lease !== null }
}

/** The list filled up to a multiple of {@link LIST_STEP} with its last value, which changes nothing for IN and NOT IN. */
function padded<T>(list: readonly T[]): T[] {
  const missing = (LIST_STEP - (list.length % LIST_STEP)) % LIST_STEP
  return list.length === 0 ? [] : [...list, ...Array<T>(missing).fill(list.at(-1)!)]
}

function marksOf(list: readonly unknown[]): string {
  return padded(list)
    .map(() => '?')
    .join(', ')
}
