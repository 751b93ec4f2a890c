// What agents wait for from a person: to become their owner, or to allow them to send. The ids follow from those of the invitation and the
// registration.

import { isoTime } from '../base/clock.ts'
import { notFound } from '../base/errors.ts'
import { ID_PREFIX } from '../base/ids.ts'
import type { SessionRecord } from '../people/sessions.ts'
import type { InviteDecision, Invites, OpenInvite } from './invites.ts'
import type { Owners } from './owners.ts'
import type { Registration } from './records.ts'

/** What an approval is about. */
export type ApprovalKind = 'agent_owner' | 'agent_sending' | 'limit_request'

/** A request that waits for a person. */
export interface PendingApproval {
  /** `apr_…` */
  id: string
  kind: ApprovalKind
  title: string
  /** The inbox of the agent, or the team. */
  subject: string
  teamId: string | null
  registrationId: string | null
  /** `untrusted` facts were written by a stranger. */
  facts: { label: string; value: string; untrusted: boolean }[]
  actions: {
    name: 'approve' | 'deny'
    tone: 'good' | 'plain'
    fresh: boolean
    options: ('allow_sending' | 'opt_out')[]
  }[]
  createdAt: number
  /** Null where it waits without end. */
  expiresAt: number | null
}

/** The person, and what their session opens. */
type Owner = Pick<SessionRecord, 'email' | 'teamId'>

/** The id of the approval that is about an invitation, a registration or a limit request. */
export function approvalId(of: string): string {
  return ID_PREFIX.approval + of.slice(of.indexOf('_') + 1)
}

export class Approvals {
  readonly #deps: { invites: Invites; owners: Owners }

  constructor(deps: { invites: Invites; owners: Owners }) {
    this.#deps = deps
  }

  /** What waits for the person, the oldest first. */
  async list(session: Owner): Promise<PendingApproval[]> {
    const invited = (await this.#invites(session)).map(ownerApproval)
    return [...invited, ...this.#waiting(session).map(sendingApproval)].sort((a, b) => a.createdAt - b.createdAt)
  }

  /** How many wait. */
  async count(session: Owner): Promise<number> {
    return (await this.#invites(session)).length + this.#waiting(session).length
  }

  /**
   * Records the decision of the person.
   * @returns the team of the agent
   * @throws ProductError not_found for what does not wait for this person, conflict when it was decided meanwhile
   */
  async decide(session: Owner, id: string, decision: InviteDecision): Promise<string> {
    const open = (await this.#invites(session)).find(({ invite }) => approvalId(invite.id) === id)
    const { owners } = this.#deps
    if (open !== undefined) {
      await owners.decideInvite(open, decision)
      return open.registration.teamId
    }
    const waiting = this.#waiting(session).find((one) => approvalId(one.id) === id)
    if (waiting === undefined) throw notFound('approval')
    if (decision.accept) await owners.approveSending(session, waiting.id)
    else await owners.refuseSending(session, waiting.id)
    return waiting.teamId
  }

  /** Invitations prove nothing but the address: a session that opens one team does not prove it. */
  async #invites({ email, teamId }: Owner): Promise<OpenInvite[]> {
    return teamId === null ? this.#deps.invites.openFor(email) : []
  }

  /** Agents that have asked for sending since it was last decided. */
  #waiting(session: Owner): Registration[] {
    return this.#deps.owners.agentsOf(session).filter(({ state, sendingAskedAt, sendingRefusedAt }) => {
      return state === 'accepted' && sendingAskedAt !== null && sendingRefusedAt === null
    })
  }
}

function ownerApproval({ invite, registration }: OpenInvite): PendingApproval {
  return {
    ...{ id: approvalId(invite.id), kind: 'agent_owner', subject: registration.email },
    title: `The agent ${registration.email} names you as its owner.`,
    // The person is no member of its team yet.
    ...{ teamId: null, registrationId: null, facts: factsOf(registration) },
    actions: [
      { name: 'approve', tone: 'good', fresh: true, options: ['allow_sending'] },
      { name: 'deny', tone: 'plain', fresh: false, options: ['opt_out'] },
    ],
    ...{ createdAt: invite.createdAt, expiresAt: invite.expiresAt },
  }
}

function sendingApproval(registration: Registration): PendingApproval {
  const { id, email, teamId, sendingAskedAt } = registration
  return {
    ...{ id: approvalId(id), kind: 'agent_sending', subject: email, teamId, registrationId: id },
    title: `The agent ${email} waits for your permission to send messages.`,
    facts: factsOf(registration),
    actions: [
      { name: 'approve', tone: 'good', fresh: true, options: [] },
      { name: 'deny', tone: 'plain', fresh: false, options: [] },
    ],
    ...{ createdAt: sendingAskedAt!, expiresAt: null },
  }
}

function factsOf({ email, clientName, createdAt }: Registration): PendingApproval['facts'] {
  const name = clientName === null ? [] : [{ label: 'Calls itself', value: clientName, untrusted: true }]
  return [
    { label: 'Inbox', value: email, untrusted: true },
    ...name,
    { label: 'Registered', value: isoTime(createdAt), untrusted: false },
  ]
}
