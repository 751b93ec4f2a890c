// The waist of the house: everything below, wired into one plain object.

import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type Agents, openAgents } from './agents/agents.ts'
import type { AgentParts } from './agents/deps.ts'
import { SendAllowance } from './agents/send-allowance.ts'
import { type Clock, systemClock } from './base/clock.ts'
import type { ClockGuard } from './base/clock-guard.ts'
import { ProductError } from './base/errors.ts'
import { closeAll } from './base/lifecycle.ts'
import { type Log, openLog } from './base/log.ts'
import { openWake, type Wake } from './base/notifier.ts'
import { openResolver, type Resolver } from './base/resolver.ts'
import { Vault } from './base/secrets.ts'
import { VirusScan } from './base/virus-scan.ts'
import type { Config } from './config/config.ts'
import { type DataFolder, openDataFolder } from './config/data-folder.ts'
import type { Db, Tx } from './db/db.ts'
import { DbThreads } from './db/threads.ts'
import { type Directory, openDirectory } from './directory/directory.ts'
import { Outbox } from './events/outbox.ts'
import { ReceivedEvents } from './events/received-events.ts'
import { Telling } from './events/webhooks/webhooks.ts'
import { type Outbound, openOutbound } from './outbound/outbound.ts'
import { People } from './people/people.ts'
import type { Appliance } from './store/appliance/appliance.ts'
import { openDatabases } from './store/appliance/databases.ts'
import type { CloseLinks } from './store/deliver.ts'
import { Following } from './store/following.ts'
import { openStore, type Store } from './store/store.ts'
import { Cleaner } from './workers/cleaner.ts'
import { Extractor } from './workers/extractor.ts'
import { Inspector } from './workers/inspector.ts'

// Two cores: one thread inspects mail while this one talks; one more may search.
const INSPECT_THREADS = 1
const SCAN_THREADS = 1

/** What every door of the house works with. */
export interface Context {
  config: Config
  clock: Clock
  log: Log
  /** Secret, certificate and folders of `DATA_DIR`. */
  folder: DataFolder
  db: Db
  blobsDb: Db
  /** What ties the databases together. */
  appliance: Appliance
  /** Whether the clock can be trusted. */
  guard: ClockGuard
  vault: Vault
  resolver: Resolver
  /** Rings across the threads of the house. */
  wake: Wake
  directory: Directory
  /** Members of teams, and how they sign in. */
  people: People
  /** Inboxes that agents registered, and who owns them. */
  agents: Agents
  /** What happened, waiting to be told. */
  outbox: Outbox
  /** Who asked to be told of it. */
  telling: Telling
  store: Store
  /** Tells who follows a mailbox that it changed. */
  following: Following
  outbound: Outbound
  /** Threads that authenticate and parse arriving mail. */
  inspector: Inspector
  /** Tells what a mail says from what hangs on it. */
  cleaner: Cleaner
  /** Looks into files. */
  extractor: Extractor
  /** Scans uploads; null where nobody does. */
  virusScan: VirusScan | null
  /** Closes what was opened, the last first; the database is written back before it returns. */
  close(): Promise<void>
}

/** Parts a caller may bring instead of the usual ones. */
export interface Overrides {
  clock?: Clock
  log?: Log
  /** Keeps little of the databases in memory: for a thread that works row by row. */
  lean?: boolean
  /** Takes the data folder for this process: two appliances on one folder would hand the same mail over twice. */
  alone?: boolean
}

/**
 * Opens the data folder and wires the house. On an empty folder it makes what is missing.
 * @throws ProductError with a sentence that says what is wrong with the folder or a file in it
 */
export async function openContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  trustExtra(config.EXTRA_CA_FILE)
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? openLog(config.LOG_LEVEL)
  const folder = await openDataFolder(config)
  const vault = new Vault(folder.secret)
  const threads = new DbThreads(SCAN_THREADS)
  const { lean = false, alone = false } = overrides
  const databases = await openDatabases({ folder, threads, lean, alone, clock, log, vault })
  const { db, blobsDb, appliance } = databases
  const resolver = openResolver({ servers: config.DNS_SERVERS, clock })
  const wake = openWake(config.DATA_DIR)
  const outbox = new Outbox(wake)
  const { guard } = appliance
  const telling = new Telling({ db, clock, guard, log, config, vault, resolver, wake, outbox })
  const closeLinks = closesLinks(config, log, () => ({ people, agents }))
  const store = openStore({ db, blobsDb, clock, vault, wake, closeLinks })
  const openAccount = store.openAccount
  const noteRoom = (tx: Tx, mailboxId: string) => store.quotas.noteRoom(tx, mailboxId)
  const directory: Directory = openDirectory({
    ...{ db, clock, vault, resolver, config, openAccount, noteRoom },
    foreignIn: (reader, teamId, scope) => outbound.foreignIn(reader, teamId, scope),
    lookAtSes: (teamId, name, proven) => outbound.sesIdentities.look(teamId, name, proven),
    async endSignInsThrough(tx, mailboxId) {
      await people.endSignInsThrough(tx, mailboxId)
      await agents.invites.dropThrough(tx, mailboxId)
    },
  })
  const allowance = new SendAllowance({ clock, config })
  const parts = { db, clock, guard, log, config, vault, resolver, directory, store, outbox, wake, allowance }
  const outbound: Outbound = openOutbound(parts)
  const { teams, domains, mailboxes } = directory
  const own = { db, clock, vault, config, domains, mailboxes, post: outbound.houseMail }
  const people: People = new People(own)
  const agents: Agents = openAgents({ ...own, ...agentDeps(outbound), openAccount, teams, people, allowance })
  const inspector = new Inspector({ threads: INSPECT_THREADS, dnsServers: config.DNS_SERVERS })
  const cleaner = new Cleaner()
  const extractor = new Extractor({ pdfProgram: config.PDFTOTEXT_PATH })
  return {
    config,
    clock,
    log,
    folder,
    db,
    blobsDb,
    appliance,
    guard,
    vault,
    resolver,
    wake,
    directory,
    people,
    agents,
    outbox,
    telling,
    store,
    following: new Following({ clock, log, wake, accounts: store.accounts, received: new ReceivedEvents(db) }),
    outbound,
    inspector,
    cleaner,
    extractor,
    virusScan: config.CLAMAV_HOST === '' ? null : new VirusScan(config.CLAMAV_HOST),
    close: async () => {
      wake.close()
      const parts = [outbound, telling, inspector, cleaner, extractor, resolver, databases]
      await closeAll(parts.map((part) => () => part.close()))
    },
  }
}

/** Ends the links in a message that reaches a mailbox, unless the operator mails them there. */
function closesLinks(
  { SIGN_IN_LINKS_TO_LOCAL }: Config,
  log: Log,
  rooms: () => { people: People; agents: Agents },
): CloseLinks {
  return async (tx, tokens) => {
    if (SIGN_IN_LINKS_TO_LOCAL) return
    const { people, agents } = rooms()
    const links = (await people.links.drop(tx, tokens)) + (await agents.invites.dropLinks(tx, tokens))
    if (links === 0) return
    tx.afterCommit(() => log.warn({ event: 'people.link_ended', links }, 'A sign-in link reached a mailbox'))
  }
}

/** What agents need of sending. */
function agentDeps({ waiting, suppressions }: Outbound): Pick<AgentParts, 'stopSending' | 'isSuppressed'> {
  return {
    async stopSending(tx, mailboxId) {
      await waiting.reject(tx, mailboxId, 'sending_not_approved', 'The owner does not allow sending.')
    },
    isSuppressed: (email) => suppressions.stopsOwnMail(email),
  }
}

function trustExtra(file: string): void {
  if (file === '') return
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')])
  } catch (error) {
    throw new ProductError(
      'invalid_parameter',
      `The setting EXTRA_CA_FILE names ${file}, which holds no certificates.`,
      {
        cause: error,
      },
    )
  }
}
