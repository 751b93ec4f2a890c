// What of Sieve there is here, and why some of it is not (decisions §10.14).

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

const NO_MAIL = 'A script sends no mail here.'
const VACATION = 'A mailbox has a vacation response of its own instead.'
const NOTICES = 'Webhooks and events tell of mail that comes in.'

/** What people look for and do not find; capabilities and commands by their names. */
const ABSENT = new Map([
  ['redirect', NO_MAIL],
  ['reject', NO_MAIL],
  ['ereject', NO_MAIL],
  ['vacation', VACATION],
  ['vacation-seconds', VACATION],
  ['enotify', NOTICES],
  ['notify', NOTICES],
  ['include', 'A script stands alone here.'],
  ['variables', 'Scripts have no variables here.'],
  ['regex', '":matches" takes * and ? instead.'],
])

/** Why something that Sieve has is not here; "" for what nobody knows. */
export function whyAbsent(name: string): string {
  const reason = ABSENT.get(name)
  return reason === undefined ? '' : ` ${reason}`
}
