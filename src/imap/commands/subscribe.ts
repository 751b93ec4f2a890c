// SUBSCRIBE and UNSUBSCRIBE (RFC 9051 §6.3.7 and §6.3.8), also of names without a folder.

import { pathOfName, readTree } from '../folder-tree.ts'
import type { Cursor } from '../grammar/cursor.ts'
import { readMailboxName } from '../names.ts'
import { command, type ImapSession } from '../session.ts'

function readName(cursor: Cursor): Buffer {
  cursor.space()
  return readMailboxName(cursor)
}

async function change(session: ImapSession, name: Buffer, isSubscribed: boolean): Promise<undefined> {
  const { app, signedIn } = session
  const { account } = signedIn
  const path = pathOfName(session, name)
  const folder = readTree(session).find(path)?.folder
  if (folder !== undefined && folder.isSubscribed !== isSubscribed)
    await app.store.folderEdits.update(account, folder.id, { isSubscribed }, () => {})
  if (folder === undefined && isSubscribed) await app.db.write((tx) => app.store.subscribedNames.add(tx, account, path))
  if (!isSubscribed) await app.db.write((tx) => app.store.subscribedNames.remove(tx, account, path))
  return undefined
}

export const subscribe = command({
  name: 'SUBSCRIBE',
  in: 'authenticated',
  needs: 'write',
  read: readName,
  run: (name, session) => change(session, name, true),
})

export const unsubscribe = command({
  name: 'UNSUBSCRIBE',
  in: 'authenticated',
  needs: 'write',
  read: readName,
  run: (name, session) => change(session, name, false),
})
