// Counts of sent and received messages, by time and by property (docs/design/sending.md §10).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import { notFound, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Default, FilterId, Id, Nullable, PAGE_MAX, Words } from '../../http/schema.ts'
import {
  BREAKDOWNS,
  type BreakdownBy,
  type BreakdownRow,
  type CountFilter,
  type Span,
} from '../../store/log/reports.ts'
import type { Counts } from '../../store/log/tally.ts'
import { EmailRates, EmailTotals, presentRates, presentTotals } from '../schemas/email-metrics.ts'
import { endName, timeFilters, timeRange } from '../schemas/list-filters.ts'
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
  ...Type.Partial(
    Type.Object(timeFilters('Counted', { since: ' Default: 7 days before the end.', until: ' Default: now.' })),
  ).properties,
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
  tag: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,64}:[^\\x00-\\x1f\\x7f]{1,64}$',
      description:
        'Sent messages with this tag, as `name:value`. Tags are counted by day: the range is extended to whole days, UTC, and no ' +
        'other filter can be combined with it.',
      examples: ['campaign:may'],
    }),
  ),
}
const MetricsQuery = Type.Object(queryFields)
const GROUPS = [...BREAKDOWNS, 'tag'] as const
type Group = (typeof GROUPS)[number]

const Sums = { totals: EmailTotals, rates: EmailRates }
const span = { from_date: TimeOf('Start of the range.'), to_date: TimeOf('End of the range, exclusive.') }

const readMetrics = route({
  method: 'GET',
  path: '/emails/metrics',
  docs: {
    operation: 'getEmailMetrics',
    tag: 'Metrics',
    summary: 'Get counts of sent and received messages, and of the previous range',
    description: ABOUT,
  },
  access: { as: 'team', permission: 'analytics.read' },
  query: MetricsQuery,
  reply: {
    schema: record('EmailMetrics', 'Counts of a range of at most 366 days.', {
      ...span,
      ...Sums,
      previous: record('EmailMetricsBefore', 'The counts of the equally long range before.', Sums),
    }),
  },
  async handle({ query, principal: { teamId }, app }) {
    const { from, to, filter } = selectionOf(app, teamId, query)
    const before = { from: from - (to - from), to: from }
    const [now, then] = await sumsOf(app, teamId, [{ from, to }, before], filter)
    return { ...presentSpan({ from, to }), ...presentSums(now!), previous: presentSums(then!) }
  },
})

const readSeries = route({
  method: 'GET',
  path: '/emails/metrics/timeseries',
  docs: {
    operation: 'getEmailMetricsTimeseries',
    tag: 'Metrics',
    summary: 'Get counts of sent and received messages by hour, day, week or month',
    description:
      `${ABOUT} The points are contiguous and in UTC; weeks begin on Monday. The first and the last point are cut at the ends of ` +
      'the range.',
  },
  access: { as: 'team', permission: 'analytics.read' },
  query: Type.Object({
    ...queryFields,
    interval: Default(Words(INTERVALS, '`hour` for at most 14 days.'), 'day'),
  }),
  reply: {
    schema: record('EmailMetricsSeries', 'Counts by time.', {
      interval: Words(INTERVALS),
      points: Type.Array(
        record('EmailMetricsPoint', 'Counts of one interval.', {
          start: TimeOf('Its begin.'),
          end: TimeOf('End of the interval, exclusive.'),
          ...Sums,
        }),
      ),
    }),
  },
  async handle({ query, principal: { teamId }, app }) {
    const { interval } = query
    if (query.tag !== undefined && interval === 'hour') {
      throw badSpan('interval', 'Tags are counted by day. Choose the interval day, week or month.')
    }
    const { from, to, filter } = selectionOf(app, teamId, query, interval === 'hour' ? HOURLY_MAX_MS : SPAN_MAX_MS)
    const spans = cut({ from, to }, interval)
    const sums = await sumsOf(app, teamId, spans, filter)
    const points = spans.map((one, index) => ({ ...presentPoint(one), ...presentSums(sums[index]!) }))
    return { interval, points }
  },
})

const readBreakdown = route({
  method: 'GET',
  path: '/emails/metrics/breakdown',
  docs: {
    operation: 'getEmailMetricsBreakdown',
    tag: 'Metrics',
    summary: 'Get counts grouped by one property, largest first',
    description:
      `${ABOUT} Messages without the property are in a row with key null. Of external domains the 250 with most messages of each ` +
      'hour and day are counted separately; the rest is in `other`.',
  },
  access: { as: 'team', permission: 'analytics.read' },
  query: Type.Object({
    ...queryFields,
    by: Words(GROUPS, 'Property the rows are grouped by. `tag`: by whole days, UTC, and without other filters.'),
    limit: Default(Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: 'Rows.' }), BREAKDOWN_ROWS),
  }),
  reply: {
    schema: record('EmailMetricsBreakdown', 'Counts by group.', {
      by: Words(GROUPS),
      rows: Type.Array(
        record('EmailMetricsShare', 'Counts of one group.', {
          key: Nullable(Type.String({ description: 'Id, domain or reason; null for messages without the property.' })),
          label: Type.String({ description: 'Display name of the key. Deleted accounts and mailboxes keep theirs.' }),
          ...Sums,
        }),
      ),
      other: record('EmailMetricsOther', 'Counts of all groups without a row.', { totals: EmailTotals }),
    }),
  },
  async handle({ query, principal: { teamId }, app }) {
    const { by, limit } = query
    const { from, to, filter } = selectionOf(app, teamId, query)
    if (by === 'tag') return tagBreakdown(app, teamId, { from, to }, limit)
    if (filter.tag !== undefined)
      throw badSpan('tag', 'Counts of one tag are not grouped. Leave out `tag`, or use by=tag.')
    const { shares, other } = await app.store.log.reports.breakdown(teamId, { from, to }, { ...filter, by, limit })
    const rows = await Promise.all(
      shares.map(async (share) => ({
        key: share.key,
        label: labelOf(app, teamId, by, share),
        ...presentSums(share.counts),
      })),
    )
    return { by, rows, other: { totals: presentTotals(other) } }
  },
})

async function tagBreakdown(app: Context, teamId: string, span: Span, limit: number) {
  const { rows, other } = await app.store.log.tagCounts.breakdown(teamId, span, limit)
  const shown = rows.map(({ tag, counts }) => ({ key: tag, label: tag, ...presentSums(counts) }))
  return { by: 'tag' as const, rows: shown, other: { totals: presentTotals(other) } }
}

function sumsOf(app: Context, teamId: string, spans: readonly Span[], { tag, ...filter }: Selection['filter']) {
  if (tag === undefined) return app.store.log.reports.sums(teamId, spans, filter)
  return app.store.log.tagCounts.sums(teamId, spans, tag)
}

interface Selection extends Span {
  filter: CountFilter & { tag?: string }
}

/** Filter and range of a query, in whole hours; in whole days for tags. @throws ProductError invalid_parameter, not_found */
function selectionOf(
  app: Context,
  teamId: string,
  query: Static<typeof MetricsQuery> & { by?: Group },
  most: number = SPAN_MAX_MS,
): Selection {
  const { provider_id: providerId, mailbox_id: mailboxId, domain, tag } = query
  const { from, to } = timeRange(query)
  const end = to === undefined ? app.clock.now() : inRange(to)
  const begin = inRange(from ?? end - SPAN_MS)
  if (begin >= end)
    throw badSpan(query.after === undefined ? 'from_date' : 'after', 'The range must begin before it ends.')
  if (end - begin > most)
    throw badSpan(endName(query), `The range is too long. It covers at most ${most / DAY_MS} days.`)
  if (mailboxId !== undefined && !app.directory.mailboxes.get(teamId, mailboxId)) throw notFound('mailbox')
  const byDay = tag !== undefined || query.by === 'tag'
  if (byDay && [providerId, mailboxId, domain].some((one) => one !== undefined)) {
    throw badSpan('tag', 'Tags cannot be combined with provider_id, mailbox_id or domain. Leave these out.')
  }
  const unit = byDay ? DAY_MS : HOUR_MS
  const hours = unit / HOUR_MS
  const span = { from: Math.floor(begin / unit) * hours, to: Math.ceil(end / unit) * hours }
  return { ...span, filter: { providerId, mailboxId, domain, tag } }
}

function inRange(time: number): number {
  return Math.min(Math.max(time, 0), TIME_MAX_MS)
}

function badSpan(param: string, sentence: string): ProductError {
  return new ProductError('invalid_parameter', sentence, { param })
}

/** The present name, or the name when it was last counted. */
function labelOf(app: Context, teamId: string, by: BreakdownBy, { key, providerName }: BreakdownRow): string {
  if (key === null) return 'None'
  if (by === 'mailbox') return app.directory.mailboxes.get(teamId, key)?.email ?? key
  if (by === 'event_reason') return key.replaceAll('_', ' ')
  if (by !== 'provider') return key
  const provider = app.outbound.accounts.providers.byId(key)
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
