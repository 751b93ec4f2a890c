// SUBSCRIBE and UNSUBSCRIBE (RFC 9051 §6.3.7 and §6.3.8), also of names without a folder.

import { checkFolderName, DEPTH_MAX } from '../../store/mailbox/folders-edits.ts'
import { DELIMITER, readNameArgument } from '../grammar/names.ts'
import { no } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { pathOfName, readTree } from '../untagged/folder-tree.ts'

/** @throws ProductError, CommandFailure when no folder can have this path */
function assertPossible(path: string): void {
  const levels = path.split(DELIMITER)
  if (levels.length > DEPTH_MAX) throw no('CANNOT', `Mailboxes have at most ${DEPTH_MAX} levels.`)
  for (const level of levels) checkFolderName(level)
}

async function change(session: ImapSession, name: Buffer, isSubscribed: boolean): Promise<undefined> {
  const { app, signedIn } = session
  const { account } = signedIn
  const path = pathOfName(session, name)
  const folder = readTree(session).find(path)?.folder
  if (folder !== undefined && folder.isSubscribed !== isSubscribed)
    await app.store.edit.folders.update(account, folder.id, { isSubscribed }, () => {})
  if (folder === undefined && isSubscribed) {
    assertPossible(path)
    const isAdded = await app.db.write((tx) => app.store.programs.names.add(tx, account, path))
    if (!isAdded) throw no('LIMIT', 'The mailbox has too many subscriptions.')
  }
  if (!isSubscribed) await app.db.write((tx) => app.store.programs.names.remove(tx, account, path))
  return undefined
}

export const subscribe = command({
  name: 'SUBSCRIBE',
  in: 'authenticated',
  needs: 'write',
  read: readNameArgument,
  run: (name, session) => change(session, name, true),
})

export const unsubscribe = command({
  name: 'UNSUBSCRIBE',
  in: 'authenticated',
  needs: 'write',
  read: readNameArgument,
  run: (name, session) => change(session, name, false),
})
