// The supported Sieve extensions, and why others are not supported (docs/design/mailbox.md §14).

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
  | 'variables'
  | 'include'
  | 'duplicate'
  | 'editheader'
  | 'date'
  | 'index'
  | 'ihave'
  | 'environment'
  | 'special-use'
  | 'vacation'
  | 'spamtest'
  | 'mailboxid'
  | 'reject'
  | 'ereject'
  | 'mime'
  | 'foreverypart'
  | 'enotify'
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
  'variables',
  'include',
  'duplicate',
  'editheader',
  'date',
  'index',
  'ihave',
  'environment',
  'special-use',
  'vacation',
  'spamtest',
  'mailboxid',
  'reject',
  'ereject',
  'mime',
  'foreverypart',
  'enotify',
  'comparator-i;ascii-numeric',
  'comparator-i;octet',
  'comparator-i;ascii-casemap',
])

const SECONDS = 'Use ":days" of "vacation" instead.'

/** Well-known capabilities and commands that are not supported, by name. */
const ABSENT = new Map([
  ['vacation-seconds', SECONDS],
  ['spamtestplus', 'Use "spamtest" with levels from 1 to 10.'],
  ['virustest', 'Infected messages are refused before a script runs.'],
  ['notify', 'Use "enotify" instead.'],
  ['regex', 'Use ":matches" with * and ? instead.'],
])

/** Why a capability or command is not supported, with a leading space; "" for unknown names. */
export function whyAbsent(name: string): string {
  const reason = ABSENT.get(name)
  return reason === undefined ? '' : ` ${reason}`
}
