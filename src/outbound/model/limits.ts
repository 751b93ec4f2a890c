// Times that bound the life of a message in the queue.

import { DAY_MS, HOUR_MS } from '../../base/durations.ts'

/** How long delivery is attempted, from the earliest time of the first attempt (docs/design/sending.md §7). ms */
export const LIFETIME_MS = 48 * HOUR_MS
/** How far ahead a message can be scheduled, ms. */
export const AHEAD_MIN_MS = 5_000
export const AHEAD_MAX_MS = 30 * DAY_MS
