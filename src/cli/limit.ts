// How many rows a list shows.

import { ProductError } from '../base/errors.ts'
import type { Call } from './command.ts'

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

/** The lines of a list, and a word on what it does not show. */
export function cut(lines: readonly string[], hasMore: boolean): string[] {
  return hasMore ? [...lines, '… and more: see --limit.'] : [...lines]
}
