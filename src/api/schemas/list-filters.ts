// Filters that lists share: one vocabulary (`q`, `after`, `before`), with the former names, which are still accepted.

import { type TSchema, Type } from 'typebox'
import { ProductError } from '../../base/errors.ts'
import { parseTime, TimeQuery } from '../../http/schema.ts'

const SEARCH_MAX = 255

/** The same schema, marked as deprecated in the OpenAPI document. @param name of the parameter that replaces it */
export function replacedBy<S extends TSchema>(name: string, schema: S, more = ''): S {
  const description = `Former name of \`${name}\`.${more}`
  return { ...schema, description, deprecated: true, 'x-replaced-by': name }
}

/** `q`, and its former name `search`. Read with {@link searchOf}. */
export function searchFilters(description: string, maxLength = SEARCH_MAX) {
  const text = Type.String({ minLength: 1, maxLength, description })
  return { q: text, search: replacedBy('q', text) }
}

/** @throws ProductError invalid_parameter when both names are given */
export function searchOf({ q, search }: { q?: string; search?: string }): string | undefined {
  refuseBoth('q', q, 'search', search)
  return q ?? search
}

/** `after` and `before`, and their former names. Read with {@link timeRange}. @param about what the time is of, such as "Accepted" */
export function timeFilters(about: string, { since = '', until = '' } = {}) {
  const form = 'RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z.'
  return {
    after: { ...TimeQuery, description: `${about} at or after: ${form}${since}` },
    before: { ...TimeQuery, description: `${about} before: ${form}${until}` },
    from_date: replacedBy('after', TimeQuery),
    to_date: replacedBy('before', TimeQuery, ' YYYY-MM-DD means the end of that day.'),
  }
}

export interface TimeFilters {
  after?: string
  before?: string
  from_date?: string
  to_date?: string
}

/** Start and exclusive end in ms. @throws ProductError invalid_parameter when both names of one are given */
export function timeRange({ after, before, from_date, to_date }: TimeFilters): { from?: number; to?: number } {
  refuseBoth('after', after, 'from_date', from_date)
  refuseBoth('before', before, 'to_date', to_date)
  const [first, last] = [after ?? from_date, before ?? to_date]
  return {
    from: first === undefined ? undefined : parseTime(first),
    // A date alone in `before` means its first moment, as in the lists of a mailbox.
    to: last === undefined ? undefined : parseTime(last, { endOfDay: before === undefined }),
  }
}

/** The parameter that ends a range, under the name the caller used. */
export function endName({ before }: TimeFilters): 'before' | 'to_date' {
  return before === undefined ? 'to_date' : 'before'
}

/** @throws ProductError invalid_parameter when a parameter is given under both of its names */
export function refuseBoth(name: string, value: unknown, former: string, given: unknown): void {
  if (value === undefined || given === undefined) return
  const message = `\`${former}\` is the former name of \`${name}\`. Send only \`${name}\`.`
  throw new ProductError('invalid_parameter', message, { issues: [{ field: former, code: 'duplicate', message }] })
}
