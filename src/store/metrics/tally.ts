// Rows of counts: what is counted, by what it can be told apart, and how rows of one kind become one.

import type { Tx } from '../../db/db.ts'

export const HOUR_MS = 60 * 60 * 1000

/** What is counted (decisions §7.2); `bounced` is the sum of both kinds. */
export const COUNTED = [
  'accepted',
  'sent',
  'delivered',
  'delayed',
  'bounced_hard',
  'bounced_soft',
  'complained',
  'rejected',
  'failed',
  'received',
  'received_spam',
  'received_blocked',
] as const
export type Counts = Record<(typeof COUNTED)[number], number>

const NOTHING = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Counts

/** Nothing of anything. */
export function noCounts(): Counts {
  return { ...NOTHING }
}

/** What counts can be told apart by; "" where a fact has none. */
export interface Traits {
  provider_id: string
  mailbox_id: string
  /** Of the sender for mail that goes, of the recipient for mail that comes. */
  domain: string
  /** 1 when the domain is the team's: those are few. */
  own_domain: number
  recipient_domain: string
  event_reason: string
}
const TRAITS = ['provider_id', 'mailbox_id', 'domain', 'own_domain', 'recipient_domain', 'event_reason'] as const

/** Stands for names that are too many to be told apart. No domain is called so. */
export const OTHERS = '*'

/** Counts of a team for an hour or a day. */
export interface CountRow extends Traits, Counts {
  /** 1 or 24. */
  hours: number
  /** Hours since 1970-01-01 UTC. */
  start: number
  team_id: string
  provider_name: string
}

const KEY = ['hours', 'start', 'team_id', ...TRAITS] as const
const COLUMNS = [...KEY, 'provider_name', ...COUNTED] as const
/** The columns that name one row. */
export const KEY_COLUMNS = KEY.join(', ')
export const TRAIT_COLUMNS = TRAITS.join(', ')
export const SUMS = COUNTED.map((name) => `sum(${name}) AS ${name}`).join(', ')
/** How much happened, for what is to come first. */
export const VOLUME =
  'accepted + sent + delayed + complained + rejected + failed + received + received_spam + received_blocked'

/** Rows written by one statement. */
const ROWS_MAX = 32
const MARKS = `(${COLUMNS.map(() => '?').join(', ')})`
const ADD = `ON CONFLICT (${KEY_COLUMNS}) DO UPDATE SET provider_name = excluded.provider_name,
    ${COUNTED.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`
const REMOVE = `DELETE FROM mail_counts WHERE ${KEY.map((name) => `${name} = ?`).join(' AND ')}`

/** Rows added up by what names them. */
export class Tally {
  readonly #rows = new Map<string, CountRow>()

  /** The row is the tally's from then on. */
  add(row: CountRow): void {
    const { start, team_id, provider_id, mailbox_id, domain, own_domain, recipient_domain, event_reason } = row
    const ours = `${row.hours} ${start} ${team_id} ${provider_id} ${mailbox_id} ${own_domain} ${event_reason}`
    const key = `${ours}\n${domain}\n${recipient_domain}`
    const known = this.#rows.get(key)
    if (known === undefined) this.#rows.set(key, row)
    else {
      known.provider_name = row.provider_name
      for (const name of COUNTED) known[name] += row[name]
    }
  }

  rows(): Iterable<CountRow> {
    return this.#rows.values()
  }

  /** Adds what was gathered to what the table holds. */
  async write(tx: Tx): Promise<void> {
    const rows = [...this.#rows.values()]
    for (let at = 0; at < rows.length; at += ROWS_MAX) {
      const some = rows.slice(at, at + ROWS_MAX)
      await tx.run(
        `INSERT INTO mail_counts (${COLUMNS.join(', ')}) VALUES ${some.map(() => MARKS).join(', ')} ${ADD}`,
        some.flatMap((row) => COLUMNS.map((name) => row[name])),
      )
    }
  }
}

export async function removeRow(tx: Tx, row: CountRow): Promise<void> {
  await tx.run(
    REMOVE,
    KEY.map((name) => row[name]),
  )
}

/** Whether names in the row are of others, who may be as many as there are mails. What is the team's own stays as it is. */
export function isDetailed({ domain, own_domain, recipient_domain }: CountRow): boolean {
  return recipient_domain !== OTHERS && !(own_domain === 1 && recipient_domain === domain)
}
/** The same, asked of the table. */
export const IS_DETAILED = `recipient_domain <> '${OTHERS}' AND NOT (own_domain = 1 AND recipient_domain = domain)`

/** The row without the names of others. */
export function withoutDetail(row: CountRow): CountRow {
  return { ...row, domain: row.own_domain === 1 ? row.domain : OTHERS, recipient_domain: OTHERS }
}
