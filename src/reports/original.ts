// Reads the original message returned in a report: an attached message or header, or the text after the report.

import { parseAddressList } from '../mime/address.ts'
import { asBuffer } from '../mime/charset.ts'
import { decodeBody, decodeHeader } from '../mime/decode.ts'
import { fieldText, HEADER_BYTES_MAX, type HeaderField, headerText, readHeaders } from '../mime/headers.ts'
import type { Part } from '../mime/message.ts'
import { messageIds } from '../mime/references.ts'
import type { ReportedMessage } from './reported.ts'

/** Recipients taken from the returned header. */
const TO_MAX = 100
const SUBJECT_MAX = 998

/** RFC 6522 3, RFC 6533 6, and common misspellings. */
const RETURNED = new Set([
  ...['message/rfc822', 'message/global', 'message/partial', 'message/rfc822-headers', 'message/global-headers'],
  ...['text/rfc822-headers', 'text/rfc822-header', 'text/rfc822'],
])

const NO_ORIGINAL: ReportedMessage = { messageId: null, subject: null, from: null, to: [], returnPath: null }

export function isReturned(part: Part): boolean {
  return RETURNED.has(part.type)
}

/** The header fields of the returned message in a part. */
export function returnedFields(bytes: Uint8Array, part: Part): HeaderField[] {
  const end = Math.min(part.bodyEnd, part.bodyStart + HEADER_BYTES_MAX * 2)
  return readHeaders(decodeBody(bytes.subarray(part.bodyStart, end), part.encoding)).fields
}

/** The header fields in a text, from the first line that is a header field. */
export function pastedFields(text: string): HeaderField[] {
  const start = /^(?:received|return-path|from|to|subject|date|message-id|mime-version|x-[\w-]{1,60})[ \t]*:/im.exec(
    text,
  )
  return start ? readHeaders(asBuffer(Buffer.from(text.slice(start.index, start.index + HEADER_BYTES_MAX)))).fields : []
}

export function describeOriginal(fields: readonly HeaderField[]): ReportedMessage {
  if (fields.length === 0) return NO_ORIGINAL
  const addresses = (name: string) =>
    fields
      .filter((field) => field.name === name)
      .flatMap((field) => parseAddressList(fieldText(field), TO_MAX))
      .map(({ email }) => email)
      .filter((email) => email !== '')
  return {
    messageId: messageIds(headerText(fields, 'message-id') ?? '')[0] ?? null,
    subject: decodeHeader(headerText(fields, 'subject') ?? '').slice(0, SUBJECT_MAX) || null,
    from: addresses('from')[0] ?? null,
    to: [...new Set([...addresses('to'), ...addresses('cc')])].slice(0, TO_MAX),
    returnPath: addresses('return-path')[0] ?? null,
  }
}
