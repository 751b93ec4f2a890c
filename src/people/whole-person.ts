// What a session that opens one team only may change: nothing that is the person's beyond that team.

import { ProductError } from '../base/errors.ts'
import type { Reader } from '../db/db.ts'
import type { Members } from './members.ts'
import type { Passkeys } from './passkeys.ts'
import type { Persons } from './persons.ts'
import type { RecoveryCodes } from './recovery-codes.ts'
import type { SessionRecord, Sessions } from './sessions.ts'

interface Deps {
  members: Members
  persons: Persons
  passkeys: Passkeys
  recoveryCodes: RecoveryCodes
  sessions: Sessions
}

/**
 * A link that was shown does not prove the address. What it opens may change the profile, the preferences and the password only while the person
 * has nothing beyond its team: no other team, no way to sign in of their own, no session that opens more.
 * @throws ProductError insufficient_permissions
 */
export function requireWholePerson(deps: Deps, { email, teamId }: SessionRecord, reader: Reader): void {
  if (teamId === null || !hasMore(deps, { email, teamId }, reader)) return
  throw new ProductError(
    'insufficient_permissions',
    'This session was opened by a link for one team. Sign in with a passkey, a mailed link or your password to change this.',
  )
}

function hasMore(
  { members, persons, passkeys, recoveryCodes, sessions }: Deps,
  { email, teamId }: { email: string; teamId: string },
  reader: Reader,
): boolean {
  const person = persons.get(email, reader)
  const isElsewhere = (one: { teamId: string | null }) => one.teamId !== teamId
  return (
    person?.isOperator === true ||
    (person !== undefined && person.password !== null && person.passwordTeamId !== teamId) ||
    members.of(email, reader).some(isElsewhere) ||
    passkeys.list(email, reader).some(isElsewhere) ||
    recoveryCodes.count(email, reader) > recoveryCodes.countOf({ email, teamId }, reader) ||
    sessions.list(email, reader).some(isElsewhere)
  )
}
