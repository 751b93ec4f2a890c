// The application context: opens the data folder and connects the services of the appliance.

import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Access } from './access/access.ts'
import { type Administration, openAdministration } from './administration/administration.ts'
import { HeldMessages } from './administration/held-messages.ts'
import { type Agents, openAgents } from './agents/agents.ts'
import type { AgentDeps } from './agents/deps.ts'
import { dropInviteLinks } from './agents/invites.ts'
import { SendAllowance } from './agents/send-allowance.ts'
import { type Clock, systemClock } from './base/clock.ts'
import { type ClockGuard, trustedClock } from './base/clock-guard.ts'
import type { DiskReserve } from './base/disk-reserve.ts'
import { ProductError } from './base/errors.ts'
import type { LargeMemory } from './base/lent-memory.ts'
import { closeAll } from './base/lifecycle.ts'
import { type Log, openLog } from './base/log.ts'
import { MemoryShares } from './base/memory-shares.ts'
import { MetricSources } from './base/metric-sources.ts'
import { type Notifier, openNotifier } from './base/notifier.ts'
import { openResolver, type Resolver } from './base/resolver.ts'
import { SafeFetch } from './base/safe-fetch.ts'
import { Vault } from './base/secrets.ts'
import { VirusScan } from './base/virus-scan.ts'
import { AcmeCertificates } from './certificates/certificates.ts'
import type { CertificatePair } from './config/certificate.ts'
import type { Config } from './config/config.ts'
import { type DataFolder, openDataFolder } from './config/data-folder.ts'
import type { Db, Reader } from './db/db.ts'
import { DbThreads } from './db/threads.ts'
import { DmarcReports } from './deliverability/dmarc-reports.ts'
import { ReportIntake } from './deliverability/report-intake.ts'
import { TlsReports } from './deliverability/tls-reports.ts'
import { type Directory, openDirectory } from './directory/directory.ts'
import type { NewDkimPair } from './directory/domains/dkim-keys.ts'
import { verifiedNames } from './directory/domains/domains-verification.ts'
import { Events } from './events/events.ts'
import { Outbox } from './events/outbox.ts'
import { ReceivedEvents } from './events/received-events.ts'
import { EventDispatch } from './events/webhooks/webhooks.ts'
import { logDamage } from './maintenance/damage.ts'
import { type Maintenance, openMaintenance } from './maintenance/maintenance.ts'
import { Rspamd } from './net/rspamd.ts'
import { ServerCertificate } from './net/tls.ts'
import { type Outbound, openOutbound } from './outbound/outbound.ts'
import { approversOf } from './people/approvers.ts'
import { Links } from './people/links.ts'
import { People } from './people/people.ts'
import { TeamChanges } from './people/team-changes.ts'
import type { DataFolderIdentity } from './store/appliance/appliance.ts'
import { openDatabases } from './store/appliance/databases.ts'
import type { CloseLinks } from './store/mailbox/delivery.ts'
import { ChangeFeed } from './store/rows/change-feed.ts'
import { openStore, type Store } from './store/store.ts'
import { AccessTokens } from './sync/accounts/access-tokens.ts'
import type { OpenServer } from './sync/model/server.ts'
import { Sync } from './sync/sync.ts'
import { Cleaner } from './workers/cleaner.ts'
import { Extractor } from './workers/extractor.ts'
import { Inspector } from './workers/inspector.ts'
import { ListUnsubscriptions } from './workers/list-unsubscriptions.ts'
import { RemotePictures } from './workers/remote-pictures.ts'

// For two cores: one thread authenticates and parses messages while the main thread serves connections; one more scans and searches.
const INSPECT_THREADS = 1
const SCAN_THREADS = 1
/** Domains below which names get certificates. */
const SERVED_DOMAINS_MAX = 100

/** What listeners, workers and commands work with. */
export interface Context {
  config: Config
  clock: Clock
  log: Log
  /** Metrics that are counted while the process runs. */
  metrics: MetricSources
  /** Memory for large messages. */
  memory: LargeMemory
  /** Secret, certificate and folders of `DATA_DIR`. */
  folder: DataFolder
  db: Db
  blobsDb: Db
  /** Id, liveness and clock state that tie the databases together. */
  appliance: DataFolderIdentity
  /** Whether the clock can be trusted. */
  guard: ClockGuard
  /** The clock of sessions, links, invitations and scheduled messages: the expected time while the system clock is in doubt. */
  trustedClock: Clock
  vault: Vault
  resolver: Resolver
  /** Notifies the other threads of the process about new work. */
  notifier: Notifier
  directory: Directory
  /** Members of teams, their sessions and sign-in links. */
  people: People
  /** Inboxes that agents registered, and who owns them. */
  agents: Agents
  /** Mailboxes and domains where they are more than records of the directory. */
  administration: Administration
  /** Messages of programs that wait for a person. */
  heldMessages: HeldMessages
  /** Checks and backups of the whole appliance. */
  maintenance: Maintenance
  /** Events that have not been dispatched yet. */
  outbox: Outbox
  /** The events of teams, for reading. */
  events: Events
  /** Sends events to webhook subscriptions. */
  eventDispatch: EventDispatch
  store: Store
  /** Sign-in of mail programs. */
  access: Access
  /** The certificates of all listeners. */
  certificate: ServerCertificate
  /** Certificates from an authority. */
  certificates: AcmeCertificates
  /** Notifies the clients that follow a mailbox about its changes. */
  following: ChangeFeed
  /** Notifies browsers about what changed in teams. */
  teamChanges: TeamChanges
  outbound: Outbound
  /** Outside accounts. */
  sync: Sync
  /** What receivers report about domains here. */
  dmarcReports: DmarcReports
  tlsReports: TlsReports
  /** Takes them in. */
  reportIntake: ReportIntake
  /** Threads that authenticate and parse arriving mail. */
  inspector: Inspector
  /** Separates the new text of a message from quotes and signatures. */
  cleaner: Cleaner
  /** Extracts text from attachments. */
  extractor: Extractor
  /** Fetches the remote pictures of messages for their readers. */
  pictures: RemotePictures
  /** Ends subscriptions to mailing lists. */
  unsubscriptions: ListUnsubscriptions
  /** Learns the labels of people; null when RSPAMD_URL is empty. */
  rspamd: Rspamd | null
  /** Scans uploads for viruses; null when CLAMAV_HOST is empty. */
  virusScan: VirusScan | null
  /** Space on the disk for deleting when it is full. */
  reserve: DiskReserve
  /** Closes the services, last opened first; the database is checkpointed before it returns. */
  close(): Promise<void>
}

/** Replacements for defaults, and how the databases are opened. */
export interface Overrides {
  clock?: Clock
  log?: Log
  /** The memory of the first thread, in another one. */
  memory?: LargeMemory
  /** Connects to the servers of outside accounts. */
  openServer?: OpenServer
  /** Makes DKIM key pairs. */
  newDkimPair?: NewDkimPair
  /** Fetches what messages name from private addresses as well. */
  fetchesPrivate?: boolean
  /** Uses a small page cache: for a thread that works row by row. */
  lean?: boolean
  /** Locks the data folder for this process: two appliances on one folder would deliver the same message twice. */
  alone?: boolean
}

/**
 * Opens the data folder and connects the services. In an empty folder it creates what is missing.
 * @throws ProductError that says what is wrong with the folder or a file in it
 */
export async function openContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  trustExtra(config.EXTRA_CA_FILE)
  const base = await openBase(config, overrides)
  const { clock, log, db, notifier, resolver } = base
  const services = openServices(base, overrides)
  const { certificates, directory, eventDispatch, maintenance, outbound, people, store, sync } = services
  const served = (own: CertificatePair) => {
    const { host, byName } = certificates.pairs()
    return { pair: host ?? own, byName }
  }
  const read = async () => served(await base.folder.readTls())
  const certificate = new ServerCertificate({ ...served(base.folder.tls), read, clock, log })
  notifier.listen('certificates', () => void certificate.look())
  const { databases, ...shared } = base
  const threads = openThreads(config)
  const foreign = { resolver, log, allowPrivate: overrides.fetchesPrivate === true }
  const pictures = new RemotePictures(new SafeFetch(foreign))
  const unsubscriptions = new ListUnsubscriptions(new SafeFetch(foreign))
  const events = new Events(db)
  const received = new ReceivedEvents(db)
  return {
    ...shared,
    ...threads,
    ...services,
    pictures,
    unsubscriptions,
    certificate,
    events,
    metrics: new MetricSources(),
    heldMessages: new HeldMessages({ ...base, ...services, inspector: threads.inspector }),
    teamChanges: new TeamChanges({ clock, log, events, audit: people.audit }),
    following: new ChangeFeed({ clock, log, notifier, accounts: store.accounts, received }),
    rspamd: rspamdOf(config, clock),
    virusScan: config.CLAMAV_HOST === '' ? null : new VirusScan(config.CLAMAV_HOST),
    close: async () => {
      notifier.close()
      const { inspector, cleaner, extractor } = threads
      const closing = [
        maintenance.backups,
        directory.requests,
        sync,
        outbound,
        eventDispatch,
        certificates,
        inspector,
        cleaner,
        extractor,
        pictures,
        unsubscriptions,
        resolver,
        databases,
      ]
      await closeAll(closing.map((part) => () => part.close()))
    },
  }
}

/** Connects the rooms below HTTP, each with what it needs of those below it. */
function openServices(base: Base, overrides: Overrides) {
  const { config, clock, log, db, blobsDb, guard, vault, resolver, notifier, outbox, trustedClock: trusted } = base
  const eventDispatch = new EventDispatch({ db, clock, guard, log, config, vault, resolver, notifier, outbox })
  const links = new Links({ db, clock: trusted, config })
  const closeLinks = linkCloser({ config, log, links })
  const store = openStore({ db, blobsDb, clock, vault, notifier, closeLinks })
  store.blobs.damaged.onDamage((error) => logDamage(log, db.read, error))
  const { newDkimPair } = overrides
  const directory = openDirectory({ db, clock, vault, resolver, config, newDkimPair })
  const allowance = new SendAllowance({ clock, config })
  const deps = { ...base, directory, store, allowance }
  const tokens = new AccessTokens(deps)
  const outbound = openOutbound({ ...deps, mailTokens: tokens, approvers: { of: approversOf } })
  const sync = new Sync({ ...deps, outbound, tokens, closeLinks }, overrides.openServer)
  const { teams, domains, mailboxes, appPasswords, keys, forwards } = directory
  const { webhooks } = eventDispatch
  const homes = { teams, domains, mailboxes, appPasswords, keys, forwards, webhooks }
  const own = { db, clock: trusted, log, vault, config, ...homes, mailer: outbound.mail }
  const people = new People({ ...own, links, outsideAccounts: sync.accounts })
  const agents = openAgents({ ...own, ...agentDeps(outbound), store, people, allowance })
  const certificates = new AcmeCertificates({ ...deps, domainNames: () => servedNames(db.read) })
  const mailCertificate = async () => (certificates.pairs().host ?? (await base.folder.readTls())).cert
  return {
    directory,
    people,
    agents,
    certificates,
    eventDispatch,
    store,
    outbound,
    sync,
    administration: openAdministration({ ...deps, outbound, agents, people, sync, mailCertificate }),
    maintenance: openMaintenance({ ...deps, certificates, outbound, sync, eventDispatch }),
    ...openReports(deps),
    access: new Access({
      db,
      clock,
      log,
      config,
      directory,
      tokens: agents.tokens,
      accounts: store.accounts,
      remotes: sync.accounts,
    }),
  }
}

type Base = Awaited<ReturnType<typeof openBase>>

/** Opens what everything else needs: clock, log, data folder, databases, resolver, notifier and outbox. */
async function openBase(config: Config, overrides: Overrides) {
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? openLog(config.LOG_LEVEL)
  const folder = await openDataFolder(config)
  const vault = new Vault(folder.secret)
  const threads = new DbThreads(SCAN_THREADS)
  const { lean = false, alone = false } = overrides
  const databases = await openDatabases({ folder, threads, lean, alone, clock, log, vault })
  const { db, blobsDb, appliance, reserve } = databases
  const resolver = openResolver({ servers: config.DNS_SERVERS, clock })
  const notifier = openNotifier(config.DATA_DIR)
  const outbox = new Outbox(notifier)
  const { guard } = appliance
  return {
    config,
    clock,
    log,
    memory: overrides.memory ?? new MemoryShares(clock),
    folder,
    vault,
    databases,
    db,
    blobsDb,
    reserve,
    appliance,
    guard,
    trustedClock: trustedClock(clock, guard),
    resolver,
    notifier,
    outbox,
  }
}

/** Reports of others about domains here, and the way they come in. */
function openReports(deps: Base & { directory: Directory; store: Store }) {
  const dmarcReports = new DmarcReports(deps)
  const tlsReports = new TlsReports(deps)
  const reportIntake = new ReportIntake({ ...deps, dmarc: dmarcReports, tls: tlsReports })
  return { dmarcReports, tlsReports, reportIntake }
}

/** Names below the domains of teams that HTTPS serves where they lead to it: documents for mail programs, and MTA-STS (RFC 8461 §3.3). */
function servedNames(reader: Reader): string[] {
  const prefixes = ['autoconfig', 'autodiscover', 'mta-sts']
  return verifiedNames(reader, SERVED_DOMAINS_MAX).flatMap((name) => prefixes.map((prefix) => `${prefix}.${name}`))
}

/** Threads that parse messages and files. */
function openThreads(config: Config) {
  return {
    inspector: new Inspector({ threads: INSPECT_THREADS, dnsServers: config.DNS_SERVERS }),
    cleaner: new Cleaner(),
    extractor: new Extractor({ pdfProgram: config.PDFTOTEXT_PATH }),
  }
}

/** Revokes sign-in links in a message delivered to a local mailbox, unless SIGN_IN_LINKS_TO_LOCAL allows them. */
function linkCloser({ config, log, links }: { config: Config; log: Log; links: Links }): CloseLinks {
  return (tx, tokens) => {
    if (config.SIGN_IN_LINKS_TO_LOCAL) return []
    const persons = links.drop(tx, tokens)
    const revoked = persons.length + dropInviteLinks(tx, tokens)
    if (revoked === 0) return []
    tx.afterCommit(() =>
      log.warn(
        { event: 'people.link_ended', links: revoked },
        'Sign-in link revoked: it was delivered to a local mailbox',
      ),
    )
    return persons
  }
}

function rspamdOf({ RSPAMD_URL: url, RSPAMD_PASSWORD: password }: Config, clock: Clock): Rspamd | null {
  return url === '' ? null : new Rspamd({ url, password, clock })
}

/** The outbound functions that agents need. */
function agentDeps({ queue }: Outbound): Pick<AgentDeps, 'stopSending' | 'isSuppressed'> {
  return {
    stopSending(tx, mailboxId) {
      queue.messages.reject(tx, mailboxId, 'sending_not_approved', 'The owner does not allow sending.')
    },
    isSuppressed: (email) => queue.suppressions.stopsOwnMail(email),
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
