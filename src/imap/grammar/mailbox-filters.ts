// Which mailboxes NOTIFY and ESEARCH mean (RFC 5465 §6 and §8, RFC 7377 §2.2): filter-mailboxes.

import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { FILTER_NAMES } from './limits.ts'
import { readMailboxName } from './names.ts'

export type MailboxSpecifier =
  | { kind: 'selected' | 'selected-delayed' | 'inboxes' | 'personal' | 'subscribed' }
  /** Names as the client wrote them. `subtree-one`: the mailboxes and those one level below (RFC 7377 §2.2). */
  | { kind: 'subtree' | 'subtree-one' | 'mailboxes'; names: Buffer[] }

/** Reads one filter. @throws ImapSyntaxError */
export function readMailboxFilter(cursor: Cursor): MailboxSpecifier {
  const kind = cursor.word().toLowerCase()
  switch (kind) {
    case 'selected':
    case 'selected-delayed':
    case 'inboxes':
    case 'personal':
    case 'subscribed':
      return { kind }
    case 'subtree':
    case 'subtree-one':
    case 'mailboxes':
      cursor.space()
      return { kind, names: readNames(cursor) }
    default:
      throw new ImapSyntaxError('Unknown mailbox specifier.')
  }
}

/** `one-or-more-mailbox`. */
function readNames(cursor: Cursor): Buffer[] {
  if (!cursor.isAtList) return [readMailboxName(cursor)]
  return cursor.list(() => readMailboxName(cursor), { most: FILTER_NAMES })
}
