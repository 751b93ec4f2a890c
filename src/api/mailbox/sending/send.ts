// Sending from a mailbox.

import { isoTime } from '../../../base/clock.ts'
import { entryFile } from '../../../base/entry.ts'
import { invalid } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, Nullable, Words } from '../../../http/schema.ts'
import type { EncodedAttachment } from '../../../mime/compose/outgoing-content.ts'
import type { Submitted } from '../../../outbound/model/new-message.ts'
import type { Account } from '../../../store/rows/records.ts'
import { accountOf } from '../../rules/account.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import type { ReadMail } from '../../schemas/new-mail.ts'
import { record } from '../../schemas/record.ts'
import { TimeOf } from '../../schemas/time.ts'
import { NewMessage, reader } from './send-body.ts'
import { withSendingMemory } from './sending-memory.ts'

const BODY_LIMIT = 67_108_864

export const SentMessage = record('SentMessage', 'An accepted message.', {
  message_id: { ...Id('email'), description: 'Id in the delivery log and in events.' },
  submission_id: Id('submission'),
  stored_message_id: Nullable({ ...Id('message'), description: 'The copy in Sent; null when none was requested.' }),
  send_at: TimeOf('Earliest time it is sent, `undo_seconds` included.'),
  status: Words(
    ['scheduled', 'held', 'queued', 'failed'],
    '`held`: waits for the approval of a person. `failed`: every recipient is suppressed; the delivery log has the reason.',
  ),
})

export const sendMessage = route({
  method: 'POST',
  path: '/mailbox/messages/send',
  docs: {
    operation: 'sendMessage',
    tag: 'Messages',
    summary: 'Send a message from this mailbox',
    description:
      '`from` is the address of the mailbox, an alias, or either with a `+tag`, by default that of the primary identity; name, ' +
      '`reply_to` and `bcc` default to those of its identity (an empty list means none); clients append the signature themselves. The response is sent after the message ' +
      'and its copy in Sent are on disk. Recipients on this appliance are delivered through the same queue and log. 409 while the ' +
      'mailbox is suspended, or has no space for the copy; 413 when the composed message has more than ' +
      '`outbound_raw_message_bytes_max` bytes.',
  },
  access: { as: 'mailbox', permission: 'email.send' },
  idempotent: true,
  body: {
    schema: NewMessage,
    limit: BODY_LIMIT,
    reader: { ...reader, thread: entryFile(new URL('./send-body-thread.ts', import.meta.url)).href },
  },
  reply: { schema: SentMessage, status: 202, location: true },
  async handle({ body, principal, app, request }) {
    const account = accountOf(app, principal)
    const [submitted] = await withSendingMemory(app, principal, [body], async () => {
      const mail = { ...body.mail, attachments: await withUploads(app, account, body) }
      return app.outbound.submit.submitter.submit({ ...principal, source: 'mailbox_api' }, [mail], (tx, [one]) =>
        request.keep(tx, sentAnswer(one!)),
      )
    })
    return answer(sentAnswer(submitted!))
  },
})

/** @throws ProductError why the message was not accepted */
export function sentAnswer(submitted: Submitted) {
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

/** Loads the content of attachments given by `blob_id`. @throws ProductError validation_error not_found */
export async function withUploads(
  app: Context,
  account: Account,
  { mail, uploads }: ReadMail,
): Promise<EncodedAttachment[]> {
  const attachments = [...mail.attachments]
  const { contents } = app.store.read
  let room: number = MAILBOX_LIMITS.attachment_upload_bytes_max
  for (const { index, blobId } of uploads) {
    const found = await contents.find(account, blobId)
    if (found === undefined) {
      throw invalid(
        `attachments.${index}.blob_id`,
        'not_found',
        'The mailbox has no content with this id. Upload it first.',
      )
    }
    room -= found.sizeBytes
    // Content over the limit is not read: its size alone causes the rejection.
    const { bytes, encoding } = room < 0 ? EMPTY : await contents.stored(found.range)
    attachments[index] = { ...attachments[index]!, content: bytes, encoding, sizeBytes: found.sizeBytes }
  }
  return attachments
}

const EMPTY = { bytes: new Uint8Array(0), encoding: null }
