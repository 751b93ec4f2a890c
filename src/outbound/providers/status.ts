// The state machine of a sending account (docs/design/sending.md §2), as pure functions.

import { DAY_MS } from '../../base/durations.ts'
import type { Provider, ProviderStatus } from '../model/records.ts'
import type { Stage } from '../model/transport.ts'

/** The actions that an account's current state allows. */
export interface AllowedActions {
  update: boolean
  delete: boolean
  activate: boolean
  deactivate: boolean
  test: boolean
}

/** How long in ms a successful test of an unchanged account stays valid. */
const CHECK_COUNTS_MS = DAY_MS
/** Stages at which a failure concerns the account, regardless of the message. */
const OF_THE_ACCOUNT: readonly Stage[] = ['dns', 'connect', 'tls', 'greeting', 'auth']
/** Stages at which a refusal concerns the message or its recipient, not the account. */
const OF_THE_MAIL: readonly Stage[] = ['recipient', 'data']
/** Consecutive failures to connect, start TLS or authenticate before an account leaves the routing. */
export const FAILURES_MAX = 5

const MAY_BE_ACTIVATED: readonly ProviderStatus[] = ['inactive', 'error']
const MAY_BE_DEACTIVATED: readonly ProviderStatus[] = ['active', 'error', 'pending']

export function allowedActions(
  provider: Pick<Provider, 'type' | 'status' | 'statusReason' | 'hasRefreshToken' | 'remoteAccountId'>,
): AllowedActions {
  const { type, status, statusReason, hasRefreshToken, remoteAccountId } = provider
  const shared = type === 'amazon_ses'
  const isOwn = !shared && remoteAccountId === null
  return {
    update: isOwn,
    delete: isOwn,
    // The team may reactivate what it deactivated; if the operator disabled the account, `statusReason` is set.
    activate: shared ? status === 'inactive' && statusReason === null : MAY_BE_ACTIVATED.includes(status),
    deactivate: shared ? status === 'active' : MAY_BE_DEACTIVATED.includes(status),
    test: type === 'smtp' || shared || hasRefreshToken,
  }
}

/** Why the current state does not allow an action. */
export function whyNot(
  { isShared, status, statusReason, remoteAccountId }: Provider,
  action: 'update' | 'delete' | 'activate' | 'deactivate',
): string {
  if (isShared && (action === 'update' || action === 'delete')) return 'The shared account is managed by the operator.'
  if (remoteAccountId !== null && (action === 'update' || action === 'delete')) {
    return `The provider belongs to the outside account ${remoteAccountId}: change it there.`
  }
  if (isShared && action === 'activate' && status === 'inactive') return statusReason!
  return `The provider is ${status}: it cannot be ${action}d.`
}

/**
 * The status after activation; call only when activation is allowed.
 * @param checkedOkAt when a test of the unchanged connection last succeeded, in ms; null for never
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

/** The status after a change of the connection: the account must be checked again. */
export function reconnected(status: ProviderStatus): ProviderStatus {
  return status === 'inactive' ? 'inactive' : 'pending'
}

/**
 * The status after a check or test.
 * @param stage the last stage reached
 */
export function checked(
  status: ProviderStatus,
  { success, stage }: { success: boolean; stage: Stage },
): ProviderStatus {
  // A test never changes an inactive account.
  if (status === 'inactive') return 'inactive'
  if (success) return 'active'
  return OF_THE_MAIL.includes(stage) ? status : 'error'
}

/** Whether a failed hand-over counts towards {@link FAILURES_MAX}. */
export function countsAsFailure(stage: Stage): boolean {
  return OF_THE_ACCOUNT.includes(stage)
}
