// The suppression list of a team: addresses that bounced hard or complained, or were added by hand (docs/design/sending.md §8).

import type { Clock } from '../../base/clock.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type PageKey, pageOf } from '../../db/page.ts'
import { placeholders, Where } from '../../db/sql-text.ts'
import { key, type RecordOf, type RowOf, table, text, time } from '../../db/table.ts'
import { SYSTEM_TEAM_ID } from '../../directory/keys/teams.ts'
import { parseMailbox } from '../../mime/address.ts'
import { clean } from '../../mime/one-line.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Page } from '../model/records.ts'

export type SuppressionReason = 'bounce' | 'complaint' | 'manual'

export const SUPPRESSIONS = table('suppressions', {
  n: key().hidden(),
  id: text(),
  team_id: text(),
  /** Lower-case. */
  email: text(),
  reason: text<SuppressionReason>(),
  note: text().orNull(),
  /** `eml_…` of the message that caused it. */
  source_message_id: text().orNull(),
  created_at: time(),
})
export type Suppression = RecordOf<typeof SUPPRESSIONS>

export interface NewSuppression {
  teamId: string
  /** Upper or lower case. */
  email: string
  reason: SuppressionReason
  sourceMessageId: string | null
  note: string | null
}

export interface SuppressionFilter {
  reason?: SuppressionReason
  /** Substring of the address. */
  search?: string
  limit: number
  after: PageKey | null
}

/** Maximum length of a note. Characters. */
export const NOTE_MAX = 500
/** Addresses looked up in one statement. */
const LOOKUP_BATCH = 500

export class Suppressions {
  readonly #db: Db
  readonly #clock: Clock

  constructor({ db, clock }: Pick<OutboundDeps, 'db' | 'clock'>) {
    this.#db = db
    this.#clock = clock
  }

  /** Filters the addresses to the suppressed ones, in lower case. Reads by index. */
  of(reader: Reader, teamId: string, emails: readonly string[]): Set<string> {
    const found = new Set<string>()
    for (let at = 0; at < emails.length; at += LOOKUP_BATCH) {
      const batch = emails.slice(at, at + LOOKUP_BATCH).map(stored)
      const marks = placeholders(batch)
      const rows = reader.all<{ email: string }>(
        `SELECT email FROM suppressions WHERE team_id = ? AND email IN (${marks})`,
        [teamId, ...batch],
      )
      for (const { email } of rows) found.add(email)
    }
    return found
  }

  /** True when messages of the appliance itself to the address are suppressed. */
  stopsOwnMail(email: string): boolean {
    return this.of(this.#db.read, SYSTEM_TEAM_ID, [email]).size > 0
  }

  /** Adds an entry in a unit of work; an existing entry is unchanged. @returns true when it is new */
  add(tx: Tx, suppression: NewSuppression): boolean {
    const { teamId, email, reason, sourceMessageId, note } = suppression
    const { changes } = tx.run(
      `INSERT INTO suppressions (id, team_id, email, reason, note, source_message_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      [
        newId('suppression'),
        teamId,
        stored(email),
        reason,
        note === null ? null : clean(note, NOTE_MAX),
        sourceMessageId,
        this.#clock.now(),
      ],
    )
    return changes > 0
  }

  /** Adds an entry by hand; an existing entry is unchanged. @throws ProductError validation_error */
  async create(teamId: string, email: string, note: string | null): Promise<{ record: Suppression; created: boolean }> {
    const mailbox = parseMailbox(email)
    if (mailbox === null) throw invalid('email', 'invalid_format', 'The address is not a valid e-mail address.')
    return this.#db.write((tx) => {
      const entry = { teamId, email: mailbox.email, reason: 'manual', sourceMessageId: null, note } as const
      const created = this.add(tx, entry)
      return { record: suppressionOf(tx, teamId, mailbox.email)!, created }
    })
  }

  /**
   * Adds entries by hand in one unit of work; existing ones are unchanged.
   * @returns for each whether it was added, was there already, or is no valid address
   */
  async createAll(
    teamId: string,
    entries: readonly { email: string; note: string | null }[],
  ): Promise<('added' | 'known' | 'invalid')[]> {
    const suppressions = this
    return this.#db.writeInSteps(function* (tx) {
      const results: ('added' | 'known' | 'invalid')[] = []
      for (const { email, note } of entries) {
        const mailbox = parseMailbox(email)
        if (mailbox === null) results.push('invalid')
        else {
          const entry = { teamId, email: mailbox.email, reason: 'manual', sourceMessageId: null, note } as const
          results.push(suppressions.add(tx, entry) ? 'added' : 'known')
        }
        yield
      }
      return results
    })
  }

  /** The entry of an address; undefined when it is not suppressed or is no address. */
  ofAddress(teamId: string, email: string): Suppression | undefined {
    const mailbox = parseMailbox(email)
    return mailbox === null ? undefined : suppressionOf(this.#db.read, teamId, mailbox.email)
  }

  /** Newest first. */
  async list(teamId: string, filter: SuppressionFilter): Promise<Page<Suppression>> {
    const where = new Where().add('team_id = ?', teamId)
    if (filter.reason !== undefined) where.add('reason = ?', filter.reason)
    if (filter.search !== undefined) where.add('instr(email, ?) > 0', stored(filter.search))
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    // A filter may match few rows, so that the query scans many.
    const isShort = filter.reason === undefined && filter.search === undefined
    const reader = isShort ? this.#db.read : this.#db.scan
    const rows = await reader.all<RowOf<typeof SUPPRESSIONS> & { n: number }>(
      `SELECT n, ${SUPPRESSIONS.columns} FROM suppressions WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    return pageOf(rows, filter.limit, (row) => [row.created_at, row.n], SUPPRESSIONS.record)
  }

  /** Removes an entry; the team may send to the address again. @throws ProductError not_found */
  async remove(teamId: string, id: string): Promise<void> {
    const { changes } = await this.#db.write((tx) =>
      tx.run('DELETE FROM suppressions WHERE id = ? AND team_id = ?', [id, teamId]),
    )
    if (changes === 0) throw notFound('suppression')
  }
}

/** Folds the case: in practice mail servers ignore the case of local parts (despite RFC 5321 §2.4). */
function stored(email: string): string {
  return email.normalize('NFC').toLowerCase()
}

function suppressionOf(reader: Reader, teamId: string, email: string): Suppression | undefined {
  return SUPPRESSIONS.get(reader, 'WHERE team_id = ? AND email = ?', [teamId, stored(email)])
}
