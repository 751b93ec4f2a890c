// What members of the team made that gives access without them, also after they were removed: listed, and ended in one step.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, Nullable, Words } from '../../http/schema.ts'
import type { MadeByMember } from '../../people/made-credentials.ts'
import { countsOf, MadeCountsJson } from '../schemas/made-counts.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { requireSubset } from './api-keys.ts'
import { requireRole } from './team.ts'

const params = Type.Object({ member_id: Id('member') })
const PATH = '/team/members/{member_id}/credentials'
/** Entries of one answer; the counts of `listFormerMembers` are complete. */
const LISTED_MAX = 1000

const MadeJson = record('MemberCredential', 'Something a member made, or a key that they made, and that is in use.', {
  type: Words(['api_key', 'app_password', 'forward', 'webhook']),
  id: Type.String(),
  label: Type.String({ description: 'Name of the key or app password, receiver of the forward, host of the webhook.' }),
  mailbox_id: Nullable({ ...Id('mailbox'), description: 'Null for keys and webhooks of the team.' }),
  created_at: TimeOf('When it was made.'),
  created_by: Type.String({
    description:
      'The member, or a key that they made; of a webhook who last changed where it leads or what it is sent.',
  }),
})

const listCredentials = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listMemberCredentials',
    tag: 'Team',
    summary: 'List the keys, app passwords, forwards and webhooks that a member made and that are in use',
    description: `Also those that keys of the member made, and of a former member; at most ${LISTED_MAX}.`,
  },
  access: { as: 'team', permission: 'team.manage' },
  params,
  reply: { schema: listOf(MadeJson), list: 'whole' },
  handle({ params: { member_id: id }, principal: { teamId }, app }) {
    requireKnown(app, teamId, id)
    return { items: presentMade(app.people.made.of(teamId, id), id).slice(0, LISTED_MAX), next: null }
  },
})

const revokeCredentials = route({
  method: 'DELETE',
  path: PATH,
  docs: {
    operation: 'deleteMemberCredentials',
    tag: 'Team',
    summary: 'Revoke the keys and app passwords that a member made, end their forwards and disable their webhooks',
    description:
      'What `GET` lists, immediately; programs that use it are refused. For a member who is an owner with the authority of one, and with the ' +
      'permissions that ending each by itself needs (403).',
  },
  access: { as: 'team', permission: 'team.manage', fresh: true },
  params,
  reply: {
    schema: record('RevokedCredentials', 'It is ended.', { member_id: Id('member'), revoked: MadeCountsJson }),
  },
  async handle({ params: { member_id: id }, principal, app }) {
    const { teamId } = principal
    requireKnown(app, teamId, id)
    const made = await app.db.write((tx) => {
      requireAuthority(app, principal, id)
      return app.people.made.revokeIn(tx, teamId, id)
    })
    return { member_id: id, revoked: countsOf(made) }
  },
})

const listFormer = route({
  method: 'GET',
  path: '/team/former-members',
  docs: {
    operation: 'listFormerMembers',
    tag: 'Team',
    summary: 'List removed members who made something that is in use, the last removed first',
    description:
      'Keys, app passwords and webhooks that they made stay in use until they are ended, here or one by one.',
  },
  access: { as: 'team', permission: 'team.manage' },
  reply: {
    list: 'whole',
    schema: listOf(
      record('FormerMember', 'A person who was removed from the team.', {
        id: Id('member'),
        email: Type.String(),
        removed_at: TimeOf('When they were removed.'),
        remaining: MadeCountsJson,
      }),
    ),
  },
  handle({ principal: { teamId }, app }) {
    const { made } = app.people
    const items = made.former(teamId).flatMap(({ id, email, removedAt }) => {
      const remaining = countsOf(made.of(teamId, id))
      const isLeft = Object.values(remaining).some((count) => count > 0)
      return isLeft ? [{ id, email, removed_at: isoTime(removedAt), remaining }] : []
    })
    return { items, next: null }
  },
})

/** @throws ProductError not_found */
function requireKnown(app: Context, teamId: string, id: string): void {
  if (app.people.members.get(teamId, id) === undefined && !app.people.made.isFormer(teamId, id))
    throw notFound('member')
}

/** What ending each of them by itself needs. @throws ProductError insufficient_permissions */
function requireAuthority(app: Context, principal: TeamPrincipal, id: string): void {
  const { members, made } = app.people
  const member = members.get(principal.teamId, id)
  if (member !== undefined) requireRole(app, principal, member.role)
  const { keys, appPasswords, forwards, webhooks } = made.of(principal.teamId, id)
  for (const { kind, permissions } of keys) {
    requireSubset(principal, kind === 'root' ? ['apikey.delete', ...permissions] : ['mailbox.admin.manage'])
  }
  if (appPasswords.length + forwards.length > 0) requireSubset(principal, ['mailbox.admin.manage'])
  if (webhooks.length > 0) requireSubset(principal, ['webhook.update'])
}

function presentMade({ keys, appPasswords, forwards, webhooks }: MadeByMember, id: string): Static<typeof MadeJson>[] {
  const made = [
    ...keys.map((one) => ({ ...one, type: 'api_key' as const, label: one.name })),
    ...appPasswords.map((one) => ({ ...one, type: 'app_password' as const, label: one.name })),
    ...forwards.map((one) => ({ ...one, type: 'forward' as const, label: one.email })),
    ...webhooks.map((one) => ({
      ...{ ...one, type: 'webhook' as const, label: new URL(one.url).host },
      ...{ mailboxId: null, createdBy: one.setBy ?? id },
    })),
  ]
  return made.map(({ type, id, label, mailboxId, createdAt, createdBy }) => ({
    ...{ type, id, label, mailbox_id: mailboxId ?? null },
    ...{ created_at: isoTime(createdAt), created_by: createdBy },
  }))
}

export const memberCredentials = [listCredentials, revokeCredentials, listFormer]
