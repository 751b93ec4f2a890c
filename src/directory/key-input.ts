// What may be asked of an API key: its permissions and its end (decisions §2.2, §5.3).

import { invalid } from '../base/errors.ts'
import type { KeyKind } from './key-record.ts'
import { isPermission, isRole, MAILBOX_SCOPES, ROLES } from './permissions.ts'

export interface KeyInput {
  teamId: string
  kind: KeyKind
  mailboxId?: string
  name: string
  role?: string
  permissions?: readonly string[]
  expiresAt?: number | null
  createdBy: string
}

const PERMISSIONS_MAX = 50
const LIFETIME_MAX_MS = 5 * 366 * 86_400_000

/** What the new key may do. @throws ProductError validation_error on `role` or `permissions` */
export function checkPermissions(input: KeyInput): readonly string[] {
  const { kind, role, permissions } = input
  if (kind === 'mailbox') return checkList(permissions ?? MAILBOX_SCOPES, isScope)
  if ((role === undefined) === (permissions === undefined)) {
    throw invalid('role', 'invalid_union', 'Exactly one of role and permissions must be given.')
  }
  if (permissions !== undefined) return checkList(permissions, isPermission)
  if (!isRole(role!)) throw invalid('role', 'invalid_enum', `The role must be one of ${Object.keys(ROLES).join(', ')}.`)
  return ROLES[role]
}

function isScope(name: string): boolean {
  return (MAILBOX_SCOPES as readonly string[]).includes(name)
}

function checkList(permissions: readonly string[], known: (name: string) => boolean): readonly string[] {
  if (permissions.length === 0) throw invalid('permissions', 'too_small', 'At least one permission must be given.')
  if (permissions.length > PERMISSIONS_MAX) {
    throw invalid('permissions', 'too_big', `At most ${PERMISSIONS_MAX} permissions can be given.`)
  }
  if (new Set(permissions).size !== permissions.length) {
    throw invalid('permissions', 'duplicate', 'A permission must be named only once.')
  }
  const stranger = permissions.findIndex((name) => !known(name))
  if (stranger >= 0)
    throw invalid(`permissions.${stranger}`, 'invalid_enum', 'There is no such permission for this kind of key.')
  return permissions
}

/** @throws ProductError validation_error on `expires_at` */
export function checkExpiry(expiresAt: number | null | undefined, now: number): void {
  if (expiresAt === null || expiresAt === undefined) return
  if (expiresAt <= now) throw invalid('expires_at', 'too_small', 'The time of expiry must lie in the future.')
  if (expiresAt > now + LIFETIME_MAX_MS) {
    throw invalid('expires_at', 'too_big', 'The time of expiry must lie at most 5 years ahead.')
  }
}
