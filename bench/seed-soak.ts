// Child process: creates what the soak works with in an empty data folder: mailboxes, keys, a webhook and an outside account.

import { once } from 'node:events'
import process from 'node:process'
import { openLog } from '../src/base/log.ts'
import { loadConfig } from '../src/config/load.ts'
import { openContext } from '../src/context.ts'
import { seedMailbox } from './seed.ts'

/** A request of the parent. */
export interface SoakSeed {
  /** Addresses of the mailboxes, all of one domain. */
  mailboxes: readonly string[]
  webhook: string
  /** The account at an IMAP server on loopback; null when there is none. */
  outside: { port: number; user: string; password: string } | null
}

export interface SeededSoak {
  /** Of the mailboxes, in their order. */
  keys: string[]
  /** Of the team, to send with. */
  teamKey: string
  /** Of the mailbox of the outside account. */
  outsideKey: string | null
  /** Names and values of the records that publish the signing keys. */
  dkim: { name: string; value: string }[]
}

const [request] = (await once(process, 'message')) as [SoakSeed]
const app = await openContext(loadConfig(process.env), { log: openLog('error') })
const keys: string[] = []
for (const email of request.mailboxes) keys.push((await seedMailbox(app, email)).key)
const team = app.directory.teams.list()[0]!
const issue = { teamId: team.id, name: 'soak', createdBy: 'operator' } as const
const { secret: teamKey } = await app.directory.keys.issue({ ...issue, kind: 'root', role: 'root:full' })
await app.eventDispatch.webhooks.create(team.id, { url: request.webhook, eventTypes: ['*'], setBy: 'operator' })
const [domain] = app.directory.domains.list(team.id, { limit: 1, after: null }).items
let outsideKey: string | null = null
if (request.outside !== null) {
  const { port, user, password } = request.outside
  const { mailboxId } = await app.administration.outsideAccounts.create(team.id, {
    ...{ mode: 'mirror', email: user, password, smtp: {} },
    imap: { host: '127.0.0.1', port, protocol: 'none', username: user },
  })
  outsideKey = (await app.directory.keys.issue({ ...issue, kind: 'mailbox', mailboxId })).secret
}
const dkim = domain!.records.dkim.map(({ name, value }) => ({ name, value }))
await app.close()
process.send!({ keys, teamKey, outsideKey, dkim } satisfies SeededSoak)
process.disconnect!()
process.exitCode = 0
