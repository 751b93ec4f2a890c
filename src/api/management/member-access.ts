// What a member of the team has: the mailboxes they open, their sessions, and a link to sign in that an owner hands over.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Nullable, Words } from '../../http/schema.ts'
import { MAILBOX_ACCESS, type MailboxGrant } from '../../people/grants.ts'
import { SIGN_IN_MS } from '../../people/links.ts'
import type { TeamMember } from '../../people/members.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { requireRole } from './team.ts'

const params = Type.Object({ member_id: Id('member') })

const MemberMailbox = record('MemberMailbox', 'A mailbox that a member may open.', {
  mailbox_id: Id('mailbox'),
  email: Type.String(),
  display_name: Nullable(Type.String()),
  access: Words(MAILBOX_ACCESS),
  created_at: TimeOf('When it was granted.'),
  created_by: Type.String({ description: 'The member or key that granted it.' }),
})

const listMailboxes = route({
  method: 'GET',
  path: '/team/members/{member_id}/mailboxes',
  docs: {
    operation: 'listMemberMailboxes',
    tag: 'Team',
    summary: 'List the mailboxes that a member may open, the first granted first',
    description: 'Each with the rights that were granted.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params,
  reply: { schema: listOf(MemberMailbox), list: 'whole' },
  handle({ params: { member_id: id }, principal: { teamId }, app }) {
    memberOf(app, teamId, id)
    const items = app.people.grants.ofMember(id).flatMap((grant) => presentGrant(app, teamId, grant))
    return { items, next: null }
  },
})

const endSessions = route({
  method: 'DELETE',
  path: '/team/members/{member_id}/sessions',
  docs: {
    operation: 'deleteMemberSessions',
    tag: 'Team',
    summary: 'Sign a member out of the team in every browser; they may sign in again',
    description:
      'Sessions that are open now no longer open this team; what else they open stays. Those of an owner are ended with the authority of one ' +
      '(403).',
  },
  access: { as: 'team', permission: 'team.manage', fresh: true },
  params,
  reply: {
    schema: record('MemberSignedOut', 'The member is signed out.', {
      signed_out: Type.Literal(true),
      member_id: Id('member'),
    }),
  },
  async handle({ params: { member_id: id }, principal, app }) {
    await app.people.endSessions(principal.teamId, id, ({ role }) => requireRole(app, principal, role))
    return { signed_out: true, member_id: id }
  },
})

const createLink = route({
  method: 'POST',
  path: '/team/members/{member_id}/sign-in-link',
  docs: {
    operation: 'createMemberSignInLink',
    tag: 'Team',
    summary: 'Make a link that signs a member in to this team, for an owner to hand over',
    description:
      'For people whose address is at this appliance, where no link is mailed, and for those who have lost their passkey. It works once, for 15 ' +
      'minutes. Only an owner who is signed in in a browser gets one (403). A person who has a way to sign in of their own, or has signed in ' +
      'and opens a mailbox, receives a message about it, and so do the owners of the mailboxes they open.',
  },
  access: { as: 'team', permission: 'team.manage', fresh: true },
  params,
  reply: {
    secret: true,
    status: 201,
    schema: record('MemberSignInLink', 'A link, shown in this response only.', {
      member_id: Id('member'),
      email: Type.String(),
      url: Type.String(),
      expires_at: TimeOf('Until when it works.'),
    }),
  },
  async handle({ params: { member_id: id }, principal, app }) {
    const { teamId, person } = principal
    const { email } = memberOf(app, teamId, id)
    const by = person === undefined ? undefined : app.people.members.get(teamId, person.memberId ?? '')
    if (by?.role !== 'owner') {
      throw new ProductError(
        'insufficient_permissions',
        'Only an owner of the team is shown links to sign in, and only in a browser.',
      )
    }
    const url = await app.people.showLink(teamId, email, { by: by.email, memberId: by.id })
    if (url === undefined) throw notFound('member')
    const expiresAt = isoTime(app.trustedClock.now() + SIGN_IN_MS)
    return answer({ data: { member_id: id, email, url, expires_at: expiresAt }, status: 201 })
  },
})

/** @throws ProductError not_found */
function memberOf(app: Context, teamId: string, id: string): TeamMember {
  const member = app.people.members.get(teamId, id)
  if (member === undefined) throw notFound('member')
  return member
}

/** Nothing for a mailbox that was deleted. */
function presentGrant(app: Context, teamId: string, grant: MailboxGrant): Static<typeof MemberMailbox>[] {
  const { mailboxId, access, createdAt, createdBy } = grant
  const mailbox = app.directory.mailboxes.get(teamId, mailboxId)
  if (mailbox === undefined || mailbox.status === 'deleted') return []
  const { email, displayName } = mailbox
  const granted = { access, created_at: isoTime(createdAt), created_by: createdBy }
  return [{ mailbox_id: mailboxId, email, display_name: displayName, ...granted }]
}

export const memberAccess = [listMailboxes, endSessions, createLink]
