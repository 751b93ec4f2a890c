// Drafts in both directions: from what a client writes to the message in Drafts and the message that is sent, and back.

import { randomBytes } from 'node:crypto'
import type { Issue } from '../../../base/errors.ts'
import { invalid, notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { Reader } from '../../../db/db.ts'
import { allows } from '../../../directory/names/permissions.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import type { EncodedAttachment, TextContent } from '../../../mime/compose/outgoing-content.ts'
import type { NewMail, Sender } from '../../../outbound/model/new-message.ts'
import type { StoredContent } from '../../../store/content/blobs.ts'
import { packContent } from '../../../store/content/pack-content.ts'
import type { DraftContent, DraftMembers, DraftSource, StoredDraft } from '../../../store/mailbox/drafts.ts'
import type { Account } from '../../../store/rows/records.ts'
import { type DraftFacts, type DraftSummary, presentDraft } from '../../schemas/draft.ts'
import { textOf } from '../../schemas/new-mail.ts'
import { withUploads } from '../sending/send.ts'
import type { ReadDraft } from './draft-body.ts'
import { belowHtml, belowText, quotationOf } from './quotation.ts'

/** The two bodies as their author wrote them. */
export interface DraftBodies {
  text: string | null
  html: string | null
}

/** A draft ready to be stored. */
export interface PreparedDraft {
  content: DraftContent
  /** To be stored before the unit of work. */
  contents: StoredContent[]
  /** Lower-case. */
  ownAddresses: string[]
  facts: Omit<DraftFacts, 'threadId'>
}

/** In front of the bodies: no two drafts share content, so that the content of a replaced version can be deleted at once. */
const SALT_BYTES = 16
const NOTHING = { bytes: new Uint8Array(0), encoding: null }

/** Messages of the mailbox can be read by quoting them: that takes the permission to read. @throws ProductError */
export function requireReader({ permissions }: MailboxPrincipal): void {
  if (allows(permissions, 'mailbox.read')) return
  const message = 'The permission mailbox.read is missing: quoting, forwarding or opening a message reads it.'
  throw new ProductError('insufficient_permissions', message)
}

/**
 * Composes what a client wrote.
 * @param id of the draft
 * @throws ProductError validation_error on members that cannot be stored, payload_too_large
 */
export async function prepareDraft(
  app: Context,
  sender: Sender & { kind: 'mailbox' },
  account: Account,
  { id, members, bodies }: { id: string; members: ReadDraft['members']; bodies: DraftBodies },
): Promise<PreparedDraft> {
  const packed = await packBodies(bodies)
  const { composed, sizes } = await withMail(app, account, { members, bodies }, async (mail) => ({
    composed: await app.outbound.submit.submitter.composeDraft(sender, mail, id),
    sizes: mail.attachments.map((file) => file.sizeBytes),
  }))
  const { written, original, bcc, from } = composed
  const parsed = written.message!
  const stored: DraftMembers = {
    ...members,
    attachments: namedAsStored(app, account, members.attachments, parsed.attachments),
    textBytes: packed?.textBytes ?? null,
    htmlBytes: packed?.htmlBytes ?? null,
  }
  const { hash, sizeBytes } = written
  return {
    facts: { sizes, problems: await problemsOf(app, sender, account, stored, sizes) },
    content: {
      members: stored,
      bodies: packed?.content.hash ?? null,
      message: { parsed, bcc, hash, sizeBytes },
      thread: original?.thread.n,
    },
    contents: packed === null ? [written] : [written, packed.content],
    ownAddresses: [from.email],
  }
}

/**
 * Runs `work` with the message of a draft, while it holds memory for its files and what is composed of them: of many requests with large
 * files some wait.
 * @throws ProductError see {@link mailOf}
 */
export async function withMail<T>(
  app: Context,
  account: Account,
  { members, bodies }: { members: ReadDraft['members']; bodies: DraftBodies },
  work: (mail: NewMail) => Promise<T>,
): Promise<T> {
  const files = await Promise.all(
    members.attachments.map(({ blobId }) => app.store.read.contents.find(account, blobId)),
  )
  const bytes = files.reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0)
  const texts = (bodies.text?.length ?? 0) + (bodies.html?.length ?? 0)
  return app.memory.during(bytes + texts, account.mailboxId, async () =>
    work(await mailOf(app, account, members, bodies)),
  )
}

/**
 * The message of a draft, with its quotation and files.
 * @throws ProductError validation_error for a quoted message or file that is not in the mailbox
 */
async function mailOf(
  app: Context,
  account: Account,
  members: ReadDraft['members'],
  bodies: DraftBodies,
): Promise<NewMail> {
  const { text, html } = await withQuotation(app, account, members, bodies)
  const mail = plainMail(members, { text: longText(text), html: longText(html) })
  const uploads = members.attachments.map(({ blobId }, index) => ({ index, blobId }))
  return { ...mail, attachments: await withUploads(app, account, { mail, uploads }) }
}

/** The text of a draft with the quotation of the message it answers or forwards. */
async function withQuotation(
  app: Context,
  account: Account,
  { quote, forward }: Pick<DraftMembers, 'quote' | 'forward'>,
  { text, html }: DraftBodies,
): Promise<DraftBodies> {
  const isForward = forward?.mode === 'inline'
  const from = isForward ? forward.messageId : quote?.mode === 'all' ? quote.messageId : null
  if (from === null) {
    requireMessages(app, account, { quote, forward })
    return { text, html }
  }
  const quotation = await quotationOf(app, account, from, isForward ? 'forward' : 'reply')
  if (quotation === undefined) throw missing(isForward ? 'forward' : 'quote')
  requireMessages(app, account, { quote, forward })
  // Who writes plain text sends plain text.
  if (text !== null && html === null) return { text: belowText(text, quotation), html: null }
  return { text: text === null ? null : belowText(text, quotation), html: belowHtml(html ?? '', quotation) }
}

function requireMessages(app: Context, account: Account, named: Pick<DraftMembers, 'quote' | 'forward'>): void {
  for (const member of ['quote', 'forward'] as const) {
    const one = named[member]
    if (one !== null && app.store.read.messages.original(account, one.messageId) === undefined) throw missing(member)
  }
}

function missing(member: 'quote' | 'forward'): ProductError {
  return invalid(`${member}.message_id`, 'not_found', 'There is no such message in this mailbox.')
}

function plainMail(
  members: ReadDraft['members'],
  { text, html }: { text: TextContent | null; html: TextContent | null },
): NewMail {
  return {
    ...{ from: members.from, identityId: members.identityId, to: members.to, cc: members.cc, bcc: members.bcc },
    ...{ replyTo: members.replyTo, subject: members.subject, textBody: text, htmlBody: html, headers: {} },
    attachments: members.attachments.map(
      ({ filename, type, disposition, contentId }): EncodedAttachment => ({
        ...{ filename, type, disposition, contentId, sizeBytes: 0 },
        ...{ content: NOTHING.bytes, encoding: NOTHING.encoding },
      }),
    ),
    ...{ returnPath: null, inReplyTo: members.inReplyTo, saveToSent: true },
    ...{ sendAt: members.sendAt, undoSeconds: members.undoSeconds },
  }
}

/** Content whose bytes the composed message has in another form (line ends) is named as it is there, so that it stays with the draft. */
function namedAsStored(
  app: Context,
  account: Account,
  files: DraftMembers['attachments'],
  parts: readonly { sha256: Uint8Array }[],
): DraftMembers['attachments'] {
  const nameOf = app.store.read.blobNames.of(account.mailboxId)
  const names = parts.map(({ sha256 }) => nameOf(sha256))
  const given = new Set(files.map(({ blobId }) => blobId))
  const others = names.filter((name) => !given.has(name))
  const changed = files.filter(({ blobId }) => !names.includes(blobId))
  if (changed.length === 0 || changed.length !== others.length) return files
  return files.map((file) => (changed.includes(file) ? { ...file, blobId: others[changed.indexOf(file)]! } : file))
}

interface PackedBodies {
  content: StoredContent
  textBytes: number | null
  htmlBytes: number | null
}

async function packBodies({ text, html }: DraftBodies): Promise<PackedBodies | null> {
  if (text === null && html === null) return null
  const [first, second] = [text, html].map((body) => (body === null ? null : new TextEncoder().encode(body)))
  const content = await packContent([randomBytes(SALT_BYTES), first, second].filter((bytes) => bytes != null))
  return { content, textBytes: first?.length ?? null, htmlBytes: second?.length ?? null }
}

/** The bodies of a draft as they were written. */
export async function bodiesOf(app: Context, { members, bodies }: DraftSource): Promise<DraftBodies> {
  const { textBytes, htmlBytes } = members
  if (bodies === null) return { text: null, html: null }
  const middle = textBytes ?? 0
  const bytes = await app.store.blobs.bytes(bodies, SALT_BYTES, SALT_BYTES + middle + (htmlBytes ?? 0))
  const decode = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to))
  return {
    text: textBytes === null ? null : decode(0, middle),
    html: htmlBytes === null ? null : decode(middle, middle + htmlBytes),
  }
}

/** The text of a body that was read here or in a thread. */
export function stringOf(text: TextContent | null): string | null {
  return text instanceof Uint8Array ? new TextDecoder().decode(text) : text
}

function longText(text: string | null): TextContent | null {
  return textOf(text ?? undefined)
}

/** A draft with what is known about it now. @throws ProductError not_found when its message has been deleted meanwhile */
export async function showDraft(
  { app, principal, account }: { app: Context; principal: MailboxPrincipal; account: Account },
  draft: StoredDraft,
): Promise<DraftSummary> {
  const { members } = draft
  const found = await Promise.all(
    members.attachments.map(({ blobId }) => app.store.read.contents.find(account, blobId)),
  )
  const sizes = found.map((content) => content?.sizeBytes ?? null)
  const problems = await problemsOf(app, { ...principal, source: 'mailbox_api' }, account, members, sizes)
  return present(app, account, draft, { sizes, problems })
}

/** @throws ProductError not_found when its message has been deleted meanwhile */
export function present(
  app: Context,
  account: Account,
  draft: StoredDraft,
  facts: Omit<DraftFacts, 'threadId'>,
  reader?: Reader,
): DraftSummary {
  const summary = app.store.read.messages.summary(account, draft.messageId, reader)
  if (summary === undefined) throw notFound('draft')
  return presentDraft(draft, { ...facts, threadId: summary.threadId })
}

/** What would make sending fail. */
async function problemsOf(
  app: Context,
  sender: Sender,
  account: Account,
  members: DraftMembers,
  sizes: readonly (number | null)[],
): Promise<Issue[]> {
  const problems = lacking(members)
  const mail = plainMail(members, { text: null, html: null })
  const files = mail.attachments.map((file, index) => ({ ...file, sizeBytes: sizes[index] ?? 0 }))
  // A missing subject is reported once.
  const subject = mail.subject === '' ? '-' : mail.subject
  problems.push(...(await app.outbound.submit.submitter.problems(sender, { ...mail, subject, attachments: files })))
  for (const [index, size] of sizes.entries()) {
    if (size !== null) continue
    const field = `attachments.${index}.blob_id`
    problems.push({ field, code: 'not_found', message: 'The mailbox has no content with this id. Upload it first.' })
  }
  try {
    requireMessages(app, account, members)
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    problems.push(...(error.issues ?? []))
  }
  return problems
}

/** The members that a message needs and this draft does not have. */
export function lacking({ to, cc, bcc, subject, quote, forward, textBytes, htmlBytes }: DraftMembers): Issue[] {
  const required = (field: string, message: string): Issue => ({ field, code: 'required', message })
  const isQuoting = quote?.mode === 'all' || forward?.mode === 'inline'
  return [
    ...(to.length + cc.length + (bcc?.length ?? 0) === 0 ? [required('to', 'A message needs a recipient.')] : []),
    ...(subject === '' ? [required('subject', 'A message needs a subject.')] : []),
    ...(isQuoting || textBytes || htmlBytes
      ? []
      : [required('text_body', 'A message needs a text_body or an html_body.')]),
  ]
}
