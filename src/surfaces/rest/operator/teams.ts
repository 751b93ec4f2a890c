// The teams of the appliance, as the operator makes and changes them.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../../base/clock.ts'
import { notFound } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { checkPersonEmail } from '../../../directory/people/members.ts'
import type { Team as TeamRecord } from '../../../directory/teams.ts'
import { DAILY_MAX } from '../../../outbound/shared-limit-record.ts'
import { answer, route } from '../../http/route.ts'
import { Default, Id, listOf, Nullable, Words } from '../../http/schema.ts'
import { NewApiKey, presentNewKey } from '../schemas/api-key.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const params = Type.Object({ team_id: Id('team') })
const Name = Type.String({ minLength: 1, maxLength: 100, description: 'For people.' })
const Status = Words(['active', 'suspended'], 'Every credential of a suspended team is refused, its mail is deferred.')

const OperatorTeam = record('OperatorTeam', 'A team, with what it may send through the shared account.', {
  id: Id('team'),
  name: Type.String(),
  status: Status,
  ses_enabled: Type.Boolean({ description: 'It may use the shared Amazon SES account.' }),
  ses_daily_limit: Nullable(Type.Integer({ minimum: 0, description: 'Recipients a day; null for no limit.' })),
  created_at: TimeOf('When it was made.'),
})

const listTeams = route({
  method: 'GET',
  surface: 'operator',
  path: '/teams',
  operation: 'listTeams',
  tag: 'Teams',
  summary: 'Lists every team, the oldest first.',
  as: 'operator',
  reply: listOf(OperatorTeam),
  async handle({ app }) {
    const teams = await app.directory.teams.list()
    return Promise.all(teams.map((team) => present(app, team)))
  },
})

const createTeam = route({
  method: 'POST',
  surface: 'operator',
  path: '/teams',
  operation: 'createTeam',
  tag: 'Teams',
  summary: 'Makes a team.',
  as: 'operator',
  idempotent: true,
  body: record(
    'TeamCreate',
    'What a team is made of.',
    {
      name: Name,
      owner_email: Type.Optional(
        Type.String({
          minLength: 3,
          maxLength: 254,
          description: 'Who is invited as its owner, by mail.',
          examples: ['ana@example.org'],
        }),
      ),
    },
    { name: 'The shop', owner_email: 'ana@example.org' },
  ),
  reply: OperatorTeam,
  status: 201,
  async handle({ body, app }) {
    // Looked at first: a team without the owner that was asked for would be a surprise.
    if (body.owner_email !== undefined) checkPersonEmail(body.owner_email, 'owner_email')
    const team = await app.directory.teams.create({ name: body.name })
    if (body.owner_email !== undefined) {
      await app.directory.people.invite(team, { email: body.owner_email, role: 'owner' })
    }
    return present(app, team)
  },
})

const updateTeam = route({
  method: 'PATCH',
  surface: 'operator',
  path: '/teams/{team_id}',
  operation: 'updateAnyTeam',
  tag: 'Teams',
  summary: 'Changes a team; what is left out stays.',
  as: 'operator',
  params,
  body: record(
    'OperatorTeamUpdate',
    'What is to change.',
    {
      name: Type.Optional(Name),
      status: Type.Optional(Status),
      ses_enabled: Type.Optional(Type.Boolean({ description: 'Whether it may use the shared Amazon SES account.' })),
      ses_daily_limit: Type.Optional(
        Nullable(Type.Integer({ minimum: 0, maximum: DAILY_MAX, description: 'Recipients a day; null for no limit.' })),
      ),
    },
    { name: 'The other shop' },
  ),
  reply: OperatorTeam,
  async handle({ params: { team_id }, body, app }) {
    const { teams } = app.directory
    const before = await present(app, await teamOf(app, team_id))
    if (body.name !== undefined) await teams.rename(team_id, body.name)
    if (body.status !== undefined) await teams.setStatus(team_id, body.status)
    if (body.ses_enabled !== undefined || body.ses_daily_limit !== undefined) {
      const enabled = body.ses_enabled ?? before.ses_enabled
      const limit = body.ses_daily_limit === undefined ? before.ses_daily_limit : body.ses_daily_limit
      await app.outbound.sharedLimit.setDaily(team_id, enabled, limit)
    }
    return present(app, await teamOf(app, team_id))
  },
})

const createTeamKey = route({
  method: 'POST',
  surface: 'operator',
  path: '/teams/{team_id}/api-keys',
  operation: 'createTeamKey',
  tag: 'Teams',
  summary: 'Issues a root key of a team.',
  as: 'operator',
  idempotent: true,
  secret: true,
  params,
  body: record(
    'TeamKeyCreate',
    'What the key may do.',
    {
      name: Name,
      role: Default(Words(['root:full', 'root:readonly', 'root:webhook_admin'], 'What it may do.'), 'root:full'),
    },
    { name: 'First key', role: 'root:full' },
  ),
  reply: NewApiKey,
  status: 201,
  async handle({ params: { team_id }, body, app }) {
    await teamOf(app, team_id)
    const input = { teamId: team_id, kind: 'root', name: body.name, role: body.role, createdBy: 'operator' } as const
    return answer({ data: presentNewKey(await app.directory.keys.issue(input)) })
  },
})

async function teamOf(app: Context, id: string): Promise<TeamRecord> {
  const team = await app.directory.teams.get(id)
  if (team === undefined) throw notFound('team')
  return team
}

async function present(app: Context, team: TeamRecord): Promise<Static<typeof OperatorTeam>> {
  const limit = await app.outbound.sharedLimit.limitOf(team.id)
  return {
    id: team.id,
    name: team.name,
    status: team.status,
    ses_enabled: await app.outbound.sharedLimit.isEnabled(team.id),
    ses_daily_limit: limit.dailyLimit,
    created_at: isoTime(team.createdAt),
  }
}

export const operatorTeams = [listTeams, createTeam, updateTeam, createTeamKey]
