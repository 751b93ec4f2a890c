// The team of a key, and its members (docs/design/directory.md §3).

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Team as TeamRecord } from '../../directory/keys/teams.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery, Words } from '../../http/schema.ts'
import {
  MEMBER_PERMISSIONS,
  MEMBER_ROLES,
  type TeamMember as MemberRecord,
  type MemberRole,
} from '../../people/members.ts'
import type { InvitedMember } from '../../people/people.ts'
import { searchFilters, searchOf } from '../schemas/list-filters.ts'
import { countsOf, MadeCountsJson } from '../schemas/made-counts.ts'
import { record } from '../schemas/record.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from '../schemas/time.ts'
import { requireSubset } from './api-keys.ts'
import { requireOwner } from './authority.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const params = Type.Object({ member_id: Id('member') })
const NO_MORE =
  'A key can only create, change and remove members with at most its own permissions (403); owners only with the authority of one: a key ' +
  'that the operator or an owner issued.'
const NO_LINK =
  'No link is mailed to an address of this appliance; `meta.link_mailed` is then false, and an owner or the operator gives ' +
  'the person a link.'
const Role = Words(
  MEMBER_ROLES,
  'owner and admin have all permissions, member reads and sends, viewer reads, user opens granted mailboxes only.',
)

const Team = record('Team', 'A team.', {
  id: Id('team'),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  status: Words(['active', 'suspended']),
  created_at: TimeOf('When it was created.'),
})

const Member = record('Member', 'A member of the team.', {
  id: Id('member'),
  email: Type.String({ description: 'Lower-case.' }),
  display_name: Nullable(Type.String()),
  role: Role,
  status: Words(['invited', 'active'], 'Invited until the first sign-in.'),
  invited_at: TimeOf('When the member was invited.'),
  joined_at: TimeOrNull('When the member first signed in.'),
  last_login_at: TimeOrNull('When the member last signed in.'),
})

const readTeam = route({
  method: 'GET',
  path: '/team',
  docs: {
    operation: 'getTeam',
    tag: 'Team',
    summary: 'Get the team of this key',
    description: 'Other teams are not visible to a key.',
  },
  access: { as: 'team', permission: 'team.read' },
  reply: { schema: Team, etag: true },
  handle({ principal, app }) {
    const team = app.directory.teams.get(principal.teamId)
    if (team === undefined) throw notFound('team')
    return presentTeam(team)
  },
})

const updateTeam = route({
  method: 'PATCH',
  path: '/team',
  docs: {
    operation: 'updateTeam',
    tag: 'Team',
    summary: 'Rename the team of this key',
    description: 'The name is shown in invitations and forward confirmations.',
  },
  access: { as: 'team', permission: 'team.manage' },
  body: {
    schema: record(
      'TeamUpdate',
      'The new name.',
      {
        name: Type.String({ minLength: 1, maxLength: 100, description: 'For people.', examples: ['Shop'] }),
      },
      { name: 'The shop' },
    ),
  },
  reply: { schema: Team, etag: true },
  async handle({ body, principal, app, request }) {
    const matches = (current: TeamRecord) => request.matches(presentTeam(current))
    return presentTeam(await app.directory.teams.rename(principal.teamId, body.name, matches))
  },
})

const listMembers = route({
  method: 'GET',
  path: '/team/members',
  docs: {
    operation: 'listMembers',
    tag: 'Team',
    summary: 'List the members of the team, the first invited first',
    description: 'With the role of each.',
  },
  access: { as: 'team', permission: 'team.read' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    ...searchFilters('Part of the address or of the name.'),
    role: Words(MEMBER_ROLES, 'Only members with this role.'),
  }),
  reply: { schema: listOf(Member) },
  handle({ query, after, principal, app }) {
    const { role, limit } = query
    const page = app.people.members.list(principal.teamId, { search: searchOf(query), role, limit, after })
    return { items: page.items.map(presentMember), next: page.next }
  },
})

const inviteMember = route({
  method: 'POST',
  path: '/team/members',
  docs: {
    operation: 'inviteMember',
    tag: 'Team',
    summary: 'Invite a person by email; the link is valid for seven days',
    description: `${NO_MORE} ${NO_LINK}`,
  },
  access: { as: 'team', permission: 'team.manage', fresh: true },
  idempotent: true,
  body: {
    schema: record(
      'MemberInvite',
      'The person and the role.',
      {
        email: Type.String({
          minLength: 3,
          maxLength: 254,
          description: 'Her address.',
          examples: ['ana@example.org'],
        }),
        role: Role,
      },
      { email: 'bob@example.org', role: 'admin' },
    ),
  },
  reply: { schema: Member, status: 202 },
  async handle({ body, principal, app, request }) {
    requireRole(app, principal, body.role)
    const team = app.directory.teams.get(principal.teamId)
    if (team === undefined) throw notFound('team')
    const reply = (invited: InvitedMember) => ({
      ...{ data: presentMember(invited), status: 202 as const, meta: { link_mailed: invited.isMailed } },
    })
    const invited = await app.people.invite(team, body, (tx, made) => request.keep(tx, reply(made)))
    return answer(reply(invited))
  },
})

const updateMember = route({
  method: 'PATCH',
  path: '/team/members/{member_id}',
  docs: {
    operation: 'updateMember',
    tag: 'Team',
    summary: 'Change the role of a member; a team keeps an owner (409)',
    description: NO_MORE,
  },
  access: { as: 'team', permission: 'team.manage', fresh: true },
  params,
  body: { schema: record('MemberUpdate', 'The new role.', { role: Role }, { role: 'viewer' }) },
  reply: { schema: Member },
  async handle({ params: { member_id: id }, body, principal, app }) {
    requireRole(app, principal, body.role)
    const { people } = app
    return presentMember(
      await people.changeRole(principal.teamId, id, body.role, ({ role }) => requireRole(app, principal, role)),
    )
  },
})

const deleteMember = route({
  method: 'DELETE',
  path: '/team/members/{member_id}',
  docs: {
    operation: 'deleteMember',
    tag: 'Team',
    summary: 'Remove a member from the team; a team keeps an owner (409)',
    description:
      'Their sessions, app passwords of mailboxes they could open, and forwards to their own address end. `remaining` counts what else they ' +
      `made and stays in use; \`DELETE /team/members/{member_id}/credentials\` ends it, also afterwards. ${NO_MORE}`,
  },
  access: { as: 'team', permission: 'team.manage', fresh: true },
  params,
  reply: {
    schema: record('DeletedMember', 'It is gone.', {
      deleted: Type.Literal(true),
      id: Id('member'),
      remaining: MadeCountsJson,
    }),
  },
  async handle({ params: { member_id: id }, principal, app }) {
    const made = await app.people.remove(principal.teamId, id, ({ role }) => requireRole(app, principal, role))
    return { deleted: true, id, remaining: countsOf(made) }
  },
})

/**
 * A member uses the console with the permissions of a role: without this check an inviter could give more than they have. Only owners make,
 * change and remove owners (docs/design/directory.md §3): an admin has the same permissions, and so have the keys that an admin issues.
 */
export function requireRole(app: Context, principal: TeamPrincipal, role: MemberRole): void {
  requireSubset(principal, MEMBER_PERMISSIONS[role])
  if (role === 'owner') requireOwner(app, principal, 'Only an owner makes, changes and removes owners of the team.')
}

function presentTeam({ id, name, status, createdAt }: TeamRecord): Static<typeof Team> {
  return { id, name, status, created_at: isoTime(createdAt) }
}

export function presentMember(member: MemberRecord): Static<typeof Member> {
  const { id, email, displayName, role, status, invitedAt, joinedAt, lastLoginAt } = member
  return {
    ...{ id, email, display_name: displayName, role, status, invited_at: isoTime(invitedAt) },
    ...{ joined_at: isoTimeOrNull(joinedAt), last_login_at: isoTimeOrNull(lastLoginAt) },
  }
}

export const team = [readTeam, updateTeam, listMembers, inviteMember, updateMember, deleteMember]
