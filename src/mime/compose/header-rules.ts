// Validates custom header fields of a draft (docs/design/sending.md §11).

import { invalid } from '../../base/errors.ts'
import { parseAddressList } from '../address.ts'
import type { Address } from '../message.ts'
import { clean } from '../one-line.ts'
import { messageIds } from '../references.ts'
import type { DraftHeader } from './draft.ts'
import { checkEmail, checkName, isLonger, refuseBreaks, withoutControls } from './draft-rules.ts'
import { hasLongWord, WORD_MAX } from './fields.ts'

export const HEADERS_MAX = 50
/** Characters of a value. */
export const HEADER_VALUE_MAX = 998
/** Addresses of one Reply-To field (docs/design/mailbox.md §7). */
export const REPLY_TO_MAX = 10

const NAME = /^[!-9;-~]{1,76}$/
/** Fields written from other members, by transports or by receiving hosts. Resent-Bcc would disclose hidden recipients. */
const FORBIDDEN = new RegExp(
  '^(?:from|sender|to|cc|bcc|subject|date|message-id|mime-version|return-path|received|dkim-signature|authentication-results' +
    '|(?:content|arc|x-service|resent)-.*)$',
  'i',
)

/** RFC 2369 §3.2: addresses in angle brackets, separated by commas. Readers offer https and mailto. */
const UNSUBSCRIBE =
  /^\s*<(?:https?:\/\/[^\s<>]+|mailto:[^\s<>]+)>(?:\s*,\s*<(?:https?:\/\/[^\s<>]+|mailto:[^\s<>]+)>)*\s*$/i
/** RFC 8058 §3.1. */
const ONE_CLICK = 'List-Unsubscribe=One-Click'

/** Validated custom headers. Fields the draft has members for are returned separately. */
export interface CheckedHeaders {
  headers: DraftHeader[]
  /** From a Reply-To field; empty without one. */
  replyTo: Address[]
  /** From an In-Reply-To field, without angle brackets. */
  inReplyTo: string | null
  /** From a References field, without angle brackets. */
  references: string[]
}

/**
 * Validates custom headers by name, in the order given.
 * @throws ProductError validation_error on `field`, or on `<field>.<name>` where the name is one
 */
export function checkHeaders(field: string, given: Readonly<Record<string, string>>): CheckedHeaders {
  const entries = Object.entries(given)
  if (entries.length > HEADERS_MAX)
    throw invalid(field, 'too_big', `A message has at most ${HEADERS_MAX} custom headers.`)
  const checked: CheckedHeaders = { headers: [], replyTo: [], inReplyTo: null, references: [] }
  const seen = new Set<string>()
  for (const [name, value] of entries) {
    if (!NAME.test(name)) {
      throw invalid(field, 'invalid_format', `"${clean(name, 76)}" is not the name of a header.`)
    }
    const lower = name.toLowerCase()
    const path = `${field}.${name}`
    if (FORBIDDEN.test(lower)) throw invalid(path, 'forbidden_value', `The header ${name} cannot be set.`)
    if (seen.has(lower)) throw invalid(path, 'duplicate', `The header ${name} is there twice.`)
    seen.add(lower)
    addHeader(checked, path, name, checkValue(path, name, value))
  }
  return checked
}

function checkValue(path: string, name: string, value: string): string {
  if (isLonger(value, HEADER_VALUE_MAX)) {
    throw invalid(path, 'too_big', `The value of a header has at most ${HEADER_VALUE_MAX} characters.`)
  }
  refuseBreaks(path, 'The value of a header', value)
  // RFC 2369, RFC 2919: programs parse these fields, and an encoded word is not a URL.
  if (/^list-/i.test(name) && (/[^\t -~]/.test(value) || hasLongWord(value))) {
    throw invalid(path, 'invalid_format', `${name} takes ASCII only, and no word above ${WORD_MAX} characters.`)
  }
  if (/^list-unsubscribe$/i.test(name) && !UNSUBSCRIBE.test(value)) {
    const form = '<https://example.com/leave?id=1>, <mailto:leave@example.com>'
    throw invalid(path, 'invalid_format', `${name} takes https or mailto addresses in angle brackets, such as ${form}.`)
  }
  if (/^list-unsubscribe-post$/i.test(name) && value.trim() !== ONE_CLICK) {
    throw invalid(path, 'invalid_format', `${name} takes the value ${ONE_CLICK} only.`)
  }
  return withoutControls(value)
}

/** Reply-To, In-Reply-To and References become members of the draft, so that no field is written twice. */
function addHeader(checked: CheckedHeaders, path: string, name: string, value: string): void {
  const lower = name.toLowerCase()
  if (lower === 'reply-to') checked.replyTo = replyTo(path, value)
  else if (lower === 'in-reply-to') checked.inReplyTo = ids(path, value, 1)[0]!
  else if (lower === 'references') checked.references = ids(path, value, Number.POSITIVE_INFINITY)
  else checked.headers.push({ name, value })
}

function replyTo(path: string, value: string): Address[] {
  const found = parseAddressList(value, REPLY_TO_MAX + 1)
  if (found.length === 0) throw invalid(path, 'invalid_format', 'Reply-To must hold an address.')
  if (found.length > REPLY_TO_MAX) {
    throw invalid(path, 'too_big', `Reply-To holds ${REPLY_TO_MAX} addresses at most.`)
  }
  return found.map(({ email, name }) => ({ email: checkEmail(path, email), name: checkName(path, name) }))
}

function ids(path: string, value: string, max: number): string[] {
  const found = messageIds(value)
  const sound = found.every((id) => /^[!-~]+$/.test(id) && !hasLongWord(id))
  if (found.length === 0 || found.length > max || !sound) {
    const what = max === 1 ? 'one message id' : 'message ids'
    throw invalid(path, 'invalid_format', `The value must be ${what} in angle brackets, as in <id@example.com>.`)
  }
  return found
}
