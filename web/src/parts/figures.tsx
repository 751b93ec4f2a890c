// Large figures in cells, each with its name and a note.

import type { ComponentChildren } from 'preact'
import { percent } from '../base/numbers.ts'

interface FigureProps {
  name: string
  value: string
  unit?: string
  note: ComponentChildren
}

export function Figure({ name, value, unit, note }: FigureProps) {
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

/** A share of one as the figure of a cell; a dash when there is nothing to share. */
export const shareFigure = (rate: number | null) =>
  rate === null ? { value: '–' } : { value: percent(rate), unit: '%' }
