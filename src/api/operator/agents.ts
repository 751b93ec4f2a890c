// Agents, as the operator sees them: who registered, and how they are ended when something goes wrong (decisions §2.4).

import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { Default, Id, listOf, pageQuery, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import { AGENT_STATES, OperatorAgent, presentAgent } from '../schemas/operator-agent.ts'
import { record } from '../schemas/record.ts'

const listAgents = route({
  method: 'GET',
  surface: 'operator',
  path: '/agents',
  operation: 'listAgents',
  tag: 'Agents',
  summary: 'Lists registrations of agents, newest first.',
  as: 'operator',
  query: pageQuery({
    limit: 50,
    state: Words(AGENT_STATES, 'Only these.'),
    created_after: { ...TimeQuery, description: 'Only those registered at this time or later.' },
  }),
  reply: listOf(OperatorAgent),
  async handle({ query, after, app }) {
    const { state, created_after: since, limit } = query
    const createdAfter = since === undefined ? undefined : parseTime(since)
    const page = await app.agents.registrations.list({ state, createdAfter, limit, after })
    return { items: page.items.map(presentAgent), next: page.next }
  },
})

const revokeAgent = route({
  method: 'POST',
  surface: 'operator',
  path: '/agents/{registration_id}/revoke',
  operation: 'revokeAgent',
  tag: 'Agents',
  summary:
    'Ends a registration: its tokens, its invitations, mail that waits; the inbox is suspended and later deleted.',
  as: 'operator',
  params: Type.Object({ registration_id: Id('agentRegistration') }),
  reply: OperatorAgent,
  async handle({ params: { registration_id: id }, app }) {
    const { ownership, registrations } = app.agents
    await app.db.write((tx) => ownership.revoke(tx, id))
    return presentAgent((await registrations.byId(app.db.read, id))!)
  },
})

const revokeAll = route({
  method: 'POST',
  surface: 'operator',
  path: '/agents/revoke-all',
  operation: 'revokeAllAgents',
  tag: 'Agents',
  summary: 'Ends every registration made since a time.',
  as: 'operator',
  body: record(
    'RevokeAllAgents',
    'Which.',
    {
      created_after: { ...TimeQuery, description: 'Registrations made at this time or later.' },
      dry_run: Default(Type.Boolean({ description: 'Only counts them.' }), false),
    },
    { created_after: '2030-01-01T00:00:00Z', dry_run: true },
  ),
  reply: record('RevokedAgents', 'How many.', {
    revoked: Type.Integer({ minimum: 0, description: 'That were ended, or would be.' }),
    dry_run: Type.Boolean(),
  }),
  async handle({ body, app }) {
    const { created_after: since, dry_run: dryRun } = body
    const revoked = await app.agents.ownership.revokeAll(parseTime(since), dryRun)
    return { revoked, dry_run: dryRun }
  },
})

const Switch = record(
  'AgentRegistrationSwitch',
  'Whether agents may register.',
  {
    enabled: Type.Boolean({ description: 'False: registration is answered with 503.' }),
  },
  { enabled: true },
)

const switchRegistration = route({
  method: 'PUT',
  surface: 'operator',
  path: '/agents/registration',
  operation: 'switchAgentRegistration',
  tag: 'Agents',
  summary: 'Lets agents register, or no more. The setting AGENT_REGISTRATION=off has the last word.',
  as: 'operator',
  body: Switch,
  reply: Switch,
  async handle({ body, app }) {
    const { switches } = app.agents
    await switches.setOpen(body.enabled)
    return { enabled: await switches.isOpen() }
  },
})

export const operatorAgents = [listAgents, revokeAgent, revokeAll, switchRegistration]
