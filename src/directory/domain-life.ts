// The life of a domain: what a look at DNS, or the time, makes of it (decisions §4.3).

import type { Finding } from './domain-checks.ts'

export type VerificationStatus = 'pending' | 'verified' | 'failed'

/** What of a domain decides about its next state; times in ms. */
export interface DomainState {
  status: VerificationStatus
  createdAt: number
  verifiedAt: number | null
  /** Daily re-checks in a row that did not find the token. */
  missingDays: number
  /** When to look by itself again; null for never. */
  nextCheckAt: number | null
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const OFTEN_MS = 5 * MINUTE_MS
const OFTEN_UNTIL_MS = HOUR_MS
const PENDING_MAX_MS = 72 * HOUR_MS
const MISSING_DAYS_MAX = 3

export function newDomain(createdAt: number, reserved: boolean): DomainState {
  const state: DomainState = { status: 'pending', createdAt, verifiedAt: null, missingDays: 0, nextCheckAt: null }
  // It needs no proof, but whether DNS shows its key is looked at soon.
  return reserved
    ? { ...state, status: 'verified', verifiedAt: createdAt, nextCheckAt: createdAt }
    : schedule(state, createdAt)
}

/**
 * The state after a look. A failed domain is only looked at when a person asks.
 * @param asked true when a person asked for it, false for the automatic one
 */
export function nextState(state: DomainState, found: Finding, asked: boolean, now: number): DomainState {
  if (state.status === 'failed' && !asked) return state
  if (found === 'found') {
    return schedule({ ...state, status: 'verified', verifiedAt: now, missingDays: 0 }, now)
  }
  if (state.status === 'pending') {
    // The 72 hours run whether or not the name servers answer.
    const over = now >= state.createdAt + PENDING_MAX_MS
    return schedule(over ? { ...state, status: 'failed' } : state, now)
  }
  if (state.status === 'verified' && !asked) {
    if (found === 'unknown') return { ...state, nextCheckAt: now + HOUR_MS }
    const missingDays = state.missingDays + 1
    return schedule({ ...state, missingDays, status: missingDays >= MISSING_DAYS_MAX ? 'failed' : 'verified' }, now)
  }
  return state
}

function schedule(state: DomainState, now: number): DomainState {
  if (state.status === 'failed') return { ...state, nextCheckAt: null }
  if (state.status === 'verified') return { ...state, nextCheckAt: now + DAY_MS }
  const often = now < state.createdAt + OFTEN_UNTIL_MS
  return { ...state, nextCheckAt: now + (often ? OFTEN_MS : HOUR_MS) }
}
