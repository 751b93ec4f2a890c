// Reads the counts of a team: sums of spans, and what they are made of. Whole days are read as such once the clock has made them.

import type { Db, SqlValue } from '../../db/db.ts'
import { COUNTED, type Counts, noCounts, OTHERS, SUMS, VOLUME } from './tally.ts'

/** A span in hours since 1970-01-01 UTC, the end not included. */
export interface Span {
  from: number
  to: number
}

/** What all filters given are true of is counted. */
export interface CountFilter {
  providerId?: string
  mailboxId?: string
  domain?: string
}

export const BREAKDOWNS = ['provider', 'mailbox', 'domain', 'recipient_domain', 'event_reason'] as const
export type BreakdownBy = (typeof BREAKDOWNS)[number]

/** The share of one account, mailbox, domain or reason. */
export interface Share {
  /** null for what has none. */
  key: string | null
  /** What the account was called when it was last counted; "" for others. */
  providerName: string
  counts: Counts
}

const DAY = 24
const COLUMN: Readonly<Record<BreakdownBy, string>> = {
  provider: 'provider_id',
  mailbox: 'mailbox_id',
  domain: 'domain',
  recipient_domain: 'recipient_domain',
  event_reason: 'event_reason',
}

/** The rows of a team within parts, given as a list of [hours, start, place of the span]. CROSS keeps the order: parts first. */
const WITHIN = `WITH deps (hours, start, place) AS MATERIALIZED
    (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?))`
const ROWS = 'FROM deps CROSS JOIN mail_counts c ON c.hours = deps.hours AND c.start = deps.start AND c.team_id = ?'

export class Reports {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** The sums of several spans, in their order. */
  async sums(teamId: string, spans: readonly Span[], filter: CountFilter): Promise<Counts[]> {
    const found = await this.#sums(teamId, await this.#deps(teamId, spans), filter)
    return spans.map((_span, place) => found.get(place) ?? noCounts())
  }

  /** The largest shares of a span, and the sum of all that is not among them. */
  async shares(
    teamId: string,
    span: Span,
    { by, limit, ...filter }: CountFilter & { by: BreakdownBy; limit: number },
  ): Promise<{ shares: Share[]; other: Counts }> {
    const column = COLUMN[by]
    const { where, values } = conditions(filter)
    const deps = await this.#deps(teamId, [span])
    const rows = await this.#db.scan.all<Counts & { key: string; name: string; volume: number }>(
      `${WITHIN} SELECT c.${column} AS key, max(c.provider_name) AS name, ${SUMS}, sum(${VOLUME}) AS volume ${ROWS}
       WHERE c.${column} <> ?${where} GROUP BY c.${column} ORDER BY volume DESC, key LIMIT ?`,
      [deps, teamId, OTHERS, ...values, limit],
    )
    const other = (await this.#sums(teamId, deps, filter)).get(0) ?? noCounts()
    for (const row of rows) for (const name of COUNTED) other[name] -= row[name]
    const shares = rows.map(({ key, name, volume: _volume, ...counts }) => {
      return { key: key === '' ? null : key, providerName: by === 'provider' ? name : '', counts }
    })
    return { shares, other }
  }

  /** What happened to the mail of all teams in one hour, for the operator. @param hour since 1970-01-01 UTC */
  async ofAll(hour: number): Promise<Counts> {
    const row = await this.#db.scan.get<Counts>(
      `SELECT ${SUMS} FROM mail_counts WHERE hours = 1 AND start = ? GROUP BY start`,
      [hour],
    )
    return row ?? noCounts()
  }

  /** By the place of the span; a span in which nothing happened has none. */
  async #sums(teamId: string, deps: string, filter: CountFilter): Promise<Map<number, Counts>> {
    const { where, values } = conditions(filter)
    const rows = await this.#db.scan.all<Counts & { place: number }>(
      `${WITHIN} SELECT deps.place, ${SUMS} ${ROWS} WHERE true${where} GROUP BY deps.place`,
      [deps, teamId, ...values],
    )
    return new Map(rows.map(({ place, ...counts }) => [place, counts]))
  }

  /** Which rows make up the spans, as JSON: days where they are made, hours for the rest. */
  async #deps(teamId: string, spans: readonly Span[]): Promise<string> {
    const whole = spans.flatMap(daysWithin)
    const made = await this.#db.scan.all<{ start: number }>(
      `SELECT value AS start FROM json_each(?) AS days
       WHERE EXISTS (SELECT 1 FROM mail_counts WHERE hours = ? AND start = days.value AND team_id = ?)`,
      [JSON.stringify(whole), DAY, teamId],
    )
    const days = new Set(made.map(({ start }) => start))
    const deps: [hours: number, start: number, place: number][] = []
    for (const [place, { from, to }] of spans.entries()) {
      for (let start = from; start < to; ) {
        const hours = days.has(start) && start + DAY <= to ? DAY : 1
        deps.push([hours, start, place])
        start += hours
      }
    }
    return JSON.stringify(deps)
  }
}

function daysWithin({ from, to }: Span): number[] {
  const days: number[] = []
  for (let day = Math.ceil(from / DAY) * DAY; day + DAY <= to; day += DAY) days.push(day)
  return days
}

function conditions({ providerId, mailboxId, domain }: CountFilter): { where: string; values: SqlValue[] } {
  const asked = Object.entries({ provider_id: providerId, mailbox_id: mailboxId, domain: domain?.toLowerCase() })
  const given = asked.filter((one): one is [string, string] => one[1] !== undefined)
  return {
    where: given.map(([column]) => ` AND c.${column} = ?`).join(''),
    values: given.map(([, value]) => value),
  }
}
