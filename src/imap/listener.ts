// The listener of IMAP on IMAPS_PORT (TLS) and IMAP_PORT (STARTTLS), and its sessions.

import { join } from 'node:path'
import type { SignedIn } from '../access/signed-in.ts'
import { clientHost } from '../config/client-protocols.ts'
import type { Context } from '../context.ts'
import { type AcceptedClient, type ClientSessions, openClientListener } from '../net/client-listener.ts'
import { ConnectionCounter } from '../net/connections.ts'
import type { MailListener } from '../net/mail-listener.ts'
import { OpenSessions } from '../net/open-sessions.ts'
import { Spool } from '../smtp/spool.ts'
import { COMMANDS } from './commands/commands.ts'
import { SWEEP_MS } from './grammar/limits.ts'
import { Searcher } from './search/searcher.ts'
import { SortOrders } from './search/sort-orders.ts'
import { ThreadTexts } from './search/thread-texts.ts'
import { formatAnswer } from './session/answers.ts'
import { CompressionSlots } from './session/compressor.ts'
import type { ImapDeps } from './session/deps.ts'
import { ImapMeters } from './session/meters.ts'
import { capabilityCode } from './session/offered.ts'
import { ImapSession, type SessionOwner } from './session/session.ts'
import { checkSession } from './session/session-check.ts'
import { SessionChanges } from './untagged/session-changes.ts'
import { AnnotationChanges } from './views/annotation-changes.ts'
import type { SignedInUser } from './views/user.ts'
import { ViewCache } from './views/view-cache.ts'

type Protocol = 'imaps' | 'imap'

const ALPN = ['imap']
/** Only without TLS: before the handshake it cannot be sent. */
const TOO_MANY = '* BYE [UNAVAILABLE] Too many connections.'
// Messages of APPEND have a spool of their own: 32 MiB of memory and 2 GiB of disk, a quarter for one mailbox (docs/design/mail-programs.md §2.5).
const APPEND_SPOOL = { memoryEach: 1 << 20, memory: 32 << 20, disk: 2 * 2 ** 30, diskEach: 2 ** 29 }

interface OpenSession {
  protocol: Protocol
  /** Ends its counts of connections. */
  release(): void
}

export function openImap(app: Context): MailListener<Protocol> {
  const { certificate, clock, config, folder } = app
  const counter = new ConnectionCounter({
    total: config.IMAP_MAX_CONNECTIONS,
    perAddress: config.IMAP_MAX_PER_ADDRESS,
    perMailbox: config.IMAP_MAX_PER_MAILBOX,
  })
  const appendSpool = new Spool(join(folder.path, 'spool-imap'), APPEND_SPOOL)
  const sessions = new ImapSessions(app, counter, appendSpool)
  return openClientListener(app, {
    name: 'imap',
    protocol: 'IMAP',
    ports: ['imaps', 'imap'],
    counter,
    secure: (port) => (port === 'imaps' ? (socket) => certificate.secure(socket, { clock, alpn: ALPN }) : null),
    refusal: (_, port) => (port === 'imap' ? TOO_MANY : null),
    open: () => appendSpool.open(),
    load: async () => sessions,
    close: () => sessions.close(),
    sweepMs: SWEEP_MS,
  })
}

class ImapSessions implements ClientSessions<Protocol> {
  readonly #app: ImapDeps
  readonly #connections: ConnectionCounter
  readonly #sessions = new OpenSessions<ImapSession, OpenSession>()

  constructor(app: Context, connections: ConnectionCounter, appendSpool: Spool) {
    const { config, store } = app
    this.#connections = connections
    const views = new ViewCache({ views: store.programs.views, db: app.db, clock: app.clock }, (n) =>
      this.#storeRecent(n),
    )
    const searcher = new Searcher({ mail: app.db.file, blobs: app.blobsDb.file })
    const compression = new CompressionSlots(config.IMAP_MAX_COMPRESSED)
    const open = () => [...this.#sessions]
    const meters = new ImapMeters({
      openBytes: () => open().reduce((sum, { writer }) => sum + writer.written, 0),
      views: () => views.size,
      compressed: () => compression.used,
      blocked: () => open().filter(({ writer }) => writer.blockedSince !== null).length,
    })
    const annotationChanges = new AnnotationChanges()
    const sortOrders = new SortOrders()
    const threadTexts = new ThreadTexts()
    const shared = { views, annotationChanges, searcher, sortOrders, threadTexts, appendSpool, compression, meters }
    this.#app = { ...app, ...shared, connections: this.#connections }
    app.metrics.add(meters.registry)
  }

  checkDeadlines(): void {
    for (const session of this.#sessions) checkSession(session)
  }

  stop(): Promise<void> {
    return this.#sessions.end({
      clock: this.#app.clock,
      retire: (session) => session.retire(),
      cut: (session) => session.destroy(),
    })
  }

  async close(): Promise<void> {
    await this.#app.searcher.close()
    this.#app.views.close()
  }

  /** Serves an accepted connection. */
  open({ socket, source, tls, release }: AcceptedClient, protocol: Protocol): void {
    const owner: SessionOwner = {
      commands: COMMANDS,
      greeting: (session) => {
        const text = `${clientHost(this.#app.config)} is ready.`
        return formatAnswer('*', { condition: 'OK', code: capabilityCode(session), text })
      },
      secure: (raw) => this.#app.certificate.secure(raw, { clock: this.#app.clock, alpn: ALPN }),
      admit: (session, access) => this.#admit(session, access),
      changesOf: (session) => new SessionChanges(session),
      closed: (session) => this.#closed(session),
    }
    const isSecure = tls !== null || source.tls
    const session = new ImapSession(socket, { app: this.#app, owner, source, tls, isSecure })
    this.#sessions.add(session, { protocol, release })
    this.#app.meters.opened(protocol)
    void session.run()
  }

  #admit(session: ImapSession, access: SignedIn): SignedInUser | null {
    const { mailboxId } = access.principal
    const account = this.#app.store.accounts.byMailbox(mailboxId)
    const uncount = this.#connections.countMailbox(mailboxId)
    if (account === undefined || uncount === null) {
      uncount?.()
      return null
    }
    const unwatch = this.#app.access.watch(access, () => session.expire('The login is no longer valid.'))
    const release = () => {
      unwatch()
      uncount()
    }
    return { access, account, release }
  }

  /** In the background: messages that stay recent are announced once more, which RFC 3501 §2.3.2 allows. */
  async #storeRecent(folder: number): Promise<void> {
    const { db, store, log } = this.#app
    try {
      await db.write((tx) => store.programs.views.takeRecent(tx, folder))
    } catch (error) {
      log.warn({ event: 'imap.recent_not_stored', err: error }, 'Recent messages could not be stored')
    }
  }

  #closed(session: ImapSession): void {
    const { user, client, record, writer, reader } = session
    const { protocol, release } = this.#sessions.remove(session)!
    release()
    this.#app.meters.closed(protocol, writer.written)
    if (user !== null) {
      const { mechanism } = user.access
      const facts = { mailbox: user.account.mailboxId, protocol, client, mechanism, ...record.facts() }
      const bytes = { out: writer.written, in: reader.received }
      this.#app.log.info({ event: 'imap.session_ended', session: session.id, ...facts, bytes }, 'IMAP session ended')
    }
  }
}
