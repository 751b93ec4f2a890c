// Validation of API keys: permissions and expiry (docs/design/directory.md §2, §6.2).

import { DAY_MS } from '../../base/durations.ts'
import { invalid } from '../../base/errors.ts'
import { nearest } from '../../base/nearest.ts'
import { isPermission, isRole, MAILBOX_SCOPES, PERMISSIONS, ROLES, WILDCARDS } from '../names/permissions.ts'
import type { KeyKind } from './key-record.ts'

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
const LIFETIME_MAX_MS = 5 * 366 * DAY_MS

const ALL = 'The role `root:full` holds every permission.'
const OF_OTHERS = 'Keys of a mailbox can have it (POST /mailboxes/{mailbox_id}/api-keys). '
const OF_MAILBOX: PermissionCatalogue = { knows: isScope, names: MAILBOX_SCOPES }
const OF_TEAM: PermissionCatalogue = { knows: isPermission, names: [...PERMISSIONS, ...WILDCARDS] }

/** The permissions of a new key. @throws ProductError validation_error on `role` or `permissions` */
export function checkPermissions(input: Pick<KeyInput, 'kind' | 'role' | 'permissions'>): readonly string[] {
  const { kind, role, permissions } = input
  if (kind === 'mailbox') return checkList(permissions ?? MAILBOX_SCOPES, OF_MAILBOX)
  if ((role === undefined) === (permissions === undefined)) {
    throw invalid('role', 'invalid_union', 'Set exactly one of `role` and `permissions`.')
  }
  if (permissions !== undefined) return checkList(permissions, OF_TEAM)
  if (!isRole(role!)) throw invalid('role', 'invalid_enum', `The role must be one of ${Object.keys(ROLES).join(', ')}.`)
  return ROLES[role]
}

function isScope(name: string): boolean {
  return (MAILBOX_SCOPES as readonly string[]).includes(name)
}

interface PermissionCatalogue {
  knows(name: string): boolean
  /** Suggestions for an unknown name. */
  names: readonly string[]
}

function checkList(permissions: readonly string[], { knows, names }: PermissionCatalogue): readonly string[] {
  if (permissions.length === 0) throw invalid('permissions', 'too_small', 'At least one permission must be given.')
  if (permissions.length > PERMISSIONS_MAX) {
    throw invalid('permissions', 'too_big', `At most ${PERMISSIONS_MAX} permissions can be given.`)
  }
  if (new Set(permissions).size !== permissions.length) {
    throw invalid('permissions', 'duplicate', 'A permission must be named only once.')
  }
  const index = permissions.findIndex((name) => !knows(name))
  if (index < 0) return permissions
  const name = permissions[index]!
  throw invalid(
    `permissions.${index}`,
    'invalid_enum',
    `\`${name}\` is not a permission of this kind of key. ${adviceOn(name, names)}`,
  )
}

function adviceOn(name: string, names: readonly string[]): string {
  if (names !== MAILBOX_SCOPES && name === '*') return ALL
  const others = names !== MAILBOX_SCOPES && isScope(name) ? OF_OTHERS : ''
  return `${others}Did you mean \`${nearest(name.toLowerCase(), names)}\`?`
}

/** @throws ProductError validation_error on `expires_at` */
export function checkExpiry(expiresAt: number | null | undefined, now: number): void {
  if (expiresAt === null || expiresAt === undefined) return
  if (expiresAt <= now) throw invalid('expires_at', 'too_small', 'The expiry must be in the future.')
  if (expiresAt > now + LIFETIME_MAX_MS) {
    throw invalid('expires_at', 'too_big', 'The expiry must be at most 5 years ahead.')
  }
}
