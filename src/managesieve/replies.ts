// Replies of ManageSieve (RFC 5804 §1.3): condition, response code, text.

import { type Issue, ProductError } from '../base/errors.ts'
import { storageError } from '../base/storage-error.ts'
import type { ScriptProblem } from '../sieve/compile.ts'

/** RFC 5804 §1.3. */
export type SieveCode =
  | 'ACTIVE'
  | 'ALREADYEXISTS'
  | 'AUTH-TOO-WEAK'
  | 'ENCRYPT-NEEDED'
  | 'NONEXISTENT'
  | 'QUOTA/MAXSCRIPTS'
  | 'QUOTA/MAXSIZE'
  | 'TRYLATER'
  | 'WARNINGS'
  /** With its argument. */
  | `SASL ${string}`
  | `TAG ${string}`

export interface SieveReply {
  condition: 'OK' | 'NO' | 'BYE'
  code: SieveCode | null
  text: string
}

export function ok(text: string, code: SieveCode | null = null): SieveReply {
  return { condition: 'OK', code, text }
}

export function no(text: string, code: SieveCode | null = null): SieveReply {
  return { condition: 'NO', code, text }
}

export function bye(text: string, code: SieveCode | null = null): SieveReply {
  return { condition: 'BYE', code, text }
}

export function formatReply({ condition, code, text }: SieveReply): string {
  return `${condition}${code === null ? '' : ` (${code})`} ${formatString(text)}\r\n`
}

/** Quoted, or a literal where line ends or the length forbid it (RFC 5804 §4). */
export function formatString(text: string): string {
  const bytes = Buffer.byteLength(text)
  if (bytes <= 1000 && !/[\r\n\0]/.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`
  return `{${bytes}}\r\n${text}`
}

/** OK, with the warnings about a script (RFC 5804 §1.3, WARNINGS). */
export function okWith(text: string, warnings: readonly ScriptProblem[]): SieveReply {
  return warnings.length === 0 ? ok(text) : ok(lineTexts(warnings), 'WARNINGS')
}

/** All findings at once, a line each. */
function lineTexts(findings: readonly Pick<Issue, 'line' | 'column' | 'message'>[]): string {
  return findings
    .map(({ line, column, message }) => (line === undefined ? message : `line ${line}, column ${column}: ${message}`))
    .join('\r\n')
}

/**
 * The reply to an error of a command; null for an internal one.
 * @param onConflict what a conflict means for the command
 */
export function replyTo(error: unknown, onConflict: SieveCode | null): SieveReply | null {
  const failure = error instanceof ProductError ? error : storageError(error)
  if (failure === undefined) return null
  const { code, message, issues } = failure
  if (code === 'validation_error') {
    return no((issues ?? []).length > 0 ? lineTexts(issues!) : message)
  }
  if (code === 'not_found') return no('There is no script with this name.', 'NONEXISTENT')
  if (code === 'conflict') return no(message, onConflict)
  if (code === 'service_unavailable') return no(message, 'TRYLATER')
  return no(message)
}
