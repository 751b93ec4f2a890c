// RENAME (RFC 9051 §6.3.6): UIDs stay as they are; renaming INBOX moves its messages to a new folder.

import { no } from '../answers.ts'
import { namedFolder, pathOfName, readTree } from '../folder-tree.ts'
import { COPY_PIECE } from '../limits.ts'
import { piecesOf } from '../message-sets.ts'
import { ancestorsOf, DELIMITER, readMailboxName } from '../names.ts'
import { command, type ImapSession } from '../session.ts'
import { createPath } from './create.ts'

async function moveInbox(session: ImapSession, inbox: number, path: string): Promise<void> {
  const { app, signedIn } = session
  const id = await app.db.write((tx) => createPath(session, tx, path))
  const to = readTree(session).folders.find(({ folder }) => folder.id === id)!.folder.n
  const current = await app.views.current(inbox)
  for (const uids of piecesOf(current?.view.ranges() ?? [], COPY_PIECE))
    await app.store.moves.move(signedIn.account, { from: inbox, to, uids })
}

async function renameFolder(session: ImapSession, id: string, path: string): Promise<void> {
  const { app, signedIn } = session
  const parent = ancestorsOf(path).at(-1)
  const name = path.slice(path.lastIndexOf(DELIMITER) + 1)
  if (parent !== undefined && readTree(session).find(parent) === undefined)
    await app.db.write((tx) => createPath(session, tx, parent))
  const parentId = parent === undefined ? null : readTree(session).find(parent)!.folder.id
  await app.store.folderEdits.update(signedIn.account, id, { name, parentId }, () => {})
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
    return undefined
  },
})
