// Replaces the Date field of a composed message: one that waited for a person leaves with the time of the approval (RFC 5322 §3.6.1).

import { findField, readHeaders } from '../headers.ts'
import { rfc5322Date } from '../trace.ts'

/** The message with this time in its Date field; unchanged without such a field. @param at ms */
export function withDate(bytes: Uint8Array, at: number): Uint8Array {
  const field = findField(readHeaders(bytes).fields, 'date')
  if (field === undefined) return bytes
  const line = Buffer.from(`Date: ${rfc5322Date(at)}\r\n`, 'latin1')
  return Buffer.concat([bytes.subarray(0, field.start), line, bytes.subarray(field.end)])
}
