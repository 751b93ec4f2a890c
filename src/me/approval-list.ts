// The approvals of a person: those of agents, and the limit requests of teams for an operator.

import { approvalId, type PendingApproval } from '../agents/approvals.ts'
import type { InviteDecision } from '../agents/invites.ts'
import { conflict } from '../base/errors.ts'
import type { Context } from '../context.ts'
import { requireConfirmed } from '../http/fresh-proof.ts'
import type { LimitRequest } from '../outbound/providers/shared-limit.ts'
import type { SessionRecord } from '../people/sessions.ts'

/** Limit requests that are shown at once. */
const REQUESTS_MAX = 100

/** What waits for the person, the oldest first. */
export async function approvalsOf(app: Context, session: SessionRecord): Promise<PendingApproval[]> {
  const asked = requestsFor(app, session).map((one) => requestApproval(app, one))
  return [...(await app.agents.approvals.list(session)), ...asked].sort((a, b) => a.createdAt - b.createdAt)
}

/** How many wait. */
export async function countApprovals(app: Context, session: SessionRecord): Promise<number> {
  return (await app.agents.approvals.count(session)) + requestsFor(app, session).length
}

/** @throws ProductError not_found for what does not wait for this person, conflict */
export async function decide(app: Context, session: SessionRecord, id: string, decision: InviteDecision) {
  const request = requestsFor(app, session).find((one) => approvalId(one.id) === id)
  const teamId =
    request === undefined
      ? await app.agents.approvals.decide(session, id, decision)
      : await decideRequest(app, session, request, decision.accept)
  const word = decision.accept ? ('approved' as const) : ('denied' as const)
  return { id, decision: word, team_id: teamId, left: await countApprovals(app, session) }
}

/** As `/as/operator/limit-requests`: every change to the appliance needs a fresh proof. */
async function decideRequest(app: Context, session: SessionRecord, request: LimitRequest, accept: boolean) {
  requireConfirmed(app.trustedClock, session)
  const { sharedLimit } = app.outbound.accounts
  if (!accept) await sharedLimit.deny(request.id, { note: null })
  else if (request.requestedDailyLimit === null) {
    throw conflict('The team named no limit. Decide on it among the limit requests of the operator.')
  } else await sharedLimit.approve(request.id, { approvedDailyLimit: request.requestedDailyLimit, note: null })
  return request.teamId
}

function requestsFor({ people, config, outbound }: Context, session: SessionRecord): LimitRequest[] {
  if (!config.OPERATOR_WEB || !people.isOperator(session)) return []
  return outbound.accounts.sharedLimit.list({ status: 'pending', limit: REQUESTS_MAX, after: null }).items
}

function requestApproval(app: Context, request: LimitRequest): PendingApproval {
  const { id, teamId, reason, requestedDailyLimit, currentDailyLimit, currentDailySent, createdAt } = request
  const name = app.directory.teams.get(teamId)?.name ?? teamId
  const facts = [
    { label: 'Present limit', value: String(currentDailyLimit), untrusted: false },
    { label: 'Sent on that day', value: String(currentDailySent), untrusted: false },
    { label: 'Requested limit', value: String(requestedDailyLimit ?? 'not named'), untrusted: false },
    ...(reason === null ? [] : [{ label: 'Reason', value: reason, untrusted: true }]),
  ]
  const approve = { name: 'approve' as const, tone: 'good' as const, fresh: true, options: [] }
  const deny = { name: 'deny' as const, tone: 'plain' as const, fresh: true, options: [] }
  return {
    ...{ id: approvalId(id), kind: 'limit_request', subject: name, teamId, registrationId: null, facts },
    title: `The team ${name} asks for a higher daily limit.`,
    actions: requestedDailyLimit === null ? [deny] : [approve, deny],
    ...{ createdAt, expiresAt: null },
  }
}
