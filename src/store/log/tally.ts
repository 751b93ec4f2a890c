// Rows of `mail_counts`: the counts, their dimensions, and the tally that adds up rows with equal keys.

import type { Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'

/** The counted events of sent messages (docs/design/sending.md §10); `bounced` is the sum of both bounce kinds. */
export const SENT_COUNTS = [
  'accepted',
  'sent',
  'delivered',
  'delayed',
  'bounced_hard',
  'bounced_soft',
  'complained',
  'rejected',
  'failed',
] as const
/** All counted events. */
export const COUNTED = [...SENT_COUNTS, 'received', 'received_spam', 'received_blocked'] as const
export type Counts = Record<(typeof COUNTED)[number], number>

const ZERO_COUNTS = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Counts

export function zeroCounts(): Counts {
  return { ...ZERO_COUNTS }
}

/** The dimensions of counts; "" if an event has no value. */
export interface CountDimensions {
  provider_id: string
  mailbox_id: string
  /** Of the sender for outbound messages, of the recipient for inbound ones. */
  domain: string
  /** 1 if the domain belongs to the team; such domains are few. */
  own_domain: number
  recipient_domain: string
  event_reason: string
}
const DIMENSIONS = ['provider_id', 'mailbox_id', 'domain', 'own_domain', 'recipient_domain', 'event_reason'] as const

/** Replaces domain names that are too many to be counted one by one; not a valid domain name. */
export const OTHERS = '*'

/** Counts of a team for an hour or a day. */
export interface CountRow extends CountDimensions, Counts {
  /** 1 or 24. */
  hours: number
  /** Hours since 1970-01-01 UTC. */
  start: number
  team_id: string
  provider_name: string
}

const KEY = ['hours', 'start', 'team_id', ...DIMENSIONS] as const
const COLUMNS = [...KEY, 'provider_name', ...COUNTED] as const
/** The primary key columns. */
export const KEY_COLUMNS = KEY.join(', ')
export const DIMENSION_COLUMNS = DIMENSIONS.join(', ')
export const SUMS = sumsOf(COUNTED)
/** Total of a row, to sort by. */
export const VOLUME =
  'accepted + sent + delayed + complained + rejected + failed + received + received_spam + received_blocked'

/** Rows written by one statement. */
const ROWS_MAX = 32
const PLACEHOLDERS = `(${placeholders(COLUMNS)})`
const UPSERT = `ON CONFLICT (${KEY_COLUMNS}) DO UPDATE SET provider_name = excluded.provider_name,
    ${additionsOf(COUNTED)}`
const REMOVE = `DELETE FROM mail_counts WHERE ${KEY.map((name) => `${name} = ?`).join(' AND ')}`

/** Columns of a SELECT that adds up these counts. */
export function sumsOf(names: readonly string[]): string {
  return names.map((name) => `sum(${name}) AS ${name}`).join(', ')
}

/** The assignments of an upsert that adds these counts to those of the row. */
export function additionsOf(names: readonly string[]): string {
  return names.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')
}

/** Adds up rows with equal keys. */
export class Tally {
  readonly #rows = new Map<string, CountRow>()

  /** Adds a row. The tally takes ownership: it may change the row object. */
  add(row: CountRow): void {
    const { start, team_id, provider_id, mailbox_id, domain, own_domain, recipient_domain, event_reason } = row
    const prefix = `${row.hours} ${start} ${team_id} ${provider_id} ${mailbox_id} ${own_domain} ${event_reason}`
    const key = `${prefix}\n${domain}\n${recipient_domain}`
    const existing = this.#rows.get(key)
    if (existing === undefined) this.#rows.set(key, row)
    else {
      existing.provider_name = row.provider_name
      for (const name of COUNTED) existing[name] += row[name]
    }
  }

  rows(): Iterable<CountRow> {
    return this.#rows.values()
  }

  /** Adds the rows to the table. */
  write(tx: Tx): void {
    const rows = [...this.#rows.values()]
    for (let at = 0; at < rows.length; at += ROWS_MAX) {
      const batch = rows.slice(at, at + ROWS_MAX)
      tx.run(
        `INSERT INTO mail_counts (${COLUMNS.join(', ')}) VALUES ${batch.map(() => PLACEHOLDERS).join(', ')} ${UPSERT}`,
        batch.flatMap((row) => COLUMNS.map((name) => row[name])),
      )
    }
  }
}

export function removeRow(tx: Tx, row: CountRow): void {
  tx.run(
    REMOVE,
    KEY.map((name) => row[name]),
  )
}

/** Whether the row names domains other than the team's own. These may be as many as there are messages. */
export function isDetailed({ domain, own_domain, recipient_domain }: CountRow): boolean {
  return recipient_domain !== OTHERS && !(own_domain === 1 && recipient_domain === domain)
}
/** {@link isDetailed} as an SQL condition. */
export const IS_DETAILED = `recipient_domain <> '${OTHERS}' AND NOT (own_domain = 1 AND recipient_domain = domain)`

/** The row with foreign domain names replaced by {@link OTHERS}. */
export function withoutDetail(row: CountRow): CountRow {
  return { ...row, domain: row.own_domain === 1 ? row.domain : OTHERS, recipient_domain: OTHERS }
}
