// The figures of the span with their limits, and the charts.

import { take } from '../../api/client.ts'
import type { EmailMetrics, EmailMetricsPoint } from '../../api/types.ts'
import { count, percent } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { type Curve, TimeChart } from '../../panels/time-chart.tsx'
import { Figure, shareFigure } from '../../parts/figures.tsx'
import { State } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { metrics as words } from '../../words/en/metrics.ts'
import { useTeam } from '../team.ts'
import type { MetricsQuery } from './metrics.tsx'
import type { Range } from './range.ts'

const REFRESH_MS = 60_000
/** Shares above which providers and receivers act. */
const LIMITS = { bounce: 0.02, complaint: 0.001 }

const SENT: readonly Curve[] = [
  { name: words.curves.received, kind: 'line', of: ({ received }) => received },
  { name: words.curves.sent, kind: 'area', of: ({ sent }) => sent },
  { name: words.curves.failed, kind: 'bars', of: ({ failed }) => failed },
]
const TROUBLE: readonly Curve[] = [
  { name: words.curves.bounced, kind: 'area', of: ({ bounced }) => bounced },
  { name: words.curves.complained, kind: 'line', of: ({ complained }) => complained },
]
const ARRIVED: readonly Curve[] = [
  { name: words.curves.received, kind: 'area', of: ({ received }) => received },
  { name: words.curves.junk, kind: 'line', of: ({ received_spam }) => received_spam },
  { name: words.curves.refused, kind: 'bars', of: ({ received_blocked }) => received_blocked },
]

export function Charts({ query, range }: { query: MetricsQuery; range: Range }) {
  const team = useTeam()
  const { interval } = range
  const every = REFRESH_MS
  const totals = useQuery(
    [team.id, 'metrics', query],
    () => take(team.api.GET('/emails/metrics', { params: { query: { ...query } } })),
    { every },
  )
  const series = useQuery(
    [team.id, 'timeseries', query, interval],
    () => take(team.api.GET('/emails/metrics/timeseries', { params: { query: { ...query, interval } } })),
    { every },
  )
  const error = totals.error ?? series.error
  if (error !== null)
    return (
      <ErrorCard
        error={error}
        onRetry={() => {
          totals.refetch()
          series.refetch()
        }}
      />
    )
  if (totals.data === undefined || series.data === undefined) return <Skeleton />
  return <Drawn metrics={totals.data} points={series.data.points} range={range} />
}

interface DrawnProps {
  metrics: EmailMetrics
  points: readonly EmailMetricsPoint[]
  range: Range
}

function Drawn({ metrics, points, range: { interval, grouped } }: DrawnProps) {
  const shared = { points, interval, grouped }
  return (
    <>
      <div class="card">
        <Figures metrics={metrics} />
        <TimeChart
          title={words.sentChart(grouped > 1 ? words.everyHours(grouped) : words.intervals[interval])}
          curves={SENT}
          {...shared}
        />
      </div>
      <div class="halves">
        <div class="card">
          <TimeChart title={words.troubleChart} curves={TROUBLE} {...shared} />
        </div>
        <div class="card">
          <TimeChart title={words.arrivedChart} curves={ARRIVED} {...shared} />
        </div>
      </div>
    </>
  )
}

/** "8 % more than before". */
function change(now: number, before: number): string {
  if (before === 0) return now === 0 ? words.same : words.noneBefore
  const rounded = Math.round(((now - before) / before) * 100)
  if (rounded === 0) return words.same
  return rounded > 0 ? words.more(count(rounded)) : words.less(count(-rounded))
}

function Limit({ rate, of, limit }: { rate: number | null; of: number; limit: number }) {
  if (rate === null) return <>{words.nothing}</>
  const isKept = rate <= limit
  return (
    <State tone={isKept ? 'good' : 'danger'}>
      {isKept ? words.limitKept(of, percent(limit)) : words.limitPassed(of, percent(limit))}
    </State>
  )
}

function Figures({ metrics: { totals, rates, previous } }: { metrics: EmailMetrics }) {
  const names = words.figures
  return (
    <div class="figures five">
      <Figure name={names.sent} value={count(totals.sent)} note={change(totals.sent, previous.totals.sent)} />
      <Figure
        name={names.delivered}
        {...shareFigure(rates.delivery_rate)}
        note={totals.sent === 0 ? words.nothing : words.deliveredNote(totals.delivered, totals.delayed)}
      />
      <Figure
        name={names.bounced}
        {...shareFigure(rates.bounce_rate)}
        note={<Limit rate={rates.bounce_rate} of={totals.bounced} limit={LIMITS.bounce} />}
      />
      <Figure
        name={names.complained}
        {...shareFigure(rates.complaint_rate)}
        note={<Limit rate={rates.complaint_rate} of={totals.complained} limit={LIMITS.complaint} />}
      />
      <Figure
        name={names.received}
        value={count(totals.received)}
        note={words.receivedNote(totals.received_spam, totals.received_blocked)}
      />
    </div>
  )
}
