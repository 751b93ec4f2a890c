// Reads the recipients of a delivery status notification (RFC 3464, RFC 6533).

import { parseAddressList } from '../mime/address.ts'
import { parseDate } from '../mime/date.ts'
import { decodeHeader } from '../mime/decode.ts'
import { decodeWords } from '../mime/encoded-words.ts'
import { findCodes } from './codes.ts'
import { type BounceAction, DIAGNOSTIC_MAX, type ReportedRecipient } from './reported.ts'
import type { StatusFields } from './status-fields.ts'

const ACTIONS: readonly BounceAction[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']
const ADDRESS_MAX = 320
const NAME_MAX = 255

/** The recipient of one group; null when it names none. */
export function readRecipient(fields: StatusFields): ReportedRecipient | null {
  const original = addressOf(fields.get('original-recipient'))
  const final = addressOf(fields.get('final-recipient')) ?? addressOf(fields.get('x-actual-recipient')) ?? original
  if (final === null) return null
  const diagnostic = withoutType(fields.get('diagnostic-code') ?? '')
  const said = findCodes(diagnostic)
  const status = findCodes(fields.get('status') ?? '').enhancedCode
  return {
    finalRecipient: final,
    originalRecipient: original,
    action: actionOf(fields.get('action'), status),
    // The code in the reply of the remote server is more specific than the status of the reporting server.
    status: said.enhancedCode !== null && isSameClass(said.enhancedCode, status) ? said.enhancedCode : status,
    smtpCode: said.smtpCode,
    diagnostic: oneLine(diagnostic),
    stage: 'unknown',
    remoteMta: hostOf(fields.get('remote-mta')),
    lastAttemptAt: parseDate(fields.get('last-attempt-date') ?? ''),
  }
}

/** One line of at most DIAGNOSTIC_MAX characters. */
export function oneLine(text: string): string {
  return decodeHeader(text).slice(0, DIAGNOSTIC_MAX).toWellFormed().trim()
}

/** "dns; mx.example.com (192.0.2.1)" without its type and comments. */
export function hostOf(value: string | undefined): string | null {
  const host = withoutType(value ?? '')
    .replace(/\([^()]*\)/g, ' ')
    .trim()
    .split(/\s+/)[0]!
  return host === '' ? null : host.slice(0, NAME_MAX)
}

/** "rfc822; ana@example.com"; the address of RFC 6533 3 may hold `\x{…}`. */
export function addressOf(value: string | undefined): string | null {
  if (value === undefined) return null
  const text = withoutType(value)
  const plain = /^utf-8\s*;/i.test(value) ? text.replace(/\\x\{([0-9A-Fa-f]{2,6})\}/g, codePoint) : text
  const email = parseAddressList(decodeWords(plain).slice(0, ADDRESS_MAX * 2), 1)[0]?.email ?? ''
  return /^[^\s@][^\s]*@[^\s@]+$/.test(email) && email.length <= ADDRESS_MAX ? email : null
}

/** RFC 3464 2.1.2: typed values begin with their type and a semicolon. */
function withoutType(value: string): string {
  return value.replace(/^\s*[\w.-]{1,40}\s*;\s*/, '').trim()
}

function isSameClass(code: string, status: string | null): boolean {
  return status === null || code[0] === status[0]
}

function codePoint(whole: string, hex: string): string {
  const point = Number.parseInt(hex, 16)
  return point > 0x7f && point <= 0x10ffff ? String.fromCodePoint(point).toWellFormed() : whole
}

function actionOf(value: string | undefined, status: string | null): BounceAction {
  const word = /^[\s"]*([a-z]+)/i.exec(value ?? '')?.[1]?.toLowerCase()
  const known = ACTIONS.find((action) => action === word)
  if (known) return known
  if (word === 'deliverable' || status?.startsWith('2')) return 'delivered'
  return word === 'delay' || (word === undefined && status?.startsWith('4')) ? 'delayed' : 'failed'
}
