// Composes a message from a draft: RFC 5322 and MIME, 7 bits, CRLF, lines within limits.

import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { ProductError } from '../../base/errors.ts'
import { htmlToText } from '../../html/visible-text.ts'
import { HEADER_LINES_MAX } from '../headers.ts'
import { rfc5322Date } from '../trace.ts'
import type { Draft, DraftAttachment } from './draft.ts'
import { addressField, foldedField, givenField, idField, textField } from './fields.ts'
import { endedBody, filePart, type MimePart, multipart, textPart } from './parts.ts'

export type { Draft, DraftAttachment, DraftHeader } from './draft.ts'

export interface Composed {
  bytes: Buffer
}

/** Bytes of a header. Postfix truncates headers at 100 KiB and treats the rest as the body. */
export const HEADER_WRITTEN_MAX = 64 * 1024
/** References written: of more, the first (the root of the thread) and the last ones. */
export const REFERENCES_WRITTEN_MAX = 50
const SEED_CHARS = 24

/**
 * Composes the message. The same draft gives the same bytes; `bcc` is written only in an unsent message.
 * @throws ProductError payload_too_large when names and headers together exceed the limit
 * @throws Error for a draft that was not validated: it would allow header injection
 */
export function compose(draft: Draft): Composed {
  const { fields, body } = content(draft)
  const header = `${headerOf(draft)}MIME-Version: 1.0\r\n${fields}\r\n`
  // The header must be within the limits of our own parser.
  if (header.length > HEADER_WRITTEN_MAX || header.split('\r\n').length > HEADER_LINES_MAX) {
    const message = `The names and headers of a message have at most ${HEADER_WRITTEN_MAX} bytes together, encoded.`
    throw new ProductError('payload_too_large', message)
  }
  return { bytes: Buffer.concat([Buffer.from(header, 'latin1'), ...endedBody(body)]) }
}

function headerOf(draft: Draft): string {
  const {
    from,
    to,
    cc,
    bcc,
    isUnsent = false,
    replyTo,
    subject,
    date,
    messageId,
    inReplyTo,
    references,
    headers,
  } = draft
  const open = isUnsent || to.length > 0 || cc.length > 0
  return (
    addressField('From', [from]) +
    // RFC 5322 3.6.3 asks for no recipient field, but some spam filters penalise a message without one.
    (open ? addressField('To', to) : foldedField('To', [' undisclosed-recipients:;'])) +
    addressField('Cc', cc) +
    (isUnsent ? addressField('Bcc', bcc) : '') +
    addressField('Reply-To', replyTo) +
    (isUnsent && subject === '' ? '' : textField('Subject', subject)) +
    foldedField('Date', [` ${rfc5322Date(date)}`]) +
    idField('Message-ID', [messageId]) +
    (inReplyTo === null ? '' : idField('In-Reply-To', [inReplyTo])) +
    idField('References', nearest(references)) +
    headers.map(({ name, value }) => givenField(name, value)).join('')
  )
}

function nearest(references: readonly string[]): readonly string[] {
  if (references.length <= REFERENCES_WRITTEN_MAX) return references
  return [references[0]!, ...references.slice(1 - REFERENCES_WRITTEN_MAX)]
}

/** The body, nested as in RFC 2046: multipart/mixed for files, alternative for text and HTML, related for inline images. */
function content({ textBody, htmlBody, attachments, messageId, seed: given = messageId }: Draft): MimePart {
  // The content cannot contain our boundary: the seed is generated after the content is known.
  const seed = hash('sha256', given, 'hex').slice(0, SEED_CHARS)
  const isShown = (file: DraftAttachment) =>
    htmlBody !== null && file.disposition === 'inline' && file.contentId !== null
  const shown = attachments.filter(isShown)
  const files = attachments.filter((file) => !isShown(file))
  const text = textPartOf(textBody, htmlBody)
  const html = htmlBody === null ? null : htmlPartOf(htmlBody, shown, `${seed}.2`)
  const body = text !== null && html !== null ? multipart('alternative', `${seed}.1`, [text, html]) : (text ?? html)!
  return files.length === 0 ? body : multipart('mixed', `${seed}.0`, [body, ...files.map(filePart)])
}

/** A text alternative is generated from the HTML; HTML without text (an image alone) has none. */
function textPartOf(textBody: string | null, htmlBody: string | null): MimePart | null {
  if (textBody !== null || htmlBody === null) return textPart('text/plain', textBody ?? '')
  const made = htmlToText(htmlBody, { alternative: true })
  return made === '' ? null : textPart('text/plain', made)
}

function htmlPartOf(htmlBody: string, shown: readonly DraftAttachment[], seed: string): MimePart {
  const html = textPart('text/html', htmlBody)
  if (shown.length === 0) return html
  return multipart('related', seed, [html, ...shown.map(filePart)], [' type="text/html"'])
}
