// Tagged answers: outcomes of commands with response codes (RFC 9051 §7.1, RFC 5530), and which error becomes which code.

import { ProductError } from '../../base/errors.ts'
import { storageError } from '../../base/storage-error.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import { ImapSyntaxError } from '../grammar/cursor.ts'
import { FETCH_READS } from '../grammar/limits.ts'
import { BadCharset } from '../grammar/search-keys.ts'
import { formatRanges, rangesOf } from '../grammar/sets.ts'

/** UIDs that a sentence names. */
const NAMED_MAX = 20

export type StatusCondition = 'OK' | 'NO' | 'BAD' | 'BYE'

/** The outcome of a command: condition, response code without brackets, and a sentence for people. */
export interface TaggedAnswer {
  condition: StatusCondition
  code: string | null
  text: string
}

/** A command fails with this answer. */
export class CommandFailure extends Error {
  readonly answer: TaggedAnswer

  constructor(condition: 'NO' | 'BAD', code: string | null, text: string) {
    super(text)
    this.answer = { condition, code, text }
  }
}

/** NO with a response code. */
export function no(code: string | null, text: string): CommandFailure {
  return new CommandFailure('NO', code, text)
}

/** The content of messages is damaged; the others were read (RFC 5530 §3). */
export function damagedMessages(uids: readonly number[]): CommandFailure {
  return no('CORRUPTION', damageSentence(uids))
}

export function damageSentence(uids: readonly number[]): string {
  return `The content of messages is damaged: ${namesOf(uids)}. The operator has to restore a backup.`
}

/** The items of a FETCH would read too much of messages; the others were read (RFC 5530 §3). */
export function excessiveItems(uids: readonly number[]): CommandFailure {
  const sentence = `The items name more than ${FETCH_READS} times the content of messages: ${namesOf(uids)}.`
  return no('LIMIT', `${sentence} Fetch fewer sections at once.`)
}

function namesOf(uids: readonly number[]): string {
  const named = formatRanges(rangesOf(uids.slice(0, NAMED_MAX)))
  return `UID ${named}${uids.length > NAMED_MAX ? ` and ${uids.length - NAMED_MAX} others` : ''}`
}

/** BAD: the command is not allowed here, or does not follow the grammar. */
export function bad(text: string, code: string | null = null): CommandFailure {
  return new CommandFailure('BAD', code, text)
}

export function ok(text: string, code: string | null = null): TaggedAnswer {
  return { condition: 'OK', code, text }
}

/** The line of an answer. @param tag of the command, or `*` */
export function formatAnswer(tag: string, { condition, code, text }: TaggedAnswer): string {
  return `${tag} ${condition} ${code === null ? '' : `[${code}] `}${oneLine(text)}\r\n`
}

/** Printable ASCII in one line. */
function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 500)
}

/**
 * The answer for an error.
 * @returns null for an unexpected error: the caller logs it and answers SERVERBUG
 */
export function answerFor(error: unknown): TaggedAnswer | null {
  if (error instanceof CommandFailure) return error.answer
  if (error instanceof ImapSyntaxError) return { condition: 'BAD', code: null, text: error.message }
  if (error instanceof BadCharset)
    return { condition: 'NO', code: 'BADCHARSET (UTF-8 US-ASCII)', text: 'Unknown charset.' }
  if (error instanceof DamagedContent) return { condition: 'NO', code: 'CORRUPTION', text: error.message }
  const known = error instanceof ProductError ? error : storageError(error)
  if (!(known instanceof ProductError)) return null
  const code = codeOf(known)
  return code === null ? null : { condition: 'NO', code, text: known.message }
}

function codeOf(error: ProductError): string | null {
  switch (error.code) {
    case 'not_found':
      return 'NONEXISTENT'
    case 'conflict':
      return 'CANNOT'
    case 'insufficient_permissions':
      return 'NOPERM'
    case 'validation_error':
    case 'invalid_parameter':
    case 'missing_parameter':
      return 'CANNOT'
    case 'payload_too_large':
      return 'TOOBIG'
    case 'rate_limit_exceeded':
      return 'LIMIT'
    case 'service_unavailable':
      return 'UNAVAILABLE'
    case 'authentication_required':
      return 'AUTHENTICATIONFAILED'
    default:
      return null
  }
}
