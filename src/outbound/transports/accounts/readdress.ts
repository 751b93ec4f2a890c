// Names in a mail's header exactly those it is handed over for: providers send to everybody the header names.

import { createHash } from 'node:crypto'
import { parseAddressList, parseMailbox } from '../../../mime/address.ts'
import { type HeaderField, readHeaders } from '../../../mime/headers.ts'

/** The field by which a mail is found again in Sent, whatever Message-ID the provider gave it. */
export const MARK = 'X-Mailstead-Message'

interface HandedMail {
  emailId: string
  recipients: readonly string[]
  hidden: readonly string[]
  bytes: Uint8Array
}

/**
 * To and Cc keep those of the recipients that may be shown, everybody else goes to Bcc, which the provider takes out.
 * Our own DKIM signatures go: they would not fit the header any longer, and the provider signs what it sends.
 * @returns null for a header that cannot be read whole, so that nobody can be sure whom it names
 */
export function readdress(mail: HandedMail): Buffer | null {
  const { bytes, recipients, hidden } = mail
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
  return Buffer.concat([Buffer.from(`${MARK}: ${markOf(mail)}\r\n${bccOf(others)}`), ...pieces])
}

/** The mail without our signatures, for a provider that is told its recipients apart but changes what we signed. */
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
 * The value of {@link MARK}: the mail, and for whom it is. The same mail may have been handed over before for others, and
 * finding that one proves nothing.
 */
export function markOf({ emailId, recipients }: Pick<HandedMail, 'emailId' | 'recipients'>): string {
  const names = recipients.map(keyOf).toSorted().join('\n')
  return `${emailId}.${createHash('sha256').update(names).digest('hex').slice(0, 16)}`
}

/** Two spellings of one mailbox have one key. */
export function keyOf(address: string): string {
  return (parseMailbox(address)?.email ?? address).toLowerCase()
}

/** The new text of a field; null where it stays as it is. */
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
  // RFC 5322 3.6.3: an address field is never empty.
  return kept.length === 0 ? '' : `${raw.slice(0, colon)}: ${kept.join(',\r\n ')}\r\n`
}

/** The one mailbox an entry names; null for one that could be read as more, or as none. */
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
 * The entries of an address field as they are written: cut at commas and semicolons outside of quoted texts, comments, angles
 * and literals; the name of a group is left out (RFC 5322 3.4).
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
