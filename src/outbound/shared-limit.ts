// How much a team may send through the shared Amazon SES account in a day, and its requests for more (decisions §3.5).

import type { Tx } from '../db/db.ts'
import type { Page, PageKey } from '../db/page.ts'
import type { OutboundParts } from './parts.ts'
import type { Provider } from './records.ts'

export type LimitRequestStatus = 'pending' | 'approved' | 'denied' | 'cancelled'

/** Specification §2.3. */
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

export interface LimitRequestFilter {
  /** Left out by the operator, who sees those of all teams. */
  teamId?: string
  status?: LimitRequestStatus
  limit: number
  after: PageKey | null
}

export interface SharedLimitParts extends OutboundParts {
  providers: {
    /** Makes the team's row of the shared account, or switches it off. */
    ensureShared(tx: Tx, teamId: string, enabled: boolean): Promise<unknown>
    /** The team's row of the shared account while it is enabled. */
    sharedOf(teamId: string): Promise<Provider | undefined>
  }
}

export class SharedLimit {
  constructor(_parts: SharedLimitParts) {}

  limitOf(_teamId: string): Promise<SharedLimitState> {
    throw new Error('not built')
  }

  pendingOf(_teamId: string): Promise<LimitRequest | undefined> {
    throw new Error('not built')
  }

  /** Newest first. */
  list(_filter: LimitRequestFilter): Promise<Page<LimitRequest>> {
    throw new Error('not built')
  }

  /** @throws ProductError conflict (one is pending, SES is off, no limit to raise), validation_error */
  create(
    _teamId: string,
    _input: { reason: string | null; requestedDailyLimit: number | null },
  ): Promise<{ request: LimitRequest; limit: SharedLimitState }> {
    throw new Error('not built')
  }

  /** @throws ProductError not_found, conflict (it is no longer pending) */
  cancel(_teamId: string, _id: string): Promise<{ request: LimitRequest; limit: SharedLimitState }> {
    throw new Error('not built')
  }

  /** The operator says yes: the limit holds at once. @throws ProductError not_found, conflict, validation_error */
  approve(_id: string, _decision: { approvedDailyLimit: number; note: string | null }): Promise<LimitRequest> {
    throw new Error('not built')
  }

  /** The operator says no. @throws ProductError not_found, conflict, validation_error */
  deny(_id: string, _decision: { note: string | null }): Promise<LimitRequest> {
    throw new Error('not built')
  }

  /**
   * The operator opens or closes the shared account for a team.
   * @param limit recipients a day (UTC); null for no limit
   * @throws ProductError not_found, validation_error, service_unavailable (no account is configured)
   */
  setDaily(_teamId: string, _enabled: boolean, _limit: number | null): Promise<SharedLimitState> {
    throw new Error('not built')
  }

  /**
   * Takes room for a hand-over, when the router decides for the shared account. The transport settles it.
   * @returns false when the day has no room for that many
   */
  take(_tx: Tx, _teamId: string, _recipients: number): Promise<boolean> {
    throw new Error('not built')
  }

  /** Called by the transport alone: gives back what was taken and counts what was accepted. */
  settle(_tx: Tx, _teamId: string, _taken: number, _accepted: number): Promise<void> {
    throw new Error('not built')
  }
}
