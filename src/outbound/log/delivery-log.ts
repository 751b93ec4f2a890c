// Reads the delivery log: one row per recipient of every accepted message (docs/design/sending.md §6).

import type { WrongSpan } from '../../base/clock-guard.ts'
import { searchWords } from '../../base/words.ts'
import type { Db, SqlValue, Tx } from '../../db/db.ts'
import { type PageKey, pageOf } from '../../db/page.ts'
import { redateRows } from '../../db/redate.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { RowOf } from '../../db/table.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { type LabelColumns, type Labels, labelsOf, type TagFilter, tagCondition } from '../model/message-labels.ts'
import { DELIVERIES, type Delivery, type DeliveryStatus, EMAILS, type Page } from '../model/records.ts'
import { type Step, stepsOf } from './timeline.ts'

/** The log row of one message to one recipient. */
export interface DeliveryRow extends Omit<Delivery, 'n' | 'email'>, Labels {
  /** `eml_…` */
  emailId: string
  mailboxId: string | null
  fromEmail: string
  subject: string
  sizeBytes: number
}

export interface DeliveryRecord extends DeliveryRow {
  timeline: Step[]
}

export interface DeliveryFilter {
  status?: DeliveryStatus
  /** ms, inclusive, on created_at. */
  from?: number
  /** ms, exclusive. */
  to?: number
  providerId?: string
  mailboxId?: string
  /** `eml_…` */
  emailId?: string
  /** Domain of the recipient. */
  domain?: string
  tag?: TagFilter
  /** Words that must all occur in the addresses, the subject or the id of the message. */
  search?: string
}

const DELIVERY = DELIVERIES.and('mailbox_id')
const MESSAGE = EMAILS.only('from_email', 'subject', 'size_bytes')
const SHOWN = `${DELIVERY.of('d')}, e.id AS email_id, ${MESSAGE.of('e')}, e.tags, e.metadata`
type ShownRow = RowOf<typeof DELIVERY> & RowOf<typeof MESSAGE> & LabelColumns & { email_id: string }

/** Messages per query. */
const PRUNE_BATCH = 200

interface Deps extends Pick<OutboundDeps, 'db'> {
  /** Erases what is remembered of held messages, by the keys of the messages. */
  eraseHeld(tx: Tx, emails: readonly number[]): void
}

export class DeliveryLog {
  readonly #db: Db
  readonly #eraseHeld: Deps['eraseHeld']

  constructor({ db, eraseHeld }: Deps) {
    this.#db = db
    this.#eraseHeld = eraseHeld
  }

  /** The rows of a team, newest first. */
  async list(
    teamId: string,
    filter: DeliveryFilter,
    page: { limit: number; after: PageKey | null },
  ): Promise<Page<DeliveryRow>> {
    const { sql, values } = listStatement(teamId, filter, page)
    // Filters other than team, mailbox and message may match few rows, so that the query scans many.
    const isShort = [filter.status, filter.providerId, filter.domain, filter.search, filter.tag].every(
      (one) => one === undefined,
    )
    const rows = await (isShort ? this.#db.read : this.#db.scan).all<ShownRow>(sql, values)
    return pageOf(rows, page.limit, (row) => [row.created_at, row.n], present)
  }

  /** One row with its timeline; undefined when the team has no such row. */
  get(teamId: string, id: string): DeliveryRecord | undefined {
    const row = this.#db.read.get<ShownRow & { timeline: string }>(
      `SELECT ${SHOWN}, d.timeline FROM deliveries d JOIN emails e ON e.n = d.email WHERE d.id = ? AND d.team_id = ?`,
      [id, teamId],
    )
    if (row === undefined) return undefined
    // The `accepted` step is derived from the row; the timeline does not store it.
    const accepted: Step = { at: row.created_at, type: 'accepted', detail: 'Accepted.', smtpCode: null, nextAt: null }
    return { ...present(row), timeline: [accepted, ...stepsOf(row.timeline)] }
  }

  /** Dates messages and rows of a wrong clock as of now (ms): they are kept as long as others. */
  async redate(wrong: WrongSpan, now: number): Promise<void> {
    await redateRows(this.#db, { table: 'emails', column: 'queued_at' }, wrong, now)
    await redateRows(this.#db, { table: 'deliveries', column: 'created_at' }, wrong, now)
  }

  /**
   * Deletes messages accepted before `before` (ms) without open deliveries, in batches, so that other writes are not blocked.
   * @returns the number of deleted deliveries
   */
  async prune(before: number): Promise<number> {
    let erased = 0
    let last = 0
    for (;;) {
      // In the order of acceptance, so that recent messages are not read.
      const messages = await this.#db.scan.all<{ n: number; queued_at: number; open_deliveries: number }>(
        'SELECT n, queued_at, open_deliveries FROM emails WHERE n > ? ORDER BY n LIMIT ?',
        [last, PRUNE_BATCH],
      )
      const old = messages.filter((message) => message.queued_at < before)
      const ended = old.filter((message) => message.open_deliveries === 0)
      if (ended.length > 0) erased += await this.#erase(ended.map(({ n }) => n))
      if (old.length === 0 || messages.length < PRUNE_BATCH) return erased
      last = messages.at(-1)!.n
    }
  }

  #erase(messages: readonly number[]): Promise<number> {
    const marks = placeholders(messages)
    return this.#db.write((tx) => {
      this.#eraseHeld(tx, messages)
      tx.run(`DELETE FROM remote_ids WHERE email IN (${marks})`, messages)
      const { changes } = tx.run(`DELETE FROM deliveries WHERE email IN (${marks})`, messages)
      tx.run(`DELETE FROM emails WHERE n IN (${marks})`, messages)
      return changes
    })
  }
}

/** One page of a team's rows. A unary `+` keeps a column from using an index, so that SQLite uses the most selective one. */
export function listStatement(
  teamId: string,
  filter: DeliveryFilter,
  page: { limit: number; after: PageKey | null },
): { sql: string; values: SqlValue[] } {
  const { mailboxId, emailId } = filter
  const conditions: string[] = []
  const values: SqlValue[] = []
  const add = (condition: string, ...given: SqlValue[]) => {
    conditions.push(condition)
    values.push(...given)
  }
  add(mailboxId === undefined && emailId === undefined ? 'd.team_id = ?' : '+d.team_id = ?', teamId)
  if (mailboxId !== undefined) add(emailId === undefined ? 'd.mailbox_id = ?' : '+d.mailbox_id = ?', mailboxId)
  if (emailId !== undefined) add('d.email = (SELECT n FROM emails WHERE id = ?)', emailId)
  if (filter.status !== undefined) add('d.status = ?', filter.status)
  if (filter.providerId !== undefined) add('d.provider_id = ?', filter.providerId)
  if (filter.domain !== undefined) add('d.domain = ?', filter.domain.toLowerCase())
  if (filter.from !== undefined) add('d.created_at >= ?', filter.from)
  if (filter.to !== undefined) add('d.created_at < ?', filter.to)
  if (filter.tag !== undefined) {
    const tagged = tagCondition('e.tags', filter.tag)
    add(tagged.sql, ...tagged.values)
  }
  for (const word of searchWords(filter.search ?? '')) add('instr(d.words, ?) > 0', word)
  if (page.after) add('(d.created_at, d.n) < (?, ?)', page.after[0], page.after[1])
  // CROSS JOIN fixes the join order: deliveries first, then the message of each.
  const sql = `SELECT ${SHOWN} FROM deliveries d CROSS JOIN emails e ON e.n = d.email
    WHERE ${conditions.join(' AND ')} ORDER BY d.created_at DESC, d.n DESC LIMIT ?`
  return { sql, values: [...values, page.limit + 1] }
}

function present(row: ShownRow): DeliveryRow {
  const { n: _n, email: _email, ...delivery } = DELIVERY.record(row)
  return { ...delivery, ...MESSAGE.record(row), emailId: row.email_id, ...labelsOf(row) }
}
