// What is reported and recorded of a message that arrives from an outside account.

import { DAY_MS, SECOND_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import { recordReceived } from '../../events/received.ts'
import type { StoredImport } from '../../store/mailbox/imports.ts'
import type { MessageAuthentication } from '../../store/rows/records.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import type { RemoteHead } from '../model/server.ts'
import type { SyncSession } from '../session/sync-session.ts'

/** Received longer ago than this, a message is old mail and is not reported (ms). */
const NEWS_MS = DAY_MS

export const TAKEN_OVER: MessageAuthentication = {
  ...{ spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none' },
  fromAligned: false,
  reasons: ['Taken over from an outside account.'],
}

/** When a message was received: as the server says, unless that is still to come. @param now ms */
export function receiptOf({ receivedAt }: Pick<RemoteHead, 'receivedAt'>, now: number): number {
  return receivedAt > now + DAY_MS ? now : receivedAt
}

interface Arrival {
  head: RemoteHead
  reading: MessageReading
  folders: readonly { id: string; role: string | null }[]
  stored: StoredImport
}

/** `message.received`, once for each message that arrives after the import (docs/design/outside-accounts.md §6). */
export function reportArrival(tx: Tx, session: SyncSession, { head, reading, folders, stored }: Arrival): void {
  const { outbox, clock } = session.deps
  const { account } = session
  // INTERNALDATE has whole seconds (RFC 9051 §2.3.3).
  const created = account.createdAt - (account.createdAt % SECOND_MS)
  const isOld = head.receivedAt < created || head.receivedAt < clock.now() - NEWS_MS
  const isQuiet = folders.every(({ role }) => role === 'sent' || role === 'drafts' || role === 'trash')
  if (account.import.state !== 'done' || isOld || isQuiet) return
  const mailbox = session.mailbox(tx)
  recordReceived(tx, outbox, {
    teamId: account.teamId,
    domainId: mailbox.domainId,
    message: {
      inspection: { message: reading.message, sizeBytes: reading.sizeBytes },
      mailFrom: '',
      receivedAt: receiptOf(head, clock.now()),
    },
    target: {
      ...{ mailboxId: mailbox.id, email: mailbox.email, rcptTo: account.email },
      junk: folders.some(({ role }) => role === 'junk'),
      authentication: TAKEN_OVER,
      spam: { score: 0, reasons: [] },
    },
    delivered: {
      ...{ outcome: 'stored', messageId: stored.id, threadId: stored.threadId },
      folderIds: folders.map(({ id }) => id),
      attachmentIds: stored.attachmentIds,
    },
  })
}
