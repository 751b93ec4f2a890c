// Permissions stored in the database: compared before and after a request, to detect any that a request added.

import { allows, isRole, isSubset, ROLES } from '../../src/directory/names/permissions.ts'
import { MEMBER_PERMISSIONS, type MemberRole } from '../../src/people/members.ts'
import type { TestAppliance } from './appliance.ts'
import type { Credential } from './credentials.ts'

type Row = Record<string, unknown>

/** Rows that grant permissions, by table and id. */
const TABLES: Readonly<Record<string, string>> = {
  keys: 'SELECT id, team_id, mailbox_id, kind, role, permissions, hex(hash) AS hash, expires_at, revoked_at FROM keys',
  operator_keys: 'SELECT id, hex(hash) AS hash, revoked_at FROM operator_keys',
  members: 'SELECT id, team_id, email, role FROM members',
  sign_in_links: 'SELECT hex(hash) AS id, email, team_id, mailbox_id, shown_by FROM sign_in_links',
  sessions: 'SELECT hex(hash) AS id, email, team_id FROM sessions',
  agent_registrations:
    'SELECT id, state, team_id, mailbox_id, hex(claim_hash) AS claim, hex(durable_hash) AS durable FROM agent_registrations',
  agent_tokens: 'SELECT hex(hash) AS id, registration, audience, scope FROM agent_tokens',
  owner_invites: 'SELECT id, email, state, hex(token_hash) AS hash FROM owner_invites',
  teams: `SELECT id, suspended_at FROM teams`,
}

export type Authority = ReadonlyMap<string, { table: string; row: Row }>

const latest = new WeakMap<TestAppliance, { version: number; authority: Authority }>()

/** Read again only after a commit: most requests write none of these rows, and many write nothing. */
export function authorityOf(appliance: TestAppliance): Authority {
  const { read } = appliance.app.db
  const version = read.get<{ data_version: number }>('PRAGMA data_version')!.data_version
  const known = latest.get(appliance)
  if (known?.version === version) return known.authority
  const authority = new Map<string, { table: string; row: Row }>()
  for (const [table, sql] of Object.entries(TABLES)) {
    for (const row of read.all<Row>(sql)) authority.set(`${table} ${row.id}`, { table, row })
  }
  latest.set(appliance, { version, authority })
  return authority
}

/** Permissions a request added that its caller did not have, one sentence each. */
export function gains(before: Authority, after: Authority, caller: Credential): string[] {
  if (before === after) return []
  const found: string[] = []
  for (const [key, { table, row }] of after) {
    const old = before.get(key)?.row
    if (old !== undefined && JSON.stringify(old) === JSON.stringify(row)) continue
    if (!mayGrant(table, row, old, caller)) found.push(`${caller.name} made ${table} ${JSON.stringify(row)}`)
  }
  // Removing permissions of another team is no gain, but still forbidden to the caller.
  for (const [key, { table, row }] of before) {
    if (after.has(key) || !('team_id' in row) || row.team_id === null || row.team_id === caller.teamId) continue
    found.push(`${caller.name} removed ${table} ${JSON.stringify(row)}`)
  }
  return found
}

function mayGrant(table: string, row: Row, old: Row | undefined, caller: Credential): boolean {
  if (caller.kind === 'operator')
    return table === 'keys' || table === 'members' || table === 'teams' || isMailed(table, row)
  if (caller.kind !== 'team') return isEnded(table, row) || isAsked(table, row, old, caller)
  if (row.team_id !== undefined && row.team_id !== null && row.team_id !== caller.teamId) return false
  if (isEnded(table, row)) return true
  if (table === 'keys') return mayIssue(row, old, caller)
  if (table === 'members') return isSubset(MEMBER_PERMISSIONS[row.role as MemberRole], caller.permissions)
  return isMailed(table, row)
}

/** Root keys within the permissions of the caller; mailbox keys by callers that administer mailboxes (docs/design/directory.md §6.2). */
function mayIssue(row: Row, old: Row | undefined, { permissions }: Credential): boolean {
  if (row.kind === 'mailbox') {
    return (
      allows(permissions, 'mailbox.admin.manage') || (old === undefined && allows(permissions, 'mailbox.admin.create'))
    )
  }
  const role = row.role as string | null
  const granted = role !== null && isRole(role) ? ROLES[role] : (JSON.parse(row.permissions as string) as string[])
  return isSubset(granted, permissions)
}

/** A link that was not shown: it was sent by mail to an address no credential of the appliance can read. */
function isMailed(table: string, row: Row): boolean {
  return table === 'sign_in_links' && row.team_id === null && row.mailbox_id === null && row.shown_by === null
}

/** A revoked key, an ended agent. */
function isEnded(table: string, row: Row): boolean {
  if (table === 'keys') return row.revoked_at !== null
  return (table === 'agent_registrations' || table === 'owner_invites') && row.state === 'revoked'
}

/** An agent may invite a person to own it; the invitation is the only change. */
function isAsked(table: string, row: Row, old: Row | undefined, { teamId }: Credential): boolean {
  if (table === 'owner_invites') return row.state === 'pending'
  if (table !== 'agent_registrations' || row.team_id !== teamId) return false
  return JSON.stringify({ ...row, state: '' }) === JSON.stringify({ ...old, state: '' }) && row.state === 'invited'
}
