// How much mail went and came, over time and by what it can be told apart by (decisions §7.2).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Default, FilterId, Id, Nullable, PAGE_MAX, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import { BREAKDOWNS, type BreakdownBy, type CountFilter, type Share, type Span } from '../../store/metrics/reports.ts'
import type { Counts } from '../../store/metrics/tally.ts'
import { EmailRates, EmailTotals, presentRates, presentTotals } from '../schemas/email-metrics.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { cut, INTERVALS } from './email-intervals.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
const SPAN_MS = 7 * DAY_MS
const SPAN_MAX_MS = 366 * DAY_MS
const HOURLY_MAX_MS = 14 * DAY_MS
const BREAKDOWN_ROWS = 10
/** Later times have more digits than records show, and nothing is counted there. ms */
const TIME_MAX_MS = Date.UTC(9999, 11, 31)

const ABOUT =
  'The span is widened to whole hours; counts of the hour under way are in it. Counts are kept for 400 days. What happens ' +
  'before an account is chosen belongs to none. Mail the appliance writes by itself is not counted.'

const asked = {
  from_date: Type.Optional({
    ...TimeQuery,
    description: 'At or after: RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z. 7 days before the end unless given.',
  }),
  to_date: Type.Optional({
    ...TimeQuery,
    description: 'Before: RFC 3339 time, or YYYY-MM-DD meaning the end of that day. Now unless given.',
  }),
  provider_id: Type.Optional({ ...FilterId('provider'), description: 'Mail that went through this sending account.' }),
  mailbox_id: Type.Optional({
    ...Id('mailbox'),
    description: 'Mail from and to this mailbox; 404 when it is not of the team.',
  }),
  domain: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Domain of the sender for mail that goes, of the recipient for mail that comes.',
    }),
  ),
}
const Asked = Type.Object(asked)

const Sums = { totals: EmailTotals, rates: EmailRates }
const span = { from_date: TimeOf('Begin of the span.'), to_date: TimeOf('End of the span; it is not part of it.') }

const readMetrics = route({
  method: 'GET',
  path: '/emails/metrics',
  operation: 'getEmailMetrics',
  tag: 'Metrics',
  summary: 'Shows how much mail went and came within a span, and within the one before.',
  description: ABOUT,
  as: 'team',
  permission: 'analytics.read',
  query: Asked,
  reply: record('EmailMetrics', 'Counts of a span of at most 366 days.', {
    ...span,
    ...Sums,
    previous: record('EmailMetricsBefore', 'The same for the equally long span before.', Sums),
  }),
  async handle({ query, principal: { teamId }, app }) {
    const { from, to, filter } = await wishOf(app, teamId, query)
    const before = { from: from - (to - from), to: from }
    const [now, then] = await app.store.reports.sums(teamId, [{ from, to }, before], filter)
    return { ...presentSpan({ from, to }), ...presentSums(now!), previous: presentSums(then!) }
  },
})

const readSeries = route({
  method: 'GET',
  path: '/emails/metrics/timeseries',
  operation: 'getEmailMetricsTimeseries',
  tag: 'Metrics',
  summary: 'Shows how much mail went and came, by hour, day, week or month.',
  description: `${ABOUT} Points follow each other without a gap, in UTC; weeks begin on Monday. The first and the last are cut at the ends of the span.`,
  as: 'team',
  permission: 'analytics.read',
  query: Type.Object({
    ...asked,
    interval: Default(Words(INTERVALS, '`hour` for at most 14 days.'), 'day'),
  }),
  reply: record('EmailMetricsSeries', 'Counts by the time they happened at.', {
    interval: Words(INTERVALS),
    points: Type.Array(
      record('EmailMetricsPoint', 'Counts of one interval.', {
        start: TimeOf('Its begin.'),
        end: TimeOf('Its end; not part of it.'),
        ...Sums,
      }),
    ),
  }),
  async handle({ query, principal: { teamId }, app }) {
    const { interval } = query
    const { from, to, filter } = await wishOf(app, teamId, query, interval === 'hour' ? HOURLY_MAX_MS : SPAN_MAX_MS)
    const spans = cut({ from, to }, interval)
    const sums = await app.store.reports.sums(teamId, spans, filter)
    const points = spans.map((one, place) => ({ ...presentPoint(one), ...presentSums(sums[place]!) }))
    return { interval, points }
  },
})

const readBreakdown = route({
  method: 'GET',
  path: '/emails/metrics/breakdown',
  operation: 'getEmailMetricsBreakdown',
  tag: 'Metrics',
  summary: 'Shows what the mail of a span is made of, the busiest first.',
  description:
    `${ABOUT} What has none of what is asked for is a row with key null. Of the domains of others the 250 busiest of each hour ` +
    'and day are told apart; the rest is part of `other`.',
  as: 'team',
  permission: 'analytics.read',
  query: Type.Object({
    ...asked,
    by: Words(BREAKDOWNS, 'What the rows are told apart by.'),
    limit: Default(Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: 'Rows.' }), BREAKDOWN_ROWS),
  }),
  reply: record('EmailMetricsBreakdown', 'Shares of a span.', {
    by: Words(BREAKDOWNS),
    rows: Type.Array(
      record('EmailMetricsShare', 'The share of one of them.', {
        key: Nullable(Type.String({ description: 'Id, domain or reason; null for what has none.' })),
        label: Type.String({ description: 'The same for people. Accounts and mailboxes that are gone keep theirs.' }),
        ...Sums,
      }),
    ),
    other: record('EmailMetricsOther', 'All that is in no row.', { totals: EmailTotals }),
  }),
  async handle({ query, principal: { teamId }, app }) {
    const { by, limit } = query
    const { from, to, filter } = await wishOf(app, teamId, query)
    const { shares, other } = await app.store.reports.shares(teamId, { from, to }, { ...filter, by, limit })
    const rows = await Promise.all(
      shares.map(async (share) => ({
        key: share.key,
        label: await labelOf(app, teamId, by, share),
        ...presentSums(share.counts),
      })),
    )
    return { by, rows, other: { totals: presentTotals(other) } }
  },
})

/** What is asked for, in whole hours. @throws ProductError invalid_parameter, not_found */
async function wishOf(
  app: Context,
  teamId: string,
  { from_date, to_date, provider_id: providerId, mailbox_id: mailboxId, domain }: Static<typeof Asked>,
  most: number = SPAN_MAX_MS,
): Promise<Span & { filter: CountFilter }> {
  const end = to_date === undefined ? app.clock.now() : inRange(parseTime(to_date, { endOfDay: true }))
  const begin = inRange(from_date === undefined ? end - SPAN_MS : parseTime(from_date))
  if (begin >= end) throw badSpan('from_date', 'The span must begin before it ends.')
  if (end - begin > most) throw badSpan('to_date', `The span must be at most ${most / DAY_MS} days.`)
  if (mailboxId !== undefined && !(await app.directory.mailboxes.get(teamId, mailboxId))) throw notFound('mailbox')
  const span = { from: Math.floor(begin / HOUR_MS), to: Math.ceil(end / HOUR_MS) }
  return { ...span, filter: { providerId, mailboxId, domain } }
}

function inRange(time: number): number {
  return Math.min(Math.max(time, 0), TIME_MAX_MS)
}

function badSpan(param: string, sentence: string): ProductError {
  return new ProductError('invalid_parameter', sentence, { param })
}

/** What people call it: as it is called now, or was when it was last counted. */
async function labelOf(app: Context, teamId: string, by: BreakdownBy, { key, providerName }: Share): Promise<string> {
  if (key === null) return 'None'
  if (by === 'mailbox') return (await app.directory.mailboxes.get(teamId, key))?.email ?? key
  if (by === 'event_reason') return key.replaceAll('_', ' ')
  if (by !== 'provider') return key
  const provider = await app.outbound.providers.byId(key)
  return provider?.name ?? providerName
}

function presentSums(counts: Counts) {
  return { totals: presentTotals(counts), rates: presentRates(counts) }
}

function presentSpan({ from, to }: Span) {
  return { from_date: isoTime(from * HOUR_MS), to_date: isoTime(to * HOUR_MS) }
}

function presentPoint({ from, to }: Span) {
  return { start: isoTime(from * HOUR_MS), end: isoTime(to * HOUR_MS) }
}

export const emailMetrics = [readMetrics, readSeries, readBreakdown]
