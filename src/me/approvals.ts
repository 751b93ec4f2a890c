// What waits for a decision of the signed-in person: agents that name them as owner or want to send, and limit requests for operators.

import { type Static, Type } from 'typebox'
import type { PendingApproval } from '../agents/approvals.ts'
import { isoTime } from '../base/clock.ts'
import { record } from '../http/record.ts'
import { route } from '../http/route.ts'
import { Id, listOf, Nullable, Words } from '../http/schema.ts'
import { TimeOf, TimeOrNull } from '../http/time.ts'
import { approvalsOf, decide } from './approval-list.ts'
import { FRESH_ROUTE, ME_ROUTE } from './me-route.ts'
import { sessionIn } from './self.ts'

const docs = { tag: 'Person' }
const params = Type.Object({ approval_id: Id('approval') })

const Approval = record('Approval', 'A request that waits for the decision of the person.', {
  id: Id('approval'),
  kind: Words(
    ['agent_owner', 'agent_sending', 'limit_request'],
    'agent_owner: an agent names the person as its owner; agent_sending: an agent of theirs waits to be allowed to send; ' +
      'limit_request: a team asks the operator for a higher daily limit.',
  ),
  title: Type.String({ description: 'One sentence.' }),
  subject: Type.String({ description: 'The inbox of the agent, or the team.' }),
  team_id: Nullable({
    ...Id('team'),
    description: 'The team of the agent or of the request, where the person sees it.',
  }),
  registration_id: Nullable({ ...Id('agentRegistration'), description: 'Of an agent the person owns.' }),
  facts: Type.Array(
    record('ApprovalFact', 'A fact to decide by. What agents and teams wrote is not verified.', {
      label: Type.String(),
      value: Type.String(),
      untrusted: Type.Boolean({ description: 'A stranger wrote it: show it as text only.' }),
    }),
  ),
  actions: Type.Array(
    record('ApprovalAction', 'What the person can do.', {
      name: Words(['approve', 'deny'], 'The last part of the path of the decision.'),
      tone: Words(['good', 'plain']),
      fresh: Type.Boolean({ description: 'Needs a confirmation of the last 15 minutes.' }),
      options: Type.Array(Words(['allow_sending', 'opt_out']), { description: 'Members that its body may have.' }),
    }),
  ),
  created_at: TimeOf('When it was asked.'),
  expires_at: TimeOrNull('Null where it waits without end.'),
})

const Decision = record('ApprovalDecision', 'The decision.', {
  id: Id('approval'),
  decision: Words(['approved', 'denied']),
  team_id: Nullable({ ...Id('team'), description: 'The team of the agent or of the request.' }),
  left: Type.Integer({ minimum: 0, description: 'How many others wait.' }),
})

const listApprovals = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/approvals',
  docs: {
    ...docs,
    operation: 'listApprovals',
    summary: 'List what waits for your decision, the oldest first',
    description:
      'Invitations to own an agent are shown to sessions that prove the address only: not to one that a shown link opened for one team.',
  },
  reply: { schema: listOf(Approval), list: 'whole' },
  async handle({ app, request }) {
    return { items: (await approvalsOf(app, sessionIn(request))).map(presentApproval), next: null }
  },
})

const approve = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/approvals/{approval_id}/approve',
  docs: {
    ...docs,
    operation: 'approveApproval',
    summary: 'Grant what is asked for',
    description:
      'A limit request is granted with the limit that was asked for; where none was named, decide at `/as/operator`.',
    errors: ['conflict'],
  },
  params,
  body: {
    schema: record('ApprovalGrant', 'Only for `agent_owner`.', {
      allow_sending: Type.Optional(
        Type.Boolean({ description: 'Also let the agent send from its address. It can be allowed later.' }),
      ),
    }),
    optional: true,
  },
  reply: { schema: Decision },
  handle: ({ params: { approval_id: id }, body, app, request }) =>
    decide(app, sessionIn(request), id, { accept: true, approveSending: body.allow_sending ?? false, optOut: false }),
})

const deny = route({
  ...ME_ROUTE,
  method: 'POST',
  path: '/approvals/{approval_id}/deny',
  docs: {
    ...docs,
    operation: 'denyApproval',
    summary: 'Refuse what is asked for',
    description:
      'An agent that was refused sending goes on reading its mail, and can be allowed to send later: `POST /agents/{registration_id}/approve-sending`.',
    errors: ['conflict'],
  },
  params,
  body: {
    schema: record('ApprovalRefusal', 'Only for `agent_owner`.', {
      opt_out: Type.Optional(Type.Boolean({ description: 'No agent may invite this address again.' })),
    }),
    optional: true,
  },
  reply: { schema: Decision },
  handle: ({ params: { approval_id: id }, body, app, request }) =>
    decide(app, sessionIn(request), id, { accept: false, approveSending: false, optOut: body.opt_out ?? false }),
})

function presentApproval(one: PendingApproval): Static<typeof Approval> {
  const { id, kind, title, subject, teamId, registrationId, facts, actions, createdAt, expiresAt } = one
  return {
    ...{ id, kind, title, subject, team_id: teamId, registration_id: registrationId, facts, actions },
    ...{ created_at: isoTime(createdAt), expires_at: expiresAt === null ? null : isoTime(expiresAt) },
  }
}

export const approvalRoutes = [listApprovals, approve, deny]
