// Child process: signs in a person who owns the mailbox whose id and address are the arguments, in a data folder that no appliance uses.

import process from 'node:process'
import { openLog } from '../src/base/log.ts'
import { loadConfig } from '../src/config/load.ts'
import { openContext } from '../src/context.ts'
import { cookieName } from '../src/http/session-cookie.ts'

/** Sent to the parent when the folder is closed. */
export interface SeededReader {
  /** Of a browser, `name=value`. */
  cookie: string
}

const READER = 'reader@people.example'

const config = loadConfig(process.env)
const app = await openContext(config, { log: openLog('error') })
const team = app.directory.teams.list()[0]!
const [id, email] = process.argv.slice(2) as [string, string]
const { memberId, token } = await app.db.write((tx) => {
  const member = app.people.members.add(tx, team.id, { email: READER, role: 'user' })
  const session = app.people.signInAs(tx, { email: READER, teamId: null, mailboxId: null, shownBy: null })
  return { memberId: member.id, token: session.token }
})
await app.people.sharing.grant(team.id, { id, email }, { memberId, createdBy: memberId, access: 'owner' })
await app.close()
process.send!({ cookie: `${cookieName(config)}=${token}` } satisfies SeededReader)
process.disconnect!()
process.exitCode = 0
