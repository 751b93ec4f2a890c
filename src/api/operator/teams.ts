// The teams of the appliance, for the operator.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Nullable, parseTime } from '../../http/schema.ts'
import { DAILY_MAX } from '../../outbound/providers/shared-limit-record.ts'
import { newTeam } from '../../people/new-team.ts'
import { openedByKey } from '../../people/opens.ts'
import { ApiKeyCreate, NewApiKey, presentNewKey } from '../schemas/api-key.ts'
import { OperatorTeam, operatorTeam, presentNewTeam, TeamStatus } from '../schemas/operator-team.ts'
import { record } from '../schemas/record.ts'

const params = Type.Object({ team_id: Id('team') })
const Name = Type.String({ minLength: 1, maxLength: 100, description: 'For people.' })
const listTeams = route({
  method: 'GET',
  surface: 'operator',
  path: '/teams',
  docs: {
    operation: 'listTeams',
    tag: 'Teams',
    summary: 'List teams, oldest first',
    description: 'With the state of each, and its limit at the shared Amazon SES account.',
  },
  access: { as: 'operator' },
  reply: { schema: listOf(OperatorTeam) },
  async handle({ app }) {
    const teams = app.directory.teams.list()
    return Promise.all(teams.map((team) => operatorTeam(app, team)))
  },
})

const createTeam = route({
  method: 'POST',
  surface: 'operator',
  path: '/teams',
  docs: {
    operation: 'createTeam',
    tag: 'Teams',
    summary: 'Create a team',
    description: 'It has no members and no key: `createTeamKey`, or an invitation, opens it.',
  },
  access: { as: 'operator' },
  idempotent: true,
  body: {
    schema: record(
      'TeamCreate',
      'The new team.',
      {
        name: Name,
        owner_email: Type.Optional(
          Type.String({
            minLength: 3,
            maxLength: 254,
            description:
              'Email address of the owner to invite; for an address of this appliance use mailstead login-link.',
            examples: ['ana@example.org'],
          }),
        ),
      },
      { name: 'The shop', owner_email: 'ana@example.org' },
    ),
  },
  reply: { schema: OperatorTeam, status: 201 },
  async handle({ body, app, request }) {
    const input = { name: body.name, ownerEmail: body.owner_email }
    const team = await newTeam(app, input, (tx, made) => request.keep(tx, { data: presentNewTeam(made), status: 201 }))
    return answer({ data: presentNewTeam(team), status: 201 })
  },
})

const updateTeam = route({
  method: 'PATCH',
  surface: 'operator',
  path: '/teams/{team_id}',
  docs: {
    operation: 'updateAnyTeam',
    tag: 'Teams',
    summary: 'Update a team; members left out stay',
    description: 'All credentials of a suspended team are rejected, and its mail is deferred.',
  },
  access: { as: 'operator' },
  params,
  body: {
    schema: record(
      'OperatorTeamUpdate',
      'The changes.',
      {
        name: Type.Optional(Name),
        status: Type.Optional(TeamStatus),
        ses_enabled: Type.Optional(Type.Boolean({ description: 'Whether it can use the shared Amazon SES account.' })),
        ses_daily_limit: Type.Optional(
          Nullable(
            Type.Integer({ minimum: 0, maximum: DAILY_MAX, description: 'Recipients a day; null for no limit.' }),
          ),
        ),
      },
      { name: 'The other shop' },
    ),
  },
  reply: { schema: OperatorTeam },
  async handle({ params: { team_id: id }, body, app }) {
    const { name, status, ses_enabled: enabled, ses_daily_limit: limit } = body
    const team = await app.db.write((tx) => {
      const changed = app.directory.teams.changeIn(tx, id, { name, status })
      if (enabled !== undefined || limit !== undefined) {
        app.outbound.accounts.sharedLimit.setDailyIn(tx, id, { enabled, limit })
      }
      return changed
    })
    return operatorTeam(app, team)
  },
})

const createTeamKey = route({
  method: 'POST',
  surface: 'operator',
  path: '/teams/{team_id}/api-keys',
  docs: {
    operation: 'createTeamKey',
    tag: 'Teams',
    summary: 'Create a root key of a team',
    description: 'The key is in this response only.',
  },
  access: { as: 'operator' },
  idempotent: true,
  reply: { secret: true, schema: NewApiKey, status: 201 },
  params,
  body: {
    schema: record(
      'TeamKeyCreate',
      'At most one of `role` and `permissions`; default: the role `root:full`.',
      ApiKeyCreate.properties,
      { name: 'First key', role: 'root:full' },
    ),
  },
  async handle({ params: { team_id: id }, body, app, request }) {
    if (app.directory.teams.get(id) === undefined) throw notFound('team')
    const issued = await app.directory.keys.issue({
      teamId: id,
      kind: 'root',
      name: body.name,
      role: body.permissions === undefined ? (body.role ?? 'root:full') : body.role,
      permissions: body.permissions,
      expiresAt: body.expires_at === undefined ? null : parseTime(body.expires_at),
      createdBy: 'operator',
    })
    request.opens(openedByKey(issued.record.permissions))
    return answer({ data: presentNewKey(issued) })
  },
})

export const operatorTeams = [listTeams, createTeam, updateTeam, createTeamKey]
