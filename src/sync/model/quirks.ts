// What differs between servers, found by their capabilities, their greeting and ID, not by their names in DNS.

import type { RemoteKind } from './records.ts'

export interface Quirks {
  kind: RemoteKind
  /** RFC822.SIZE is the number of bytes of BODY[]. */
  hasExactSizes: boolean
  /** Contents are fetched one message at a time. */
  hasSlowBodies: boolean
  /** MAILBOXID of STATUS can be believed: Cyrus 3.6 gives bytes of its memory where LIST returns it. */
  hasMailboxIds: boolean
  /** Bytes that may be fetched in a day (UTC); null: any number. */
  dayBytes: number | null
}

/** Gmail allows 2,500 MB a day (support.google.com/a/answer/1071518). */
const GMAIL_DAY_BYTES = 2_000_000_000

/** @param name of ID (RFC 2971) */
export function quirksOf(capabilities: ReadonlySet<string>, greeting: string, name: string | null): Quirks {
  const kind = kindOf(capabilities, greeting, name ?? '')
  return {
    kind,
    // Exchange computes the content when it is fetched, and estimates the size before.
    hasExactSizes: kind !== 'microsoft',
    hasSlowBodies: kind === 'yahoo',
    hasMailboxIds: capabilities.has('OBJECTID') && kind !== 'cyrus',
    dayBytes: kind === 'gmail' ? GMAIL_DAY_BYTES : null,
  }
}

function kindOf(capabilities: ReadonlySet<string>, greeting: string, name: string): RemoteKind {
  if (capabilities.has('X-GM-EXT-1')) return 'gmail'
  if (/Microsoft[. ]Exchange/i.test(`${greeting} ${name}`)) return 'microsoft'
  if (capabilities.has('X-APPLE-REMOTE-LINKS') || capabilities.has('XAPPLELITERAL')) return 'icloud'
  if (capabilities.has('XYMHIGHESTMODSEQ')) return 'yahoo'
  if (/dovecot/i.test(`${greeting} ${name}`)) return 'dovecot'
  if (/cyrus/i.test(`${greeting} ${name}`)) return 'cyrus'
  return 'other'
}
