// Reads the body of a draft: small members as they are stored, and its two bodies.

import { type Static, type TObject, Type } from 'typebox'
import { invalid } from '../../../base/errors.ts'
import type { BodyReader } from '../../../http/body-plan.ts'
import { Id, parseTime } from '../../../http/schema.ts'
import type { TextContent } from '../../../mime/compose/outgoing-content.ts'
import type { DraftMembers } from '../../../store/mailbox/drafts.ts'
import { draftMembers } from '../../schemas/draft.ts'
import { addressesOf, textOf } from '../../schemas/new-mail.ts'
import { record } from '../../schemas/record.ts'

const EXAMPLE = {
  to: [{ email: 'bob@customer.example', name: 'Bob' }],
  subject: 'Our meeting',
  text_body: 'Hello Bob',
}

export const DraftInput = record(
  'DraftInput',
  'All members are optional; those left out are empty.',
  draftMembers,
  EXAMPLE,
)

export const NewDraft = record(
  'NewDraft',
  'A new draft, or the message in Drafts that becomes one.',
  {
    ...draftMembers,
    message_id: Type.Optional({
      ...Id('message'),
      description: 'A message in Drafts, of another program for instance, to edit as a draft; alone in the body.',
    }),
  },
  EXAMPLE,
)

/** A draft as a client writes it. */
export interface ReadDraft {
  members: Omit<DraftMembers, 'textBytes' | 'htmlBytes'>
  text: TextContent | null
  html: TextContent | null
}

/** A new draft; `messageId`: the message to open, instead of everything else. */
export interface ReadNewDraft extends ReadDraft {
  messageId: string | null
}

type Input = Static<typeof NewDraft>

export const newDraftReader: BodyReader<ReadNewDraft> = readerOf(NewDraft, (body) => {
  const { message_id: messageId = null, ...members } = body
  const [other] = Object.keys(members)
  if (messageId !== null && other !== undefined) {
    throw invalid(other, 'forbidden_value', 'message_id is sent alone. Open the message, then edit the draft.')
  }
  return { ...readDraft(members), messageId }
})

export const draftReader: BodyReader<ReadDraft> = readerOf(DraftInput, readDraft)

function readerOf<R>(schema: TObject, read: (body: Input) => R): BodyReader<R> {
  return { schema, read: (body) => read(body as Input) }
}

function readDraft(given: Omit<Input, 'message_id'>): ReadDraft {
  const { quote = null, forward = null, send_at: sendAt = null } = given
  return {
    members: {
      identityId: given.identity_id ?? null,
      from: given.from ? (addressesOf([given.from])[0] ?? null) : null,
      to: addressesOf(given.to),
      cc: addressesOf(given.cc),
      bcc: given.bcc == null ? null : addressesOf(given.bcc),
      replyTo: given.reply_to == null ? null : addressesOf(given.reply_to),
      subject: given.subject ?? '',
      attachments: (given.attachments ?? []).map((file) => ({
        blobId: file.blob_id,
        filename: file.filename,
        type: file.type ?? null,
        disposition: file.disposition ?? 'attachment',
        contentId: file.content_id ?? null,
      })),
      inReplyTo: given.in_reply_to_message_id ?? null,
      quote: quote && { messageId: quote.message_id, mode: quote.mode },
      forward: forward && { messageId: forward.message_id, mode: forward.mode },
      sendAt: sendAt === null ? null : parseTime(sendAt, { param: 'send_at' }),
      undoSeconds: given.undo_seconds ?? 0,
    },
    text: textOf(given.text_body ?? undefined),
    html: textOf(given.html_body ?? undefined),
  }
}
