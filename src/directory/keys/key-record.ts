// Maps rows of `keys` to API key records.

import type { Row } from '../../db/db.ts'
import { isRole, ROLES } from '../names/permissions.ts'

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
