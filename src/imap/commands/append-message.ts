// Stores a message that a mail program has handed in: APPEND and REPLACE (docs/design/mail-programs.md §2.2).

import type { Tx } from '../../db/db.ts'
import type { FolderStatus } from '../../store/entries/folders-views.ts'
import type { ImportedMessage, ImportResult, ImportTarget } from '../../store/mailbox/imports.ts'
import type { MessageAuthentication } from '../../store/rows/records.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import { no } from '../session/answers.ts'
import type { ImapSession } from '../session/session.ts'

export interface MessageToAppend {
  /** Its bytes are in the blob store when {@link appendIn} is called. */
  reading: MessageReading
  target: FolderStatus
  /** Lower-case, those of the flags included. */
  keywords: readonly string[]
  /** ms. */
  receivedAt: number
}

const UNCHECKED: MessageAuthentication = {
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  fromAligned: false,
  reasons: ['Stored by a mail program: no checks were made.'],
}

type Import = (tx: Tx, target: ImportTarget, imported: ImportedMessage) => ImportResult

/**
 * A message that the program hands in, inside a unit of work; the content is stored already. In Sent it belongs to its submission.
 * @returns its UID
 * @throws CommandFailure OVERQUOTA, TRYCREATE
 */
export function appendIn(session: ImapSession, tx: Tx, message: MessageToAppend): number {
  const {
    edit: { imports },
    programs: { sentLinks },
  } = session.app.store
  const isSent = message.target.role === 'sent'
  return storeIn(session, tx, message, (...args) => (isSent ? sentLinks.append(...args) : imports.import(...args)))
}

function storeIn(
  session: ImapSession,
  tx: Tx,
  { reading, target, keywords, receivedAt }: MessageToAppend,
  store: Import,
): number {
  const { app, signedIn } = session
  const mailbox = app.directory.mailboxes.byId(signedIn.account.mailboxId, tx)
  if (mailbox === undefined) throw no('NONEXISTENT', 'The mailbox was deleted.')
  if (app.store.programs.views.head(target.n, tx) === undefined) throw no('TRYCREATE', 'There is no such mailbox.')
  const into = {
    account: signedIn.account,
    ownAddresses: [mailbox.email.toLowerCase()],
    quotaBytes: mailbox.quotaBytes,
  }
  const { hash, sizeBytes, message: parsed } = reading
  const stored = store(tx, into, {
    ...{ parsed, hash, sizeBytes, folderIds: [target.id], keywords, receivedAt, again: true },
    authentication: UNCHECKED,
    spam: { score: 0, isSpam: false, reasons: [] },
    envelope: { mailFrom: '', rcptTo: '' },
  })
  if (stored.outcome === 'new') return stored.entries[0]!.uid
  throw no('OVERQUOTA', 'The mailbox is full.')
}
