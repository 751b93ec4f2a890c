// The inbound log: one row for each recipient of each mail that reached a team, whatever became of it.

import { newId } from '../base/ids.ts'
import type { Db, SqlValue, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import type { AuthResult } from '../mail/mail.ts'

export type InboundStatus = 'stored' | 'junk' | 'refused' | 'deferred' | 'duplicate'

/** Reason codes of decisions §6.4. */
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

export interface InboundAuthentication {
  spf: AuthResult
  dkim: AuthResult
  dmarc: AuthResult
  arc: AuthResult
}

/** One outcome; what is null was not known yet when it was decided. */
export interface InboundRow {
  id: string
  status: InboundStatus
  reason: InboundReason | null
  /** The sentence the peer was told. */
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
  authentication: InboundAuthentication | null
  spamScore: number | null
  mailboxId: string | null
  messageId: string | null
  createdAt: number
}

type Unknown = 'headerFrom' | 'subject' | 'sizeBytes' | 'authentication' | 'spamScore' | 'messageId'

/** A row before it is written: facts that only the content tells may be left out. */
export type NewInboundRow = Omit<InboundRow, 'id' | Unknown> &
  Partial<Pick<InboundRow, Unknown>> & { teamId: string; domain: string; evidence: Record<string, unknown> }

export interface InboundFilter {
  status?: InboundStatus
  /** ms, inclusive. */
  from?: number
  /** ms, exclusive. */
  to?: number
  mailboxId?: string
  domain?: string
  /** Words, all of which must occur in the envelope, From, subject or reason. */
  search?: string
}

const DETAIL_MAX = 300
const EVIDENCE_MAX = 65_536
const SEARCH_WORDS_MAX = 16
const PRUNE_BATCH = 2000
const SEARCHED =
  "mail_from || ' ' || rcpt_to || ' ' || coalesce(header_from, '') || ' ' || coalesce(subject, '') || ' ' || coalesce(reason, '')"

export class InboundLog {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Writes rows as part of a unit of work. @returns their ids, in order */
  async appendMany(tx: Tx, rows: readonly NewInboundRow[]): Promise<string[]> {
    const ids: string[] = []
    for (const row of rows) {
      const id = newId('inboundLog')
      await tx.insert('inbound_log', { id, ...columnsOf(row) })
      ids.push(id)
    }
    return ids
  }

  /** Newest first. */
  async list(
    teamId: string,
    filter: InboundFilter,
    page: { limit: number; after: PageKey | null },
  ): Promise<Page<InboundRow>> {
    const { where, values } = conditions(teamId, filter)
    if (page.after !== null) {
      where.push('(created_at, n) < (?, ?)')
      values.push(...page.after)
    }
    // A rare status or a word may be far down: such a list looks at many rows.
    const reader =
      filter.search === undefined && filter.status === undefined && filter.domain === undefined
        ? this.#db.read
        : this.#db.scan
    const rows = await reader.all<LogRow>(
      `SELECT * FROM inbound_log WHERE ${where.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, page.limit + 1],
    )
    return pageOf(rows, page.limit, (row) => [row.created_at, row.n], present)
  }

  async get(teamId: string, id: string): Promise<(InboundRow & { evidence: Record<string, unknown> }) | undefined> {
    const row = await this.#db.read.get<LogRow>('SELECT * FROM inbound_log WHERE id = ? AND team_id = ?', [id, teamId])
    return row && { ...present(row), evidence: JSON.parse(row.evidence) as Record<string, unknown> }
  }

  /** Erases rows older than `before` (ms), in small units of work. @returns how many */
  async prune(before: number): Promise<number> {
    for (let erased = 0; ; ) {
      const { changes } = await this.#db.write((tx) =>
        tx.run('DELETE FROM inbound_log WHERE n IN (SELECT n FROM inbound_log WHERE created_at < ? LIMIT ?)', [
          before,
          PRUNE_BATCH,
        ]),
      )
      erased += changes
      if (changes < PRUNE_BATCH) return erased
    }
  }
}

interface LogRow {
  n: number
  id: string
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
  mailbox_id: string | null
  message_id: string | null
  evidence: string
  created_at: number
}

function columnsOf(row: NewInboundRow): Record<string, SqlValue> {
  return {
    team_id: row.teamId,
    mailbox_id: row.mailboxId,
    domain: row.domain,
    status: row.status,
    reason: row.reason,
    detail: row.detail.slice(0, DETAIL_MAX),
    smtp_reply: row.smtpReply,
    mail_from: row.mailFrom,
    rcpt_to: row.rcptTo,
    header_from: row.headerFrom,
    subject: row.subject,
    remote_address: row.remoteAddress,
    remote_name: row.remoteName,
    helo: row.helo,
    tls: row.tls,
    size_bytes: row.sizeBytes,
    authentication: row.authentication ? JSON.stringify(row.authentication) : null,
    spam_score: row.spamScore,
    message_id: row.messageId,
    evidence: evidenceText(row.evidence),
    created_at: row.createdAt,
  }
}

// Every part is bounded where it is made; a sum that is still too large loses what was asked of DNS first.
function evidenceText(evidence: Record<string, unknown>): string {
  const whole = JSON.stringify(evidence)
  if (whole.length <= EVIDENCE_MAX) return whole
  const shorter = JSON.stringify({ ...evidence, dns: [] })
  return shorter.length <= EVIDENCE_MAX ? shorter : '{}'
}

function conditions(teamId: string, filter: InboundFilter): { where: string[]; values: SqlValue[] } {
  const where = ['team_id = ?']
  const values: SqlValue[] = [teamId]
  const add = (condition: string, value: SqlValue) => {
    where.push(condition)
    values.push(value)
  }
  if (filter.status !== undefined) add('status = ?', filter.status)
  if (filter.from !== undefined) add('created_at >= ?', filter.from)
  if (filter.to !== undefined) add('created_at < ?', filter.to)
  if (filter.mailboxId !== undefined) add('mailbox_id = ?', filter.mailboxId)
  if (filter.domain !== undefined) add('domain = ?', filter.domain.toLowerCase())
  const words =
    filter.search
      ?.toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '') ?? []
  for (const word of words.slice(0, SEARCH_WORDS_MAX)) add(`instr(lower(${SEARCHED}), ?) > 0`, word)
  return { where, values }
}

function present(row: LogRow): InboundRow {
  return {
    id: row.id,
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
    authentication: row.authentication === null ? null : (JSON.parse(row.authentication) as InboundAuthentication),
    spamScore: row.spam_score,
    mailboxId: row.mailbox_id,
    messageId: row.message_id,
    createdAt: row.created_at,
  }
}
