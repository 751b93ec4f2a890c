// Checks and completes a message that a mail program submits whole (docs/design/mail-programs.md §3): what is added, taken out, encoded or refused.

import { isAscii, isUtf8 } from 'node:buffer'
import { invalid, type ProductError } from '../../base/errors.ts'
import { domainOf, parseAddressList, parseMailbox } from '../address.ts'
import { readAuthor } from '../author.ts'
import { decodeHeader } from '../decode.ts'
import { fileName } from '../file-name.ts'
import { fieldText, type HeaderField, headerText, SINGLE_FIELDS } from '../headers.ts'
import type { Address, Part } from '../message.ts'
import { clean } from '../one-line.ts'
import { isOwnAddress, mayBeOwn, namedAddresses, type OwnAddresses } from '../own-addresses.ts'
import { MESSAGE_ID_MAX, messageIds } from '../references.ts'
import { readStructure, type Structure } from '../structure.ts'
import { rfc5322Date } from '../trace.ts'
import { isNeverSent } from './attachment-rules.ts'
import { SUBJECT_MAX } from './draft-rules.ts'
import { longLineEdits } from './long-lines.ts'
import { type Edit, sevenBitEdits } from './seven-bits.ts'

/** Received fields above which a message is considered looping (RFC 5321 §6.3). */
export const RECEIVED_MAX = 100
/** Characters of the list of allowed addresses in an error. */
const NAMED_MAX = 300

/** What the checks depend on besides the message. */
export interface RawDraftRules {
  /** `eml_…`: in the Received field, and in the Message-ID of a message without one. */
  id: string
  /** Our host name, and the protocol it was received with (RFC 3848), for the Received field. */
  hostName: string
  protocol: string
  /** ms */
  now: number
  /** Addresses that From may have. */
  own: OwnAddresses
  /** Envelope recipients. */
  recipients: readonly string[]
}

export interface RawDraft {
  /** As it is stored and sent. */
  bytes: Uint8Array
  from: Address
  subject: string
  /** Without angle brackets. */
  messageId: string
  /** Whether the message brought its Message-ID. */
  hasOwnId: boolean
  /** Recipients that neither To nor Cc names. */
  hidden: Address[]
  /** Message-IDs of In-Reply-To and References. */
  answers: string[]
}

const GONE = new Uint8Array()
/** Fields that would disclose hidden recipients, or that only a receiving host may write (RFC 5321 §4.4). */
const TAKEN_OUT = new Set(['bcc', 'resent-bcc', 'return-path'])
/** Fields that may occur once, of which other programs would show another one than was checked. */
const ONCE = new Set([
  ...SINGLE_FIELDS.filter((name) => !['bcc', 'sender'].includes(name)),
  ...['mime-version', 'content-type', 'content-transfer-encoding', 'content-disposition'],
])

/**
 * @param bytes with CRLF line ends only
 * @throws ProductError validation_error on `from`, `attachments` or `message`
 */
export function prepareRawDraft(bytes: Uint8Array, rules: RawDraftRules): RawDraft {
  const structure = readStructure(bytes)
  const { root, fields } = structure
  checkForm(bytes, structure)
  const from = authorOf(bytes, fields, rules)
  refuseNeverSent(root)
  const given = headerText(fields, 'message-id')
  const ownId = given === null ? null : usableId(given)
  const messageId = ownId ?? `${rules.id}@${domainOf(from.email)}`
  const encoded = sevenBitEdits(bytes, root)
  const removed = removals(fields, rules, ownId !== null)
  const edits = [...removed, ...encoded, ...foldings(bytes, root, [...removed, ...encoded])]
  const mime = encoded.length > 0 ? mimeFields(bytes, structure) : ''
  const front = Buffer.from(frontFields(fields, rules, ownId === null ? messageId : null) + mime)
  // A header without a body ends without the empty line.
  const end = endsWithEmptyLine(bytes, root.bodyStart) ? GONE : Buffer.from('\r\n')
  return {
    bytes: Buffer.concat([front, ...applied(bytes, edits), end]),
    from,
    subject: clean(decodeHeader(headerText(fields, 'subject') ?? ''), SUBJECT_MAX),
    messageId,
    hasOwnId: ownId !== null,
    hidden: hiddenOf(fields, rules.recipients),
    answers: ['in-reply-to', 'references'].flatMap((name) => messageIds(headerText(fields, name) ?? '')),
  }
}

function malformed(message: string): ProductError {
  return invalid('message', 'invalid_format', message)
}

/** Only a message that every program reads alike is sent: a second reading could have another author, or other files. */
function checkForm(bytes: Uint8Array, { root, fields, problem }: Structure): void {
  if (problem !== null) throw malformed(problem)
  let end = 0
  for (const field of fields) {
    if (field.start !== end) throw malformed('The header has a line that is not a header field.')
    end = field.end
  }
  const isEnded = endsWithEmptyLine(bytes, root.bodyStart) || root.bodyStart === bytes.length
  if (!isEnded || root.bodyStart - end > 2) throw malformed('The header does not end with an empty line.')
  if (!isUtf8(bytes.subarray(0, root.bodyStart))) throw invalid('message', 'not_utf8', 'The header is not UTF-8.')
  const seen = new Set<string>()
  for (const { name } of fields) {
    if (ONCE.has(name) && seen.has(name)) throw malformed(`The field ${name} occurs more than once.`)
    seen.add(name)
  }
  if (fields.filter(({ name }) => name === 'received').length > RECEIVED_MAX) {
    throw invalid('message', 'loop', 'The message has passed too many hosts: mail loop.')
  }
}

function endsWithEmptyLine(bytes: Uint8Array, bodyStart: number): boolean {
  const end = Buffer.from(bytes.subarray(Math.max(0, bodyStart - 4), bodyStart)).toString('latin1')
  return end === '\r\n\r\n'
}

function authorOf(bytes: Uint8Array, fields: readonly HeaderField[], { own }: RawDraftRules): Address {
  const allowed = clean(namedAddresses(own), NAMED_MAX)
  const refuse = (what: string) =>
    invalid('from', 'forbidden_value', `${what} From must be one address of: ${allowed}`.trim())
  const { problem } = readAuthor(bytes)
  if (problem !== '') throw refuse(problem)
  const [author] = parseAddressList(headerText(fields, 'from')!)
  const email = parseMailbox(author!.email)?.email
  if (email === undefined || !mayBeOwn(own, email)) {
    throw refuse('The address in From does not belong to the mailbox.')
  }
  return { email, name: author!.name }
}

function refuseNeverSent(part: Part): void {
  const written = [...(part.params ?? []), ...(part.dispositionParams ?? [])]
  // Of two names, programs show either.
  const names = written.filter(([name]) => /^(?:file)?name\b/i.test(name)).map(([, value]) => fileName(value))
  const never = [part.filename, ...names].find((name) => name !== null && isNeverSent(name))
  if (never != null) {
    throw invalid('attachments', 'forbidden_value', `Files such as ${clean(never, 100)} cannot be sent.`)
  }
  for (const inner of part.parts) refuseNeverSent(inner)
}

/** The id between angle brackets; null for text other programs would not read as one. */
function usableId(text: string): string | null {
  const id = messageIds(text)[0]
  return id !== undefined && id.length <= MESSAGE_ID_MAX && /^[!-~]+$/.test(id) ? id : null
}

function removals(fields: readonly HeaderField[], rules: RawDraftRules, keepsId: boolean): Edit[] {
  const senders = fields.filter(({ name }) => name === 'sender')
  const keepsSender = senders.length === 1 && namesOwn(senders[0]!, rules)
  const domains = new Set(rules.own.addresses.map(domainOf))
  const isGone = (field: HeaderField) =>
    TAKEN_OUT.has(field.name) ||
    (field.name === 'sender' && !keepsSender) ||
    (field.name === 'message-id' && !keepsId) ||
    (field.name === 'dkim-signature' && domains.has(signingDomain(field)))
  return fields.filter(isGone).map(({ start, end }) => ({ start, end, text: GONE }))
}

/** Long lines of the header, and of those of the parts, that no other edit replaces. */
function foldings(bytes: Uint8Array, root: Part, others: readonly Edit[]): Edit[] {
  const replaced = new Set(others.map(({ start }) => start))
  return longLineEdits(bytes, root).filter(({ start }) => !replaced.has(start))
}

function namesOwn(field: HeaderField, { own }: RawDraftRules): boolean {
  const named = parseAddressList(fieldText(field), 2)
  const email = named.length === 1 ? parseMailbox(named[0]!.email)?.email : undefined
  return email !== undefined && isOwnAddress(own, email)
}

/** The tag `d=` (RFC 6376 §3.5). */
function signingDomain(field: HeaderField): string {
  return /(?:^|;)\s*d\s*=\s*([^\s;]+)/.exec(fieldText(field))?.[1]?.toLowerCase() ?? ''
}

/** The Received field, and Date and Message-ID where they are missing. @param messageId null when the message has one */
function frontFields(
  fields: readonly HeaderField[],
  { hostName, protocol, id, now }: RawDraftRules,
  messageId: string | null,
): string {
  const date = rfc5322Date(now)
  return (
    `Received: by ${hostName} with ${protocol} id ${id};\r\n ${date}\r\n` +
    (fields.some(({ name }) => name === 'date') ? '' : `Date: ${date}\r\n`) +
    (messageId === null ? '' : `Message-ID: <${messageId}>\r\n`)
  )
}

/** Without MIME-Version the encoding of a part has no meaning, and without a type its text is ASCII (RFC 2045 §4, §5.2). */
function mimeFields(bytes: Uint8Array, { root, fields }: Structure): string {
  const has = (name: string) => fields.some((field) => field.name === name)
  const body = bytes.subarray(root.bodyStart)
  return (
    (has('mime-version') ? '' : 'MIME-Version: 1.0\r\n') +
    (!has('content-type') && !isAscii(body) && isUtf8(body) ? 'Content-Type: text/plain; charset=utf-8\r\n' : '')
  )
}

function applied(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let from = 0
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    pieces.push(bytes.subarray(from, start), text)
    from = end
  }
  return [...pieces, bytes.subarray(from)]
}

function hiddenOf(fields: readonly HeaderField[], recipients: readonly string[]): Address[] {
  const shown = new Set<string>()
  for (const field of fields) {
    if (field.name !== 'to' && field.name !== 'cc') continue
    for (const { email } of parseAddressList(fieldText(field))) {
      shown.add((parseMailbox(email)?.email ?? email).toLowerCase())
    }
  }
  return recipients.filter((email) => !shown.has(email.toLowerCase())).map((email) => ({ email, name: '' }))
}
