// The verification state machine of a domain: pending, verified, failed (docs/design/directory.md §5.3).

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { RecordFinding } from './domain-checks.ts'

export type VerificationStatus = 'pending' | 'verified' | 'failed'

/** The state of a domain's verification; times in ms. */
export interface DomainState {
  status: VerificationStatus
  createdAt: number
  verifiedAt: number | null
  /** Consecutive daily checks that did not find the token. */
  missingDays: number
  /** Time of the next automatic check; null for none. */
  nextCheckAt: number | null
}

const NEW_CHECK_MS = 5 * MINUTE_MS
const NEW_UNTIL_MS = HOUR_MS
const PENDING_MAX_MS = 72 * HOUR_MS
const MISSING_DAYS_MAX = 3

export function newDomain(createdAt: number, reserved: boolean): DomainState {
  const state: DomainState = { status: 'pending', createdAt, verifiedAt: null, missingDays: 0, nextCheckAt: null }
  // A reserved name needs no proof, but its keys are checked in the next round.
  return reserved
    ? { ...state, status: 'verified', verifiedAt: createdAt, nextCheckAt: createdAt }
    : schedule(state, createdAt)
}

/**
 * The state after a check. A failed domain is checked only on request.
 * @param requested true for a check requested by a user, false for an automatic one
 */
export function nextState(state: DomainState, found: RecordFinding, requested: boolean, now: number): DomainState {
  if (state.status === 'failed' && !requested) return state
  if (found === 'found') {
    return schedule({ ...state, status: 'verified', verifiedAt: now, missingDays: 0 }, now)
  }
  if (state.status === 'pending') {
    // The 72 hours include failed lookups.
    const isExpired = now >= state.createdAt + PENDING_MAX_MS
    return schedule(isExpired ? { ...state, status: 'failed' } : state, now)
  }
  if (state.status === 'verified' && !requested) {
    if (found === 'unknown') return { ...state, nextCheckAt: now + HOUR_MS }
    const missingDays = state.missingDays + 1
    return schedule({ ...state, missingDays, status: missingDays >= MISSING_DAYS_MAX ? 'failed' : 'verified' }, now)
  }
  return state
}

function schedule(state: DomainState, now: number): DomainState {
  if (state.status === 'failed') return { ...state, nextCheckAt: null }
  if (state.status === 'verified') return { ...state, nextCheckAt: now + DAY_MS }
  const isNew = now < state.createdAt + NEW_UNTIL_MS
  return { ...state, nextCheckAt: now + (isNew ? NEW_CHECK_MS : HOUR_MS) }
}
