// Counts over time as a chart, and the same values as a table.

import { useMemo, useState } from 'preact/hooks'
import type { EmailMetricsPoint } from '../api/types.ts'
import { dayOf, hourOf, monthOf, shortDay } from '../base/dates.ts'
import { count } from '../base/numbers.ts'
import { Button } from '../parts/button.tsx'
import { Chart, type ChartSeries } from '../parts/chart.tsx'
import { Table } from '../parts/table.tsx'
import { charts as words } from '../words/en/charts.ts'

export type Interval = 'hour' | 'day' | 'week' | 'month'
type Totals = EmailMetricsPoint['totals']

/** One curve: what it shows, and which counts of a point it adds up. */
export interface Curve {
  name: string
  kind: ChartSeries['kind']
  of: (totals: Totals) => number
}

interface TimeChartProps {
  title: string
  points: readonly EmailMetricsPoint[]
  curves: readonly Curve[]
  interval: Interval
  /** Points of the API in one point of the chart. */
  grouped?: number
}

interface Group {
  start: string
  end: string
  /** One for each curve. */
  values: number[]
}

function groupPoints(points: readonly EmailMetricsPoint[], curves: readonly Curve[], size: number): Group[] {
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => {
    const part = points.slice(index * size, (index + 1) * size)
    const values = curves.map(({ of }) => part.reduce((total, { totals }) => total + of(totals), 0))
    return { start: part[0]!.start, end: part.at(-1)!.end, values }
  })
}

/** "Mon 13, 9–12 h"; "Mon 13" for days, "Week of 13 May", "May 2030". Days and what is longer are counted in UTC. */
function nameOf({ start, end }: Group, interval: Interval): string {
  const from = new Date(start)
  if (interval === 'month') return monthOf(from)
  if (interval === 'week') return words.week(dayOf(from))
  if (interval === 'day') return shortDay(from, 'UTC')
  return words.hours(shortDay(from), hourOf(from), hourOf(new Date(end)) || 24)
}

/** A card with one chart; the button beside its title shows the values as a table. */
export function TimeChart({ title, points, curves, interval, grouped = 1 }: TimeChartProps) {
  const [isTable, setTable] = useState(false)
  const groups = useMemo(() => groupPoints(points, curves, grouped), [points, curves, grouped])
  const times = useMemo(() => groups.map(({ start }) => Date.parse(start)), [groups])
  const series = useMemo<ChartSeries[]>(
    () => curves.map(({ name, kind }, index) => ({ name, kind, values: groups.map(({ values }) => values[index]!) })),
    [groups, curves],
  )
  const bars = curves.find(({ kind }) => kind === 'bars')
  return (
    <div class="card-pad chart-part">
      <div class="row wide">
        <span class="row">
          <h2 class="sub">{title}</h2>
          {bars !== undefined && (
            <span class="row soft small">
              <span class="chart-key" />
              {bars.name}
            </span>
          )}
        </span>
        <Button kind="link" icon={isTable ? 'chart-line' : 'list'} onPress={() => setTable(!isTable)}>
          {isTable ? words.asChart : words.asTable}
        </Button>
      </div>
      {isTable ? (
        <AsTable title={title} groups={groups} curves={curves} interval={interval} />
      ) : (
        <Chart label={title} times={times} series={series} nameOf={(index) => nameOf(groups[index]!, interval)} />
      )}
    </div>
  )
}

type AsTableProps = Pick<TimeChartProps, 'title' | 'curves' | 'interval'> & { groups: readonly Group[] }

/** The newest first. */
function AsTable({ title, groups, curves, interval }: AsTableProps) {
  return (
    // A part that scrolls is reached by keys.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="chart-table" aria-label={title} tabIndex={0}>
      <Table
        label={title}
        rows={[...groups].reverse()}
        isNamed
        keyOf={({ start }) => start}
        columns={[
          { head: words.time, cell: (group: Group) => nameOf(group, interval) },
          ...curves.map(({ name }, index) => ({
            head: name,
            cell: ({ values }: Group) => count(values[index]!),
            class: 'number',
          })),
        ]}
      />
    </section>
  )
}
