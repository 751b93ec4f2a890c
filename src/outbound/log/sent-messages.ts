// Reads the messages a team has sent: one row for each message, whatever the number of its recipients.

import { searchWords } from '../../base/words.ts'
import type { Db } from '../../db/db.ts'
import { type PageKey, pageOf } from '../../db/page.ts'
import { placeholders, Where } from '../../db/sql-text.ts'
import type { RowOf } from '../../db/table.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { type Labels, labelsOf, type TagFilter, tagCondition } from '../model/message-labels.ts'
import { DELIVERIES, type Delivery, EMAILS, type Email, type Page } from '../model/records.ts'
import { type SubmissionStatus, submissionStatus } from '../model/submission-status.ts'
import { emailOf } from './rows.ts'
import { type Step, stepsOf } from './timeline.ts'

export interface SentMessage extends Omit<Email, 'n' | 'scope' | 'expiresAt'> {
  labels: Labels
  /** Earliest time of the first attempt, ms. */
  sendAt: number
  canceledAt: number | null
  status: SubmissionStatus
  /** Recipients by the status of their delivery. */
  counts: Record<'pending' | 'sent' | 'failed' | 'rejected', number>
}

export interface RecipientOutcome extends Omit<Delivery, 'n' | 'email'> {
  timeline: Step[]
}

export interface SentMessageDetail extends SentMessage {
  recipients: RecipientOutcome[]
}

export interface SentMessageFilter {
  /** ms, inclusive, when it was accepted. */
  from?: number
  /** ms, exclusive. */
  to?: number
  mailboxId?: string
  tag?: TagFilter
  status?: SubmissionStatus
  /** Words of the subject, the sender or a recipient. */
  search?: string
  /** A member of the metadata and its value. */
  metadata?: { name: string; value: string }
  /** Without angle brackets. */
  internetMessageId?: string
}

const PENDING = `EXISTS (SELECT 1 FROM deliveries d WHERE d.email = emails.n AND d.status = 'pending')`
const TRIED = 'EXISTS (SELECT 1 FROM deliveries d WHERE d.email = emails.n AND d.attempts > 0)'
const SOME_SENT = `EXISTS (SELECT 1 FROM deliveries d WHERE d.email = emails.n AND d.status = 'sent')`
const SOME_UNSENT = `EXISTS (SELECT 1 FROM deliveries d WHERE d.email = emails.n AND d.status <> 'sent')`
const HELD = `EXISTS (SELECT 1 FROM deliveries d WHERE d.email = emails.n AND d.status = 'pending' AND d.status_reason LIKE 'held:%')`
const DONE = `canceled_at IS NULL AND NOT ${PENDING}`

/** What `submissionStatus` derives from the deliveries, as conditions; those of messages that wait have a time. */
const HAVE_STATUS: Readonly<Record<SubmissionStatus, string>> = {
  canceled: 'canceled_at IS NOT NULL',
  held: `canceled_at IS NULL AND ${HELD}`,
  sending: `canceled_at IS NULL AND ${PENDING} AND ${TRIED}`,
  scheduled: `canceled_at IS NULL AND ${PENDING} AND NOT ${TRIED} AND NOT ${HELD} AND coalesce(send_at, queued_at) > ?`,
  queued: `canceled_at IS NULL AND ${PENDING} AND NOT ${TRIED} AND NOT ${HELD} AND coalesce(send_at, queued_at) <= ?`,
  sent: `${DONE} AND ${SOME_SENT} AND NOT ${SOME_UNSENT}`,
  partially_sent: `${DONE} AND ${SOME_SENT} AND ${SOME_UNSENT}`,
  failed: `${DONE} AND NOT ${SOME_SENT}`,
}

const SENT = EMAILS.and('tags', 'metadata', 'send_at', 'canceled_at')
type Row = RowOf<typeof SENT>
/** What the status of a message is derived from. */
const PROGRESS = DELIVERIES.only('email', 'status', 'status_reason', 'attempts')
type DeliveryProgress = Pick<Delivery, 'status' | 'statusReason' | 'attempts'>
const WITH_TIMELINE = DELIVERIES.and('timeline')

export class SentMessages {
  readonly #deps: Pick<OutboundDeps, 'db' | 'trustedClock'>
  readonly #db: Db

  constructor(deps: Pick<OutboundDeps, 'db' | 'trustedClock'>) {
    this.#deps = deps
    this.#db = deps.db
  }

  /** Newest first; without messages of the appliance itself. */
  async list(
    teamId: string,
    filter: SentMessageFilter,
    { limit, after }: { limit: number; after: PageKey | null },
  ): Promise<Page<SentMessage>> {
    const where = new Where().add('team_id = ?', teamId).add(`source <> 'system'`)
    if (filter.from !== undefined) where.add('queued_at >= ?', filter.from)
    if (filter.to !== undefined) where.add('queued_at < ?', filter.to)
    if (filter.mailboxId !== undefined) where.add('mailbox_id = ?', filter.mailboxId)
    if (filter.tag !== undefined) {
      const { sql, values } = tagCondition('tags', filter.tag)
      where.add(sql, ...values)
    }
    this.#addContent(where, filter)
    if (after !== null) where.add('(queued_at, n) < (?, ?)', ...after)
    // These filters may match few messages, so that the query examines many.
    const { mailboxId, tag, status, search, metadata, internetMessageId } = filter
    const isShort = [mailboxId, tag, status, search, metadata, internetMessageId].every((one) => one === undefined)
    const rows = await (isShort ? this.#db.read : this.#db.scan).all<Row>(
      `SELECT ${SENT.columns} FROM emails WHERE ${where.sql} ORDER BY queued_at DESC, n DESC LIMIT ?`,
      [...where.values, limit + 1],
    )
    const deliveries = this.#deliveriesOf(rows.map(({ n }) => n))
    return pageOf(
      rows,
      limit,
      (row) => [row.queued_at, row.n],
      (row) => this.#present(row, deliveries.get(row.n) ?? []),
    )
  }

  #addContent(where: Where, { status, search, metadata, internetMessageId }: SentMessageFilter): void {
    if (status !== undefined) {
      const isWaiting = status === 'scheduled' || status === 'queued'
      where.add(HAVE_STATUS[status], ...(isWaiting ? [this.#deps.trustedClock.now()] : []))
    }
    for (const word of searchWords(search ?? '')) {
      where.add('EXISTS (SELECT 1 FROM deliveries d WHERE d.email = emails.n AND instr(d.words, ?) > 0)', word)
    }
    if (metadata !== undefined) {
      const path = `$."${metadata.name.replaceAll('"', '')}"`
      where.add('CAST(json_extract(metadata, ?) AS TEXT) = ?', path, metadata.value)
    }
    if (internetMessageId !== undefined) where.add('internet_message_id = ?', internetMessageId)
  }

  /** A message with all its recipients; undefined when the team has no such message. */
  get(teamId: string, id: string): SentMessageDetail | undefined {
    const row = this.#db.read.get<Row>(
      `SELECT ${SENT.columns} FROM emails WHERE id = ? AND team_id = ? AND source <> 'system'`,
      [id, teamId],
    )
    if (row === undefined) return undefined
    const deliveries = WITH_TIMELINE.all(this.#db.read, 'WHERE email = ? ORDER BY n', [row.n])
    const recipients = deliveries.map(({ n: _n, email: _email, timeline, ...delivery }) => {
      // The timeline does not store the step of acceptance.
      const accepted = {
        at: delivery.createdAt,
        type: 'accepted',
        detail: 'Accepted.',
        smtpCode: null,
        nextAt: null,
      } as const
      return { ...delivery, timeline: [accepted, ...stepsOf(timeline)] }
    })
    return { ...this.#present(row, deliveries), recipients }
  }

  #deliveriesOf(emails: readonly number[]): Map<number, DeliveryProgress[]> {
    const found = new Map<number, DeliveryProgress[]>()
    if (emails.length === 0) return found
    const rows = PROGRESS.all(this.#db.read, `WHERE email IN (${placeholders(emails)})`, emails)
    for (const row of rows) {
      const known = found.get(row.email)
      if (known === undefined) found.set(row.email, [row])
      else known.push(row)
    }
    return found
  }

  #present(row: Row, deliveries: readonly DeliveryProgress[]): SentMessage {
    const { n: _n, scope: _scope, expiresAt: _expiresAt, ...email } = emailOf(row)
    const counts = { pending: 0, sent: 0, failed: 0, rejected: 0 }
    for (const { status } of deliveries) counts[status]++
    const sendAt = row.send_at ?? row.queued_at
    const status = submissionStatus({ sendAt, canceledAt: row.canceled_at }, deliveries, this.#deps.trustedClock.now())
    return { ...email, labels: labelsOf(row), sendAt, canceledAt: row.canceled_at, status, counts }
  }
}
