// Names of header fields in lower case: those that most messages have are not built character by character for each field.

const SPACE = 32
const COLON = 58

/** Other names are as right, and cost a string for each character. */
const COMMON = [
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'date', 'subject', 'message-id', 'in-reply-to', 'references'],
  ...['received', 'return-path', 'delivered-to', 'received-spf', 'authentication-results', 'dkim-signature'],
  ...['arc-seal', 'arc-message-signature', 'arc-authentication-results', 'mime-version', 'content-type'],
  ...['content-transfer-encoding', 'content-disposition', 'content-id', 'content-language', 'content-description'],
  ...['list-id', 'list-post', 'list-help', 'list-owner', 'list-archive', 'list-subscribe', 'list-unsubscribe'],
  ...['list-unsubscribe-post', 'precedence', 'auto-submitted', 'feedback-id', 'x-mailer', 'user-agent', 'x-priority'],
  ...[
    'importance',
    'thread-topic',
    'thread-index',
    'x-originating-ip',
    'x-google-dkim-signature',
    'x-gm-message-state',
  ],
  ...['x-google-smtp-source', 'x-received', 'x-spam-status', 'x-spam-flag', 'errors-to', 'organization', 'x-sender'],
]

/** By {@link mixed} of all characters. */
const KNOWN = new Map(
  COMMON.map((name) => [[...name].reduce((sum, character) => mixed(sum, character.charCodeAt(0)), 0), name]),
)

/** True for a character of a field name (RFC 5322 §3.6.8). */
export function isNameByte(byte: number): boolean {
  return byte > SPACE && byte < 127 && byte !== COLON
}

/** The field name that starts here, in lower case. @param colon offset of the colon behind it */
export function fieldNameAt(bytes: Uint8Array, start: number, colon: number): string {
  let end = start
  let sum = 0
  while (end < colon && isNameByte(bytes[end]!)) sum = mixed(sum, lower(bytes[end++]!))
  const known = KNOWN.get(sum)
  return known !== undefined && isNamed(bytes, start, end, known) ? known : builtName(bytes, start, end)
}

function isNamed(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  if (name.length !== end - start) return false
  for (let at = 0; at < name.length; at++) if (lower(bytes[start + at]!) !== name.charCodeAt(at)) return false
  return true
}

function builtName(bytes: Uint8Array, start: number, end: number): string {
  let name = ''
  for (let at = start; at < end; at++) name += String.fromCharCode(lower(bytes[at]!))
  return name
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte
}

function mixed(sum: number, code: number): number {
  return (sum * 31 + code) & 0x3fffffff
}
