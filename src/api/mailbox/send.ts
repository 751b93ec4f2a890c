// Sending from a mailbox.

import { isoTime } from '../../base/clock.ts'
import { invalid } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { answer, route } from '../../http/route.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import type { EncodedAttachment } from '../../mime/compose/outgoing-content.ts'
import type { Submitted } from '../../outbound/submit/new-mail.ts'
import type { Account } from '../../store/records.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'
import { accountOf } from './account.ts'
import { MAILBOX_LIMITS } from './limits.ts'
import { NewMessage, type ReadMessage, reader } from './send-body.ts'

const BODY_LIMIT = 67_108_864

const SentMessage = record('SentMessage', 'A mail that was taken for sending.', {
  message_id: { ...Id('email'), description: 'What the delivery log and events call it.' },
  submission_id: Id('submission'),
  stored_message_id: Nullable({ ...Id('message'), description: 'The copy in Sent; null when none was wanted.' }),
  send_at: TimeOf('Earliest time it leaves, `undo_seconds` included.'),
  status: Words(
    ['scheduled', 'queued', 'failed'],
    '`failed`: none of the recipients may be written to; the delivery log tells why.',
  ),
})

export const sendMessage = route({
  method: 'POST',
  path: '/mailbox/messages/send',
  operation: 'sendMessage',
  tag: 'Messages',
  summary: 'Sends a mail from this mailbox.',
  description:
    '`from` is one of the identities of the mailbox, the primary one when it is left out; name, `reply_to` and `bcc` are those of ' +
    'the identity where the body has none (an empty list is none at all), and its signature is left to the client. Once ' +
    'answered the mail is on the disk, with its copy in Sent. Recipients on this appliance get it through the same queue and log. 409 while the mailbox is suspended, or has no ' +
    'room for the copy; 413 when the composed mail has more than `outbound_raw_message_bytes_max` bytes.',
  as: 'mailbox',
  permission: 'email.send',
  idempotent: true,
  body: NewMessage,
  bodyLimit: BODY_LIMIT,
  reader: { ...reader, thread: new URL('./send-body-thread.ts', import.meta.url).href },
  reply: SentMessage,
  status: 202,
  async handle({ body, principal, app, request }) {
    const account = await accountOf(app, principal)
    const mail = { ...body.mail, attachments: await withUploads(app, account, body) }
    const [submitted] = await app.outbound.submitter.submit(
      { ...principal, source: 'mailbox_api' },
      [mail],
      async (tx, [one]) => request.keep(tx, present(one!)),
    )
    return answer(present(submitted!))
  },
})

/** @throws ProductError why it was not taken */
function present(submitted: Submitted) {
  if (submitted.kind === 'failed') throw submitted.error
  const { emailId, submission, sendAt, state } = submitted
  const data = {
    message_id: emailId,
    submission_id: submission!.id,
    stored_message_id: submission!.messageId,
    send_at: isoTime(sendAt),
    status: state === 'rejected' ? 'failed' : state,
  }
  return { data, headers: { Location: `/api/v1/mailbox/submissions/${submission!.id}` } }
}

/** Puts content the mailbox holds where the body named it. @throws ProductError validation_error not_found */
async function withUploads(
  app: Context,
  account: Account,
  { mail, uploads }: ReadMessage,
): Promise<EncodedAttachment[]> {
  const attachments = [...mail.attachments]
  const { contents } = app.store
  let room: number = MAILBOX_LIMITS.attachment_upload_bytes_max
  for (const { index, blobId } of uploads) {
    const held = await contents.find(account, blobId)
    if (held === undefined) {
      throw invalid(`attachments.${index}.blob_id`, 'not_found', 'The mailbox holds no such content.')
    }
    room -= held.sizeBytes
    // More than may be sent is not read at all: its size alone has it refused.
    const { bytes, encoding } = room < 0 ? EMPTY : await contents.stored(held.place)
    attachments[index] = { ...attachments[index]!, content: bytes, encoding, sizeBytes: held.sizeBytes }
  }
  return attachments
}

const EMPTY = { bytes: new Uint8Array(0), encoding: null }
