// The four figures of a span and its chart, with the same values as a table.

import { take } from '../../api/client.ts'
import type { EmailMetrics } from '../../api/types.ts'
import { daysAgo } from '../../base/dates.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { type Curve, TimeChart } from '../../panels/time-chart.tsx'
import { Figure, shareFigure } from '../../parts/figures.tsx'
import { State } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton, StaleNote } from '../../parts/quiet.tsx'
import { overview as words } from '../../words/en/overview.ts'
import { useTeam } from '../team.ts'

export type Span = '1' | '7' | '30'

const REFRESH_MS = 30_000
const BOUNCE_LIMIT = 0.02
/** Points of the API in one point of the chart. */
const GROUPED: Readonly<Record<Span, number>> = { '1': 1, '7': 3, '30': 1 }
const HOUR_MS = 3_600_000
const CURVES: readonly Curve[] = [
  { name: words.series.received, kind: 'line', of: ({ received }) => received },
  { name: words.series.sent, kind: 'area', of: ({ sent }) => sent },
  { name: words.series.failed, kind: 'bars', of: ({ failed }) => failed },
]

/** Rounded to the hour, so that the same question is asked for a while. */
export const spanStart = (span: Span) => daysAgo(Number(span), Math.floor(Date.now() / HOUR_MS) * HOUR_MS)

export function Traffic({ span }: { span: Span }) {
  const team = useTeam()
  const from = spanStart(span)
  const interval = span === '30' ? ('day' as const) : ('hour' as const)
  const totals = useQuery(
    [team.id, 'metrics', span],
    () => take(team.api.GET('/emails/metrics', { params: { query: { from_date: from } } })),
    {
      every: REFRESH_MS,
    },
  )
  const series = useQuery(
    [team.id, 'timeseries', span],
    () => take(team.api.GET('/emails/metrics/timeseries', { params: { query: { from_date: from, interval } } })),
    { every: REFRESH_MS },
  )
  const error = totals.error ?? series.error
  const retry = () => {
    totals.refetch()
    series.refetch()
  }
  if (totals.data === undefined || series.data === undefined)
    return error === null ? (
      <Skeleton rows={4} />
    ) : (
      <ErrorCard error={error} title={words.figuresMissing} onRetry={retry} />
    )
  const since = Math.min(totals.answeredAt, series.answeredAt)
  return (
    <div class="card">
      {error !== null && <StaleNote error={error} since={since} onRetry={retry} />}
      <Figures metrics={totals.data} span={span} />
      <TimeChart
        title={words.chart(words.units[span]!)}
        points={series.data.points}
        curves={CURVES}
        interval={interval}
        grouped={GROUPED[span]}
      />
    </div>
  )
}

/** "8 % more than the week before". */
function change(now: number, before: number, span: Span): string {
  const then = words.before[span]!
  if (before === 0) return now === 0 ? words.same(then) : words.noneBefore(then)
  const share = (now - before) / before
  if (Math.round(share * 100) === 0) return words.same(then)
  const figure = String(Math.abs(Math.round(share * 100)))
  return share > 0 ? words.more(figure, then) : words.less(figure, then)
}

function Figures({ metrics: { totals, rates, previous }, span }: { metrics: EmailMetrics; span: Span }) {
  const waiting = Math.max(0, totals.accepted - totals.sent - totals.failed - totals.rejected)
  const isBounceGood = (rates.bounce_rate ?? 0) <= BOUNCE_LIMIT
  return (
    <div class="figures">
      <Figure
        name={words.figures.sent}
        value={count(totals.sent)}
        note={change(totals.sent, previous.totals.sent, span)}
      />
      <Figure
        name={words.figures.delivered}
        {...shareFigure(rates.delivery_rate)}
        note={totals.sent === 0 ? words.nothingSent : words.deliveredNote(totals.delivered, waiting)}
      />
      <Figure
        name={words.figures.received}
        value={count(totals.received)}
        note={change(totals.received, previous.totals.received, span)}
      />
      <Figure
        name={words.figures.bounced}
        {...shareFigure(rates.bounce_rate)}
        note={
          rates.bounce_rate === null ? (
            words.nothingSent
          ) : (
            <State tone={isBounceGood ? 'good' : 'danger'}>{isBounceGood ? words.bounceGood : words.bounceBad}</State>
          )
        }
      />
    </div>
  )
}
