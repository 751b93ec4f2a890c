// Lists: how many rows are shown, and how.

import { ProductError } from '../../base/errors.ts'
import type { Call, CommandOutput } from './command.ts'
import { table } from './table.ts'

/** Rows shown when no number is given, and at most. */
const SHOWN = 50
const SHOWN_MAX = 1000

export const LIMIT_OPTION = {
  limit: { value: 'number', says: `rows to show (${SHOWN} unless given, at most ${SHOWN_MAX})` },
}

/** @throws ProductError invalid_parameter */
export function readLimit(call: Call): number {
  const limit = Number(call.text('limit') ?? SHOWN)
  if (Number.isInteger(limit) && limit >= 1 && limit <= SHOWN_MAX) return limit
  throw new ProductError('invalid_parameter', `The limit must be a whole number from 1 to ${SHOWN_MAX}.`)
}

/** The table of a list, for people. */
export interface ListTable<T> {
  /** The line without any row. */
  none: string
  head: readonly string[]
  cells(row: T): string[]
}

/** The output of a list: its rows as data and as a table, and a word on what it does not show. */
export function listOutput<T>(
  rows: readonly T[],
  hasMore: boolean,
  { none, head, cells }: ListTable<T>,
): CommandOutput {
  const lines = rows.length === 0 ? [none] : table([head, ...rows.map(cells)])
  return { data: rows, lines: hasMore ? [...lines, '… and more: see --limit.'] : lines }
}
