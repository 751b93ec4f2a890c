// The states of a sending account and its moves (decisions §3.2); nothing is stored here.

import type { Provider, ProviderStatus } from '../records.ts'
import type { Stage } from '../transports/transport.ts'

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
/** Stages at which it is the account that fails, whatever the mail. */
const OF_THE_ACCOUNT: readonly Stage[] = ['dns', 'connect', 'tls', 'greeting', 'auth']
/** Stages at which a mail or its recipient is refused: that says nothing of the account. */
const OF_THE_MAIL: readonly Stage[] = ['recipient', 'data']
/** Failures in a row to connect, secure or sign in before an account leaves the routing. */
export const FAILURES_MAX = 5

const MAY_BE_ACTIVATED: readonly ProviderStatus[] = ['inactive', 'error']
const MAY_BE_DEACTIVATED: readonly ProviderStatus[] = ['active', 'error', 'pending']

export function allowedActions(
  provider: Pick<Provider, 'type' | 'status' | 'statusReason' | 'hasRefreshToken'>,
): AllowedActions {
  const { type, status, statusReason, hasRefreshToken } = provider
  const shared = type === 'amazon_ses'
  return {
    update: !shared,
    delete: !shared,
    // The team may switch on again what it has switched off; the operator's "no" stands in the reason.
    activate: shared ? status === 'inactive' && statusReason === null : MAY_BE_ACTIVATED.includes(status),
    deactivate: shared ? status === 'active' : MAY_BE_DEACTIVATED.includes(status),
    test: type === 'smtp' || shared || hasRefreshToken,
  }
}

/** Why something is not allowed now. */
export function whyNot(
  { isShared, status, statusReason }: Provider,
  action: 'update' | 'delete' | 'activate' | 'deactivate',
): string {
  if (isShared && (action === 'update' || action === 'delete')) return 'The shared account is managed by the operator.'
  if (isShared && action === 'activate' && status === 'inactive') return statusReason!
  return `The provider is ${status}: it cannot be ${action}d.`
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

/**
 * Where the result of a check or test leads.
 * @param stage the last one reached
 */
export function checked(
  status: ProviderStatus,
  { success, stage }: { success: boolean; stage: Stage },
): ProviderStatus {
  // A test tells of an inactive account what it tells, and leaves it switched off.
  if (status === 'inactive') return 'inactive'
  if (success) return 'active'
  return OF_THE_MAIL.includes(stage) ? status : 'error'
}

/** Whether a failed hand-over counts among those in a row that end an account's part in routing. */
export function countsAsFailure(stage: Stage): boolean {
  return OF_THE_ACCOUNT.includes(stage)
}
