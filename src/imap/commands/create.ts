// CREATE (RFC 9051 §6.3.4, RFC 8474 §4.1): missing parents are created as well, and nothing is subscribed.

import type { Tx } from '../../db/db.ts'
import { no, ok } from '../answers.ts'
import { FolderTree, pathOfName } from '../folder-tree.ts'
import { DELIMITER, INBOX, readMailboxName } from '../names.ts'
import { command, type ImapSession } from '../session.ts'

/** Creates the folder of a path and its missing parents. @returns its id @throws CommandFailure, ProductError */
export function createPath(session: ImapSession, tx: Tx, path: string): string {
  const { store } = session.app
  const { account } = session.signedIn
  const tree = new FolderTree(store.views.statuses(account, tx))
  if (path === INBOX || tree.find(path) !== undefined) throw no('ALREADYEXISTS', 'The mailbox exists already.')
  let parentId: string | null = null
  const levels = path.split(DELIMITER)
  for (const [index, name] of levels.entries()) {
    const known = tree.find(levels.slice(0, index + 1).join(DELIMITER))
    parentId = known?.folder.id ?? store.folderEdits.createIn(tx, account, { name, parentId, isSubscribed: false })
  }
  return parentId!
}

export const create = command({
  name: 'CREATE',
  in: 'authenticated',
  needs: 'write',
  read(cursor) {
    cursor.space()
    return readMailboxName(cursor)
  },
  async run(name, session) {
    // RFC 9051 §6.3.4: a trailing delimiter announces children.
    const path = pathOfName(session, name).replace(/\/$/, '')
    const id = await session.app.db.write((tx) => createPath(session, tx, path))
    return ok('Created.', `MAILBOXID (${id})`)
  },
})
