// Reads one delivery with its message, for the actions of its team.

import type { Db, Reader } from '../../db/db.ts'
import type { RowOf } from '../../db/table.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { MessageLabels } from '../model/message-labels.ts'
import { DELIVERIES, type Delivery, EMAILS, type Email } from '../model/records.ts'
import type { KeptContents } from './kept-contents.ts'
import { emailOf } from './rows.ts'

const SENT = EMAILS.and('tags', 'metadata', 'send_at')

/** A delivery and its message. */
export interface SingleDelivery {
  delivery: Delivery
  /** Its `hash` is also that of content that is kept for resending. */
  email: Email
  labels: MessageLabels
  /** Earliest time of the first attempt, ms. */
  sendAt: number
}

export interface ResendState {
  /** True while the content of the message is stored. */
  hasContent: boolean
  /** `dlog_…` of the failed delivery that it repeats. */
  resentFrom: string | null
  /** `dlog_…` of the delivery that repeats it. */
  resentAs: string | null
}

export class SingleDeliveries {
  readonly #db: Db
  readonly #kept: KeptContents

  constructor({ db, keptContents }: Pick<OutboundDeps, 'db'> & { keptContents: KeptContents }) {
    this.#db = db
    this.#kept = keptContents
  }

  /** @param id `dlog_…` @returns undefined when the team has no such delivery, or the message is one of the appliance itself */
  get(teamId: string, id: string, reader: Reader = this.#db.read): SingleDelivery | undefined {
    const delivery = DELIVERIES.get(reader, 'WHERE id = ? AND team_id = ?', [id, teamId])
    if (delivery === undefined) return undefined
    const row = reader.get<RowOf<typeof SENT>>(
      `SELECT ${SENT.columns} FROM emails WHERE n = ? AND source <> 'system'`,
      [delivery.email],
    )
    if (row === undefined) return undefined
    const { tags, metadata, send_at: sendAt } = row
    const stored = emailOf(row)
    const email = { ...stored, hash: stored.hash ?? this.#kept.hashOf(stored.n, reader) }
    return { delivery, email, labels: { tags, metadata }, sendAt: sendAt ?? email.queuedAt }
  }

  /** What an opened row shows of the resending of a delivery. @param id `dlog_…` */
  resendingOf(id: string): ResendState {
    const row = this.#db.read.get<{ email: number; has_content: number; resent_from: string | null }>(
      `SELECT e.n AS email, e.blob IS NOT NULL AS has_content, e.resent_from
       FROM deliveries d JOIN emails e ON e.n = d.email WHERE d.id = ?`,
      [id],
    )
    if (row === undefined) return { hasContent: false, resentFrom: null, resentAs: null }
    const hasContent = row.has_content === 1 || this.#kept.hashOf(row.email) !== null
    return { hasContent, resentFrom: row.resent_from, resentAs: this.resentAs(id)?.id ?? null }
  }

  /** The newest delivery that repeats one. @param id `dlog_…` of the repeated one */
  resentAs(id: string, reader: Reader = this.#db.read): Pick<Delivery, 'id' | 'status'> | undefined {
    return reader.get<Pick<Delivery, 'id' | 'status'> & Record<string, string>>(
      `SELECT d.id, d.status FROM emails e JOIN deliveries d ON d.email = e.n
       WHERE e.resent_from = ? ORDER BY e.n DESC LIMIT 1`,
      [id],
    )
  }
}
