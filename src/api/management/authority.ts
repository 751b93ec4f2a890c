// The authority of owners: who may make, change and remove owners of a team. It is more than permissions, which an admin has too.

import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { ApiKey } from '../../directory/keys/keys.ts'
import { allows } from '../../directory/names/permissions.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'

/** Keys that issued one another are followed so far. */
const CHAIN_MAX = 100
/** What only the authority of an owner makes use of. */
const OWNER_PERMISSIONS = ['team.manage', 'mailbox.admin.delete']

/**
 * Whether a principal acts with the authority of an owner: an owner in a browser, and a key that the operator issued, or a person who is an
 * owner now. Otherwise an admin could issue a key, and make themself an owner with it.
 */
function isOwner(app: Context, { teamId, person, keyId }: TeamPrincipal): boolean {
  return person === undefined ? hasOwnersAuthority(app, teamId, keyId) : isOwnerNow(app, teamId, person.memberId)
}

/** @throws ProductError insufficient_permissions */
export function requireOwner(app: Context, principal: TeamPrincipal, sentence: string): void {
  if (!isOwner(app, principal)) throw new ProductError('insufficient_permissions', sentence)
}

/**
 * A new secret is worth what its key may do: who is no owner must not get that of a key with their authority.
 * @throws ProductError insufficient_permissions
 */
export function requireRotatable(app: Context, principal: TeamPrincipal, key: ApiKey): void {
  if (!OWNER_PERMISSIONS.some((one) => allows(key.permissions, one))) return
  if (!hasOwnersAuthority(app, key.teamId, key.id)) return
  requireOwner(app, principal, 'Only an owner rotates this key: it can make and remove owners of the team.')
}

function hasOwnersAuthority(app: Context, teamId: string, keyId: string): boolean {
  let id = keyId
  for (let step = 0; step < CHAIN_MAX; step++) {
    const by = app.directory.keys.get(teamId, id)?.createdBy
    if (by === undefined) return false
    if (!by.startsWith('key_')) return by === 'operator' || isOwnerNow(app, teamId, by)
    id = by
  }
  return false
}

function isOwnerNow(app: Context, teamId: string, memberId: string | null): boolean {
  return memberId !== null && app.people.members.get(teamId, memberId)?.role === 'owner'
}
