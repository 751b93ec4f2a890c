// The states of a sending account and its moves (decisions §3.2); nothing is stored here.

import type { Provider, ProviderStatus } from '../records.ts'

/** What may be done with an account now. */
export interface AllowedActions {
  update: boolean
  delete: boolean
  activate: boolean
  deactivate: boolean
  test: boolean
}

/** A test that succeeded counts for the unchanged account this long, in ms. */
const CHECK_COUNTS_MS = 24 * 60 * 60 * 1000
/** Failures in a row to connect, secure or sign in before an account leaves the routing. */
export const FAILURES_MAX = 5

const MAY_BE_ACTIVATED: readonly ProviderStatus[] = ['inactive', 'error']
const MAY_BE_DEACTIVATED: readonly ProviderStatus[] = ['active', 'error', 'pending']

export function allowedActions(provider: Pick<Provider, 'type' | 'status' | 'hasRefreshToken'>): AllowedActions {
  const { type, status, hasRefreshToken } = provider
  const shared = type === 'amazon_ses'
  return {
    update: !shared,
    delete: !shared,
    activate: shared ? status === 'inactive' : MAY_BE_ACTIVATED.includes(status),
    deactivate: shared ? status === 'active' : MAY_BE_DEACTIVATED.includes(status),
    test: type === 'smtp' || shared || hasRefreshToken,
  }
}

/**
 * Where activating leads; asked only when it is allowed.
 * @param checkedOkAt when a test of the unchanged connection last succeeded, ms; null for never
 */
export function activated(
  provider: Pick<Provider, 'type' | 'status'>,
  checkedOkAt: number | null,
  now: number,
): ProviderStatus {
  if (provider.type === 'amazon_ses') return 'active'
  const fresh = checkedOkAt !== null && now - checkedOkAt <= CHECK_COUNTS_MS
  return provider.status === 'inactive' && fresh ? 'active' : 'pending'
}

/** Where a change of host, port, protocol, user name or password leads: it has to be checked anew. */
export function reconnected(status: ProviderStatus): ProviderStatus {
  return status === 'inactive' ? 'inactive' : 'pending'
}

/** Where the result of a check or test leads. */
export function checked(status: ProviderStatus, success: boolean): ProviderStatus {
  // A test tells of an inactive account what it tells, and leaves it switched off.
  if (status === 'inactive') return 'inactive'
  return success ? 'active' : 'error'
}
