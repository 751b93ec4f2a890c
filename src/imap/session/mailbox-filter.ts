// Filters of NOTIFY and ESEARCH applied to the folders of a mailbox (RFC 5465 §6, RFC 7377 §2.2).

import type { MailboxSpecifier } from '../grammar/mailbox-filters.ts'
import { DELIMITER, decodeName } from '../grammar/names.ts'

/** A mailbox, as far as a filter asks. */
export interface FilteredMailbox {
  path: string
  isSubscribed: boolean
}

/** Whether a mailbox is meant. Not for the filters that mean the selected one. */
export type MailboxTest = (mailbox: FilteredMailbox) => boolean

/**
 * The test of a filter. Sieve scripts can file into any folder, so that all of them are inboxes (RFC 5465 §6.4).
 * @param utf8 the encoding of names in the session; a name that is no valid form of it means no mailbox
 */
export function testOf(filter: MailboxSpecifier, utf8: boolean): MailboxTest {
  if (!('names' in filter)) return filter.kind === 'subscribed' ? ({ isSubscribed }) => isSubscribed : () => true
  const paths = filter.names.flatMap((name) => decodeName(name, utf8) ?? []).map((path) => path.replace(/\/$/, ''))
  const named = new Set(paths)
  if (filter.kind === 'mailboxes') return ({ path }) => named.has(path)
  const isBelow = (path: string, parent: string) => path.startsWith(`${parent}${DELIMITER}`)
  const isChild = (path: string, parent: string) =>
    isBelow(path, parent) && !path.includes(DELIMITER, parent.length + DELIMITER.length)
  const within = filter.kind === 'subtree' ? isBelow : isChild
  return ({ path }) => named.has(path) || paths.some((parent) => within(path, parent))
}
