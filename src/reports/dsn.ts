// Writes the report a sender gets of a mail that could not be delivered (RFC 3464 in the multipart/report of RFC 6522).

import { Buffer } from 'node:buffer'
import { base64Lines, isPlainMail } from '../mime/compose/body.ts'
import { addressField, foldedField, idField, textField } from '../mime/compose/fields.ts'
import { endedBody, type MimePart, multipart, textPart } from '../mime/compose/parts.ts'
import { readHeaders } from '../mime/headers.ts'
import type { Address } from '../mime/message.ts'
import { mailDate } from '../mime/trace.ts'

/** One recipient that was not reached. */
export interface FailedRecipient {
  email: string
  /** RFC 3463. */
  status: string
  /** Why, in one sentence for people. */
  reason: string
  /** What the other server said; "" when nobody was asked. */
  diagnostic: string
  /** ms */
  lastAttemptAt: number
}

export interface DsnInput {
  /** Who reports: our host name. */
  reportingMta: string
  from: Address
  to: Address
  /** Without angle brackets. */
  messageId: string
  /** ms */
  date: number
  /** When the mail was accepted, ms. */
  arrivedAt: number
  /** Our id of the mail. */
  envelopeId: string
  subject: string
  /** Message-ID of the mail, without angle brackets. */
  originalMessageId: string
  recipients: readonly FailedRecipient[]
  /** The mail that failed, of which only the header is given back; null when it is no longer there. */
  original: Uint8Array | null
}

/** Recipients the text for people names; the delivery status names all. */
const NAMED_MAX = 50
/** Characters of a line of the delivery status: what is longer would have to be folded. */
const FIELD_MAX = 900
const SEED_CHARS = 24

/** Seven bits, CRLF line ends. Answers nobody (RFC 3834): it goes out with the null sender. */
export function composeDsn(input: DsnInput): Buffer {
  const parts = [textPart('text/plain', textOf(input)), statusPart(input), ...headerPart(input.original)]
  const seed = input.messageId.replace(/[^A-Za-z0-9]/g, '').slice(0, SEED_CHARS)
  const report = multipart('report', seed, parts, [' report-type=delivery-status'])
  const header =
    addressField('From', [input.from]) +
    addressField('To', [input.to]) +
    textField('Subject', `Not delivered: ${input.subject}`) +
    foldedField('Date', [` ${mailDate(input.date)}`]) +
    idField('Message-ID', [input.messageId]) +
    idField('In-Reply-To', [input.originalMessageId]) +
    idField('References', [input.originalMessageId]) +
    foldedField('Auto-Submitted', [' auto-replied']) +
    foldedField('MIME-Version', [' 1.0'])
  return Buffer.concat([Buffer.from(`${header}${report.fields}\r\n`, 'latin1'), ...endedBody(report.body)])
}

function textOf({ subject, arrivedAt, recipients }: DsnInput): string {
  const shown = recipients.slice(0, NAMED_MAX)
  const more = recipients.length - shown.length
  const whom = recipients.length === 1 ? 'this recipient' : `these ${recipients.length} recipients`
  return [
    `Your mail could not be delivered to ${whom}:`,
    '',
    ...shown.flatMap(({ email, reason, diagnostic }) => [
      `  ${email}`,
      `    ${reason}`,
      ...(diagnostic === '' ? [] : [`    The other server said: ${diagnostic}`]),
      '',
    ]),
    ...(more > 0 ? [`  … and ${more} more.`, ''] : []),
    `Subject: ${subject}`,
    `Sent:    ${mailDate(arrivedAt)}`,
    '',
    'It is not tried again.',
    '',
  ].join('\n')
}

function statusPart({ reportingMta, envelopeId, arrivedAt, recipients }: DsnInput): MimePart {
  const mail = [
    `Reporting-MTA: dns; ${reportingMta}`,
    `Original-Envelope-Id: ${envelopeId}`,
    `Arrival-Date: ${mailDate(arrivedAt)}`,
  ]
  const each = recipients.flatMap(({ email, status, diagnostic, lastAttemptAt }) => [
    '',
    `Original-Recipient: ${typed(email)}`,
    `Final-Recipient: ${typed(email)}`,
    'Action: failed',
    `Status: ${status}`,
    ...(diagnostic === '' ? [] : [`Diagnostic-Code: smtp; ${ascii(diagnostic)}`]),
    `Last-Attempt-Date: ${mailDate(lastAttemptAt)}`,
  ])
  const text = [...mail, ...each].map((line) => `${line.slice(0, FIELD_MAX)}\r\n`).join('')
  return { fields: foldedField('Content-Type', [' message/delivery-status']), body: [Buffer.from(text, 'latin1')] }
}

function headerPart(original: Uint8Array | null): MimePart[] {
  if (original === null) return []
  const header = original.subarray(0, readHeaders(original).bodyStart)
  if (isPlainMail(header)) {
    return [{ fields: foldedField('Content-Type', [' text/rfc822-headers']), body: [Buffer.from(header)] }]
  }
  const encoding = foldedField('Content-Transfer-Encoding', [' base64'])
  return [{ fields: foldedField('Content-Type', [' text/rfc822-headers']) + encoding, body: [base64Lines(header)] }]
}

/** RFC 6533 3: an address beyond ASCII has a type and a form of its own in a status of seven bits. */
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

/** The text for people has it as it was said. */
function ascii(text: string): string {
  return text.replace(/[^ -~]/g, '?')
}
