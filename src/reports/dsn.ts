// Composes the DSN for a message that could not be delivered (RFC 3464 in the multipart/report of RFC 6522).

import { Buffer } from 'node:buffer'
import { base64Lines, isPlainContent } from '../mime/compose/body.ts'
import { addressField, foldedField, idField, textField } from '../mime/compose/fields.ts'
import { endedBody, filePart, type MimePart, multipart, textPart } from '../mime/compose/parts.ts'
import { readHeaders } from '../mime/headers.ts'
import type { Address } from '../mime/message.ts'
import { rfc5322Date } from '../mime/trace.ts'

/** One recipient to whom delivery failed. */
export interface FailedRecipient {
  email: string
  /** RFC 3463. */
  status: string
  /** The reason, one sentence for people. */
  reason: string
  /** The reply of the remote server; "" when there was none. */
  diagnostic: string
  /** ms; null when nothing was attempted. */
  lastAttemptAt: number | null
}

export interface DsnInput {
  /** Our host name. */
  reportingMta: string
  from: Address
  to: Address
  /** Without angle brackets. */
  messageId: string
  /** ms */
  date: number
  /** When the message was accepted, ms. */
  arrivedAt: number
  /** Our id of the message. */
  envelopeId: string
  subject: string
  /** Message-ID of the failed message, without angle brackets. */
  originalMessageId: string
  recipients: readonly FailedRecipient[]
  /** The failed message, of which only the header is returned; null when it is no longer stored. */
  original: Uint8Array | null
  /** A mailbox has forwarded it and may have no copy: `original` is returned whole. */
  isForwarded?: boolean
}

/** Maximum recipients listed in the text; the delivery status lists all. */
const NAMED_MAX = 50
/** Characters of a line of the delivery status: longer lines would have to be folded. */
const FIELD_MAX = 900
const SEED_CHARS = 24

/** 7bit, or 8bit with a whole message that is; CRLF line ends. To be sent with the null sender (RFC 3834). */
export function composeDsn(input: DsnInput): Buffer {
  const { original, isForwarded } = input
  const returned = isForwarded === true && original !== null ? [wholePart(original)] : headerPart(original)
  const parts = [textPart('text/plain', textOf(input)), statusPart(input), ...returned]
  const seed = input.messageId.replace(/[^A-Za-z0-9]/g, '').slice(0, SEED_CHARS)
  const report = multipart('report', seed, parts, [' report-type=delivery-status'])
  const header =
    addressField('From', [input.from]) +
    addressField('To', [input.to]) +
    textField('Subject', `Not delivered: ${input.subject}`) +
    foldedField('Date', [` ${rfc5322Date(input.date)}`]) +
    idField('Message-ID', [input.messageId]) +
    idField('In-Reply-To', [input.originalMessageId]) +
    idField('References', [input.originalMessageId]) +
    foldedField('Auto-Submitted', [' auto-replied']) +
    foldedField('MIME-Version', [' 1.0'])
  return Buffer.concat([Buffer.from(`${header}${report.fields}\r\n`, 'latin1'), ...endedBody(report.body)])
}

function textOf({ subject, arrivedAt, recipients, isForwarded }: DsnInput): string {
  const shown = recipients.slice(0, NAMED_MAX)
  const more = recipients.length - shown.length
  const whom = recipients.length === 1 ? 'this recipient' : `these ${recipients.length} recipients`
  return [
    isForwarded === true
      ? `A message that your mailbox forwards could not be delivered to ${whom}; it is attached.`
      : `Your message could not be delivered to ${whom}:`,
    '',
    ...shown.flatMap(({ email, reason, diagnostic }) => [
      `  ${email}`,
      `    ${reason}`,
      ...(diagnostic === '' ? [] : [`    The remote server replied: ${diagnostic}`]),
      '',
    ]),
    ...(more > 0 ? [`  … and ${more} more.`, ''] : []),
    `Subject: ${subject}`,
    `Sent:    ${rfc5322Date(arrivedAt)}`,
    '',
    'No further delivery attempts will be made.',
    '',
  ].join('\n')
}

function statusPart({ reportingMta, envelopeId, arrivedAt, recipients }: DsnInput): MimePart {
  const perMessage = [
    `Reporting-MTA: dns; ${reportingMta}`,
    `Original-Envelope-Id: ${envelopeId}`,
    `Arrival-Date: ${rfc5322Date(arrivedAt)}`,
  ]
  const each = recipients.flatMap(({ email, status, diagnostic, lastAttemptAt }) => [
    '',
    `Original-Recipient: ${typed(email)}`,
    `Final-Recipient: ${typed(email)}`,
    'Action: failed',
    `Status: ${status}`,
    ...(diagnostic === '' ? [] : [`Diagnostic-Code: smtp; ${ascii(diagnostic)}`]),
    ...(lastAttemptAt === null ? [] : [`Last-Attempt-Date: ${rfc5322Date(lastAttemptAt)}`]),
  ])
  const text = [...perMessage, ...each].map((line) => `${line.slice(0, FIELD_MAX)}\r\n`).join('')
  return { fields: foldedField('Content-Type', [' message/delivery-status']), body: [Buffer.from(text, 'latin1')] }
}

function wholePart(content: Uint8Array): MimePart {
  return filePart({
    filename: 'message.eml',
    type: 'message/rfc822',
    content,
    disposition: 'attachment',
    contentId: null,
  })
}

function headerPart(original: Uint8Array | null): MimePart[] {
  if (original === null) return []
  const header = original.subarray(0, readHeaders(original).bodyStart)
  if (isPlainContent(header)) {
    return [{ fields: foldedField('Content-Type', [' text/rfc822-headers']), body: [Buffer.from(header)] }]
  }
  const encoding = foldedField('Content-Transfer-Encoding', [' base64'])
  return [{ fields: foldedField('Content-Type', [' text/rfc822-headers']) + encoding, body: [base64Lines(header)] }]
}

/** RFC 6533 3: type and encoding of a non-ASCII address in a 7bit delivery status. */
function typed(email: string): string {
  if (/^[!-~]+$/.test(email)) return `rfc822; ${email}`
  const written = Array.from(email, (character) => {
    const point = character.codePointAt(0)!
    return point > 0x20 && point < 0x7f && !'\\+='.includes(character)
      ? character
      : `\\x{${point.toString(16).toUpperCase()}}`
  })
  return `utf-8; ${written.join('')}`
}

/** Replaces other characters; the text part has the original. */
function ascii(text: string): string {
  return text.replace(/[^ -~]/g, '?')
}
