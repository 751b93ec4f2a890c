// A directory on a temporary database, with a clock to move and a name server of its own.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { openResolver } from '../../src/base/resolver.ts'
import { Vault } from '../../src/base/secrets.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Db } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'
import { mailMigrations } from '../../src/db/migrations/migrations.ts'
import { type Directory, openDirectory } from '../../src/directory/directory.ts'
import { ManualClock } from './clock.ts'
import { type LocalDns, startDns, type Zone } from './dns.ts'

export interface TestDirectory extends AsyncDisposable {
  directory: Directory
  db: Db
  clock: ManualClock
  dns: LocalDns
  vault: Vault
  /** Mailboxes whose mail side was opened, in order. */
  accounts: string[]
  /** Thrown by the next opening of a mail side, and by those after it. */
  accountFailure: Error | null
  /** Mails to people that were sent. */
  posted: { to: string; subject: string; text: string }[]
  /** Mailboxes whose waiting mail was rejected. */
  stopped: string[]
  /** The id of a new team. */
  team(name?: string): Promise<string>
}

/** The name of the appliance in these tests. */
export const MAIL_HOST = 'mx.mailstead.test'

export async function openTestDirectory(zone: Zone = {}): Promise<TestDirectory> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-directory-'))
  const dns = await startDns(zone)
  // Waiting for name servers is real, whatever time the directory believes it is.
  const resolver = openResolver({ servers: [dns.address], clock: systemClock, timeoutMs: 500 })
  const db = new Db({ file: join(folder, 'mail.db') })
  await migrate(db, mailMigrations)
  const clock = new ManualClock()
  const vault = new Vault(Buffer.alloc(32, 7))
  const config = loadConfig(
    { MAIL_HOSTS: MAIL_HOST, AGENT_MAILBOX_DOMAIN: 'agents.mailstead.test' },
    join(folder, 'none'),
  )
  const accounts: string[] = []
  const openAccount = async (_tx: unknown, mailboxId: string) => {
    if (house.accountFailure !== null) throw house.accountFailure
    accounts.push(mailboxId)
  }
  const directory = openDirectory({
    ...{ db, clock, vault, resolver, config, openAccount, noteQuotaChange: async () => {} },
    // No sending accounts here: whatever is named is nobody's.
    findForeignIds: async (_reader, _team, scope) =>
      new Set(scope.type === 'providers' ? scope.providerIds : scope.type === 'group' ? scope.groupIds : []),
    checkSes: async () => null,
    endSignInsThrough: async () => {},
  })
  const house: TestDirectory = {
    directory,
    db,
    clock,
    dns,
    vault,
    accounts,
    accountFailure: null,
    posted: [],
    stopped: [],
    team: async (name = 'Team') => (await directory.teams.create({ name })).id,
    async [Symbol.asyncDispose]() {
      await resolver.close()
      await dns.close()
      await db.close()
      await rm(folder, { recursive: true })
    },
  }
  return house
}

/** For assert.rejects and assert.throws: a ProductError of this code, and of this first issue. */
export function failure(code: string, issue?: { field: string; code: string }) {
  return (error: unknown) => {
    const { code: given, issues } = error as { code?: string; issues?: { field: string; code: string }[] }
    const first = issues?.[0]
    const same = given === code && (issue === undefined || (first?.field === issue.field && first.code === issue.code))
    if (!same)
      throw new Error(`wanted ${code} ${JSON.stringify(issue)}, got ${given} ${JSON.stringify(issues)}: ${error}`)
    return true
  }
}
