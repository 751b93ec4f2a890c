// Timestamps of records.

import { type TUnsafe, Type } from 'typebox'
import { isoTime } from '../base/clock.ts'
import { Nullable, Timestamp } from './schema.ts'

/** The schema of a time in responses; records have it in ms. */
export interface TimeSchema<T extends string | null = string | null> extends TUnsafe<T> {
  format: 'date-time'
}

/** A timestamp. */
export function TimeOf(description: string): TimeSchema<string> {
  return Type.Unsafe<string>({ ...Timestamp, description }) as TimeSchema<string>
}

/** A nullable timestamp; `description` says what null means. */
export function TimeOrNull(description: string): TimeSchema {
  return Nullable(TimeOf(description)) as TimeSchema
}

/** @param time ms since 1970-01-01 UTC */
export function isoTimeOrNull(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}
