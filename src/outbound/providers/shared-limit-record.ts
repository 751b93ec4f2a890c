// The records of the shared Amazon SES limit and of requests to raise it, and the validation of their numbers.

import { invalid } from '../../base/errors.ts'
import type { Row } from '../../db/db.ts'

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

export interface LimitRequest {
  id: string
  teamId: string
  status: LimitRequestStatus
  /** For the operator only. */
  reason: string | null
  requestedDailyLimit: number | null
  currentDailyLimit: number
  currentDailySent: number
  approvedDailyLimit: number | null
  decisionNote: string | null
  createdAt: number
  decidedAt: number | null
}

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

export function presentRequest(row: Row): LimitRequest {
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    status: row.status as LimitRequestStatus,
    reason: row.reason as string | null,
    requestedDailyLimit: row.requested_daily_limit as number | null,
    currentDailyLimit: row.current_daily_limit as number,
    currentDailySent: row.current_daily_sent as number,
    approvedDailyLimit: row.approved_daily_limit as number | null,
    decisionNote: row.decision_note as string | null,
    createdAt: row.created_at as number,
    decidedAt: row.decided_at as number | null,
  }
}
