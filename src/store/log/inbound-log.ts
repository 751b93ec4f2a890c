// The inbound log: one row per recipient of every message received for a domain of a team (docs/design/receiving.md §2).

import type { WrongSpan } from '../../base/clock-guard.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { newId } from '../../base/ids.ts'
import { searchText, searchWords } from '../../base/words.ts'
import type { Db, Reader, SqlValue, Tx } from '../../db/db.ts'
import { DeferredWrites } from '../../db/deferred-writes.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { redateRows } from '../../db/redate.ts'
import {
  type InsertOf,
  integer,
  json,
  key,
  type RecordOf,
  type RowOf,
  real,
  table,
  text,
  time,
} from '../../db/table.ts'
import type { AuthResult } from '../../mime/message.ts'
import type { Counters } from './counters.ts'
import type { Counts } from './tally.ts'

/** `forwarded`: without a copy in the mailbox. `discarded`: by the mailbox's script, or a message from the null sender that no recipient accepts. */
export type InboundStatus = 'stored' | 'junk' | 'refused' | 'deferred' | 'duplicate' | 'discarded' | 'forwarded'

/** Why a message was not stored for that recipient. */
export type InboundReason =
  | 'unknown_recipient'
  | 'mailbox_suspended'
  /** A throw-away address that is paused. */
  | 'address_paused'
  | 'mailbox_full'
  | 'sender_filtered'
  | 'script_refused'
  | 'dmarc_reject'
  | 'spam'
  | 'bad_bytes'
  | 'too_large'
  | 'rate_limited'
  | 'temporary_failure'
  /** Sent to a report address, but not a report. */
  | 'not_a_report'

export const INBOUND_LOG = table('inbound_log', {
  n: key().hidden(),
  id: text(),
  team_id: text(),
  mailbox_id: text().orNull(),
  /** Lower-case. */
  domain: text(),
  status: text<InboundStatus>(),
  reason: text<InboundReason>().orNull(),
  /** Text of the SMTP reply, truncated to DETAIL_MAX. */
  detail: text(),
  smtp_reply: text(),
  mail_from: text(),
  rcpt_to: text(),
  header_from: text().orNull(),
  subject: text().orNull(),
  remote_address: text(),
  remote_name: text().orNull(),
  helo: text(),
  tls: text().orNull(),
  size_bytes: integer().orNull(),
  authentication: json<Record<'spf' | 'dkim' | 'dmarc' | 'arc', AuthResult>>().orNull(),
  spam_score: real().orNull(),
  message_id: text().orNull(),
  /** The text that a search looks in. */
  words: text().hidden(),
  /** DNS answers, signatures, filter rule, spam score, thread. */
  evidence: json<Record<string, unknown>>().hidden(),
  created_at: time(),
})
const WITH_EVIDENCE = INBOUND_LOG.and('evidence')

/** The log row of one recipient of one message. */
export type InboundRow = RecordOf<typeof INBOUND_LOG>
export type InboundRecord = RecordOf<typeof WITH_EVIDENCE>

/** A row to insert; members left out are not known (yet). */
export type NewInboundRow = Omit<InsertOf<typeof INBOUND_LOG>, 'id' | 'words'>

export interface InboundFilter {
  status?: InboundStatus
  /** ms, inclusive. */
  from?: number
  /** ms, exclusive. */
  to?: number
  mailboxId?: string
  domain?: string
  reason?: InboundReason
  /** Name of a test of the spam score that counted. */
  spamReason?: string
  /** Words that must all occur in the envelope addresses, From, subject or reason. */
  search?: string
}

/** See `InboundLog.spamFigures`. */
export interface SpamFigures {
  totals: { status: InboundStatus; reason: InboundReason | null; messages: number }[]
  /** Names of tests that spoke against messages in Junk. */
  reasons: { reason: string; messages: number }[]
  /** Domains of the authors of messages in Junk, as they claim. */
  senders: { domain: string; messages: number }[]
}

export const DETAIL_MAX = 300
const PRUNE_BATCH = 1000
/** A row is written when the outcome is known: so long before the message counts as received, and behind it, ms. */
const OUTCOME_BEFORE_MS = MINUTE_MS
const OUTCOME_BEHIND_MS = 10 * MINUTE_MS

/** See `Tx.atEnd`. */
const ORDER = 0

export class InboundLog {
  readonly #db: Db
  readonly #counters: Pick<Counters, 'count'>
  /** The rows of a transaction are inserted together. */
  readonly #rows = new DeferredWrites<InsertOf<typeof INBOUND_LOG>>(
    (tx, rows) => INBOUND_LOG.insertAll(tx, rows),
    ORDER,
  )

  constructor(db: Db, counters: Pick<Counters, 'count'>) {
    this.#db = db
    this.#counters = counters
  }

  /** Inserts rows as part of a unit of work, and counts them. */
  appendMany(tx: Tx, rows: readonly NewInboundRow[]): void {
    for (const row of rows) {
      this.#rows.add(tx, {
        ...row,
        id: newId('inboundLog'),
        domain: row.domain.toLowerCase(),
        detail: row.detail.slice(0, DETAIL_MAX),
        words: searchText([row.mailFrom, row.rcptTo, row.headerFrom, row.reason, row.subject]),
      })
      const counts = countsOf(row)
      if (counts === null) continue
      this.#counters.count(tx, {
        ...{ teamId: row.teamId, at: row.createdAt, provider: null, mailboxId: row.mailboxId ?? null },
        ...{ domain: row.domain, isOwnDomain: true, recipientDomain: row.domain, reason: row.reason ?? null, counts },
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
    if (filter.reason !== undefined) where('reason = ?', filter.reason)
    if (filter.spamReason !== undefined)
      where('instr(evidence, ?) > 0', `{"reason":${JSON.stringify(filter.spamReason)},`)
    if (filter.from !== undefined) where('created_at >= ?', filter.from)
    if (filter.to !== undefined) where('created_at < ?', filter.to)
    for (const word of searchWords(filter.search ?? '')) where('instr(words, ?) > 0', word)
    if (page.after) where('(created_at, n) < (?, ?)', page.after[0], page.after[1])
    // Filters other than team, mailbox and time may match few rows and then read many: these queries run on the scan reader.
    const { status, domain, reason, spamReason, search } = filter
    const isIndexed = [status, domain, reason, spamReason].every((value) => value === undefined) && !search
    const rows = await (isIndexed ? this.#db.read : this.#db.scan).all<RowOf<typeof INBOUND_LOG> & { n: number }>(
      `SELECT n, ${INBOUND_LOG.columns} FROM inbound_log WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, page.limit + 1],
    )
    return pageOf(rows, page.limit, (row) => [row.created_at, row.n], INBOUND_LOG.record)
  }

  /** Number of rows since a time (ms), by status and reason. */
  async counts(since: number): Promise<{ status: string; reason: string | null; count: number }[]> {
    return this.#db.scan.all(
      'SELECT status, reason, count(*) AS count FROM inbound_log WHERE created_at >= ? GROUP BY status, reason',
      [since],
    )
  }

  /** What the spam filter did with messages to a team since a time (ms): numbers of messages, the most frequent reasons and senders first. */
  async spamFigures(teamId: string, since: number, limit: number): Promise<SpamFigures> {
    const { scan } = this.#db
    const ofTeam = 'WHERE team_id = ? AND created_at >= ?'
    const spam = `${ofTeam} AND status = 'junk'`
    const [totals, reasons, senders] = await Promise.all([
      scan.all<{ status: InboundStatus; reason: InboundReason | null; messages: number }>(
        `SELECT status, reason, count(*) AS messages FROM inbound_log ${ofTeam} GROUP BY status, reason`,
        [teamId, since],
      ),
      scan.all<{ reason: string; messages: number }>(
        `SELECT json_extract(part.value, '$.reason') AS reason, count(*) AS messages
         FROM inbound_log, json_each(evidence, '$.spam') AS part ${spam} AND json_extract(part.value, '$.points') > 0
         GROUP BY 1 ORDER BY messages DESC, 1 LIMIT ?`,
        [teamId, since, limit],
      ),
      scan.all<{ domain: string; messages: number }>(
        `SELECT lower(substr(header_from, instr(header_from, '@') + 1)) AS domain, count(*) AS messages
         FROM inbound_log ${spam} AND header_from <> '' GROUP BY 1 ORDER BY messages DESC, 1 LIMIT ?`,
        [teamId, since, limit],
      ),
    ])
    return { totals, reasons, senders }
  }

  get(teamId: string, id: string): InboundRecord | undefined {
    const row = this.#db.read.get<RowOf<typeof WITH_EVIDENCE>>(
      `SELECT ${WITH_EVIDENCE.columns} FROM inbound_log WHERE id = ? AND team_id = ?`,
      [id, teamId],
    )
    return row && WITH_EVIDENCE.record(row)
  }

  /** The row of a message in a mailbox, while it is kept. @param receivedAt of the message, ms */
  ofMessage(mailboxId: string, messageId: string, receivedAt: number): InboundRecord | undefined {
    const row = this.#db.read.get<RowOf<typeof WITH_EVIDENCE>>(
      `SELECT ${WITH_EVIDENCE.columns} FROM inbound_log
       WHERE mailbox_id = ? AND created_at BETWEEN ? AND ? AND message_id = ? ORDER BY created_at DESC LIMIT 1`,
      [mailboxId, receivedAt - OUTCOME_BEFORE_MS, receivedAt + OUTCOME_BEHIND_MS, messageId],
    )
    return row && WITH_EVIDENCE.record(row)
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

/** When the newest row was written, ms; null if there is none. */
export function newestInbound(reader: Reader): number | null {
  const sql = 'SELECT created_at AS at FROM inbound_log ORDER BY n DESC LIMIT 1'
  return reader.get<{ at: number }>(sql)?.at ?? null
}
