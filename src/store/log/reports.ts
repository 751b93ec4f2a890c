// Reports of a team's counts: totals per time span and breakdowns. Whole days are read from their roll-up once it exists.

import type { Db, SqlValue } from '../../db/db.ts'
import { COUNTED, type Counts, OTHERS, SUMS, VOLUME, zeroCounts } from './tally.ts'

/** A time span in hours since 1970-01-01 UTC, end exclusive. */
export interface Span {
  from: number
  to: number
}

/** All given filters must match. */
export interface CountFilter {
  providerId?: string
  mailboxId?: string
  domain?: string
}

export const BREAKDOWNS = ['provider', 'mailbox', 'domain', 'recipient_domain', 'event_reason'] as const
export type BreakdownBy = (typeof BREAKDOWNS)[number]

/** Counts of one sending account, mailbox, domain or reason. */
export interface BreakdownRow {
  /** Null: none. */
  key: string | null
  /** Name of the sending account when it was last counted; "" for other breakdowns. */
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

/** The rows of a team in periods, given as a JSON list of [hours, start, index of the span]. CROSS JOIN fixes the order: periods first. */
const WITHIN = `WITH periods (hours, start, span) AS MATERIALIZED
    (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?))`
const ROWS =
  'FROM periods CROSS JOIN mail_counts c ON c.hours = periods.hours AND c.start = periods.start AND c.team_id = ?'

export class Reports {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Totals of several spans, in the same order. */
  async sums(teamId: string, spans: readonly Span[], filter: CountFilter): Promise<Counts[]> {
    const totals = await this.#sums(teamId, await this.#periods(teamId, spans), filter)
    return spans.map((_span, index) => totals.get(index) ?? zeroCounts())
  }

  /** The largest rows of a breakdown of a span, and the total of the rest. */
  async breakdown(
    teamId: string,
    span: Span,
    { by, limit, ...filter }: CountFilter & { by: BreakdownBy; limit: number },
  ): Promise<{ shares: BreakdownRow[]; other: Counts }> {
    const column = COLUMN[by]
    const { where, values } = conditions(filter)
    const periods = await this.#periods(teamId, [span])
    const rows = await this.#db.scan.all<Counts & { key: string; name: string; volume: number }>(
      `${WITHIN} SELECT c.${column} AS key, max(c.provider_name) AS name, ${SUMS}, sum(${VOLUME}) AS volume ${ROWS}
       WHERE c.${column} <> ?${where} GROUP BY c.${column} ORDER BY volume DESC, key LIMIT ?`,
      [periods, teamId, OTHERS, ...values, limit],
    )
    const other = (await this.#sums(teamId, periods, filter)).get(0) ?? zeroCounts()
    for (const row of rows) for (const name of COUNTED) other[name] -= row[name]
    const shares = rows.map(({ key, name, volume: _volume, ...counts }) => {
      return { key: key === '' ? null : key, providerName: by === 'provider' ? name : '', counts }
    })
    return { shares, other }
  }

  /** Totals of all teams in one hour, for the operator. @param hour since 1970-01-01 UTC */
  async totalsOfHour(hour: number): Promise<Counts> {
    const row = await this.#db.scan.get<Counts>(
      `SELECT ${SUMS} FROM mail_counts WHERE hours = 1 AND start = ? GROUP BY start`,
      [hour],
    )
    return row ?? zeroCounts()
  }

  /** Totals by index of the span; empty spans are missing. */
  async #sums(teamId: string, periods: string, filter: CountFilter): Promise<Map<number, Counts>> {
    const { where, values } = conditions(filter)
    const rows = await this.#db.scan.all<Counts & { span: number }>(
      `${WITHIN} SELECT periods.span, ${SUMS} ${ROWS} WHERE true${where} GROUP BY periods.span`,
      [periods, teamId, ...values],
    )
    return new Map(rows.map(({ span, ...counts }) => [span, counts]))
  }

  /** The periods that make up the spans, as JSON: rolled-up days, and hours for the rest. */
  async #periods(teamId: string, spans: readonly Span[]): Promise<string> {
    const fullDays = spans.flatMap(daysWithin)
    const rolledUp = await this.#db.scan.all<{ start: number }>(
      `SELECT value AS start FROM json_each(?) AS days
       WHERE EXISTS (SELECT 1 FROM mail_counts WHERE hours = ? AND start = days.value AND team_id = ?)`,
      [JSON.stringify(fullDays), DAY, teamId],
    )
    const days = new Set(rolledUp.map(({ start }) => start))
    const periods: [hours: number, start: number, span: number][] = []
    for (const [index, { from, to }] of spans.entries()) {
      for (let start = from; start < to; ) {
        const hours = days.has(start) && start + DAY <= to ? DAY : 1
        periods.push([hours, start, index])
        start += hours
      }
    }
    return JSON.stringify(periods)
  }
}

function daysWithin({ from, to }: Span): number[] {
  const days: number[] = []
  for (let day = Math.ceil(from / DAY) * DAY; day + DAY <= to; day += DAY) days.push(day)
  return days
}

function conditions({ providerId, mailboxId, domain }: CountFilter): { where: string; values: SqlValue[] } {
  const filters = Object.entries({ provider_id: providerId, mailbox_id: mailboxId, domain: domain?.toLowerCase() })
  const given = filters.filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    where: given.map(([column]) => ` AND c.${column} = ?`).join(''),
    values: given.map(([, value]) => value),
  }
}
