// The inbound log: a row for every recipient of every message that reached a domain of a team (decisions §6.4).

import { newId } from '../base/ids.ts'
import { searchText, searchWords } from '../base/words.ts'
import type { Db, Reader, Row, SqlValue, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import type { AuthResult } from '../mime/message.ts'
import type { Counters } from './metrics/counters.ts'
import type { Counts } from './metrics/tally.ts'

/** `discarded`: the script of the mailbox threw it away, or it came from the null sender and nobody takes it. */
export type InboundStatus = 'stored' | 'junk' | 'refused' | 'deferred' | 'duplicate' | 'discarded'

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
  /** Came to an address for reports and was none. */
  | 'not_a_report'

/** What the log says of one recipient of one message. */
export interface InboundRow {
  id: string
  teamId: string
  mailboxId: string | null
  domain: string
  status: InboundStatus
  reason: InboundReason | null
  /** The sentence the peer was told; longer ones are cut at DETAIL_MAX. */
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

/** With all that was looked at: DNS, signatures, filter rule, spam points, thread. */
export interface InboundRecord extends InboundRow {
  evidence: Record<string, unknown>
}

/** A row to be written; what is left out is not known (yet). */
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

const SHOWN = `n, id, team_id, mailbox_id, domain, status, reason, detail, smtp_reply, mail_from, rcpt_to, header_from,
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

export class InboundLog {
  readonly #db: Db
  readonly #counters: Pick<Counters, 'count'>

  constructor(db: Db, counters: Pick<Counters, 'count'>) {
    this.#db = db
    this.#counters = counters
  }

  /** Writes rows as part of a unit of work, and counts them. */
  async appendMany(tx: Tx, rows: readonly NewInboundRow[]): Promise<void> {
    for (const row of rows) {
      await tx.insert('inbound_log', { id: newId('inboundLog'), ...columnsOf(row) })
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
    const ask = (condition: string, ...asked: SqlValue[]) => {
      conditions.push(condition)
      values.push(...asked)
    }
    ask('team_id = ?', teamId)
    if (filter.mailboxId !== undefined) ask('mailbox_id = ?', filter.mailboxId)
    if (filter.status !== undefined) ask('status = ?', filter.status)
    if (filter.domain !== undefined) ask('domain = ?', filter.domain.toLowerCase())
    if (filter.from !== undefined) ask('created_at >= ?', filter.from)
    if (filter.to !== undefined) ask('created_at < ?', filter.to)
    for (const word of searchWords(filter.search ?? '')) ask('instr(words, ?) > 0', word)
    if (page.after) ask('(created_at, n) < (?, ?)', page.after[0], page.after[1])
    // Whatever is asked beside the team and the mailbox may be true of few rows: then many are looked at.
    const isShort = filter.status === undefined && filter.domain === undefined && !filter.search
    const rows = await (isShort ? this.#db.read : this.#db.scan).all<LogRow>(
      `SELECT ${SHOWN} FROM inbound_log WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, page.limit + 1],
    )
    return pageOf(rows, page.limit, (row) => [row.created_at, row.n], present)
  }

  /** How many rows there are since a time (ms), by status and reason. */
  async counts(since: number): Promise<{ status: string; reason: string | null; count: number }[]> {
    return this.#db.scan.all(
      'SELECT status, reason, count(*) AS count FROM inbound_log WHERE created_at >= ? GROUP BY status, reason',
      [since],
    )
  }

  async get(teamId: string, id: string): Promise<InboundRecord | undefined> {
    const row = await this.#db.read.get<LogRow & { evidence: string }>(
      `SELECT ${SHOWN}, evidence FROM inbound_log WHERE id = ? AND team_id = ?`,
      [id, teamId],
    )
    return row && { ...present(row), evidence: JSON.parse(row.evidence) as Record<string, unknown> }
  }

  /** Erases rows older than `before` (ms), some at a time, so that other writes get their turn. @returns how many */
  async prune(before: number): Promise<number> {
    let erased = 0
    for (;;) {
      const { changes } = await this.#db.write((tx) =>
        tx.run(
          `DELETE FROM inbound_log WHERE n IN
             (SELECT n FROM inbound_log WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
          [before, PRUNE_BATCH],
        ),
      )
      erased += changes
      if (changes < PRUNE_BATCH) return erased
    }
  }
}

/** Decisions §7.2. @returns null for what is not counted: put off it comes again, and a report is no mail to anybody */
function countsOf({ status, messageId, evidence }: NewInboundRow): Partial<Counts> | null {
  if (status === 'junk') return { received_spam: 1 }
  if (status === 'stored' && messageId) return { received: 1 }
  // One row stands for many unknown recipients that were tried from one address.
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

/** When (ms) the newest row was written; null where there is none. */
export async function newestInbound(reader: Reader): Promise<number | null> {
  const sql = 'SELECT created_at AS at FROM inbound_log ORDER BY n DESC LIMIT 1'
  return (await reader.get<{ at: number }>(sql))?.at ?? null
}
