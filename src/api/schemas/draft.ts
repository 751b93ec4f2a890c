// A draft: as it is written, and as it is shown.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { Issue } from '../../base/errors.ts'
import { Id, Nullable, TimeQuery, Words } from '../../http/schema.ts'
import { ATTACHMENTS_MAX } from '../../mime/compose/attachment-rules.ts'
import type { DraftMembers, StoredDraft } from '../../store/mailbox/drafts.ts'
import { AddressJson, presentAddress } from './address.ts'
import {
  BODY_MAX,
  CONTENT_ID_MAX,
  fileMembers,
  Person,
  people,
  REPLY_TO_MAX,
  SUBJECT_MAX,
  UNDO_SECONDS_MAX,
} from './new-mail.ts'
import { record } from './record.ts'
import { TimeOf, TimeOrNull } from './time.ts'

const QUOTES = ['all', 'none'] as const
const FORWARDS = ['inline', 'attached'] as const

const DraftAttachment = record('DraftAttachmentInput', 'A file, by reference to content of the mailbox.', {
  blob_id: Type.String({
    pattern: '^blob_[a-z0-9]{24}$',
    description: 'Of an upload (`POST /mailbox/attachments`), a message, or a file in a message.',
  }),
  filename: { ...fileMembers.filename, description: 'Without a path.' },
  type: Type.Optional(Nullable(fileMembers.type)),
  disposition: Type.Optional(Words(['attachment', 'inline'], 'As an attachment, or shown inside the HTML body.')),
  content_id: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: CONTENT_ID_MAX,
        description: 'Content-ID by which the HTML body refers to it as `cid:…`.',
      }),
    ),
  ),
})

const Quote = record('DraftQuote', 'The message that is quoted below the text.', {
  message_id: Id('message'),
  mode: Words(QUOTES, '`all`: the server adds the quotation when it composes the message; `none`: it adds nothing.'),
})

const Forward = record('DraftForward', 'The message that is forwarded.', {
  message_id: Id('message'),
  mode: Words(FORWARDS, '`inline`: the server adds its text below the text of the draft; `attached`: it is a file.'),
})

/** Members of a draft that a client writes. */
export const draftMembers = {
  identity_id: Type.Optional(
    Nullable({
      ...Id('identity'),
      description: 'The identity whose name and defaults it is sent with; null: that of `from`, else the primary one.',
    }),
  ),
  /** An address of the mailbox; null: that of the identity. */
  from: Type.Optional(Nullable(Person)),
  to: Type.Optional(people('Recipients.')),
  cc: Type.Optional(people('Recipients visible to all recipients.')),
  bcc: Type.Optional(
    Nullable(people('Recipients hidden from the others; null: those of the identity. The message in Drafts has them.')),
  ),
  reply_to: Type.Optional(
    Nullable(people('Where replies go; null: as the identity says.', { maxItems: REPLY_TO_MAX })),
  ),
  subject: Type.Optional(
    Type.String({ maxLength: SUBJECT_MAX, pattern: '^[^\\r\\n\\x00]*$', description: 'Without line breaks.' }),
  ),
  text_body: Type.Optional(Nullable(Type.String({ maxLength: BODY_MAX, description: 'Plain text.' }))),
  html_body: Type.Optional(
    Nullable(Type.String({ maxLength: BODY_MAX, description: 'Without a text_body a plain text is derived from it.' })),
  ),
  attachments: Type.Optional(Type.Array(DraftAttachment, { maxItems: ATTACHMENTS_MAX, description: 'Files.' })),
  in_reply_to_message_id: Type.Optional(
    Nullable({
      ...Id('message'),
      description:
        'The message it replies to: sets In-Reply-To, References and the thread; marked as answered when it is sent.',
    }),
  ),
  quote: Type.Optional(Nullable(Quote)),
  forward: Type.Optional(Nullable(Forward)),
  send_at: Type.Optional(Nullable({ ...TimeQuery, description: 'When it is sent, once `send` was called.' })),
  undo_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: UNDO_SECONDS_MAX,
      description: 'Seconds after `send` during which it can be canceled.',
    }),
  ),
}

const Problem = record('DraftProblem', 'What would make sending fail.', {
  field: Type.String({ description: 'Member of the draft.' }),
  code: Type.String(),
  message: Type.String(),
})

const shownMembers = {
  id: Id('draft'),
  message_id: { ...Id('message'), description: 'The message in Drafts: another one after each edit.' },
  thread_id: Id('thread'),
  revision: Type.Integer({ minimum: 1, description: 'Grows with each edit.' }),
  identity_id: Nullable(Id('identity')),
  from: Nullable(AddressJson),
  to: Type.Array(AddressJson),
  cc: Type.Array(AddressJson),
  bcc: Nullable(Type.Array(AddressJson)),
  reply_to: Nullable(Type.Array(AddressJson)),
  subject: Type.String(),
  attachments: Type.Array(
    record('DraftAttachment', 'A file of a draft.', {
      blob_id: Type.String(),
      filename: Type.String(),
      type: Nullable(Type.String({ description: 'Null: by the extension of the name.' })),
      disposition: Words(['attachment', 'inline']),
      content_id: Nullable(Type.String()),
      size_bytes: Nullable(
        Type.Integer({ minimum: 0, description: 'Null when the mailbox no longer has the content.' }),
      ),
    }),
  ),
  in_reply_to_message_id: Nullable(Id('message')),
  quote: Nullable(Quote),
  forward: Nullable(Forward),
  send_at: TimeOrNull('When it is sent, once `send` was called; null: at once.'),
  undo_seconds: Type.Integer({ minimum: 0 }),
  problems: Type.Array(Problem, { description: 'What would make `send` fail now; empty when nothing is known to.' }),
  created_at: TimeOf('When the draft was created.'),
  updated_at: TimeOf('When it was last edited.'),
}

export const DraftSummary = record('DraftSummary', 'A draft without its bodies.', shownMembers)
export type DraftSummary = Static<typeof DraftSummary>

export const DraftJson = record('Draft', 'A draft.', {
  ...shownMembers,
  text_body: Nullable(Type.String()),
  html_body: Nullable(Type.String()),
})
export type DraftJson = Static<typeof DraftJson>

/** Facts about a draft that are not stored with it. */
export interface DraftFacts {
  threadId: string
  /** Bytes of each file; null when the mailbox no longer has it. */
  sizes: readonly (number | null)[]
  problems: readonly Issue[]
}

export function presentDraft(draft: StoredDraft, { threadId, sizes, problems }: DraftFacts): DraftSummary {
  const { members } = draft
  const { quote, forward, sendAt } = members
  const listOf = (addresses: DraftMembers['bcc']) => addresses?.map(presentAddress) ?? null
  return {
    ...{ id: draft.id, message_id: draft.messageId, thread_id: threadId, revision: draft.revision },
    identity_id: members.identityId,
    from: members.from && presentAddress(members.from),
    to: members.to.map(presentAddress),
    cc: members.cc.map(presentAddress),
    bcc: listOf(members.bcc),
    reply_to: listOf(members.replyTo),
    subject: members.subject,
    attachments: members.attachments.map(({ blobId, contentId, filename, type, disposition }, index) => ({
      ...{ blob_id: blobId, filename, type, disposition, content_id: contentId, size_bytes: sizes[index] ?? null },
    })),
    in_reply_to_message_id: members.inReplyTo,
    quote: quote && { message_id: quote.messageId, mode: quote.mode },
    forward: forward && { message_id: forward.messageId, mode: forward.mode },
    send_at: sendAt === null ? null : isoTime(sendAt),
    undo_seconds: members.undoSeconds,
    problems: problems.map(({ field, code, message }) => ({ field, code, message })),
    created_at: isoTime(draft.createdAt),
    updated_at: isoTime(draft.updatedAt),
  }
}

/** The version of a draft that its ETag names. */
export function draftVersion({ id, revision }: StoredDraft) {
  return { id, revision }
}
