// The records of the shared Amazon SES limit and of requests to raise it, and the validation of their numbers.

import { invalid } from '../../base/errors.ts'
import { integer, key, type RecordOf, table, text, time } from '../../db/table.ts'

export type LimitRequestStatus = 'pending' | 'approved' | 'denied' | 'cancelled'

/** docs/design/contract.md §2.3. */
export interface SharedLimitState {
  providerId: string | null
  dailyLimit: number | null
  sentToday: number
  thresholdUsage: number | null
  usageRatio: number | null
  isNearLimit: boolean
  canRequestIncrease: boolean
  pendingRequestId: string | null
}

export const LIMIT_REQUESTS = table('limit_requests', {
  n: key().hidden(),
  id: text(),
  team_id: text(),
  status: text<LimitRequestStatus>(),
  /** For the operator only. */
  reason: text().orNull(),
  requested_daily_limit: integer().orNull(),
  current_daily_limit: integer(),
  current_daily_sent: integer(),
  approved_daily_limit: integer().orNull(),
  decision_note: text().orNull(),
  created_at: time(),
  decided_at: time().orNull(),
})
export type LimitRequest = RecordOf<typeof LIMIT_REQUESTS>

/** The stored limit of a team and its counts of today. */
export interface SharedLimitAccount {
  enabled: boolean
  dailyLimit: number | null
  /** Reserved for hand-overs in progress. */
  taken: number
  sent: number
}

/** Maximum length of a reason or note. Characters. */
export const NOTE_MAX = 1000
/** Largest limit that can be granted. Recipients a day. */
export const DAILY_MAX = 1_000_000_000
const NEAR = 0.8

/** docs/design/sending.md §5, "Limit computation". */
export function stateOf(
  { enabled, dailyLimit, sent }: SharedLimitAccount,
  providerId: string | null,
  pendingRequestId: string | null,
  deniedLately: boolean,
): SharedLimitState {
  const thresholdUsage = dailyLimit === null ? null : Math.floor(NEAR * dailyLimit)
  return {
    providerId,
    dailyLimit,
    sentToday: sent,
    thresholdUsage,
    usageRatio: ratioOf(sent, dailyLimit),
    isNearLimit: thresholdUsage !== null && sent >= thresholdUsage,
    canRequestIncrease: enabled && dailyLimit !== null && pendingRequestId === null && !deniedLately,
    pendingRequestId,
  }
}

/** Rounded to four decimal places; a limit of 0 is always used up. */
function ratioOf(sent: number, limit: number | null): number | null {
  if (limit === null) return null
  return limit === 0 ? 1 : Math.round((sent / limit) * 10_000) / 10_000
}

/** @throws ProductError validation_error */
export function checkNote(field: string, note: string | null): void {
  if (note !== null && note.length > NOTE_MAX) {
    throw invalid(field, 'too_big', `${field} must have at most ${NOTE_MAX} characters.`)
  }
}

/** @throws ProductError validation_error */
export function checkDaily(field: string, limit: number | null): void {
  if (limit === null) return
  if (!Number.isInteger(limit) || limit < 0)
    throw invalid(field, 'too_small', `${field} must be a whole number of at least 0.`)
  if (limit > DAILY_MAX) throw invalid(field, 'too_big', `${field} must be at most ${DAILY_MAX}.`)
}

/** @throws ProductError validation_error */
export function checkRaise(field: string, wanted: number, current: number): void {
  if (!Number.isInteger(wanted) || wanted <= current) {
    throw invalid(field, 'too_small', `${field} must be more than the current limit, ${current}.`)
  }
  checkDaily(field, wanted)
}
