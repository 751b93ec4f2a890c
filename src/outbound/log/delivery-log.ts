// The delivery log as it is read: a row for every recipient of every mail that was accepted (decisions §6.1).

import { searchWords } from '../../base/words.ts'
import type { Db, SqlValue } from '../../db/db.ts'
import { type PageKey, pageOf } from '../../db/page.ts'
import type { OutboundParts } from '../parts.ts'
import type { Delivery, DeliveryStatus, Page } from '../records.ts'
import { DELIVERY_COLUMNS, type DeliveryColumns, presentDelivery } from './rows.ts'
import { type Step, stepsOf } from './timeline.ts'

export type { Step } from './timeline.ts'

/** What the log says of one mail to one recipient. */
export interface DeliveryRow extends Omit<Delivery, 'n' | 'email'> {
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
  /** Words that must all occur in the addresses, the subject or the id of the mail. */
  search?: string
}

interface ShownRow extends DeliveryColumns {
  email_id: string
  mailbox_id: string | null
  from_email: string
  subject: string
  size_bytes: number
  timeline: string
}

const SHOWN = `${DELIVERY_COLUMNS}, d.mailbox_id, d.timeline, e.id AS email_id, e.from_email, e.subject, e.size_bytes`
const PRUNE_BATCH = 1000

export class DeliveryLog {
  readonly #db: Db

  constructor({ db }: Pick<OutboundParts, 'db'>) {
    this.#db = db
  }

  /** The rows of a team, newest first. */
  async list(
    teamId: string,
    filter: DeliveryFilter,
    page: { limit: number; after: PageKey | null },
  ): Promise<Page<DeliveryRow>> {
    const conditions: string[] = []
    const values: SqlValue[] = []
    const ask = (condition: string, ...asked: SqlValue[]) => {
      conditions.push(condition)
      values.push(...asked)
    }
    ask('d.team_id = ?', teamId)
    if (filter.mailboxId !== undefined) ask('d.mailbox_id = ?', filter.mailboxId)
    if (filter.emailId !== undefined) ask('d.email = (SELECT n FROM emails WHERE id = ?)', filter.emailId)
    if (filter.status !== undefined) ask('d.status = ?', filter.status)
    if (filter.providerId !== undefined) ask('d.provider_id = ?', filter.providerId)
    if (filter.domain !== undefined) ask('d.domain = ?', filter.domain.toLowerCase())
    if (filter.from !== undefined) ask('d.created_at >= ?', filter.from)
    if (filter.to !== undefined) ask('d.created_at < ?', filter.to)
    for (const word of searchWords(filter.search ?? '')) ask('instr(d.words, ?) > 0', word)
    if (page.after) ask('(d.created_at, d.n) < (?, ?)', page.after[0], page.after[1])
    // Whatever is asked beside the team, the mailbox and the mail may be true of few rows: then many are looked at.
    const isShort = [filter.status, filter.providerId, filter.domain, filter.search].every((one) => one === undefined)
    const rows = await (isShort ? this.#db.read : this.#db.scan).all<ShownRow>(
      `SELECT ${SHOWN} FROM deliveries d JOIN emails e ON e.n = d.email WHERE ${conditions.join(' AND ')}
       ORDER BY d.created_at DESC, d.n DESC LIMIT ?`,
      [...values, page.limit + 1],
    )
    return pageOf(rows, page.limit, (row) => [row.created_at, row.n], present)
  }

  /** One row with its timeline; undefined when it is not the team's. */
  async get(teamId: string, id: string): Promise<DeliveryRecord | undefined> {
    const row = await this.#db.read.get<ShownRow>(
      `SELECT ${SHOWN} FROM deliveries d JOIN emails e ON e.n = d.email WHERE d.id = ? AND d.team_id = ?`,
      [id, teamId],
    )
    if (row === undefined) return undefined
    // That it was accepted is told by the row itself, not by a line of its own.
    const accepted: Step = { at: row.created_at, type: 'accepted', detail: 'Accepted.', smtpCode: null, nextAt: null }
    return { ...present(row), timeline: [accepted, ...stepsOf(row.timeline)] }
  }

  /** Erases what was accepted before `before` (ms) and has ended. @returns how many rows */
  async prune(before: number): Promise<number> {
    let erased = 0
    for (;;) {
      const { changes } = await this.#db.write(async (tx) => {
        const rows = await tx.all<{ n: number }>(
          'SELECT n FROM emails WHERE queued_at < ? AND open_deliveries = 0 ORDER BY n LIMIT ?',
          [before, PRUNE_BATCH],
        )
        const ns = rows.map(({ n }) => n)
        const marks = ns.map(() => '?').join(', ')
        await tx.run(`DELETE FROM remote_ids WHERE email IN (${marks})`, ns)
        const deleted = await tx.run(`DELETE FROM deliveries WHERE email IN (${marks})`, ns)
        await tx.run(`DELETE FROM emails WHERE n IN (${marks})`, ns)
        return { changes: ns.length, deliveries: deleted.changes }
      })
      erased += changes
      if (changes < PRUNE_BATCH) return erased
    }
  }
}

function present(row: ShownRow): DeliveryRow {
  const { n: _n, email: _email, ...delivery } = presentDelivery(row)
  return {
    ...delivery,
    emailId: row.email_id,
    mailboxId: row.mailbox_id,
    fromEmail: row.from_email,
    subject: row.subject,
    sizeBytes: row.size_bytes,
  }
}
