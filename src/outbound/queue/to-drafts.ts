// The copy in Sent of a message that does not leave becomes a draft again.

import type { Tx } from '../../db/db.ts'
import type { Account } from '../../store/rows/records.ts'
import type { OutboundDeps } from '../model/deps.ts'

export function toDrafts(store: OutboundDeps['store'], tx: Tx, account: Account, messageId: string): void {
  const drafts = store.read.folders.byRole(account.n, 'drafts', tx)
  store.edit.messages.changeIn(tx, account, [messageId], {
    folders: { set: [drafts.id] },
    keywords: { add: ['$draft'] },
  })
  store.edit.drafts.keepCanceled(tx, account, messageId)
}
