// The rules a mail has to keep by itself, whoever sends it: addresses, numbers, headers, attachments, times (decisions §8.1, §10.7).

import { invalid, ProductError } from '../../base/errors.ts'
import { checkAttachments } from '../../mime/compose/attachment-rules.ts'
import { checkRecipient, checkSubject } from '../../mime/compose/draft-rules.ts'
import { type CheckedHeaders, checkHeaders } from '../../mime/compose/header-rules.ts'
import type { RoughAttachment } from '../../mime/compose/outgoing-content.ts'
import type { Address } from '../../mime/message.ts'
import type { NewMail } from './new-mail.ts'

/** Different addresses in To, Cc and Bcc together. */
export const RECIPIENTS_MAX = 50
/** Bytes of all attachments of a mail, decoded. */
export const ATTACHED_BYTES_MAX = 26_214_400
/** How far ahead a mail can be scheduled, ms. */
export const AHEAD_MIN_MS = 5_000
export const AHEAD_MAX_MS = 30 * 86_400_000

/** What of a mail is settled before anybody has looked at who sends it. */
export interface CheckedMail extends CheckedHeaders {
  to: Address[]
  cc: Address[]
  bcc: Address[]
  subject: string
  attachments: RoughAttachment[]
  /** The envelope: each address once, whatever its case, in the order it was named. */
  recipients: string[]
  /** Earliest time it leaves, ms. */
  sendAt: number
}

/** What the rules depend on beside the mail. */
export interface Rules {
  /** ms */
  now: number
  /** Extensions of files the operator allows beside ours. */
  extra: readonly string[]
  /** True where `to` is a member with one address, not a list. */
  oneTo: boolean
}

/** @throws ProductError missing_parameter, validation_error, payload_too_large */
export function checkMail(mail: NewMail, { now, extra, oneTo }: Rules): CheckedMail {
  const to = mail.to.map((address, index) => checkRecipient(oneTo ? 'to' : `to.${index}`, address))
  const [cc, bcc] = [listOf('cc', mail.cc), listOf('bcc', mail.bcc ?? [])]
  const checked = checkHeaders('custom_headers', mail.headers)
  refuseTwice(mail, checked)
  return {
    ...checked,
    to,
    cc,
    bcc,
    replyTo: mail.replyTo?.length ? listOf('reply_to', mail.replyTo) : checked.replyTo,
    subject: checkSubject('subject', mail.subject),
    attachments: attached(mail, extra),
    recipients: recipientsOf([...to, ...cc, ...bcc]),
    sendAt: leavingAt(mail, now),
  }
}

function listOf(field: string, addresses: readonly Address[]): Address[] {
  return addresses.map((address, index) => checkRecipient(`${field}.${index}`, address))
}

function recipientsOf(addresses: readonly Address[]): string[] {
  // Few servers tell the case of local parts apart, and nobody wants a mail twice.
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

function refuseTwice(mail: NewMail, { replyTo, inReplyTo, references }: CheckedHeaders): void {
  const refuse = (header: string, member: string) => {
    const message = `The header ${header} cannot be set beside ${member}.`
    return invalid(`custom_headers.${header}`, 'forbidden_value', message)
  }
  if (mail.replyTo?.length && replyTo.length > 0) throw refuse('Reply-To', 'reply_to')
  if (mail.inReplyTo === null) return
  if (inReplyTo !== null) throw refuse('In-Reply-To', 'in_reply_to_message_id')
  if (references.length > 0) throw refuse('References', 'in_reply_to_message_id')
}

function attached(mail: NewMail, extra: readonly string[]): RoughAttachment[] {
  const attachments = checkAttachments('attachments', mail.attachments, extra)
  const size = mail.attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (size <= ATTACHED_BYTES_MAX) return attachments.map((file, index) => ({ ...mail.attachments[index]!, ...file }))
  const message = `The attachments of a message have at most ${ATTACHED_BYTES_MAX} bytes together.`
  throw new ProductError('payload_too_large', message, { param: 'attachments' })
}

function leavingAt({ sendAt, undoSeconds }: NewMail, now: number): number {
  const held = undoSeconds * 1000
  if (sendAt === null) return now + held
  if (sendAt < now + AHEAD_MIN_MS) {
    throw invalid('send_at', 'too_small', `send_at must lie at least ${AHEAD_MIN_MS / 1000} seconds ahead.`)
  }
  if (sendAt > now + AHEAD_MAX_MS) {
    throw invalid('send_at', 'too_big', `send_at must lie at most ${AHEAD_MAX_MS / 86_400_000} days ahead.`)
  }
  return sendAt + held
}
