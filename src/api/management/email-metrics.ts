// Counts of sent and received messages, by time and by property (decisions §7.2).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import { notFound, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Default, FilterId, Id, Nullable, PAGE_MAX, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import {
  BREAKDOWNS,
  type BreakdownBy,
  type BreakdownRow,
  type CountFilter,
  type Span,
} from '../../store/metrics/reports.ts'
import type { Counts } from '../../store/metrics/tally.ts'
import { EmailRates, EmailTotals, presentRates, presentTotals } from '../schemas/email-metrics.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { cut, INTERVALS } from './email-intervals.ts'

const SPAN_MS = 7 * DAY_MS
const SPAN_MAX_MS = 366 * DAY_MS
const HOURLY_MAX_MS = 14 * DAY_MS
const BREAKDOWN_ROWS = 10
/** Later times do not fit the format of timestamps, and nothing is counted there. ms */
const TIME_MAX_MS = Date.UTC(9999, 11, 31)

const ABOUT =
  'The range is extended to whole hours and includes the current hour. Counts are kept for 400 days. Events before an account ' +
  'is chosen are counted for no account. Messages the appliance generates itself are not counted.'

const queryFields = {
  from_date: Type.Optional({
    ...TimeQuery,
    description: 'At or after: RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z. Default: 7 days before the end.',
  }),
  to_date: Type.Optional({
    ...TimeQuery,
    description: 'Before: RFC 3339 time, or YYYY-MM-DD meaning the end of that day. Default: now.',
  }),
  provider_id: Type.Optional({ ...FilterId('provider'), description: 'Messages sent through this sending account.' }),
  mailbox_id: Type.Optional({
    ...Id('mailbox'),
    description: 'Messages from and to this mailbox; 404 when it is not of the team.',
  }),
  domain: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Domain of the sender for sent messages, of the recipient for received ones.',
    }),
  ),
}
const MetricsQuery = Type.Object(queryFields)

const Sums = { totals: EmailTotals, rates: EmailRates }
const span = { from_date: TimeOf('Start of the range.'), to_date: TimeOf('End of the range, exclusive.') }

const readMetrics = route({
  method: 'GET',
  path: '/emails/metrics',
  operation: 'getEmailMetrics',
  tag: 'Metrics',
  summary: 'Get counts of sent and received messages, and of the previous range',
  description: ABOUT,
  as: 'team',
  permission: 'analytics.read',
  query: MetricsQuery,
  reply: record('EmailMetrics', 'Counts of a range of at most 366 days.', {
    ...span,
    ...Sums,
    previous: record('EmailMetricsBefore', 'The counts of the equally long range before.', Sums),
  }),
  async handle({ query, principal: { teamId }, app }) {
    const { from, to, filter } = await selectionOf(app, teamId, query)
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
  summary: 'Get counts of sent and received messages by hour, day, week or month',
  description:
    `${ABOUT} The points are contiguous and in UTC; weeks begin on Monday. The first and the last point are cut at the ends of ` +
    'the range.',
  as: 'team',
  permission: 'analytics.read',
  query: Type.Object({
    ...queryFields,
    interval: Default(Words(INTERVALS, '`hour` for at most 14 days.'), 'day'),
  }),
  reply: record('EmailMetricsSeries', 'Counts by time.', {
    interval: Words(INTERVALS),
    points: Type.Array(
      record('EmailMetricsPoint', 'Counts of one interval.', {
        start: TimeOf('Its begin.'),
        end: TimeOf('End of the interval, exclusive.'),
        ...Sums,
      }),
    ),
  }),
  async handle({ query, principal: { teamId }, app }) {
    const { interval } = query
    const { from, to, filter } = await selectionOf(
      app,
      teamId,
      query,
      interval === 'hour' ? HOURLY_MAX_MS : SPAN_MAX_MS,
    )
    const spans = cut({ from, to }, interval)
    const sums = await app.store.reports.sums(teamId, spans, filter)
    const points = spans.map((one, index) => ({ ...presentPoint(one), ...presentSums(sums[index]!) }))
    return { interval, points }
  },
})

const readBreakdown = route({
  method: 'GET',
  path: '/emails/metrics/breakdown',
  operation: 'getEmailMetricsBreakdown',
  tag: 'Metrics',
  summary: 'Get counts grouped by one property, largest first',
  description:
    `${ABOUT} Messages without the property are in a row with key null. Of external domains the 250 with most messages of each ` +
    'hour and day are counted separately; the rest is in `other`.',
  as: 'team',
  permission: 'analytics.read',
  query: Type.Object({
    ...queryFields,
    by: Words(BREAKDOWNS, 'Property the rows are grouped by.'),
    limit: Default(Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: 'Rows.' }), BREAKDOWN_ROWS),
  }),
  reply: record('EmailMetricsBreakdown', 'Counts by group.', {
    by: Words(BREAKDOWNS),
    rows: Type.Array(
      record('EmailMetricsShare', 'Counts of one group.', {
        key: Nullable(Type.String({ description: 'Id, domain or reason; null for messages without the property.' })),
        label: Type.String({ description: 'Display name of the key. Deleted accounts and mailboxes keep theirs.' }),
        ...Sums,
      }),
    ),
    other: record('EmailMetricsOther', 'Counts of all groups without a row.', { totals: EmailTotals }),
  }),
  async handle({ query, principal: { teamId }, app }) {
    const { by, limit } = query
    const { from, to, filter } = await selectionOf(app, teamId, query)
    const { shares, other } = await app.store.reports.breakdown(teamId, { from, to }, { ...filter, by, limit })
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

/** Filter and range of a query, in whole hours. @throws ProductError invalid_parameter, not_found */
async function selectionOf(
  app: Context,
  teamId: string,
  { from_date, to_date, provider_id: providerId, mailbox_id: mailboxId, domain }: Static<typeof MetricsQuery>,
  most: number = SPAN_MAX_MS,
): Promise<Span & { filter: CountFilter }> {
  const end = to_date === undefined ? app.clock.now() : inRange(parseTime(to_date, { endOfDay: true }))
  const begin = inRange(from_date === undefined ? end - SPAN_MS : parseTime(from_date))
  if (begin >= end) throw badSpan('from_date', 'from_date must be before to_date.')
  if (end - begin > most) throw badSpan('to_date', `The range is too long. It covers at most ${most / DAY_MS} days.`)
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

/** The present name, or the name when it was last counted. */
async function labelOf(
  app: Context,
  teamId: string,
  by: BreakdownBy,
  { key, providerName }: BreakdownRow,
): Promise<string> {
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
