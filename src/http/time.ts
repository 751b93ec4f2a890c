// Timestamps of records.

import { Type } from 'typebox'
import { isoTime } from '../base/clock.ts'
import { Nullable, Timestamp } from './schema.ts'

/** A timestamp. */
export function TimeOf(description: string) {
  return Type.Unsafe<string>({ ...Timestamp, description })
}

/** A nullable timestamp; `description` says what null means. */
export function TimeOrNull(description: string) {
  return Nullable(TimeOf(description))
}

/** @param time ms since 1970-01-01 UTC */
export function isoTimeOrNull(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}
