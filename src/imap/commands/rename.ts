// RENAME (RFC 9051 §6.3.6): UIDs stay as they are; renaming INBOX moves its messages to a new folder.

import { COPY_PIECE } from '../grammar/limits.ts'
import { DELIMITER, readMailboxName } from '../grammar/names.ts'
import { no } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { namedFolder, pathOfName, readTree } from '../untagged/folder-tree.ts'
import { piecesOf } from '../untagged/message-sets.ts'
import { createPath, sayNormalized } from './create.ts'

async function moveInbox(session: ImapSession, inbox: number, path: string): Promise<void> {
  const { app, signedIn } = session
  const to = await app.db.write((tx) => {
    const id = createPath(session, tx, path)
    const { n } = readTree(session, tx).folders.find(({ folder }) => folder.id === id)!.folder
    // INBOX keeps its annotations, and the new folder has them as well (RFC 5464 §3.1).
    app.store.programs.annotations.copy(tx, signedIn.account, inbox, n)
    return n
  })
  const current = await app.views.current(inbox)
  for (const uids of piecesOf(current?.view.ranges() ?? [], COPY_PIECE)) {
    // A client that has gone does not end it halfway.
    if (!session.isClosed) session.assertRunning()
    await app.store.programs.moves.move(signedIn.account, { from: inbox, to, uids })
  }
}

async function renameFolder(session: ImapSession, id: string, path: string): Promise<void> {
  const { app, signedIn } = session
  const end = path.lastIndexOf(DELIMITER)
  const parent = end < 0 ? undefined : path.slice(0, end)
  const name = path.slice(end + 1)
  await app.db.write((tx) => {
    const known = parent === undefined ? null : readTree(session, tx).find(parent)?.folder.id
    const parentId = known === undefined ? createPath(session, tx, parent!) : known
    app.store.edit.folders.updateIn(tx, signedIn.account, id, { name, parentId })
  })
}

export const rename = command({
  name: 'RENAME',
  in: 'authenticated',
  needs: 'write',
  read(cursor) {
    cursor.space()
    const from = readMailboxName(cursor)
    cursor.space()
    return { from, to: readMailboxName(cursor) }
  },
  async run({ from, to }, session) {
    const { folder, path: oldPath } = namedFolder(session, from)
    const path = pathOfName(session, to).replace(/\/$/, '')
    if (readTree(session).find(path) !== undefined) throw no('ALREADYEXISTS', 'The new name is in use.')
    if (folder.role === 'inbox') await moveInbox(session, folder.n, path)
    else if (folder.role !== null) throw no('CANNOT', 'This mailbox cannot be renamed.')
    else if (path.startsWith(`${oldPath}${DELIMITER}`)) throw no('CANNOT', 'A mailbox cannot be moved into itself.')
    else await renameFolder(session, folder.id, path)
    sayNormalized(session, path, to)
    return undefined
  },
})
