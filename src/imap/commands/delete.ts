// DELETE (RFC 9051 §6.3.5): messages that are in no other folder are erased.

import { readNameArgument } from '../grammar/names.ts'
import { no } from '../session/answers.ts'
import { command } from '../session/session.ts'
import { namedFolder } from '../untagged/folder-tree.ts'

export const deleteCommand = command({
  name: 'DELETE',
  in: 'authenticated',
  needs: 'write',
  read: readNameArgument,
  async run(name, session) {
    const { app, signedIn } = session
    const { path, folder } = namedFolder(session, name)
    if (folder.role !== null) throw no('CANNOT', 'This mailbox cannot be deleted.')
    if (folder.hasChildren) throw no('HASCHILDREN', 'The mailbox has children.')
    await app.store.edit.folders.remove(signedIn.account, folder.id, 'delete', () => {})
    // The subscription outlives the mailbox (RFC 9051 §6.3.8).
    if (folder.isSubscribed) await app.db.writeFreeing((tx) => app.store.programs.names.add(tx, signedIn.account, path))
    return undefined
  },
})
