// Charts: one area, one line and bars over the same time, with a cursor that also moves by keys; a table stands beside every chart.

import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { chosenTimeZone, day, hour, hourOf, shortDay, startOfDay } from '../base/dates.ts'
import { look } from '../base/look.ts'
import { count } from '../base/numbers.ts'
import { charts as words } from '../words/en/charts.ts'

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
/** Of a letter of the names at the ends, pixels at most. */
const LETTER = 7.5
/** The room for the names at the ends of the lines. */
const endRoom = (series: readonly ChartSeries[]) =>
  12 + LETTER * Math.max(0, ...series.map(({ name, kind }) => (kind === 'bars' ? 0 : name.length)))
const TONES = { area: 'var(--accent)', line: 'var(--edge)', bars: 'var(--danger)' } as const
const NAME_TONES = { area: 'accent', line: 'soft', bars: 'danger' } as const
/** From the base to the names below it. */
const TICK_GAP = 9
const NAME_WIDTH = 48
const MOST_LINES = 4
const BAR_WIDTH = 4
const LOWEST_BAR = 4

/** The colour of a variable as the canvas takes it. */
function colour(element: HTMLElement, value: string): string {
  element.style.color = value
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}

function seriesOptions(element: HTMLElement, { kind, name }: ChartSeries): uPlot.Series {
  const stroke = colour(element, TONES[kind])
  // Drawn by drawBars.
  if (kind === 'bars') return { label: name, stroke, width: 0, paths: () => null, points: { show: false } }
  return {
    label: name,
    stroke,
    width: kind === 'area' ? 2 : 1.5,
    fill: kind === 'area' ? colour(element, 'var(--accent-faint)') : undefined,
    points: { show: false },
  }
}

/** Bars from the base, high enough to be seen beside lines that are a hundred times as high. */
function drawBars(plot: uPlot, series: readonly ChartSeries[]): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  const base = bbox.top + bbox.height
  const width = BAR_WIDTH * ratio
  for (const { kind, values } of series) {
    if (kind !== 'bars') continue
    ctx.save()
    ctx.fillStyle = colour(plot.root.parentElement!, TONES.bars)
    for (const [index, value] of values.entries()) {
      if (value === 0) continue
      const height = Math.max(LOWEST_BAR * ratio, base - plot.valToPos(value, 'y', true))
      const middle = plot.valToPos(plot.data[0][index]!, 'x', true)
      ctx.fillRect(Math.min(middle - width / 2, bbox.left + bbox.width - width), base - height, width, height)
    }
    ctx.restore()
  }
}

/** Midnight, in seconds since 1970. */
const startOfToday = () => startOfDay(new Date()) / 1000

/** Whether the name at a tick would touch that of today. */
function isUnderToday(plot: uPlot, seconds: number): boolean {
  const distance = plot.valToPos(startOfToday(), 'x') - plot.valToPos(seconds, 'x')
  return distance >= 0 && distance < NAME_WIDTH
}

/** The name of this day, heavier than the others: its values are not complete. */
function drawToday(plot: uPlot): void {
  const { ctx, bbox } = plot
  const today = startOfToday()
  const left = plot.valToPos(today, 'x', true)
  const { min = null, max = null } = plot.scales.x ?? {}
  if (min === null || max === null || today < min || today > max) return
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`
  ctx.textBaseline = 'top'
  ctx.textAlign = 'left'
  ctx.fillStyle = colour(plot.root.parentElement!, 'var(--text)')
  ctx.fillText(words.today, left, bbox.top + bbox.height + TICK_GAP * ratio)
  ctx.restore()
}

/** The names of the lines at their ends, the upper one moved up when they would touch. */
function drawNames(plot: uPlot, series: readonly ChartSeries[]): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  const gap = 16 * ratio
  ctx.save()
  ctx.font = `500 ${12 * ratio}px system-ui, sans-serif`
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  const lines = series.flatMap((one, index) => {
    const value = one.values.at(-1)
    return one.kind === 'bars' || value === undefined ? [] : [{ one, index, y: plot.valToPos(value, 'y', true) }]
  })
  // From the base up, so that none is below it.
  let last = bbox.top + bbox.height - 4 * ratio + gap
  for (const { one, index, y } of lines.sort((a, b) => b.y - a.y)) {
    last = Math.min(y, last - gap)
    ctx.fillStyle = colour(plot.root.parentElement!, one.kind === 'area' ? 'var(--accent)' : 'var(--soft)')
    ctx.fillText(String(plot.series[index + 1]!.label), bbox.left + bbox.width + 8 * ratio, last)
  }
  ctx.restore()
}

function optionsOf(
  element: HTMLElement,
  series: readonly ChartSeries[],
  onMove: (index: number | null) => void,
): uPlot.Options {
  const soft = colour(element, 'var(--soft)')
  const font = '12px system-ui, sans-serif'
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, endRoom(series), 0, 0],
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
        border: { show: true, stroke: colour(element, 'var(--line)'), width: 1 },
        align: 1,
        size: 28,
        space: 90,
        values: (plot, splits) =>
          splits.map((seconds) =>
            isUnderToday(plot, seconds) ? '' : tickName(seconds, (splits[1] ?? 0) - (splits[0] ?? 0)),
          ),
      },
      {
        stroke: soft,
        font,
        size: 44,
        grid: { stroke: colour(element, 'var(--line-soft)'), width: 1 },
        ticks: { show: false },
        splits: (_, _axis, _low, high) => gridLines(high),
      },
    ],
    series: [{}, ...series.map((one) => seriesOptions(element, one))],
    hooks: {
      draw: [(plot) => drawBars(plot, series), (plot) => drawNames(plot, series), drawToday],
      setCursor: [(plot) => onMove(plot.cursor.idx ?? null)],
    },
  }
}

/** Round values from 0 to the highest, at most four above 0. */
function gridLines(high: number): number[] {
  const power = 10 ** Math.floor(Math.log10(high / MOST_LINES))
  const step = [1, 2, 5, 10].map((one) => Math.max(1, one * power)).find((one) => high / one < MOST_LINES + 1)!
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, index) => index * step)
}

const TWO_DAYS = 172_800

/** The day at midnight, the hour else; the date where ticks are far apart. @param seconds since 1970 @param step seconds between two ticks */
function tickName(seconds: number, step: number): string {
  const date = new Date(seconds * 1000)
  if (step >= TWO_DAYS) return day(date.toISOString())
  if (hourOf(date) !== 0) return hour(date)
  return shortDay(date)
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
      const zone = chosenTimeZone()
      const tzDate = zone && ((seconds: number) => library.tzDate(new Date(seconds * 1000), zone))
      plot.current = new library({ ...optionsOf(element, series, move), ...(tzDate && { tzDate }) }, data, element)
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
    const now = index ?? times.length
    const wanted = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: last }[event.key]
    if (wanted === undefined || plot.current === null) return
    event.preventDefault()
    const next = Math.max(0, Math.min(last, wanted))
    plot.current.setCursor({ left: plot.current.valToPos(times[next]! / 1000, 'x'), top: 0 })
  }
  return (
    <div
      class="chart"
      dir="ltr"
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
    <div class="chart-card" style={{ left: `${start}px` }} aria-hidden="true">
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
