// CREATE (RFC 9051 §6.3.4, RFC 8474 §4.1): missing parents are created as well, and subscribed only as far as their names are.

import type { Tx } from '../../db/db.ts'
import { FOLDERS_MAX } from '../../store/mailbox/folders-edits.ts'
import { DELIMITER, formatName, INBOX, oldNameOf, readNameArgument } from '../grammar/names.ts'
import { no, ok } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { pathOfName, readTree } from '../untagged/folder-tree.ts'
import { listAttributes } from '../views/special-use.ts'

/** Creates the folder of a path and its missing parents. @returns its id @throws CommandFailure, ProductError */
export function createPath(session: ImapSession, tx: Tx, path: string): string {
  const { store } = session.app
  const { account } = session.signedIn
  const tree = readTree(session, tx)
  if (path === INBOX || tree.find(path) !== undefined) throw no('ALREADYEXISTS', 'The mailbox exists already.')
  let parentId: string | null = null
  let count = tree.folders.length
  const levels = path.split(DELIMITER)
  for (const [index, name] of levels.entries()) {
    const level = levels.slice(0, index + 1).join(DELIMITER)
    const known = tree.find(level)?.folder.id
    if (known === undefined && ++count > FOLDERS_MAX) throw no('LIMIT', `A mailbox has at most ${FOLDERS_MAX} folders.`)
    // A subscription to the name may be older than the folder (RFC 9051 §6.3.8).
    const isSubscribed = known === undefined && store.programs.names.remove(tx, account, level)
    parentId = known ?? store.edit.folders.createIn(tx, account, { name, parentId, isSubscribed })
  }
  return parentId!
}

/** RFC 9051 §6.3.4: the client learns the form in which the mailbox has the name that it wrote. */
export function sayNormalized(session: ImapSession, path: string, written: Buffer): void {
  const oldName = oldNameOf(path, written, session.utf8)
  const named = session.isRev2 && oldName.length > 0 ? readTree(session).find(path) : undefined
  if (named === undefined) return
  const attributes = listAttributes(named.folder).join(' ')
  session.say(`* LIST (${attributes}) "/" `, formatName(path, session.utf8), ...oldName, '\r\n')
}

export const create = command({
  name: 'CREATE',
  in: 'authenticated',
  needs: 'write',
  read: readNameArgument,
  async run(name, session) {
    // RFC 9051 §6.3.4: a trailing delimiter announces children.
    const path = pathOfName(session, name).replace(/\/$/, '')
    const id = await session.app.db.write((tx) => createPath(session, tx, path))
    sayNormalized(session, path, name)
    return ok('Created.', `MAILBOXID (${id})`)
  },
})
