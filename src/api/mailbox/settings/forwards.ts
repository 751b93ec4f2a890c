// The forwards of a mailbox, for its own credentials. Forwarding sends: it needs the permission to send beside that to change.

import { Type } from 'typebox'
import { notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { Mailbox } from '../../../directory/mailboxes/mailboxes.ts'
import { createdBy, type MailboxPrincipal } from '../../../directory/names/principal.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, listOf } from '../../../http/schema.ts'
import { openedByForward } from '../../../people/opens.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { DeletedOf } from '../../schemas/deleted.ts'
import { ForwardCreate, ForwardJson, ForwardUpdate, presentForwardState } from '../../schemas/forward.ts'

const PATH = '/mailbox/forwards'
const params = Type.Object({ forward_id: Id('forward') })
const READ = { as: 'mailbox', permission: 'mailbox.read', gate: 'forwarding' } as const
const WRITE = { as: 'mailbox', permission: 'mailbox.write', gate: 'forwarding' } as const
/** Forwarding sends messages. */
const WRITE_AND_SEND = { ...WRITE, alsoNeeds: 'email.send' } as const

const listForwards = route({
  method: 'GET',
  path: PATH,
  docs: {
    operation: 'listForwards',
    tag: 'Mailbox',
    summary: 'List the forwards of the mailbox, newest first; 403 for agents',
    description: 'Messages are forwarded once the recipient has confirmed.',
  },
  access: READ,
  reply: { list: 'whole', schema: listOf(ForwardJson) },
  handle({ principal, app }) {
    return { items: app.administration.forwards.list(mailboxOf(app, principal)).map(presentForwardState), next: null }
  },
})

const createForward = route({
  method: 'POST',
  path: PATH,
  docs: {
    operation: 'createForward',
    tag: 'Mailbox',
    summary: 'Forward the mail of the mailbox, or of one of its aliases, to another address',
    description:
      'Sends a message to the address; forwarding begins when its owner confirms on the page it links to, within 7 days. It does not ' +
      `end with the key. 403 for agents, 409 when the address is suppressed, its owner has refused, it is pending or active already, ` +
      'or the mailbox has ten. 429 after three such messages to an address in a day.',
  },
  access: { ...WRITE_AND_SEND, fresh: true },
  idempotent: true,
  body: { schema: ForwardCreate },
  reply: { schema: ForwardJson, status: 201 },
  async handle({ body, principal, app, request }) {
    const { id, teamId, email } = changeableMailbox(app, principal)
    const { to, alias, keep_copy: keepsCopy } = body
    const input = { to, alias, keepsCopy, createdBy: createdBy(principal) }
    const data = presentForwardState(await app.administration.forwards.request(teamId, id, input))
    request.opens(openedByForward(data.alias ?? email, data.to))
    return answer({ data, headers: { Location: `/api/v1${PATH}/${data.id}` } })
  },
})

const readForward = route({
  method: 'GET',
  path: `${PATH}/{forward_id}`,
  docs: {
    operation: 'getForward',
    tag: 'Mailbox',
    summary: 'Get a forward of the mailbox; 403 for agents',
    description: 'With its state, and until when an unconfirmed one waits.',
  },
  access: READ,
  params,
  reply: { schema: ForwardJson },
  handle({ params: { forward_id }, principal, app }) {
    return presentForwardState(app.administration.forwards.get(mailboxOf(app, principal), forward_id))
  },
})

const updateForward = route({
  method: 'PATCH',
  path: `${PATH}/{forward_id}`,
  docs: {
    operation: 'updateForward',
    tag: 'Mailbox',
    summary: 'Change whether a forward keeps a copy; 403 for agents',
    description: 'Without a copy the mailbox keeps only what cannot be forwarded, such as spam.',
  },
  access: WRITE_AND_SEND,
  params,
  body: { schema: ForwardUpdate },
  reply: { schema: ForwardJson },
  async handle({ params: { forward_id: id }, body, principal, app }) {
    const mailbox = changeableMailbox(app, principal)
    await app.directory.forwards.update(mailbox.id, id, { keepsCopy: body.keep_copy })
    return presentForwardState(app.administration.forwards.get(mailbox, id))
  },
})

const resendForward = route({
  method: 'POST',
  path: `${PATH}/{forward_id}/resend`,
  docs: {
    operation: 'sendForwardConfirmation',
    tag: 'Mailbox',
    summary: 'Ask the receiver of a forward again, with a new link',
    description:
      '403 for agents, 409 unless it is pending or expired; 429 after three messages to the address in a day.',
  },
  access: { ...WRITE_AND_SEND, fresh: true },
  params,
  reply: { schema: ForwardJson },
  async handle({ params: { forward_id }, principal, app }) {
    const { id, teamId } = changeableMailbox(app, principal)
    return presentForwardState(await app.administration.forwards.resend(teamId, id, forward_id))
  },
})

const deleteForward = route({
  method: 'DELETE',
  path: `${PATH}/{forward_id}`,
  docs: {
    operation: 'deleteForward',
    tag: 'Mailbox',
    summary: 'End a forward immediately; 403 for agents',
    description: 'Messages that are queued for the address are still sent.',
  },
  access: WRITE,
  params,
  reply: { schema: DeletedOf('forward') },
  async handle({ params: { forward_id: id }, principal, app }) {
    await app.administration.forwards.remove(mailboxOf(app, principal).id, id)
    return { deleted: true, id }
  },
})

/** @throws ProductError insufficient_permissions for the inbox of an agent, whichever key is used for it */
function mailboxOf(app: Context, { mailboxId }: MailboxPrincipal): Mailbox {
  const mailbox = app.directory.mailboxes.byId(mailboxId)
  if (mailbox === undefined) throw notFound('mailbox')
  if (!mailbox.isAgent) return mailbox
  throw new ProductError('insufficient_permissions', 'The inbox of an agent forwards nothing.')
}

/** @throws ProductError insufficient_permissions, conflict (suspended) */
function changeableMailbox(app: Context, principal: MailboxPrincipal): Mailbox {
  const mailbox = mailboxOf(app, principal)
  writableAccountOf(app, principal)
  return mailbox
}

export const forwards = [listForwards, createForward, readForward, updateForward, resendForward, deleteForward]
