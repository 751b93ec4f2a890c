// Validation of mailboxes: address, quota, display name and send scope (docs/design/directory.md §6.1).

import { invalid } from '../../base/errors.ts'
import { checkName } from '../keys/teams.ts'
import { domainName } from '../names/domain-name.ts'

/** The sending accounts a mailbox may use. */
export type SendScope =
  | { type: 'all' }
  | { type: 'providers'; providerIds: readonly string[] }
  | { type: 'group'; groupIds: readonly string[] }

export const QUOTA_MIN_BYTES = 10_485_760
export const QUOTA_MAX_BYTES = 1_099_511_627_776
export const QUOTA_DEFAULT_BYTES = 5_368_709_120
/** Of a mailbox that is an outside account (docs/design/outside-accounts.md §3). */
export const OUTSIDE_QUOTA_DEFAULT_BYTES = 50 * 1024 ** 3
export const DISPLAY_NAME_MAX = 255
export const REASON_MAX = 255
// RFC 5321 §4.5.3.1: a path has at most 256 characters with its angle brackets.
const EMAIL_MAX = 254
const LOCAL_MAX = 64

/** An address split and in stored form. */
export interface CheckedAddress {
  email: string
  domain: string
}

/** @throws ProductError validation_error on `email` */
export function checkAddress(text: string): CheckedAddress {
  const cut = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(cut, 0)).toLowerCase()
  const domain = domainName(text.slice(cut + 1))
  if (cut < 1 || domain === null) throw invalid('email', 'invalid_format', 'The email must have the form name@domain.')
  if (local.includes('+')) {
    throw invalid('email', 'invalid_format', 'The part before the @ must not contain +, which marks sub-addresses.')
  }
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(local)) {
    throw invalid(
      'email',
      'invalid_format',
      'The part before the @ may contain only a-z, 0-9, _, - and single dots between them.',
    )
  }
  const email = `${local}@${domain}`
  if (local.length > LOCAL_MAX || email.length > EMAIL_MAX) {
    throw invalid(
      'email',
      'too_big',
      `The email must have at most ${LOCAL_MAX} characters before the @ and ${EMAIL_MAX} in total.`,
    )
  }
  return { email, domain }
}

/**
 * The stored form of an address as a person enters it to sign in: lower-case, the domain in A-labels, the local part as written otherwise.
 * @returns null for text that is not the address of a mailbox
 */
export function loginName(text: string): string | null {
  if (text.length > 4 * EMAIL_MAX) return null
  try {
    return checkAddress(text.trim()).email
  } catch {
    return null
  }
}

/** @throws ProductError validation_error on `display_name` */
export function checkDisplayName(name: string | null): string | null {
  return name === null ? null : checkName(name, DISPLAY_NAME_MAX, 'display_name')
}

/** @throws ProductError validation_error on `reason` */
export function checkReason(reason: string | undefined): string | null {
  return reason === undefined ? null : checkName(reason, REASON_MAX, 'reason')
}

/** @throws ProductError validation_error on `quota_bytes` */
export function checkQuota(bytes: number): number {
  const range = `The quota must be ${QUOTA_MIN_BYTES} to ${QUOTA_MAX_BYTES} bytes.`
  if (!Number.isInteger(bytes)) throw invalid('quota_bytes', 'invalid_type', range)
  if (bytes < QUOTA_MIN_BYTES) throw invalid('quota_bytes', 'too_small', range)
  if (bytes > QUOTA_MAX_BYTES) throw invalid('quota_bytes', 'too_big', range)
  return bytes
}

/**
 * @param foreign ids in the scope that are no accounts or groups of the team
 * @throws ProductError validation_error on `send_scope`: an id of another team is reported like an unknown one
 */
export function checkSendScope(scope: SendScope, foreign: ReadonlySet<string>): void {
  if (scope.type === 'all') return
  const ids = scope.type === 'providers' ? scope.providerIds : scope.groupIds
  const [member, noun] =
    scope.type === 'providers' ? ['provider_public_ids', 'provider'] : ['group_public_ids', 'delivery group']
  const index = ids.findIndex((id) => foreign.has(id))
  if (index !== -1) throw invalid(`send_scope.${member}.${index}`, 'not_found', `There is no such ${noun}.`)
}

/** Changes of a mailbox; omitted members stay unchanged. */
export interface MailboxChange {
  displayName?: string | null
  quotaBytes?: number
  sendScope?: SendScope
}
