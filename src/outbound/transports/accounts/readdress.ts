// Rewrites the address fields of a message to the recipients of this hand-over: provider APIs send to every address in the header.

import { createHash } from 'node:crypto'
import { parseAddressList, parseMailbox } from '../../../mime/address.ts'
import { type HeaderField, readHeaders } from '../../../mime/headers.ts'

/** The header field that identifies a message in Sent, even if the provider replaced its Message-ID. */
export const MARK = 'X-Mailstead-Message'

interface AddressedMessage {
  emailId: string
  recipients: readonly string[]
  hidden: readonly string[]
  bytes: Uint8Array
}

/**
 * Keeps the visible recipients in To and Cc, and puts the others into Bcc, which the provider removes. Removes our DKIM
 * signatures: the changed header invalidates them, and the provider signs itself.
 * @returns null if the header cannot be parsed completely, because its recipients are then uncertain
 */
export function readdress(message: AddressedMessage): Buffer | null {
  const { bytes, recipients, hidden } = message
  const { fields, bodyStart, problem } = readHeaders(bytes)
  if (problem !== null) return null
  const concealed = new Set(hidden.map(keyOf))
  const showable = new Set(recipients.map(keyOf).filter((key) => !concealed.has(key)))
  const shown = new Set<string>()
  const pieces: Uint8Array[] = []
  let from = 0
  for (const field of fields) {
    const replacement = replace(bytes, field, showable, shown)
    if (replacement === null) continue
    pieces.push(bytes.subarray(from, field.start), Buffer.from(replacement, 'latin1'))
    from = field.end
  }
  pieces.push(bytes.subarray(from, bodyStart), bytes.subarray(bodyStart))
  const others = recipients.filter((recipient) => !shown.has(keyOf(recipient)))
  return Buffer.concat([Buffer.from(`${MARK}: ${markOf(message)}\r\n${bccOf(others)}`), ...pieces])
}

/** The message without our DKIM signatures, for a provider that takes the recipients separately but changes signed fields. */
export function unsigned(bytes: Uint8Array): Buffer {
  const pieces: Uint8Array[] = []
  let from = 0
  for (const field of readHeaders(bytes).fields.filter(({ name }) => name === 'dkim-signature')) {
    pieces.push(bytes.subarray(from, field.start))
    from = field.end
  }
  return Buffer.concat([...pieces, bytes.subarray(from)])
}

/**
 * The value of {@link MARK}: the email id and a hash of the recipients, because an earlier hand-over may have sent the same
 * message to other recipients.
 */
export function markOf({ emailId, recipients }: Pick<AddressedMessage, 'emailId' | 'recipients'>): string {
  const names = recipients.map(keyOf).toSorted().join('\n')
  return `${emailId}.${createHash('sha256').update(names).digest('hex').slice(0, 16)}`
}

/** Normalizes an address: all spellings of one mailbox have the same key. */
export function keyOf(address: string): string {
  return (parseMailbox(address)?.email ?? address).toLowerCase()
}

/** The new text of a field; null if it is unchanged. */
function replace(
  bytes: Uint8Array,
  field: HeaderField,
  showable: ReadonlySet<string>,
  shown: Set<string>,
): string | null {
  if (field.name === 'dkim-signature' || field.name === 'bcc') return ''
  if (field.name !== 'to' && field.name !== 'cc') return null
  const raw = Buffer.from(bytes.subarray(field.start, field.end)).toString('latin1')
  const colon = raw.indexOf(':')
  const entries = entriesOf(raw.slice(colon + 1))
  const kept = entries.filter((entry) => {
    const key = keyIn(entry)
    if (key === null || !showable.has(key)) return false
    shown.add(key)
    return true
  })
  if (kept.length === entries.length) return null
  // RFC 5322 §3.6.3: To and Cc must not be empty, so the field is removed.
  return kept.length === 0 ? '' : `${raw.slice(0, colon)}: ${kept.join(',\r\n ')}\r\n`
}

/** The key of the single mailbox in an entry; null if the entry is ambiguous or has none. */
function keyIn(entry: string): string | null {
  const bare = entry.replace(/"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/gs, '')
  const text = Buffer.from(entry, 'latin1').toString('utf8').replace(/\r?\n/g, '')
  const addresses = parseAddressList(text, 2)
  return addresses.length === 1 && bare.split('@').length === 2 ? keyOf(addresses[0]!.email) : null
}

function bccOf(recipients: readonly string[]): string {
  return recipients.length === 0 ? '' : `Bcc: ${recipients.join(',\r\n ')}\r\n`
}

/**
 * The raw entries of an address field: split at commas and semicolons outside of quoted strings, comments, angle brackets and
 * domain literals; group names are dropped (RFC 5322 §3.4).
 */
function entriesOf(value: string): string[] {
  const entries: string[] = []
  let start = 0
  let quoted = false
  let depth = 0
  let angle = false
  let literal = false
  const cut = (end: number) => {
    const entry = value.slice(start, end).trim()
    if (entry !== '') entries.push(entry)
    start = end + 1
  }
  for (let at = 0; at < value.length; at++) {
    const char = value[at]!
    if (char === '\\') at++
    else if (quoted) quoted = char !== '"'
    else if (char === '"' && depth === 0) quoted = true
    else if (char === '(') depth++
    else if (depth > 0) depth -= char === ')' ? 1 : 0
    else if (char === '[' || char === ']') literal = char === '['
    else if (char === '<' || char === '>') angle = char === '<'
    else if (literal || angle) continue
    else if (char === ',' || char === ';') cut(at)
    else if (char === ':') start = at + 1
  }
  cut(value.length)
  return entries
}
