// Ends what a person has in a team: removed from it, signed out of it, or gone with the mailbox that was their address.

import type { Tx } from '../db/db.ts'
import type { KnownDevices } from './devices.ts'
import type { MailboxGrants } from './grants.ts'
import type { Links } from './links.ts'
import type { MadeByMember, MadeCredentials } from './made-credentials.ts'
import type { Members, TeamMember } from './members.ts'
import type { Passkeys } from './passkeys.ts'
import type { Persons } from './persons.ts'
import type { RecoveryCodes } from './recovery-codes.ts'
import type { Sessions } from './sessions.ts'

interface Deps {
  members: Members
  grants: MailboxGrants
  links: Links
  sessions: Sessions
  persons: Persons
  passkeys: Passkeys
  recoveryCodes: RecoveryCodes
  devices: KnownDevices
  made: MadeCredentials
}

/** A person in one of their teams. */
interface Membership {
  email: string
  teamId: string
}

export class AccessEnds {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Removes a person from a team, with all that belongs to it alone: sessions, links, passkeys, codes and a password that open nothing
   * else, the sessions opened with links shown to them, and the forwards they made to their own address. What opens other teams stays: any
   * team can invite and remove a stranger. A person without another team is forgotten: the address may be invited again for another one.
   * @param check sees the member and throws to refuse
   * @returns what they made that stays in use
   * @throws ProductError not_found, conflict for the last owner
   */
  removeIn(tx: Tx, teamId: string, id: string, check: (current: TeamMember) => void): MadeByMember {
    const { passkeys, recoveryCodes, persons } = this.#deps
    const { email, made } = this.#leave(tx, { teamId, id }, check)
    passkeys.deleteBoundTo(tx, { email, teamId })
    recoveryCodes.deleteBoundTo(tx, { email, teamId })
    persons.deletePasswordBoundTo(tx, { email, teamId })
    this.#endSignIns(tx, { email, teamId })
    this.forgetUnattached(tx, email)
    return made
  }

  #leave(tx: Tx, { teamId, id }: { teamId: string; id: string }, check: (current: TeamMember) => void) {
    const { members, grants, made } = this.#deps
    const member = members.remove(tx, teamId, id, check)
    grants.deleteOfMember(tx, id)
    made.endOwnForwardsIn(tx, member, null)
    this.endShownTo(tx, id)
    return { email: member.email, made: made.noteRemovedIn(tx, teamId, member) }
  }

  /**
   * Signs a member out of a team: their sessions no longer open it, and those that open nothing else end. They may sign in again.
   * @param check sees the member and throws to refuse
   * @throws ProductError not_found
   */
  signOutIn(tx: Tx, teamId: string, id: string, check: (current: TeamMember) => void): void {
    const { email } = this.#deps.members.signOut(tx, teamId, id, check)
    this.#endSignIns(tx, { email, teamId })
  }

  /**
   * Forgets the person whose sign-in address was a mailbox that is deleted: the address may belong to another one tomorrow.
   * @throws ProductError conflict while that person is the last owner of a team
   */
  forgetIn(tx: Tx, email: string): void {
    const { members } = this.#deps
    for (const member of members.of(email, tx)) this.#leave(tx, member, () => {})
    this.#forget(tx, email)
  }

  /** Forgets a person who belongs to no team and is no operator: nothing they signed in with may open what the address is given later. */
  forgetUnattached(tx: Tx, email: string): void {
    const { members, persons } = this.#deps
    if (members.of(email, tx).length > 0 || persons.get(email, tx)?.isOperator === true) return
    this.#forget(tx, email)
  }

  #forget(tx: Tx, email: string): void {
    const { sessions, links, passkeys, recoveryCodes, devices, persons } = this.#deps
    sessions.closeOf(tx, email)
    links.dropOf(tx, email)
    passkeys.deleteOf(tx, email)
    recoveryCodes.deleteOf(tx, email)
    devices.deleteOf(tx, email)
    persons.delete(tx, email)
  }

  /** Ends the links that were shown to a member, and the sessions opened with them. */
  endShownTo(tx: Tx, memberId: string): void {
    this.#deps.links.dropShownTo(tx, memberId)
    this.#deps.sessions.closeShownTo(tx, memberId)
  }

  /** Ends the sign-ins of a person that open this team only; all of them where they have no other. */
  #endSignIns(tx: Tx, { email, teamId }: Membership): void {
    const { members, sessions, links, persons } = this.#deps
    sessions.closeBoundTo(tx, { email, teamId })
    links.dropBoundTo(tx, { email, teamId })
    const isElsewhere = members.of(email, tx).some((one) => one.teamId !== teamId)
    if (isElsewhere || persons.get(email, tx)?.isOperator === true) return
    sessions.closeOf(tx, email)
    links.dropOf(tx, email)
  }
}
