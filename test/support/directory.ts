// A directory on a temporary database, with a manual clock and its own DNS server.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Administration, openAdministration } from '../../src/administration/administration.ts'
import { systemClock } from '../../src/base/clock.ts'
import { openLog } from '../../src/base/log.ts'
import { openResolver } from '../../src/base/resolver.ts'
import { Vault } from '../../src/base/secrets.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Db } from '../../src/db/db.ts'
import { type Directory, openDirectory } from '../../src/directory/directory.ts'
import { RemoteAccounts } from '../../src/sync/accounts/accounts.ts'
import { ManualClock } from './clock.ts'
import { suppliedDkimPair } from './dkim-pairs.ts'
import { type LocalDns, startDns, type Zone } from './dns.ts'
import { copyEmptyDatabase } from './empty-database.ts'

export interface TestDirectory extends AsyncDisposable {
  directory: Directory
  /** The same with nothing in memory. */
  openAgain(): Directory
  administration: Administration
  db: Db
  clock: ManualClock
  dns: LocalDns
  vault: Vault
  /** Mailboxes whose accounts were created, in order. */
  accounts: string[]
  /** Thrown when the next account is created, and later. */
  accountFailure: Error | null
  /** Messages to people that were sent. */
  posted: { to: string; subject: string; text: string }[]
  /** Mailboxes whose queued messages were rejected. */
  stopped: string[]
  /** The id of a new team. */
  team(name?: string): Promise<string>
}

/** The host name of the appliance in these tests. */
export const MAIL_HOST = 'mx.mailstead.test'

export async function openTestDirectory(zone: Zone = {}): Promise<TestDirectory> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-directory-'))
  const dns = await startDns(zone)
  // DNS timeouts use real time, whatever the clock of the directory.
  const resolver = openResolver({ servers: [dns.address], clock: systemClock, timeoutMs: 30_000 })
  await copyEmptyDatabase(join(folder, 'mail.db'))
  const db = new Db({ file: join(folder, 'mail.db') })
  const clock = new ManualClock()
  const vault = new Vault(Buffer.alloc(32, 7))
  const config = loadConfig(
    { MAIL_HOSTS: MAIL_HOST, AGENT_MAILBOX_DOMAIN: 'agents.mailstead.test' },
    join(folder, 'none'),
  )
  const accounts: string[] = []
  const openAccount = (_tx: unknown, mailboxId: string) => {
    if (appliance.accountFailure !== null) throw appliance.accountFailure
    accounts.push(mailboxId)
  }
  const openAgain = () => openDirectory({ db, clock, vault, resolver, config, newDkimPair: suppliedDkimPair })
  const directory = openAgain()
  const administration = openAdministration({
    ...{ db, clock, config, resolver, directory, log: openLog('silent') },
    mailCertificate: async () => '',
    store: {
      accounts: { byMailbox: () => undefined },
      read: { folders: { byId: () => undefined } },
      edit: { openAccount },
      sending: {
        quotas: { recordStorageLimitChange: () => {} },
        identities: { readdressIn: () => {}, addAddressIn: () => {}, removeAddressesIn: () => {} },
      },
      upkeep: { purge: { next: async () => 0 } },
    },
    sync: {
      accounts: new RemoteAccounts({ db, clock, vault, config, notifier: { notify: () => {} } }),
      discover: async () => ({ imap: null, smtp: null, auth: 'password', source: 'none' }),
    },
    outbound: {
      accounts: {
        // There are no sending accounts here.
        foreignIn: (_reader, _team, scope) =>
          new Set(scope.type === 'providers' ? scope.providerIds : scope.type === 'group' ? scope.groupIds : []),
        providers: {
          createIn: noProvider,
          updateOwnedIn: noProvider,
          removeOwnedIn: noProvider,
          connections: { secretsOf: () => ({ smtpPassword: null, refreshToken: null }) },
        },
        sesIdentities: { look: async () => null },
      },
      queue: {
        messages: { cancelOf: async () => {}, drain: async () => 0 },
        suppressions: { of: () => new Set(), stopsOwnMail: () => false },
      },
      held: { eraseOf: () => {} },
      mail: { prepare: async () => ({ sendIn: () => {} }) },
    },
    agents: {
      endSignInsThrough: () => {},
      registrations: { byId: () => undefined },
      tokens: { revokeOf: () => {} },
    },
    people: { welcomeMailbox: () => {}, forgetMailbox: () => {} },
  })
  const appliance: TestDirectory = {
    directory,
    openAgain,
    administration,
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
  return appliance
}

function noProvider(): never {
  throw new Error('There are no sending accounts here.')
}

/** For assert.rejects and assert.throws: a ProductError with this code, and this first issue. */
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
