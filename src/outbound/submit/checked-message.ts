// Validates a message independently of its sender: addresses, counts, headers, attachments, times (docs/design/sending.md §11, mailbox.md §7).

import { DAY_MS } from '../../base/durations.ts'
import { invalid, ProductError } from '../../base/errors.ts'
import { checkAttachments, checkPlainName } from '../../mime/compose/attachment-rules.ts'
import { checkRecipient, checkSubject } from '../../mime/compose/draft-rules.ts'
import { type CheckedHeaders, checkHeaders } from '../../mime/compose/header-rules.ts'
import type { EncodedAttachment } from '../../mime/compose/outgoing-content.ts'
import type { Address } from '../../mime/message.ts'
import { AHEAD_MAX_MS, AHEAD_MIN_MS } from '../model/limits.ts'
import { checkLabels, type MessageLabels } from '../model/message-labels.ts'
import type { NewMail } from '../model/new-message.ts'

/** Maximum number of different addresses in To, Cc and Bcc together. */
export const RECIPIENTS_MAX = 50
/** Maximum size of all attachments of a message, decoded, in bytes. */
export const ATTACHED_BYTES_MAX = 26_214_400

/** The validated parts of a message that do not depend on its sender. */
export interface CheckedMail extends CheckedHeaders {
  to: Address[]
  cc: Address[]
  bcc: Address[]
  subject: string
  attachments: EncodedAttachment[]
  /** The envelope recipients: each address once, case-insensitively, in order. */
  recipients: string[]
  /** Earliest time of the first attempt, ms. */
  sendAt: number
  labels: MessageLabels
}

/** What the rules depend on besides the message. */
export interface Rules {
  /** ms */
  now: number
  /** Additional file extensions that the operator allows. */
  extra: readonly string[]
  /** True when the API's `to` is one address, not a list, unless the message has `singles`. */
  oneTo: boolean
}

/** @throws ProductError missing_parameter, validation_error, payload_too_large */
export function checkMail(message: NewMail, { now, extra, oneTo }: Rules): CheckedMail {
  const singles = message.singles ?? (oneTo ? ['to'] : [])
  const listOf = (field: string, addresses: readonly Address[]) =>
    addresses.map((address, index) => checkRecipient(singles.includes(field) ? field : `${field}.${index}`, address))
  const to = listOf('to', message.to)
  const [cc, bcc] = [listOf('cc', message.cc), listOf('bcc', message.bcc ?? [])]
  const headers = checkHeaders(headersMember(message), message.headers)
  refuseConflicts(message, headers)
  return {
    ...headers,
    ...(message.thread && { ...message.thread, references: [...message.thread.references] }),
    to,
    cc,
    bcc,
    replyTo: message.replyTo?.length ? listOf('reply_to', message.replyTo) : headers.replyTo,
    subject: checkSubject('subject', message.subject),
    attachments: attached(message, extra),
    recipients: recipientsOf([...to, ...cc, ...bcc]),
    sendAt: sendTimeOf(message, now),
    labels: checkLabels(message),
  }
}

/** The validated members of a message that is not sent yet: what is missing for sending may be missing. */
export type CheckedDraft = Pick<CheckedMail, 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject' | 'attachments'>

/** @throws ProductError validation_error */
export function checkDraft(message: NewMail): CheckedDraft {
  const listOf = (field: string, addresses: readonly Address[]) =>
    addresses.map((address, index) => checkRecipient(`${field}.${index}`, address))
  const [to, cc, bcc] = [listOf('to', message.to), listOf('cc', message.cc), listOf('bcc', message.bcc ?? [])]
  recipientsOf([...to, ...cc, ...bcc])
  const attachments = checkAttachments('attachments', message.attachments, [], checkPlainName)
  requireFitting(message.attachments)
  return {
    ...{ to, cc, bcc },
    replyTo: listOf('reply_to', message.replyTo ?? []),
    subject: message.subject === '' ? '' : checkSubject('subject', message.subject),
    attachments: attachments.map((file, index) => ({ ...message.attachments[index]!, ...file })),
  }
}

function recipientsOf(addresses: readonly Address[]): string[] {
  // Few servers distinguish the case of local parts, and no recipient should get a message twice.
  const distinct = new Map<string, string>()
  for (const { email } of addresses) {
    const folded = email.toLowerCase()
    if (!distinct.has(folded)) distinct.set(folded, email)
  }
  if (distinct.size > RECIPIENTS_MAX) {
    const message = `A message has at most ${RECIPIENTS_MAX} different recipients in to, cc and bcc together.`
    throw invalid('to', 'too_big', message)
  }
  return [...distinct.values()]
}

/** The member of the request that had the headers. */
export function headersMember({ headersAs }: NewMail): string {
  return headersAs ?? 'custom_headers'
}

function refuseConflicts(message: NewMail, { replyTo, inReplyTo, references }: CheckedHeaders): void {
  const refuse = (header: string, member: string) => {
    const text = `The header ${header} cannot be combined with ${member}.`
    return invalid(`${headersMember(message)}.${header}`, 'forbidden_value', text)
  }
  if (message.replyTo?.length && replyTo.length > 0) throw refuse('Reply-To', 'reply_to')
  const member = threadMember(message)
  if (member === null) return
  if (inReplyTo !== null) throw refuse('In-Reply-To', member)
  if (references.length > 0) throw refuse('References', member)
}

/** The member that says what is answered. @throws ProductError validation_error when there are two of them */
function threadMember({ inReplyTo, thread }: NewMail): string | null {
  const byMessageId = thread?.inReplyTo === null ? 'references' : 'in_reply_to'
  if (inReplyTo === null) return thread === undefined ? null : byMessageId
  if (thread === undefined) return 'in_reply_to_message_id'
  const text = `${byMessageId} cannot be combined with in_reply_to_message_id, which sets it.`
  throw invalid(byMessageId, 'forbidden_value', text)
}

function attached({ attachments: given }: NewMail, extra: readonly string[]): EncodedAttachment[] {
  const attachments = checkAttachments('attachments', given, extra)
  requireFitting(given)
  return attachments.map((file, index) => ({ ...given[index]!, ...file }))
}

/** @throws ProductError payload_too_large */
function requireFitting(files: readonly EncodedAttachment[]): void {
  const size = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (size <= ATTACHED_BYTES_MAX) return
  const message = `The attachments of a message have at most ${ATTACHED_BYTES_MAX} bytes together.`
  throw new ProductError('payload_too_large', message, { param: 'attachments' })
}

function sendTimeOf({ sendAt, undoSeconds }: NewMail, now: number): number {
  const delay = undoSeconds * 1000
  if (sendAt === null) return now + delay
  if (sendAt < now + AHEAD_MIN_MS) {
    throw invalid('send_at', 'too_small', `send_at must be at least ${AHEAD_MIN_MS / 1000} seconds in the future.`)
  }
  if (sendAt > now + AHEAD_MAX_MS) {
    throw invalid('send_at', 'too_big', `send_at must be at most ${AHEAD_MAX_MS / DAY_MS} days in the future.`)
  }
  return sendAt + delay
}
