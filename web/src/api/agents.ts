// Agents of the signed-in person, and what waits for their decision.

import { meApi, take, takeList } from './client.ts'
import type { OwnAgent as AgentRecord, Approval } from './types.ts'

type AgentStatus = 'unclaimed' | 'invited' | 'accepted' | 'approved' | 'revoked' | 'expired'

/** An agent of a team that the person owns; each agent has a team of its own. */
export type OwnAgent = AgentRecord & { state: AgentStatus }
export type { Approval } from './types.ts'
export type ApprovalAction = Approval['actions'][number]

const pathOf = (id: string) => ({ params: { path: { registration_id: id } } })

export const listAgents = async () => (await takeList(meApi.GET('/agents'))).items as OwnAgent[]
export const approveSending = (id: string) => take(meApi.POST('/agents/{registration_id}/approve-sending', pathOf(id)))
export const revokeSending = (id: string) => take(meApi.POST('/agents/{registration_id}/revoke-sending', pathOf(id)))
/** @param email the address of its inbox, typed by the person */
export const endAgent = (id: string, email: string) =>
  take(meApi.POST('/agents/{registration_id}/revoke', { ...pathOf(id), body: { email } }))

export const listApprovals = async () => (await takeList(meApi.GET('/approvals'))).items

/** @param options members of the body that the action allows */
export function decide(id: string, action: ApprovalAction['name'], options: Record<string, boolean>) {
  const params = { path: { approval_id: id } }
  return action === 'approve'
    ? take(meApi.POST('/approvals/{approval_id}/approve', { params, body: options }))
    : take(meApi.POST('/approvals/{approval_id}/deny', { params, body: options }))
}
