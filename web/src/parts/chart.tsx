// Charts: one area, one line and bars over the same time, with a cursor that also moves by keys; a table stands beside every chart.

import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { hour, shortDay } from '../base/dates.ts'
import { look } from '../base/look.ts'
import { count } from '../base/numbers.ts'

export interface ChartSeries {
  name: string
  kind: 'area' | 'line' | 'bars'
  values: readonly number[]
}

interface ChartProps {
  /** What the chart shows. */
  label: string
  /** Milliseconds since 1970, ascending. */
  times: readonly number[]
  series: readonly ChartSeries[]
  /** The period of a point, for the card at the cursor. */
  nameOf: (index: number) => string
}

const HEIGHT = 196
const END_LABELS = 72
const TONES = { area: 'var(--accent)', line: 'var(--edge)', bars: 'var(--danger)' } as const
const NAME_TONES = { area: 'accent', line: 'soft', bars: 'danger' } as const
const BAR_WIDTH = 4

/** The colour of a variable as the canvas takes it. */
function colour(element: HTMLElement, value: string): string {
  element.style.color = value
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}

function seriesOptions(
  element: HTMLElement,
  paths: uPlot.Series.PathBuilder | undefined,
  { kind, name }: ChartSeries,
): uPlot.Series {
  const stroke = colour(element, TONES[kind])
  if (kind === 'bars') return { label: name, fill: stroke, stroke, width: 0, paths, points: { show: false } }
  return {
    label: name,
    stroke,
    width: kind === 'area' ? 2 : 1.5,
    fill: kind === 'area' ? colour(element, 'var(--accent-faint)') : undefined,
    points: { show: false },
  }
}

/** The names of the lines at their ends, the lower one moved down when they would touch. */
function drawNames(plot: uPlot, series: readonly ChartSeries[]): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  let last = Number.NEGATIVE_INFINITY
  ctx.save()
  ctx.font = `500 ${12 * ratio}px system-ui, sans-serif`
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  const lines = series.flatMap((one, index) => {
    const value = one.values.at(-1)
    return one.kind === 'bars' || value === undefined ? [] : [{ one, index, y: plot.valToPos(value, 'y', true) }]
  })
  for (const { one, index, y } of lines.sort((a, b) => a.y - b.y)) {
    last = Math.max(y, last + 16 * ratio)
    ctx.fillStyle = colour(plot.root.parentElement!, one.kind === 'area' ? 'var(--accent)' : 'var(--soft)')
    ctx.fillText(String(plot.series[index + 1]!.label), bbox.left + bbox.width + 8 * ratio, last)
  }
  ctx.restore()
}

function optionsOf(
  library: typeof uPlot,
  element: HTMLElement,
  series: readonly ChartSeries[],
  onMove: (index: number | null) => void,
): uPlot.Options {
  const soft = colour(element, 'var(--soft)')
  const bars = library.paths.bars!({ size: [0.5, BAR_WIDTH], align: 0 })
  const font = '12px system-ui, sans-serif'
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, END_LABELS, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { size: 8, width: 2, fill: colour(element, 'var(--paper)') },
      drag: { x: false, y: false },
    },
    scales: { y: { range: (_, _low, high) => [0, Math.max(4, high * 1.08)] } },
    axes: [
      {
        stroke: soft,
        font,
        grid: { show: false },
        ticks: { stroke: colour(element, 'var(--line)'), size: 4 },
        size: 28,
        space: 90,
        values: (_, splits) => splits.map(tickName),
      },
      {
        stroke: soft,
        font,
        size: 44,
        grid: { stroke: colour(element, 'var(--line-soft)'), width: 1 },
        ticks: { show: false },
        space: 48,
      },
    ],
    series: [{}, ...series.map((one) => seriesOptions(element, bars, one))],
    hooks: { draw: [(plot) => drawNames(plot, series)], setCursor: [(plot) => onMove(plot.cursor.idx ?? null)] },
  }
}

/** The day at midnight, the hour else. @param seconds since 1970 */
function tickName(seconds: number): string {
  const date = new Date(seconds * 1000)
  return date.getHours() === 0 ? shortDay(date) : hour(date)
}

interface Cursor {
  index: number | null
  /** Pixels from the start of the chart. */
  left: number
}

/** The drawing in a box: made again when the values or the theme change, as wide as the box. */
function usePlot({ times, series }: Pick<ChartProps, 'times' | 'series'>) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [cursor, setCursor] = useState<Cursor>({ index: null, left: 0 })
  const { theme } = look.value
  useEffect(() => {
    let isGone = false
    const element = box.current!
    const move = (index: number | null) => setCursor({ index, left: plot.current?.cursor.left ?? 0 })
    const draw = (library: typeof uPlot) => {
      if (isGone) return
      plot.current?.destroy()
      const data: uPlot.AlignedData = [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])]
      plot.current = new library(optionsOf(library, element, series, move), data, element)
    }
    const again = () => void import('uplot').then((module) => draw(module.default))
    again()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', again)
    return () => {
      isGone = true
      resized.disconnect()
      scheme.removeEventListener('change', again)
      plot.current?.destroy()
      plot.current = null
    }
  }, [times, series, theme])
  return { box, plot, cursor }
}

export function Chart({ label, times, series, nameOf }: ChartProps) {
  const { box, plot, cursor } = usePlot({ times, series })
  const { index, left } = cursor
  const last = Math.max(0, times.length - 1)
  const rows = series.map(({ name, kind, values }) => ({ name, kind, value: values[index ?? last] ?? 0 }))
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined || plot.current === null) return
    event.preventDefault()
    const next = Math.max(0, Math.min(last, (index ?? times.length) + step))
    plot.current.setCursor({ left: plot.current.valToPos(times[next]! / 1000, 'x'), top: 0 })
  }
  return (
    <div
      class="chart"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={index ?? last}
      aria-valuetext={
        times.length === 0
          ? label
          : `${nameOf(index ?? last)}: ${rows.map(({ name, value }) => `${name} ${count(value)}`).join(', ')}`
      }
      onKeyDown={onKeyDown}
    >
      <div ref={box} />
      {index !== null && <Card name={nameOf(index)} rows={rows} left={left} />}
    </div>
  )
}

interface CardProps {
  name: string
  rows: readonly { name: string; kind: ChartSeries['kind']; value: number }[]
  left: number
}

const CARD_WIDTH = 140

/** The values at the cursor, on the side where there is room. */
function Card({ name, rows, left }: CardProps) {
  const start = left > CARD_WIDTH * 2 ? left - CARD_WIDTH : left + 60
  return (
    <div class="chart-card" style={{ insetInlineStart: `${start}px` }} aria-hidden="true">
      <b>{name}</b>
      {rows.map((row) => (
        <span key={row.name} class="row wide">
          <span class={NAME_TONES[row.kind]}>{row.name}</span>
          <span>{count(row.value)}</span>
        </span>
      ))}
    </div>
  )
}
