// API keys: their record, and the validated input that creates or changes one.

import { DAY_MS } from '../../base/durations.ts'
import { invalid } from '../../base/errors.ts'
import { nearest } from '../../base/nearest.ts'
import type { Row } from '../../db/db.ts'
import { isPermission, isRole, MAILBOX_SCOPES, PERMISSIONS, ROLES, WILDCARDS } from '../names/permissions.ts'

export type KeyKind = 'root' | 'mailbox'
export type KeyStatus = 'active' | 'expired' | 'revoked'

/** What API keys and app passwords have in common; times in ms. */
export interface CredentialRecord {
  id: string
  teamId: string
  name: string
  permissions: readonly string[]
  last4: string
  status: KeyStatus
  createdBy: string
  createdAt: number
  expiresAt: number | null
  /** Start of the minute of the last use. */
  lastUsedAt: number | null
  revokedAt: number | null
}

/** A key without its secret (docs/design/directory.md §2), which only `issue` and `rotate` return. */
export interface ApiKey extends CredentialRecord {
  kind: KeyKind
  role: string | null
  mailboxId: string | null
  prefix: string
}

/** @param now ms */
export function statusOf(row: Row, now: number): KeyStatus {
  if (row.revoked_at !== null) return 'revoked'
  return row.expires_at !== null && (row.expires_at as number) <= now ? 'expired' : 'active'
}

/** A role has the permissions of the running version, not those of the time the key was created. */
export function permissionsOf(row: Row): readonly string[] {
  const role = row.role as string | null
  if (role !== null) return isRole(role) ? ROLES[role] : []
  return JSON.parse(row.permissions as string) as string[]
}

/** The columns that `keys` and `app_passwords` share. @param now ms; decides whether the credential has expired */
export function presentCredential(row: Row, now: number): Omit<CredentialRecord, 'permissions'> {
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    name: row.name as string,
    last4: row.last4 as string,
    status: statusOf(row, now),
    createdBy: row.created_by as string,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
    revokedAt: row.revoked_at as number | null,
  }
}

/** @param now ms; decides whether the key has expired */
export function presentKey(row: Row, now: number): ApiKey {
  return {
    ...presentCredential(row, now),
    kind: row.kind as KeyKind,
    role: row.role as string | null,
    permissions: permissionsOf(row),
    mailboxId: row.mailbox_id as string | null,
    prefix: row.prefix as string,
  }
}

export interface IssuedKey {
  record: ApiKey
  secret: string
}

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
