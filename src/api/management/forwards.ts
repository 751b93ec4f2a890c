// The forwards of a mailbox, as its team manages them.

import { Type } from 'typebox'
import { createdBy } from '../../directory/names/principal.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf } from '../../http/schema.ts'
import { openedByForward } from '../../people/opens.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { ForwardCreate, ForwardJson, ForwardUpdate, presentForwardState } from '../schemas/forward.ts'
import { withNotices } from './credential-notices.ts'
import { mailboxOf } from './mailbox-of.ts'
import { MAKERS, makersFor } from './makers.ts'

const PATH = '/mailboxes/{mailbox_id}/forwards'
const ofMailbox = Type.Object({ mailbox_id: Id('mailbox') })
const ofForward = Type.Object({ ...ofMailbox.properties, forward_id: Id('forward') })
const READ = { as: 'team', permission: 'mailbox.admin.read' } as const
const MANAGE = { as: 'team', permission: 'mailbox.admin.manage' } as const

const listForwards = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listMailboxForwards',
    tag: 'Mailboxes',
    summary: 'List the forwards of a mailbox, newest first',
    description: MAKERS,
  },
  access: READ,
  params: ofMailbox,
  reply: { list: 'whole', schema: listOf(ForwardJson) },
  handle({ params: { mailbox_id }, principal, app }) {
    const mailbox = mailboxOf(app, principal.teamId, mailbox_id)
    const states = app.administration.forwards.list(mailbox)
    const made = states.map(({ forward }) => forward)
    return { items: states.map(presentForwardState), next: null, meta: { makers: makersFor(app, principal, made) } }
  },
})

const createForward = route({
  method: 'POST',
  path: PATH,
  docs: {
    operation: 'createMailboxForward',
    tag: 'Mailboxes',
    summary: 'Forward the mail of a mailbox or alias to another address',
    description:
      'Sends a message to the address; forwarding begins when its owner confirms on the page it links to, within 7 days. 409 when the ' +
      'address is suppressed, its owner has refused, it is pending or active already, or the mailbox has ten. 429 after three ' +
      'such messages to an address in a day.',
  },
  access: { ...MANAGE, fresh: true },
  idempotent: true,
  params: ofMailbox,
  body: { schema: ForwardCreate },
  reply: { schema: ForwardJson, status: 201 },
  async handle({ params: { mailbox_id: id }, body, principal, app, request }) {
    const { to, alias, keep_copy: keepsCopy } = body
    const input = { to, alias, keepsCopy, createdBy: createdBy(principal) }
    const made = await withNotices(app, principal, { mailboxId: id, what: `A forward to ${to}` }, () =>
      app.administration.forwards.request(principal.teamId, id, input),
    )
    const data = presentForwardState(made)
    request.opens(openedByForward(data.alias ?? mailboxOf(app, principal.teamId, id).email, data.to))
    return answer({ data, headers: { Location: `/api/v1/mailboxes/${id}/forwards/${data.id}` } })
  },
})

const readForward = route({
  method: 'GET',
  path: `${PATH}/{forward_id}`,
  docs: {
    operation: 'getMailboxForward',
    tag: 'Mailboxes',
    summary: 'Get a forward of a mailbox',
    description: 'Messages are forwarded once the recipient has confirmed.',
  },
  access: READ,
  params: ofForward,
  reply: { schema: ForwardJson },
  handle({ params: { mailbox_id, forward_id }, principal, app }) {
    const mailbox = mailboxOf(app, principal.teamId, mailbox_id)
    return presentForwardState(app.administration.forwards.get(mailbox, forward_id))
  },
})

const updateForward = route({
  method: 'PATCH',
  path: `${PATH}/{forward_id}`,
  docs: {
    operation: 'updateMailboxForward',
    tag: 'Mailboxes',
    summary: 'Change whether a forward keeps a copy',
    description: 'Without a copy the mailbox keeps only what cannot be forwarded, such as spam.',
  },
  access: MANAGE,
  params: ofForward,
  body: { schema: ForwardUpdate },
  reply: { schema: ForwardJson },
  async handle({ params: { mailbox_id, forward_id: id }, body, principal, app }) {
    const mailbox = mailboxOf(app, principal.teamId, mailbox_id)
    await app.directory.forwards.update(mailbox.id, id, { keepsCopy: body.keep_copy })
    return presentForwardState(app.administration.forwards.get(mailbox, id))
  },
})

const resendForward = route({
  method: 'POST',
  path: `${PATH}/{forward_id}/resend`,
  docs: {
    operation: 'sendMailboxForwardConfirmation',
    tag: 'Mailboxes',
    summary: 'Ask the receiver of a forward again, with a new link',
    description: '409 unless it is pending or expired; 429 after three messages to the address in a day.',
  },
  access: { ...MANAGE, fresh: true },
  params: ofForward,
  reply: { schema: ForwardJson },
  async handle({ params: { mailbox_id, forward_id }, principal, app }) {
    return presentForwardState(await app.administration.forwards.resend(principal.teamId, mailbox_id, forward_id))
  },
})

const deleteForward = route({
  method: 'DELETE',
  path: `${PATH}/{forward_id}`,
  docs: {
    operation: 'deleteMailboxForward',
    tag: 'Mailboxes',
    summary: 'End a forward of a mailbox immediately',
    description: 'Messages that are queued for the address are still sent.',
  },
  access: MANAGE,
  params: ofForward,
  reply: { schema: DeletedOf('forward') },
  async handle({ params: { mailbox_id, forward_id: id }, principal, app }) {
    await app.administration.forwards.remove(mailboxOf(app, principal.teamId, mailbox_id).id, id)
    return { deleted: true, id }
  },
})

export const mailboxForwards = [listForwards, createForward, readForward, updateForward, resendForward, deleteForward]
