// What changes in a stored message when it is forwarded, and what a forwarded message says about its way.

import { withFoldedHeader } from './compose/long-lines.ts'
import { fieldText, findField, type HeaderField, readHeaders } from './headers.ts'

/** Our field in forwarded messages: it names the mailbox that forwarded by a MAC, so that loops are found (RFC 5228 §4.2). */
const MARK_FIELD = 'X-Mailstead-Forwarded'
/** Marks that are read; a message with more has gone round long enough. */
export const MARKS_MAX = 100

/** Results of authentication as written in our own Authentication-Results field, by method. */
export type StoredResults = ReadonlyMap<string, string>

/** The marks of the mailboxes that have forwarded the message with these fields. */
export function forwardMarks(fields: readonly HeaderField[]): string[] {
  const name = MARK_FIELD.toLowerCase()
  const marks = fields.filter((field) => field.name === name)
  return marks.slice(0, MARKS_MAX).map((field) => fieldText(field))
}

/**
 * The bytes that are forwarded: without the Return-Path of this host, which only the final one adds (RFC 5321 §4.4), and with the
 * mark. Everything else stays as it is, so that signatures of the author still hold; lines that a server need not accept are folded, which
 * relaxed ones do not see.
 */
export function forwardedBytes(stored: Uint8Array, mark: string): Uint8Array {
  const [first] = readHeaders(stored).fields
  const from = first?.name === 'return-path' && first.start === 0 ? first.end : 0
  return Buffer.concat([Buffer.from(`${MARK_FIELD}: ${mark}\r\n`), withFoldedHeader(stored.subarray(from))])
}

/**
 * The value of the Authentication-Results field of this host, folded as it is; null without one. Fields of others that name this host were
 * removed when the message was received (RFC 8601 §5).
 */
export function ownResults(bytes: Uint8Array, hostName: string): string | null {
  const field = findField(readHeaders(bytes).fields, 'authentication-results')
  const text = field && Buffer.from(field.value).toString('latin1').trim()
  return text?.toLowerCase().startsWith(`${hostName.toLowerCase()};`) === true ? text : null
}

/** The message without the Authentication-Results field of this host: the results do not hold for it. */
export function withoutOwnResults(bytes: Uint8Array, hostName: string): Uint8Array {
  const field = findField(readHeaders(bytes).fields, 'authentication-results')
  if (field === undefined || ownResults(bytes, hostName) === null) return bytes
  return Buffer.concat([bytes.subarray(0, field.start), bytes.subarray(field.end)])
}

/** The results in a value of `ownResults`; of several DKIM signatures the best. */
export function storedResults(value: string): StoredResults {
  const results = new Map<string, string>()
  for (const [, method, result] of value.matchAll(/;\s*(spf|dkim|dmarc|arc|auth)=([a-z]+)/g)) {
    if (results.get(method!) !== 'pass') results.set(method!, result!)
  }
  return results
}
