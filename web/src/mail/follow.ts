// The mail pages follow their mailboxes: the stream says what changed, the ledger says how.

import { follow } from '../live/stream.ts'
import { openedMailboxes } from './mail-context.ts'

/** All types, for when events may have been missed. */
const EVERYTHING = ['threads', 'folders']

export function followMailboxes(ids: readonly string[]): void {
  follow(ids, (news) => {
    for (const data of openedMailboxes()) {
      if (news.kind === 'mailbox' && news.actor === data.mailbox.id) data.changed(Object.keys(news.changed))
      if (news.kind === 'all' && news.actors.includes(data.mailbox.id)) data.changed(EVERYTHING)
    }
  })
}
