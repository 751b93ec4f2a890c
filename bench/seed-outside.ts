// Child process: attaches the account named by its arguments (port, user, password of an IMAP server on loopback) in an empty data folder.

import process from 'node:process'
import { openLog } from '../src/base/log.ts'
import { loadConfig } from '../src/config/load.ts'
import { openContext } from '../src/context.ts'

/** Sent to the parent when the folder is closed. */
export interface SeededAccount {
  /** Of the team. */
  key: string
  /** Of the mailbox. */
  mailboxKey: string
  id: string
}

const [port, user, password] = process.argv.slice(2)
const app = await openContext(loadConfig(process.env), { log: openLog('error') })
const team = await app.directory.teams.create({ name: 'Bench' })
const issue = { teamId: team.id, name: 'bench', createdBy: 'operator' } as const
const { secret: key } = await app.directory.keys.issue({ ...issue, kind: 'root', role: 'root:full' })
const account = await app.administration.outsideAccounts.create(team.id, {
  ...{ mode: 'mirror', email: user!, password: password!, smtp: {} },
  imap: { host: '127.0.0.1', port: Number(port), protocol: 'none', username: user! },
})
const { mailboxId, id } = account
const { secret: mailboxKey } = await app.directory.keys.issue({ ...issue, kind: 'mailbox', mailboxId })
await app.close()
process.send!({ key, mailboxKey, id } satisfies SeededAccount)
process.disconnect!()
process.exitCode = 0
