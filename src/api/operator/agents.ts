// Agents, for the operator: list registrations, and end them when they are abused (docs/design/directory.md §4).

import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { Default, Id, listOf, Nullable, pageQuery, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import { refuseBoth, replacedBy, searchFilters, searchOf } from '../schemas/list-filters.ts'
import { AGENT_STATES, OperatorAgent, presentAgent } from '../schemas/operator-agent.ts'
import { record } from '../schemas/record.ts'

/** More than any server sends. */
const SEND_LIMIT_MAX = 1_000_000_000

const listAgents = route({
  method: 'GET',
  surface: 'operator',
  path: '/agents',
  docs: {
    operation: 'listAgents',
    tag: 'Agents',
    summary: 'List registrations of agents, newest first',
    description: 'With the state, the address of the inbox and the network of each.',
  },
  access: { as: 'operator' },
  query: pageQuery({
    limit: 50,
    state: Words(AGENT_STATES, 'Only these.'),
    ...searchFilters('Part of the address, or of the name the agent gave itself.'),
    after: { ...TimeQuery, description: 'Registered at or after this time.' },
    created_after: replacedBy('after', TimeQuery),
  }),
  reply: { schema: listOf(OperatorAgent) },
  handle({ query, after: position, app }) {
    const { state, limit } = query
    refuseBoth('after', query.after, 'created_after', query.created_after)
    const since = query.after ?? query.created_after
    const createdAfter = since === undefined ? undefined : parseTime(since)
    const page = app.agents.registrations.list({ state, search: searchOf(query), createdAfter, limit, after: position })
    return { items: page.items.map((one) => presentAgent(app, one)), next: page.next }
  },
})

const revokeAgent = route({
  method: 'POST',
  surface: 'operator',
  path: '/agents/{registration_id}/revoke',
  docs: {
    operation: 'revokeAgent',
    tag: 'Agents',
    summary:
      'End a registration: revoke its tokens and invitations, drop its queued messages, suspend and later delete its inbox',
    description: 'Repeating it changes nothing.',
  },
  access: { as: 'operator' },
  params: Type.Object({ registration_id: Id('agentRegistration') }),
  reply: { schema: OperatorAgent },
  async handle({ params: { registration_id: id }, app }) {
    const { ownership, registrations } = app.agents
    await app.db.write((tx) => ownership.revoke(tx, id))
    return presentAgent(app, registrations.byId(app.db.read, id)!)
  },
})

const Limit = (per: string) =>
  Nullable(
    Type.Integer({
      minimum: 0,
      maximum: SEND_LIMIT_MAX,
      description: `Recipients per ${per}; null for that of the settings.`,
    }),
  )

const setSendLimits = route({
  method: 'PUT',
  surface: 'operator',
  path: '/agents/{registration_id}/send-limits',
  docs: {
    operation: 'setAgentSendLimits',
    tag: 'Agents',
    summary: 'Set how many recipients an agent may send to; applies to its next message',
    description: 'Instead of `AGENT_SEND_HOURLY` and `AGENT_SEND_DAILY`. 0 stops its sending.',
  },
  access: { as: 'operator' },
  params: Type.Object({ registration_id: Id('agentRegistration') }),
  body: {
    schema: record(
      'AgentSendLimits',
      'Both limits.',
      { recipients_per_hour: Limit('hour'), recipients_per_day: Limit('day') },
      { recipients_per_hour: 50, recipients_per_day: null },
    ),
  },
  reply: { schema: OperatorAgent },
  async handle({ params: { registration_id: id }, body, app }) {
    const { ownership, registrations } = app.agents
    const limits = { hourly: body.recipients_per_hour, daily: body.recipients_per_day }
    await app.db.write((tx) => ownership.setSendLimits(tx, id, limits))
    return presentAgent(app, registrations.byId(app.db.read, id)!)
  },
})

const revokeAll = route({
  method: 'POST',
  surface: 'operator',
  path: '/agents/revoke-all',
  docs: {
    operation: 'revokeAllAgents',
    tag: 'Agents',
    summary: 'End every registration made since a time',
    description: 'For floods of registrations.',
  },
  access: { as: 'operator' },
  body: {
    schema: record(
      'RevokeAllAgents',
      'Which.',
      {
        created_after: { ...TimeQuery, description: 'Registrations made at or after this time.' },
        dry_run: Default(Type.Boolean({ description: 'Only count them.' }), false),
      },
      { created_after: '2030-01-01T00:00:00Z', dry_run: true },
    ),
  },
  reply: {
    schema: record('RevokedAgents', 'How many.', {
      revoked: Type.Integer({ minimum: 0, description: 'Registrations that were ended, or would be.' }),
      dry_run: Type.Boolean(),
    }),
  },
  async handle({ body, app }) {
    const { created_after: since, dry_run: dryRun } = body
    const revoked = await app.agents.ownership.revokeAll(parseTime(since), dryRun)
    return { revoked, dry_run: dryRun }
  },
})

const Switch = record(
  'AgentRegistrationSwitch',
  'Whether agents can register.',
  {
    enabled: Type.Boolean({ description: 'False: a registration fails with 503.' }),
  },
  { enabled: true },
)

const readRegistration = route({
  method: 'GET',
  surface: 'operator',
  path: '/agents/registration',
  docs: {
    operation: 'getAgentRegistration',
    tag: 'Agents',
    summary: 'Get whether agents can register',
    description: 'With what decides it: this switch, or the setting AGENT_REGISTRATION.',
  },
  access: { as: 'operator' },
  reply: { schema: Switch },
  handle: ({ app }) => ({ enabled: app.agents.switches.isOpen() }),
})

const switchRegistration = route({
  method: 'PUT',
  surface: 'operator',
  path: '/agents/registration',
  docs: {
    operation: 'setAgentRegistration',
    tag: 'Agents',
    summary: 'Enable or disable registration of agents; AGENT_REGISTRATION=off overrides it',
    description: 'Registered agents are not affected.',
  },
  access: { as: 'operator' },
  body: { schema: Switch },
  reply: { schema: Switch },
  async handle({ body, app }) {
    const { switches } = app.agents
    await switches.setOpen(body.enabled)
    return { enabled: switches.isOpen() }
  },
})

export const operatorAgents = [listAgents, revokeAgent, setSendLimits, revokeAll, readRegistration, switchRegistration]
