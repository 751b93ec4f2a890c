// Parses the arguments of MAIL and RCPT strictly: a path and its parameters (RFC 5321 §4.1.2).

import { parseMailbox, parseSender } from '../mime/address.ts'
import { MAX_MESSAGE_BYTES } from './limits.ts'
import { replies, type SmtpReply } from './replies.ts'

/** The arguments of MAIL. */
export interface EnvelopeSender {
  /** "" for the null sender. */
  address: string
  /** SIZE parameter (RFC 1870); null when absent. */
  declaredBytes: number | null
  utf8: boolean
}

/** The argument of RCPT: the validated address and its two halves. */
export interface RecipientPath {
  address: string
  local: string
  /** "" only for the bare `postmaster` of RFC 5321 4.1.1.3. */
  domain: string
}

// A source route is accepted and ignored (RFC 5321 appendix C).
const SOURCE_ROUTE = /^@[^\s,:@<>"]+(?:,@[^\s,:@<>"]+)*:/
const PARAMETER = /^([A-Za-z0-9][A-Za-z0-9-]*)(?:=([^=\s]+))?$/

/**
 * Parses `MAIL FROM:<path> parameters`.
 * @param others further parameters that are accepted and ignored
 */
export function readSender(
  command: string,
  { maxBytes = MAX_MESSAGE_BYTES, others = [] }: { maxBytes?: number; others?: readonly string[] } = {},
): EnvelopeSender | SmtpReply {
  const found = readPath(/^MAIL FROM: */i, command)
  if (!found) return replies.badSender
  const { path, parameters } = found
  if (!parameters) return replies.badParameter
  for (const name of parameters.keys()) {
    if (!['SIZE', 'BODY', 'SMTPUTF8', ...others].includes(name)) return replies.unknownParameter
  }
  const size = parameters.get('SIZE')
  // RFC 1870 §3: up to 20 digits.
  if (size !== undefined && !/^\d{1,20}$/.test(size)) return replies.badParameter
  if (!['7BIT', '8BITMIME'].includes(parameters.get('BODY')?.toUpperCase() ?? '7BIT')) return replies.badParameter
  if ((parameters.get('SMTPUTF8') ?? '') !== '') return replies.badParameter
  const declaredBytes = size === undefined ? null : Number(size)
  if (declaredBytes !== null && declaredBytes > maxBytes) return replies.tooLarge(maxBytes)
  const utf8 = parameters.has('SMTPUTF8')
  if (path === '') return { address: '', declaredBytes, utf8 }
  if (!utf8 && !isAscii(path)) return replies.needsUtf8
  const mailbox = parseSender(path)
  return mailbox ? { address: mailbox.email, declaredBytes, utf8 } : replies.badSender
}

/**
 * Parses `RCPT TO:<path>`; no extension offered here has parameters for it.
 * @param utf8 whether MAIL announced SMTPUTF8
 */
export function readRecipient(command: string, utf8: boolean): RecipientPath | SmtpReply {
  const found = readPath(/^RCPT TO: */i, command)
  if (!found) return replies.badRecipient
  if (!found.parameters) return replies.badParameter
  if (found.parameters.size > 0) return replies.unknownParameter
  if (found.path.toLowerCase() === 'postmaster') return { address: found.path, local: 'postmaster', domain: '' }
  if (!utf8 && !isAscii(found.path)) return replies.needsUtf8
  const mailbox = parseMailbox(found.path)
  return mailbox ? { address: mailbox.email, local: mailbox.local, domain: mailbox.domain } : replies.badRecipient
}

export function isReply(value: object): value is SmtpReply {
  return 'code' in value
}

/** @returns null when there is no path in angle brackets; `parameters` is null when one is malformed or given twice */
function readPath(verb: RegExp, command: string): { path: string; parameters: Map<string, string> | null } | null {
  const match = verb.exec(command)
  const text = match ? command.slice(match[0].length) : ''
  const end = pathEnd(text)
  if (end < 0) return null
  return { path: text.slice(1, end).replace(SOURCE_ROUTE, ''), parameters: readParameters(text.slice(end + 1)) }
}

/** Index of the `>` that closes the path; a quoted local part may contain others (RFC 5321 §4.1.2). */
function pathEnd(text: string): number {
  if (!text.startsWith('<')) return -1
  let quoted = false
  for (let i = 1; i < text.length; i++) {
    if (quoted && text[i] === '\\') i++
    else if (text[i] === '"') quoted = !quoted
    else if (!quoted && text[i] === '>') return i
    else if (!quoted && text[i] === '<') return -1
  }
  return -1
}

function readParameters(text: string): Map<string, string> | null {
  const parameters = new Map<string, string>()
  if (text.trim() === '') return parameters
  if (!text.startsWith(' ')) return null
  for (const item of text.trim().split(/ +/)) {
    const match = PARAMETER.exec(item)
    const name = match?.[1]?.toUpperCase()
    if (name === undefined || parameters.has(name)) return null
    parameters.set(name, match?.[2] ?? '')
  }
  return parameters
}

function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text)
}
