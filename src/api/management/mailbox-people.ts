// Who may open a mailbox: grants to members of the team. No role opens a mailbox by itself.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { createdBy } from '../../directory/names/principal.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Words } from '../../http/schema.ts'
import { MAILBOX_ACCESS } from '../../people/grants.ts'
import type { MailboxMember } from '../../people/mailbox-sharing.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const ofMailbox = Type.Object({ mailbox_id: Id('mailbox') })
const ofMember = Type.Object({ mailbox_id: Id('mailbox'), member_id: Id('member') })
const Access = Words(
  MAILBOX_ACCESS,
  'owner: everything; editor: reads, files and answers, without settings and permanent deletion; reader: reads.',
)

const MailboxPerson = record('MailboxPerson', 'A member who may open the mailbox.', {
  member_id: Id('member'),
  email: Type.String(),
  access: Access,
  created_at: TimeOf('When it was granted.'),
  created_by: Type.String({ description: 'The member or key that granted it.' }),
})

const listPeople = route({
  method: 'GET',
  path: '/mailboxes/{mailbox_id}/people',
  docs: {
    operation: 'listMailboxPeople',
    tag: 'Mailboxes',
    summary: 'List the members who may open a mailbox',
    description: 'Each with the rights that were granted; owners of the team open every mailbox.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage' },
  params: ofMailbox,
  reply: { schema: listOf(MailboxPerson), list: 'whole' },
  handle({ params: { mailbox_id: id }, principal: { teamId }, app }) {
    mailboxOf(app, teamId, id)
    return { items: app.people.sharing.list(teamId, id).map(presentPerson), next: null }
  },
})

const setPerson = route({
  method: 'PUT',
  path: '/mailboxes/{mailbox_id}/people/{member_id}',
  docs: {
    operation: 'setMailboxPerson',
    tag: 'Mailboxes',
    summary: 'Let a member open a mailbox, or change their access',
    description:
      'Every other owner of the mailbox receives a message, and an owner whose access becomes less; the app passwords of the mailbox that ' +
      'they made are then revoked.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage', fresh: true },
  params: ofMember,
  body: { schema: record('MailboxPersonUpdate', 'The access.', { access: Access }, { access: 'reader' }) },
  reply: { schema: MailboxPerson, status: 201, otherwise: 'The member had access before.' },
  async handle({ params: { mailbox_id: id, member_id: memberId }, body, principal, app, request }) {
    const mailbox = mailboxOf(app, principal.teamId, id)
    const by = createdBy(principal)
    const granted = await app.people.sharing.grant(principal.teamId, mailbox, {
      memberId,
      access: body.access,
      createdBy: by,
    })
    request.opens(`the mailbox ${mailbox.email}: ${body.access}`)
    const headers = { Location: `/api/v1/mailboxes/${id}/people/${memberId}` }
    return answer({ data: presentPerson(granted), status: granted.isNew ? 201 : 200, headers })
  },
})

const deletePerson = route({
  method: 'DELETE',
  path: '/mailboxes/{mailbox_id}/people/{member_id}',
  docs: {
    operation: 'deleteMailboxPerson',
    tag: 'Mailboxes',
    summary: 'Take the access of a member to a mailbox back',
    description:
      'Every owner of the mailbox receives a message, also the one who loses the access. The app passwords of the mailbox that the member ' +
      'made are revoked, and their forwards of it to their own address end. `forwards` counts the others they made, which stay.',
  },
  access: { as: 'team', permission: 'mailbox.admin.manage', fresh: true },
  params: ofMember,
  reply: {
    schema: record('DeletedMailboxPerson', 'It is gone.', {
      deleted: Type.Literal(true),
      member_id: Id('member'),
      forwards: Type.Integer({ minimum: 0, description: 'Forwards of the mailbox that they made and that stay.' }),
    }),
  },
  async handle({ params: { mailbox_id: id, member_id: memberId }, principal: { teamId }, app }) {
    const forwards = await app.people.sharing.revoke(teamId, mailboxOf(app, teamId, id), memberId)
    return { deleted: true, member_id: memberId, forwards: forwards.length }
  },
})

/** @throws ProductError not_found, also for a deleted one */
function mailboxOf(app: Context, teamId: string, id: string): Mailbox {
  const mailbox = app.directory.mailboxes.get(teamId, id)
  if (mailbox === undefined || mailbox.status === 'deleted') throw notFound('mailbox')
  return mailbox
}

function presentPerson({ member, grant }: MailboxMember): Static<typeof MailboxPerson> {
  const { access, createdAt, createdBy: by } = grant
  return { member_id: member.id, email: member.email, access, created_at: isoTime(createdAt), created_by: by }
}

export const mailboxPeople = [listPeople, setPerson, deletePerson]
