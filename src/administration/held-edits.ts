// Sends what a person made of a held message in its place: one decision, in one unit of work.

import { conflict, notFound } from '../base/errors.ts'
import type { LargeMemory } from '../base/lent-memory.ts'
import type { EncodedAttachment } from '../mime/compose/outgoing-content.ts'
import type { Address, ParsedMessage } from '../mime/message.ts'
import { findPart } from '../mime/structure.ts'
import type { NewMail } from '../outbound/model/new-message.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { SessionRecord } from '../people/sessions.ts'
import type { Store } from '../store/store.ts'
import type { Inspector } from '../workers/inspector.ts'
import type { HeldRecord } from './held-record.ts'

/** What the person changes; the rest stays. A text replaces both forms of the body. */
export interface HeldEdit {
  to?: readonly string[]
  cc?: readonly string[]
  bcc?: readonly string[]
  subject?: string
  text?: string
}

interface Deps {
  outbound: Pick<Outbound, 'held' | 'submit'>
  store: { blobs: Pick<Store['blobs'], 'bytes'> }
  inspector: Pick<Inspector, 'view'>
  memory: LargeMemory
}

/** Characters of a body that are copied. */
const BODY_MAX = 1_000_000

/**
 * @param decision `hash` is that of the version that was shown
 * @returns `eml_…` of the message that is sent
 * @throws ProductError conflict when it was decided, or is another version; what the checks of a new message throw
 */
export async function sendEdited(
  { outbound, store, inspector, memory }: Deps,
  { held, email }: HeldRecord,
  person: { email: string; memberId: string },
  decision: { hash: Uint8Array; note: string | null; edit: HeldEdit },
): Promise<string> {
  const { hash, sizeBytes, mailboxId } = email
  if (hash === null || mailboxId === null) throw conflict(`The message is ${held.state} already.`)
  return memory.during(2 * sizeBytes, mailboxId, async () => {
    const bytes = await store.blobs.bytes(hash, 0, sizeBytes)
    const viewed = await inspector.view(sizeBytes, async () => Uint8Array.from(bytes), {
      chars: BODY_MAX,
      headers: false,
    })
    const { bodies, message } = viewed
    if (decision.edit.text === undefined && (bodies?.truncated.text || bodies?.truncated.html)) {
      throw conflict('The text is too long to be copied. Send `text_body`, or reject the message and edit its draft.')
    }
    const recipients = email.recipients.map(({ to }) => to)
    const texts = { text: bodies?.textSource === 'text' ? bodies.text : null, html: bodies?.html ?? null }
    const mail = mailOf(message, recipients, texts, decision.edit)
    mail.attachments = filesOf(message, bytes)
    mail.sendAt = email.sendAt > email.queuedAt ? email.sendAt : null
    const sender = { source: 'mailbox_api', kind: 'mailbox', teamId: held.teamId, mailboxId, person } as const
    const [submitted] = await outbound.submit.submitter.submit(sender, [mail], (tx, [one]) => {
      if (one?.kind !== 'accepted') return
      const { hash: shown, note } = decision
      outbound.held.holds.replaceIn(tx, held.emailId, { by: person.email, hash: shown, note }, one.emailId)
    })
    if (submitted!.kind === 'failed') throw submitted!.error
    return submitted!.emailId
  })
}

/** The member of the team as whom a person decides. @throws ProductError not_found */
export function memberOf(
  memberships: readonly { id: string; teamId: string }[],
  session: Pick<SessionRecord, 'email'>,
  teamId: string,
): { email: string; memberId: string } {
  const member = memberships.find((one) => one.teamId === teamId)
  if (member === undefined) throw notFound('held message')
  return { email: session.email, memberId: member.id }
}

function mailOf(
  message: ParsedMessage,
  recipients: readonly string[],
  texts: { text: string | null; html: string | null },
  { to, cc, bcc, subject, text }: HeldEdit,
): NewMail & { attachments: readonly EncodedAttachment[]; sendAt: number | null } {
  const named = new Set([...message.to, ...message.cc].map(({ email }) => email.toLowerCase()))
  const hidden = recipients.filter((address) => !named.has(address.toLowerCase()))
  const envelope = new Set(recipients.map((address) => address.toLowerCase()))
  // A mail program may name addresses to which it does not send: an edit of something else does not write to them.
  const addressed = (given: readonly string[] | undefined, before: readonly Address[]) =>
    given?.map((email) => before.find((one) => one.email === email) ?? { email, name: '' }) ??
    before.filter(({ email }) => envelope.has(email.toLowerCase()))
  const quoted = (ids: readonly string[]) => ids.map((id) => `<${id}>`).join(' ')
  return {
    from: message.from[0] ?? null,
    to: addressed(to, message.to),
    cc: addressed(cc, message.cc),
    bcc: (bcc ?? hidden).map((email) => ({ email, name: '' })),
    replyTo: message.replyTo,
    subject: subject ?? message.subject,
    textBody: text ?? texts.text,
    htmlBody: text === undefined ? texts.html : null,
    headers: {
      ...(message.inReplyTo.length > 0 && { 'In-Reply-To': quoted(message.inReplyTo.slice(0, 1)) }),
      ...(message.references.length > 0 && { References: quoted(message.references) }),
    },
    ...{ attachments: [], returnPath: null, inReplyTo: null, sendAt: null, undoSeconds: 0, saveToSent: true },
  }
}

/** The attached files, as they are encoded in the message. */
function filesOf({ attachments, structure }: ParsedMessage, bytes: Uint8Array): EncodedAttachment[] {
  return attachments.flatMap(({ partId, filename, contentType, sizeBytes, disposition, contentId }) => {
    const part = structure && findPart(structure, partId)
    if (!part) return []
    const content = Uint8Array.from(bytes.subarray(part.bodyStart, part.bodyEnd))
    return [{ filename, type: contentType, content, encoding: part.encoding, sizeBytes, disposition, contentId }]
  })
}
