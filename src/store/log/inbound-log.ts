// The inbound log: one row per recipient of every message received for a domain of a team (docs/design/receiving.md §2).

import type { WrongSpan } from '../../base/clock-guard.ts'
import { newId } from '../../base/ids.ts'
import { searchText, searchWords } from '../../base/words.ts'
import type { Db, Reader, Row, SqlValue, Tx } from '../../db/db.ts'
import { DeferredWrites } from '../../db/deferred-writes.ts'
import { insertMany } from '../../db/many-rows.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { redateRows } from '../../db/redate.ts'
import type { AuthResult } from '../../mime/message.ts'
import type { Counters } from './counters.ts'
import type { Counts } from './tally.ts'

/** `forwarded`: without a copy in the mailbox. `discarded`: by the mailbox's script, or a message from the null sender that no recipient accepts. */
export type InboundStatus = 'stored' | 'junk' | 'refused' | 'deferred' | 'duplicate' | 'discarded' | 'forwarded'

/** Why a message was not stored for that recipient. */
export type InboundReason =
  | 'unknown_recipient'
  | 'mailbox_suspended'
  | 'mailbox_full'
  | 'sender_filtered'
  | 'dmarc_reject'
  | 'spam'
  | 'bad_bytes'
  | 'too_large'
  | 'rate_limited'
  | 'temporary_failure'
  /** Sent to a report address, but not a report. */
  | 'not_a_report'

/** The log row of one recipient of one message. */
export interface InboundRow {
  id: string
  teamId: string
  mailboxId: string | null
  domain: string
  status: InboundStatus
  reason: InboundReason | null
  /** Text of the SMTP reply, truncated to DETAIL_MAX. */
  detail: string
  smtpReply: string
  mailFrom: string
  rcptTo: string
  headerFrom: string | null
  subject: string | null
  remoteAddress: string
  remoteName: string | null
  helo: string
  tls: string | null
  sizeBytes: number | null
  authentication: Record<'spf' | 'dkim' | 'dmarc' | 'arc', AuthResult> | null
  spamScore: number | null
  messageId: string | null
  createdAt: number
}

/** A row with its evidence: DNS answers, signatures, filter rule, spam score, thread. */
export interface InboundRecord extends InboundRow {
  evidence: Record<string, unknown>
}

/** A row to insert; members left out are not known (yet). */
export type NewInboundRow = Omit<
  InboundRecord,
  'id' | 'headerFrom' | 'subject' | 'sizeBytes' | 'authentication' | 'spamScore' | 'messageId'
> &
  Partial<Pick<InboundRecord, 'headerFrom' | 'subject' | 'sizeBytes' | 'authentication' | 'spamScore' | 'messageId'>>

export interface InboundFilter {
  status?: InboundStatus
  /** ms, inclusive. */
  from?: number
  /** ms, exclusive. */
  to?: number
  mailboxId?: string
  domain?: string
  /** Words that must all occur in the envelope addresses, From, subject or reason. */
  search?: string
}

export const DETAIL_MAX = 300
const PRUNE_BATCH = 1000

const ROW_COLUMNS = `n, id, team_id, mailbox_id, domain, status, reason, detail, smtp_reply, mail_from, rcpt_to, header_from,
  subject, remote_address, remote_name, helo, tls, size_bytes, authentication, spam_score, message_id, created_at`

interface LogRow {
  n: number
  id: string
  team_id: string
  mailbox_id: string | null
  domain: string
  status: InboundStatus
  reason: InboundReason | null
  detail: string
  smtp_reply: string
  mail_from: string
  rcpt_to: string
  header_from: string | null
  subject: string | null
  remote_address: string
  remote_name: string | null
  helo: string
  tls: string | null
  size_bytes: number | null
  authentication: string | null
  spam_score: number | null
  message_id: string | null
  created_at: number
}

/** See `Tx.atEnd`. */
const ORDER = 0

export class InboundLog {
  readonly #db: Db
  readonly #counters: Pick<Counters, 'count'>
  /** The rows of a transaction are inserted together. */
  readonly #rows = new DeferredWrites<Row>((tx, rows) => insertMany(tx, 'inbound_log', rows), ORDER)

  constructor(db: Db, counters: Pick<Counters, 'count'>) {
    this.#db = db
    this.#counters = counters
  }

  /** Inserts rows as part of a unit of work, and counts them. */
  appendMany(tx: Tx, rows: readonly NewInboundRow[]): void {
    for (const row of rows) {
      this.#rows.add(tx, { id: newId('inboundLog'), ...columnsOf(row) })
      const counts = countsOf(row)
      if (counts === null) continue
      this.#counters.count(tx, {
        ...{ teamId: row.teamId, at: row.createdAt, provider: null, mailboxId: row.mailboxId },
        ...{ domain: row.domain, isOwnDomain: true, recipientDomain: row.domain, reason: row.reason, counts },
      })
    }
  }

  /** The rows of a team, newest first. */
  async list(
    teamId: string,
    filter: InboundFilter,
    page: { limit: number; after: PageKey | null },
  ): Promise<Page<InboundRow>> {
    const conditions: string[] = []
    const values: SqlValue[] = []
    const where = (condition: string, ...operands: SqlValue[]) => {
      conditions.push(condition)
      values.push(...operands)
    }
    where('team_id = ?', teamId)
    if (filter.mailboxId !== undefined) where('mailbox_id = ?', filter.mailboxId)
    if (filter.status !== undefined) where('status = ?', filter.status)
    if (filter.domain !== undefined) where('domain = ?', filter.domain.toLowerCase())
    if (filter.from !== undefined) where('created_at >= ?', filter.from)
    if (filter.to !== undefined) where('created_at < ?', filter.to)
    for (const word of searchWords(filter.search ?? '')) where('instr(words, ?) > 0', word)
    if (page.after) where('(created_at, n) < (?, ?)', page.after[0], page.after[1])
    // Filters other than team, mailbox and time may match few rows and then read many: these queries run on the scan reader.
    const isIndexed = filter.status === undefined && filter.domain === undefined && !filter.search
    const rows = await (isIndexed ? this.#db.read : this.#db.scan).all<LogRow>(
      `SELECT ${ROW_COLUMNS} FROM inbound_log WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, page.limit + 1],
    )
    return pageOf(rows, page.limit, (row) => [row.created_at, row.n], present)
  }

  /** Number of rows since a time (ms), by status and reason. */
  async counts(since: number): Promise<{ status: string; reason: string | null; count: number }[]> {
    return this.#db.scan.all(
      'SELECT status, reason, count(*) AS count FROM inbound_log WHERE created_at >= ? GROUP BY status, reason',
      [since],
    )
  }

  get(teamId: string, id: string): InboundRecord | undefined {
    const row = this.#db.read.get<LogRow & { evidence: string }>(
      `SELECT ${ROW_COLUMNS}, evidence FROM inbound_log WHERE id = ? AND team_id = ?`,
      [id, teamId],
    )
    return row && { ...present(row), evidence: JSON.parse(row.evidence) as Record<string, unknown> }
  }

  /** Dates rows of a wrong clock as of now (ms): they are kept as long as others. */
  redate(wrong: WrongSpan, now: number): Promise<number> {
    return redateRows(this.#db, { table: 'inbound_log', column: 'created_at' }, wrong, now)
  }

  /** Deletes rows older than `before` (ms) in batches, so that other writes are not blocked. @returns how many */
  async prune(before: number): Promise<number> {
    let deleted = 0
    for (;;) {
      const { changes } = await this.#db.write((tx) =>
        tx.run(
          `DELETE FROM inbound_log WHERE n IN
             (SELECT n FROM inbound_log WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
          [before, PRUNE_BATCH],
        ),
      )
      deleted += changes
      if (changes < PRUNE_BATCH) return deleted
    }
  }
}

/** docs/design/sending.md §10. @returns null for rows that are not counted: deferred messages are sent again, and reports have no recipient */
function countsOf({ status, messageId, evidence }: NewInboundRow): Partial<Counts> | null {
  if (status === 'junk') return { received_spam: 1 }
  if (status === 'stored' && messageId) return { received: 1 }
  // One row stands for many unknown recipients tried from one address.
  if (status === 'refused') return { received_blocked: typeof evidence.probes === 'number' ? evidence.probes : 1 }
  return null
}

function columnsOf(row: NewInboundRow): Row {
  const { authentication = null, headerFrom = null, subject = null } = row
  return {
    team_id: row.teamId,
    mailbox_id: row.mailboxId,
    domain: row.domain.toLowerCase(),
    status: row.status,
    reason: row.reason,
    detail: row.detail.slice(0, DETAIL_MAX),
    smtp_reply: row.smtpReply,
    mail_from: row.mailFrom,
    rcpt_to: row.rcptTo,
    header_from: headerFrom,
    subject,
    remote_address: row.remoteAddress,
    remote_name: row.remoteName,
    helo: row.helo,
    tls: row.tls,
    size_bytes: row.sizeBytes,
    authentication: authentication && JSON.stringify(authentication),
    spam_score: row.spamScore,
    message_id: row.messageId,
    words: searchText([row.mailFrom, row.rcptTo, headerFrom, row.reason, subject]),
    evidence: JSON.stringify(row.evidence),
    created_at: row.createdAt,
  }
}

function present(row: LogRow): InboundRow {
  return {
    id: row.id,
    teamId: row.team_id,
    mailboxId: row.mailbox_id,
    domain: row.domain,
    status: row.status,
    reason: row.reason,
    detail: row.detail,
    smtpReply: row.smtp_reply,
    mailFrom: row.mail_from,
    rcptTo: row.rcpt_to,
    headerFrom: row.header_from,
    subject: row.subject,
    remoteAddress: row.remote_address,
    remoteName: row.remote_name,
    helo: row.helo,
    tls: row.tls,
    sizeBytes: row.size_bytes,
    authentication:
      row.authentication === null ? null : (JSON.parse(row.authentication) as InboundRow['authentication']),
    spamScore: row.spam_score,
    messageId: row.message_id,
    createdAt: row.created_at,
  }
}

/** When the newest row was written, ms; null if there is none. */
export function newestInbound(reader: Reader): number | null {
  const sql = 'SELECT created_at AS at FROM inbound_log ORDER BY n DESC LIMIT 1'
  return reader.get<{ at: number }>(sql)?.at ?? null
}
