// GETQUOTA and GETQUOTAROOT (RFC 9208): one root, for the storage of the mailbox.

import { formatName, readNameArgument } from '../grammar/names.ts'
import { readAstring } from '../grammar/strings.ts'
import { no } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { namedFolder } from '../untagged/folder-tree.ts'

const UNIT_BYTES = 1024

function quotaLine({ app, signedIn }: ImapSession): string {
  const { mailboxId } = signedIn.account
  const used = app.store.accounts.byMailbox(mailboxId)?.usedBytes ?? 0
  const limit = app.directory.mailboxes.byId(mailboxId)?.quotaBytes ?? 0
  return `* QUOTA "" (STORAGE ${Math.ceil(used / UNIT_BYTES)} ${Math.floor(limit / UNIT_BYTES)})\r\n`
}

export const getQuota = command({
  name: 'GETQUOTA',
  in: 'authenticated',
  needs: 'read',
  read(cursor) {
    cursor.space()
    return readAstring(cursor)
  },
  run(root, session) {
    if (root.length > 0) throw no('NONEXISTENT', 'There is no such quota root.')
    session.say(quotaLine(session))
    return undefined
  },
})

export const getQuotaRoot = command({
  name: 'GETQUOTAROOT',
  in: 'authenticated',
  needs: 'read',
  read: readNameArgument,
  run(name, session) {
    const { path } = namedFolder(session, name)
    session.say('* QUOTAROOT ', formatName(path, session.utf8), ' ""\r\n')
    session.say(quotaLine(session))
    return undefined
  },
})
