// STATUS (RFC 9051 §6.3.11, RFC 7162, 7889, 8438, 8474).

import type { FolderStatus } from '../../store/entries/folders-views.ts'
import type { Cursor } from '../grammar/cursor.ts'
import { MESSAGE_BYTES } from '../grammar/limits.ts'
import { readStatusItems, type StatusItem } from '../grammar/list-options.ts'
import { formatName, readMailboxName } from '../grammar/names.ts'
import { command, type ImapSession } from '../session/session.ts'
import { type NamedFolder, namedFolder } from '../untagged/folder-tree.ts'

/** Items that need a pass over the entries of the folder. */
const SUMS = new Set<StatusItem>(['SIZE', 'DELETED', 'DELETED-STORAGE'])

/** Sends `* STATUS` for a folder. */
export async function sayStatus(
  session: ImapSession,
  { path, folder }: NamedFolder,
  items: readonly StatusItem[],
): Promise<void> {
  const { store, db } = session.app
  const sums = items.some((item) => SUMS.has(item)) ? await store.programs.views.sums(folder.n) : null
  const recent = items.includes('RECENT') ? await recentOf(session, folder) : 0
  // RFC 7162 §3.1.1: asking for it enables it.
  if (items.includes('HIGHESTMODSEQ')) session.enableCondstore()
  await db.durable(session.signedIn.account.n)
  const values: Record<StatusItem, () => number | string> = {
    MESSAGES: () => folder.messages,
    RECENT: () => Math.min(recent, folder.messages),
    UIDNEXT: () => folder.uidNext,
    UIDVALIDITY: () => folder.uidValidity,
    UNSEEN: () => folder.unread,
    HIGHESTMODSEQ: () => folder.modSeq,
    MAILBOXID: () => `(${folder.id})`,
    APPENDLIMIT: () => MESSAGE_BYTES,
    SIZE: () => sums!.sizeBytes,
    DELETED: () => sums!.deleted,
    'DELETED-STORAGE': () => sums!.deletedBytes,
  }
  const list = items.map((item) => `${item} ${values[item]()}`).join(' ')
  session.say('* STATUS ', formatName(path, session.utf8), ` (${list})\r\n`)
}

/** Messages that would be \Recent; UIDs that were skipped, or whose messages are gone, are none. */
async function recentOf({ app }: ImapSession, { n, uidNext, recentFrom }: FolderStatus): Promise<number> {
  return app.store.programs.views.countFrom(n, app.views.recentFrom(n, recentFrom), uidNext)
}

function readStatus(cursor: Cursor): { name: Buffer; items: StatusItem[] } {
  cursor.space()
  const name = readMailboxName(cursor)
  cursor.space()
  return { name, items: readStatusItems(cursor) }
}

export const status = command({
  name: 'STATUS',
  in: 'authenticated',
  needs: 'read',
  read: readStatus,
  async run({ name, items }, session) {
    await sayStatus(session, namedFolder(session, name), items)
    return undefined
  },
})
