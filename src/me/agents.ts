// The agents of the teams the signed-in person owns, and what the owner decides about them.

import { type Static, Type } from 'typebox'
import type { Registration } from '../agents/records.ts'
import { isoTime } from '../base/clock.ts'
import type { Context } from '../context.ts'
import { record } from '../http/record.ts'
import { route } from '../http/route.ts'
import { Id, listOf, Nullable } from '../http/schema.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from '../http/time.ts'
import type { SignInSession } from '../people/sessions.ts'
import { FRESH_ROUTE, ME_ROUTE } from './me-route.ts'
import { sessionIn } from './self.ts'

const params = Type.Object({ registration_id: Id('agentRegistration') })

const OwnAgent = record('OwnAgent', 'An agent of a team the person owns.', {
  id: Id('agentRegistration'),
  team_id: Id('team'),
  mailbox_id: Id('mailbox'),
  email: Type.String({ description: 'Address of its inbox.' }),
  client_name: Nullable(Type.String({ description: 'What it calls itself; not verified.' })),
  state: Type.String(),
  created_at: TimeOf('When it registered.'),
  last_used_at: TimeOrNull('Null until the first use.'),
  ended_at: TimeOrNull('Null while it has not ended.'),
})

const listAgents = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/agents',
  docs: {
    operation: 'listOwnAgents',
    tag: 'Person',
    summary: 'List the agents of the teams you own, the newest first',
    description: 'Each with its inbox, what its token may do, and what it has sent.',
  },
  reply: { schema: listOf(OwnAgent), list: 'whole' },
  handle({ app, request }) {
    return { items: app.agents.owners.agentsOf(sessionIn(request)).map(presentAgent), next: null }
  },
})

/** A decision of the owner; the agent afterwards is the answer. */
function decision(
  name: string,
  docs: { operation: string; summary: string; description: string },
  work: (app: Context, session: SignInSession, id: string) => Promise<void>,
) {
  return route({
    ...FRESH_ROUTE,
    method: 'POST',
    path: `/agents/{registration_id}/${name}`,
    docs: { ...docs, tag: 'Person' },
    params,
    reply: { schema: OwnAgent },
    async handle({ params: { registration_id: id }, app, request }) {
      const session = sessionIn(request)
      await work(app, session, id)
      return agentOf(app, session, id)
    },
  })
}

const approveSending = decision(
  'approve-sending',
  {
    operation: 'approveAgentSending',
    summary: 'Let an agent send from its address',
    description: 'The token that the agent has can send from then on, within the limits of agents.',
  },
  (app, session, id) => app.agents.owners.approveSending(session, id),
)
const revokeSending = decision(
  'revoke-sending',
  {
    operation: 'revokeAgentSending',
    summary: 'Let an agent send no more',
    description: 'It keeps read access to its inbox; queued messages are rejected.',
  },
  (app, session, id) => app.agents.owners.revokeSending(session, id),
)

const revokeAgent = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/agents/{registration_id}/revoke',
  docs: {
    operation: 'revokeOwnAgent',
    tag: 'Person',
    summary: 'End an agent for good; the address of its inbox confirms it',
    description: 'Its tokens end, and its queued messages are dropped.',
  },
  params,
  body: {
    schema: record('AgentRevocation', 'The confirmation.', { email: Type.String({ minLength: 1, maxLength: 254 }) }),
  },
  reply: { schema: OwnAgent },
  async handle({ params: { registration_id: id }, body, app, request }) {
    const session = sessionIn(request)
    await app.agents.owners.revoke(session, id, body.email)
    return agentOf(app, session, id)
  },
})

function agentOf(app: Context, session: SignInSession, id: string): Static<typeof OwnAgent> {
  return presentAgent(app.agents.owners.agentsOf(session).find((one) => one.id === id)!)
}

function presentAgent(one: Registration): Static<typeof OwnAgent> {
  const { id, teamId, mailboxId, email, clientName, state, createdAt, lastUsedAt, endedAt } = one
  return {
    ...{
      id,
      team_id: teamId,
      mailbox_id: mailboxId,
      email,
      client_name: clientName,
      state,
      created_at: isoTime(createdAt),
    },
    ...{ last_used_at: isoTimeOrNull(lastUsedAt), ended_at: isoTimeOrNull(endedAt) },
  }
}

export const agentRoutes = [listAgents, approveSending, revokeSending, revokeAgent]
