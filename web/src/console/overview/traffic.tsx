// The four figures of a span and its chart, with the same values as a table.

import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { take } from '../../api/client.ts'
import type { EmailMetrics, EmailMetricsPoint } from '../../api/types.ts'
import { daysAgo, shortDay } from '../../base/dates.ts'
import { count, percent } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Chart, type ChartSeries } from '../../parts/chart.tsx'
import { State } from '../../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { Table } from '../../parts/table.tsx'
import { overview as words } from '../../words/en/overview.ts'
import { useTeam } from '../team.ts'

export type Span = '1' | '7' | '30'

const REFRESH_MS = 30_000
const BOUNCE_LIMIT = 0.02
/** Points of the API in one point of the chart. */
const GROUPED: Readonly<Record<Span, number>> = { '1': 1, '7': 3, '30': 1 }
const HOUR_MS = 3_600_000

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
  if (error !== null) return <ErrorCard error={error} onRetry={totals.refetch} />
  if (totals.data === undefined || series.data === undefined) return <Skeleton rows={4} />
  return (
    <div class="card">
      <Figures metrics={totals.data} span={span} />
      <Curve points={series.data.points} span={span} />
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
        {...share(rates.delivery_rate)}
        note={totals.sent === 0 ? words.nothingSent : words.deliveredNote(totals.delivered, waiting)}
      />
      <Figure
        name={words.figures.received}
        value={count(totals.received)}
        note={change(totals.received, previous.totals.received, span)}
      />
      <Figure
        name={words.figures.bounced}
        {...share(rates.bounce_rate)}
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

const share = (rate: number | null) => (rate === null ? { value: '–' } : { value: percent(rate), unit: '%' })

function Figure({ name, value, unit, note }: { name: string; value: string; unit?: string; note: ComponentChildren }) {
  return (
    <div class="figure">
      <span class="figure-name meta">{name}</span>
      <span class="figure-value">
        {value}
        {unit !== undefined && <small>{unit}</small>}
      </span>
      <span class="soft small">{note}</span>
    </div>
  )
}

interface Group {
  start: string
  end: string
  received: number
  sent: number
  failed: number
}

/** Points of the chart: `size` points of the API each. */
function groupPoints(points: readonly EmailMetricsPoint[], size: number): Group[] {
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => {
    const part = points.slice(index * size, (index + 1) * size)
    const sum = (value: (point: EmailMetricsPoint) => number) => part.reduce((total, point) => total + value(point), 0)
    return {
      start: part[0]!.start,
      end: part.at(-1)!.end,
      received: sum(({ totals }) => totals.received),
      sent: sum(({ totals }) => totals.sent),
      failed: sum(({ totals }) => totals.failed),
    }
  })
}

/** "Mon 13, 9–12 h", "Mon 13" for whole days. */
function nameOf({ start, end }: Group, span: Span): string {
  const [from, to] = [new Date(start), new Date(end)]
  const day = shortDay(from)
  return span === '30' ? day : words.hours(day, from.getHours(), to.getHours() === 0 ? 24 : to.getHours())
}

function Curve({ points, span }: { points: readonly EmailMetricsPoint[]; span: Span }) {
  const [isTable, setTable] = useState(false)
  const groups = useMemo(() => groupPoints(points, GROUPED[span]), [points, span])
  const times = useMemo(() => groups.map(({ start }) => Date.parse(start)), [groups])
  const series = useMemo<ChartSeries[]>(
    () => [
      { name: words.series.received, kind: 'line', values: groups.map(({ received }) => received) },
      { name: words.series.sent, kind: 'area', values: groups.map(({ sent }) => sent) },
      { name: words.series.failed, kind: 'bars', values: groups.map(({ failed }) => failed) },
    ],
    [groups],
  )
  const title = words.chart(words.units[span]!)
  return (
    <div class="card-pad chart-part">
      <div class="row wide">
        <span class="row">
          <h2 class="sub">{title}</h2>
          <span class="row soft small">
            <span class="chart-key" />
            {words.series.failed}
          </span>
        </span>
        <Button kind="link" icon="list" onPress={() => setTable(!isTable)}>
          {isTable ? words.asChart : words.asTable}
        </Button>
      </div>
      {isTable ? (
        <AsTable groups={groups} span={span} />
      ) : (
        <Chart label={title} times={times} series={series} nameOf={(index) => nameOf(groups[index]!, span)} />
      )}
    </div>
  )
}

function AsTable({ groups, span }: { groups: readonly Group[]; span: Span }) {
  return (
    <div class="chart-table">
      <Table
        label={words.asTable}
        rows={[...groups].reverse()}
        keyOf={({ start }) => start}
        columns={[
          { head: words.time, cell: (group) => nameOf(group, span) },
          { head: words.series.received, cell: ({ received }) => count(received), class: 'number' },
          { head: words.series.sent, cell: ({ sent }) => count(sent), class: 'number' },
          { head: words.series.failed, cell: ({ failed }) => count(failed), class: 'number' },
        ]}
      />
    </div>
  )
}
