// Sending of one message, and its cancellation.

import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { entryFile } from '../../base/entry.ts'
import { answer, route } from '../../http/route.ts'
import { Id, Words } from '../../http/schema.ts'
import type { Submitted } from '../../outbound/model/new-message.ts'
import { withSendingMemory } from '../mailbox/sending/sending-memory.ts'
import { writableAccountOf } from '../rules/account.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { reader } from './message-body.ts'
import { OutgoingMessage } from './outgoing-message.ts'
import { loadContent } from './stored-content.ts'

const BODY_LIMIT = 67_108_864

const AcceptedEmail = record('AcceptedEmail', 'An accepted message.', {
  message_id: { ...Id('email'), description: 'Id in the delivery log, in events, and for canceling.' },
  status: Words(
    ['scheduled', 'held', 'queued', 'failed'],
    '`held`: waits for the approval of a person. `failed`: every recipient is suppressed; the delivery log has the reason.',
  ),
  send_at: TimeOf('Earliest time it is sent, `undo_seconds` included.'),
})

const sendEmail = route({
  method: 'POST',
  path: '/emails/send',
  surface: 'both',
  docs: {
    operation: 'sendEmail',
    tag: 'Sending',
    summary: 'Queue one message',
    description:
      'A queued message is on disk; `GET /emails/logs?message_id=…` shows the outcome for each recipient. `from` is optional: a ' +
      'mailbox sends as itself and stores a copy in Sent; a root key sends as the default address of one of the sending accounts.',
  },
  access: { as: 'any', permission: 'email.send' },
  idempotent: true,
  body: {
    schema: OutgoingMessage,
    limit: BODY_LIMIT,
    reader: { ...reader, thread: entryFile(new URL('./message-body-thread.ts', import.meta.url)).href },
  },
  reply: { schema: AcceptedEmail, status: 202 },
  async handle({ body, principal, app, request }) {
    const sender = { ...principal, source: 'batch_api' as const }
    const [submitted] = await withSendingMemory(app, principal, [body], async () => {
      const mail = await loadContent(app, principal, body)
      return app.outbound.submit.submitter.submit(sender, [mail], (tx, [one]) => request.keep(tx, present(one!)))
    })
    return answer(present(submitted!))
  },
})

const cancelEmail = route({
  method: 'POST',
  path: '/emails/{message_id}/cancel',
  surface: 'both',
  docs: {
    operation: 'cancelEmail',
    tag: 'Sending',
    summary: 'Cancel a message that has not left',
    description:
      'Possible until the delivery to any recipient has begun, then 409. A mailbox cancels the messages it sent itself; the copy ' +
      'in Sent moves to Drafts. The delivery log shows `cancelled`.',
  },
  access: { as: 'any', permission: 'email.send' },
  params: Type.Object({ message_id: Id('email') }),
  reply: {
    schema: record('CanceledEmail', 'A canceled message.', {
      message_id: Id('email'),
      status: Words(['canceled']),
      canceled_at: TimeOf('When it was canceled.'),
    }),
  },
  async handle({ params: { message_id }, principal, app }) {
    const mailboxId = principal.kind === 'mailbox' ? principal.mailboxId : null
    // Its copy moves to Drafts: a suspended mailbox must not change.
    if (principal.kind === 'mailbox') writableAccountOf(app, principal)
    const at = await app.outbound.submit.cancelling.cancelEmail(principal.teamId, mailboxId, message_id)
    return { message_id, status: 'canceled', canceled_at: isoTime(at) }
  },
})

/** @throws ProductError why the message was not accepted */
function present(submitted: Submitted) {
  if (submitted.kind === 'failed') throw submitted.error
  const { emailId, sendAt, state } = submitted
  return { data: { message_id: emailId, status: state === 'rejected' ? 'failed' : state, send_at: isoTime(sendAt) } }
}

export const sending = [sendEmail, cancelEmail]
