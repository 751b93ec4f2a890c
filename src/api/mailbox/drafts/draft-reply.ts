// Drafts made by the server: replies and forwards of messages, and messages in Drafts that are opened.

import { Type } from 'typebox'
import { invalid, notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { route } from '../../../http/route.ts'
import { Default, Id, Words } from '../../../http/schema.ts'
import { ATTACHMENTS_MAX, checkPlainName, checkType } from '../../../mime/compose/attachment-rules.ts'
import {
  forwardSubject,
  type ReplyAudience,
  replyRecipients,
  replySubject,
  usableAddresses,
} from '../../../mime/reply.ts'
import { RECIPIENTS_MAX } from '../../../outbound/submit/checked-message.ts'
import type { DraftFile } from '../../../store/mailbox/drafts.ts'
import { identityFor } from '../../../store/mailbox/identities.ts'
import type { Account, Attachment, MessageDetail } from '../../../store/rows/records.ts'
import { writableAccountOf } from '../../rules/account.ts'
import { DraftSummary, draftMembers } from '../../schemas/draft.ts'
import { record } from '../../schemas/record.ts'
import type { ReadDraft } from './draft-body.ts'
import { type DraftBodies, requireReader } from './draft-content.ts'
import { createDraft, type DraftInputs, notInDrafts } from './draft-writes.ts'
import { belowHtml, belowText, quotationOf } from './quotation.ts'

const WRITERS = ['mailbox.write', 'email.send'] as const
/** Messages of a thread among which the one that is answered is looked up. */
const THREAD_LOOKUP_MAX = 200
/** Characters of a body that is opened. */
const OPENED_CHARS_MAX = 1_048_576
const params = Type.Object({ message_id: Id('message') })
const NEEDS_READ = 'Needs the permission mailbox.read as well.'

/** Characters of a body in these requests; longer ones are written with PUT. */
const SHORT_BODY_MAX = 262_144

const { identity_id } = draftMembers
const shortBodies = {
  text_body: Type.Optional(
    Type.String({ maxLength: SHORT_BODY_MAX, description: 'Plain text; a longer one is written with PUT.' }),
  ),
  html_body: Type.Optional(
    Type.String({ maxLength: SHORT_BODY_MAX, description: 'HTML; a longer one is written with PUT.' }),
  ),
}
const Reply = record(
  'ReplyDraftInput',
  'How the message is answered.',
  {
    recipients: Default(
      Words(
        ['sender', 'all', 'list'],
        '`sender`: Reply-To or From; `all`: also everybody in To and Cc; `list`: the mailing list (List-Post).',
      ),
      'sender',
    ),
    quote: Default(
      Words(
        ['all', 'text', 'none'],
        '`all`: the server adds the quotation below the text; `text`: the draft begins with it as simple HTML or text, to be ' +
          'answered between the lines; `none`: no quotation.',
      ),
      'all',
    ),
    ...{ identity_id, ...shortBodies },
  },
  { recipients: 'all', text_body: 'Thank you.' },
)

const Forwarding = record(
  'ForwardDraftInput',
  'How the message is forwarded.',
  {
    mode: Default(
      Words(
        ['inline', 'attached'],
        '`inline`: its text below the text of the draft, and its files; `attached`: as a file.',
      ),
      'inline',
    ),
    to: draftMembers.to,
    ...{ identity_id, ...shortBodies },
  },
  { mode: 'inline', to: [{ email: 'bob@customer.example' }], text_body: 'For you.' },
)

const replyToMessage = route({
  method: 'POST',
  path: '/mailbox/messages/{message_id}/reply',
  docs: {
    operation: 'createReplyDraft',
    tag: 'Drafts',
    summary: 'Create a draft that answers a message',
    description:
      'The recipients follow Reply-To and, where a mailing list set it to itself, From; own addresses are left out, and a reply to an own ' +
      'message goes to its recipients. The author is the address that the message was sent to: an identity, an alias, or either with a `+tag`. The quotation repeats text, emphasis, lists ' +
      `and links of the message, never its HTML. ${NEEDS_READ}`,
    errors: ['conflict', 'validation_error'],
  },
  access: { as: 'mailbox', permission: WRITERS },
  idempotent: true,
  params,
  body: { schema: Reply, optional: true },
  reply: { schema: DraftSummary, status: 201, createdTag: true },
  async handle({ params: { message_id: id }, body, principal, app, request }) {
    const { account, message } = readableMessage(app, principal, id)
    const recipients = await recipientsOf(app, principal, account, message, body.recipients)
    const members = {
      ...emptyDraft(app, account, message, body.identity_id ?? null),
      ...recipients,
      subject: replySubject(message.subject),
      inReplyTo: id,
      quote: body.quote === 'all' ? ({ messageId: id, mode: 'all' } as const) : null,
    }
    const bodies = { text: body.text_body ?? null, html: body.html_body ?? null }
    const written = body.quote === 'text' ? await quoted(app, account, message, bodies) : bodies
    return createDraft({ app, principal, account, request }, { members, bodies: written })
  },
})

const forwardMessage = route({
  method: 'POST',
  path: '/mailbox/messages/{message_id}/forward',
  docs: {
    operation: 'createForwardDraft',
    tag: 'Drafts',
    summary: 'Create a draft that forwards a message',
    description:
      'Files of the message belong to the draft by reference; images inside its HTML become files. 422 when it has more than ' +
      `${ATTACHMENTS_MAX} files: forward it as \`attached\`. The message gets \`$forwarded\` when the draft is sent. ${NEEDS_READ}`,
    errors: ['conflict', 'validation_error', 'payload_too_large'],
  },
  access: { as: 'mailbox', permission: WRITERS },
  idempotent: true,
  params,
  body: { schema: Forwarding, optional: true },
  reply: { schema: DraftSummary, status: 201, createdTag: true },
  async handle({ params: { message_id: id }, body, principal, app, request }) {
    const { account, message } = readableMessage(app, principal, id)
    const members = {
      ...emptyDraft(app, account, message, body.identity_id ?? null),
      to: (body.to ?? []).map(({ email, name = '' }) => ({ email, name })),
      subject: forwardSubject(message.subject),
      attachments:
        body.mode === 'attached' ? [asFile(app, account, message)] : filesOf(app, account, message.attachments),
      forward: { messageId: id, mode: body.mode },
    }
    const bodies = { text: body.text_body ?? null, html: body.html_body ?? null }
    return createDraft({ app, principal, account, request }, { members, bodies })
  },
})

/** @throws ProductError not_found, insufficient_permissions */
function readableMessage(
  app: Context,
  principal: MailboxPrincipal,
  id: string,
): { account: Account; message: MessageDetail } {
  requireReader(principal)
  const account = writableAccountOf(app, principal)
  const message = app.store.read.messages.get(account, id)
  if (message === undefined) throw notFound('message')
  return { account, message }
}

/** @throws ProductError validation_error for a message without a mailing list, or with too many recipients */
async function recipientsOf(
  app: Context,
  principal: MailboxPrincipal,
  account: Account,
  message: MessageDetail,
  audience: ReplyAudience,
) {
  const fields = (await app.store.read.messages.headers(account, message.id)) ?? []
  const listPost = fields.find(({ name }) => name.toLowerCase() === 'list-post')?.value ?? null
  const isOwn = ownAddresses(app, principal, account)
  const found = replyRecipients({ ...message, listPost }, audience, isOwn)
  if (found === null) {
    throw invalid('recipients', 'forbidden_value', 'The message names no mailing list to answer to (List-Post).')
  }
  if (found.to.length + found.cc.length > RECIPIENTS_MAX) {
    const text = `The message has more than ${RECIPIENTS_MAX} recipients. Answer its sender, or write a draft to some of them.`
    throw invalid('recipients', 'too_big', text)
  }
  return found
}

function ownAddresses(app: Context, { mailboxId }: MailboxPrincipal, account: Account): (email: string) => boolean {
  const mailbox = app.directory.mailboxes.byId(mailboxId)
  const identities = new Set(app.store.sending.identities.list(account).map(({ email }) => email))
  return (email) =>
    identities.has(email.toLowerCase()) ||
    (mailbox !== undefined && app.directory.aliases.mayWriteAs(app.db.read, mailbox, email))
}

/** Written as the address that the message was sent to. @param chosen the identity of the client's choice */
function emptyDraft(
  app: Context,
  account: Account,
  message: MessageDetail,
  chosen: string | null,
): ReadDraft['members'] {
  const addressed = [...message.to, ...message.cc, message.from]
  const author = chosen === null ? authorAmong(app, account, addressed) : { identityId: chosen, from: null }
  return {
    ...{ ...author, to: [], cc: [], bcc: null },
    ...{ replyTo: null, subject: '', attachments: [], inReplyTo: null, quote: null, forward: null },
    ...{ sendAt: null, undoSeconds: 0 },
  }
}

/** The author of a draft: the first address that the mailbox may write as. The primary identity and the address of an identity are not named. */
function authorAmong(
  app: Context,
  account: Account,
  addresses: readonly { email: string }[],
): Pick<ReadDraft['members'], 'identityId' | 'from'> {
  const mailbox = app.directory.mailboxes.byId(account.mailboxId)
  const emails = addresses.map(({ email }) => email.toLowerCase())
  const identities = app.store.sending.identities.list(account)
  const isOwn = (email: string) =>
    mailbox !== undefined && app.directory.aliases.mayWriteAs(app.db.read, mailbox, email)
  const email =
    emails.find((address) => identities.some((identity) => identity.email === address)) ?? emails.find(isOwn)
  if (email === undefined) return { identityId: null, from: null }
  const identity = identityFor(identities, email)
  return {
    identityId: identity.isPrimary ? null : identity.id,
    from: identity.email === email ? null : { email, name: '' },
  }
}

/** The quotation as text of the draft. */
async function quoted(
  app: Context,
  account: Account,
  { id }: MessageDetail,
  { text, html }: DraftBodies,
): Promise<DraftBodies> {
  const quotation = await quotationOf(app, account, id, 'reply')
  if (quotation === undefined) throw notFound('message')
  if (text !== null && html === null) return { text: belowText(text, quotation), html: null }
  return { text: null, html: belowHtml(html ?? '<p><br></p>\n', quotation) }
}

/** @throws ProductError validation_error for a message with too many files */
function filesOf(app: Context, account: Account, attachments: readonly Attachment[]): DraftFile[] {
  if (attachments.length > ATTACHMENTS_MAX) {
    const text = `The message has more than ${ATTACHMENTS_MAX} files. Forward it as "attached".`
    throw invalid('mode', 'forbidden_value', text)
  }
  const nameOf = app.store.read.blobNames.of(account.mailboxId)
  return attachments.map(({ sha256, filename, contentType }) => ({
    ...{ blobId: nameOf(sha256), filename: safeName(filename), type: safeType(contentType) },
    ...{ disposition: 'attachment', contentId: null },
  }))
}

function asFile(app: Context, account: Account, { blobHash, subject }: MessageDetail): DraftFile {
  const name = subject
    .replace(/[^\p{L}\p{N} _-]+/gu, '_')
    .slice(0, 80)
    .toWellFormed()
    .trim()
  return {
    ...{
      blobId: app.store.read.blobNames.of(account.mailboxId)(blobHash),
      filename: safeName(`${name || 'message'}.eml`),
    },
    ...{ type: 'message/rfc822', disposition: 'attachment', contentId: null },
  }
}

/** A name that a file can be stored under; another message can have any. */
function safeName(filename: string): string {
  try {
    return checkPlainName('', filename)
  } catch {
    return safeFallback(filename)
  }
}

function safeFallback(filename: string): string {
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(filename)?.[0] ?? '.bin'
  return `file${extension}`
}

function safeType(type: string): string | null {
  try {
    return checkType('', type)
  } catch {
    return null
  }
}

/**
 * What a message in Drafts says, as a draft; what a draft cannot have is left out.
 * @throws ProductError validation_error when it is not in Drafts, or has too many files
 */
export async function openedMessage(app: Context, account: Account, messageId: string): Promise<DraftInputs> {
  const message = app.store.read.messages.get(account, messageId)
  if (message === undefined || !app.store.edit.drafts.isInDrafts(account, messageId)) throw notInDrafts()
  const read = await app.store.read.messages.bodies(account, messageId, OPENED_CHARS_MAX)
  if (read?.truncated.text || read?.truncated.html) {
    throw new ProductError('payload_too_large', 'The text of the message is too long to be opened as a draft.')
  }
  const addresses = (list: MessageDetail['to']) => usableAddresses(list)
  const members: ReadDraft['members'] = {
    ...authorAmong(app, account, [message.from]),
    ...{ to: addresses(message.to), cc: addresses(message.cc), bcc: addresses(message.bcc) },
    replyTo: message.replyTo.length === 0 ? null : addresses(message.replyTo),
    subject: message.subject,
    attachments: filesOf(app, account, message.attachments),
    inReplyTo: answeredBy(app, account, message),
    ...{ quote: null, forward: null, sendAt: null, undoSeconds: 0 },
  }
  return { members, bodies: { text: read?.textSource === 'text' ? read.text : null, html: read?.html ?? null } }
}

/** The message of its thread whose Message-ID it answers. */
function answeredBy(app: Context, account: Account, { id, threadId, inReplyTo }: MessageDetail): string | null {
  const [wanted] = inReplyTo
  if (wanted === undefined) return null
  const ids = app.store.read.threads.get(account, threadId)?.messageIds ?? []
  const found = ids
    .slice(-THREAD_LOOKUP_MAX)
    .find((one) => one !== id && app.store.read.messages.original(account, one)?.internetMessageId === wanted)
  return found ?? null
}

export const draftReplies = [replyToMessage, forwardMessage]
