// The supported Sieve extensions, and why others are not supported (decisions §10.14).

export type Extension =
  | 'fileinto'
  | 'envelope'
  | 'imap4flags'
  | 'copy'
  | 'mailbox'
  | 'subaddress'
  | 'relational'
  | 'body'
  | 'encoded-character'
  | 'comparator-i;ascii-numeric'
  | 'comparator-i;octet'
  | 'comparator-i;ascii-casemap'

/** Names of capabilities are case-sensitive (RFC 5228 6). */
export const EXTENSIONS: ReadonlySet<string> = new Set<Extension>([
  'fileinto',
  'envelope',
  'imap4flags',
  'copy',
  'mailbox',
  'subaddress',
  'relational',
  'body',
  'encoded-character',
  'comparator-i;ascii-numeric',
  'comparator-i;octet',
  'comparator-i;ascii-casemap',
])

const NO_MAIL = 'Scripts cannot send messages.'
const VACATION = 'Use the vacation response of the mailbox instead.'
const NOTICES = 'Use webhooks or events for notifications of received messages.'

/** Well-known capabilities and commands that are not supported, by name. */
const ABSENT = new Map([
  ['redirect', NO_MAIL],
  ['reject', NO_MAIL],
  ['ereject', NO_MAIL],
  ['vacation', VACATION],
  ['vacation-seconds', VACATION],
  ['enotify', NOTICES],
  ['notify', NOTICES],
  ['include', 'Scripts cannot include other scripts.'],
  ['variables', 'Scripts have no variables.'],
  ['regex', 'Use ":matches" with * and ? instead.'],
])

/** Why a capability or command is not supported, with a leading space; "" for unknown names. */
export function whyAbsent(name: string): string {
  const reason = ABSENT.get(name)
  return reason === undefined ? '' : ` ${reason}`
}
