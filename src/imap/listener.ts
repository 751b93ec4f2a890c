// IMAP listeners on IMAPS_PORT (TLS) and IMAP_PORT (STARTTLS): accept and limit connections, open sessions, shut down gracefully.

import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { SignedIn } from '../access/signed-in.ts'
import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import { LISTENER_PORTS } from '../config/client-listeners.ts'
import { clientHost } from '../config/client-protocols.ts'
import type { Context } from '../context.ts'
import { type AcceptedClient, acceptClient, refuseClient } from '../net/accept.ts'
import { ConnectionCounter } from '../net/connections.ts'
import { listen, portOf } from '../net/listen.ts'
import { OpenSessions } from '../net/open-sessions.ts'
import { Spool } from '../smtp/spool.ts'
import { COMMANDS } from './commands/commands.ts'
import { SWEEP_MS } from './grammar/limits.ts'
import { Searcher } from './search/searcher.ts'
import { SortOrders } from './search/sort-orders.ts'
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

/** The IMAP service. */
export interface ImapService extends Service {
  /** TCP ports it listens on after `start`; 0 before, and for listeners that are switched off. */
  readonly ports: { imaps: number; imap: number }
}

/** Creates the listeners that CLIENT_PROTOCOLS names; the ports are bound by `start`. */
export function openImap(app: Context): ImapService {
  return new ImapListener(app)
}

type Protocol = 'imaps' | 'imap'

const PROTOCOLS: readonly Protocol[] = ['imaps', 'imap']
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

class ImapListener implements ImapService {
  readonly name = 'imap'
  readonly #app: ImapDeps
  readonly #connections: ConnectionCounter
  readonly #servers = new Map<Protocol, Server>()
  /** Open sockets without a session: waiting for a PROXY header or a TLS handshake. */
  readonly #pending = new Set<Socket>()
  readonly #sessions = new OpenSessions<ImapSession, OpenSession>()
  #sweep: Timer | undefined
  #isStopping = false

  constructor(app: Context) {
    const { config, store, folder } = app
    this.#connections = new ConnectionCounter({
      total: config.IMAP_MAX_CONNECTIONS,
      perAddress: config.IMAP_MAX_PER_ADDRESS,
      perMailbox: config.IMAP_MAX_PER_MAILBOX,
    })
    const views = new ViewCache({ views: store.views, db: app.db, clock: app.clock }, (n) => this.#storeRecent(n))
    const searcher = new Searcher({ mail: app.db.file, blobs: app.blobsDb.file })
    const compression = new CompressionSlots(config.IMAP_MAX_COMPRESSED)
    const open = () => [...this.#sessions]
    const meters = new ImapMeters({
      openBytes: () => open().reduce((sum, { writer }) => sum + writer.written, 0),
      views: () => views.size,
      compressed: () => compression.used,
      blocked: () => open().filter(({ writer }) => writer.blockedSince !== null).length,
    })
    const appendSpool = new Spool(join(folder.path, 'spool-imap'), APPEND_SPOOL)
    const annotationChanges = new AnnotationChanges()
    const sortOrders = new SortOrders()
    const shared = { views, annotationChanges, searcher, sortOrders, appendSpool, compression, meters }
    this.#app = { ...app, ...shared, connections: this.#connections }
    app.metrics.add(meters.registry)
    for (const protocol of PROTOCOLS) {
      if (config.CLIENT_PROTOCOLS.includes(protocol)) this.#servers.set(protocol, this.#createServer(protocol))
    }
  }

  get ports(): { imaps: number; imap: number } {
    return { imaps: portOf(this.#servers.get('imaps')), imap: portOf(this.#servers.get('imap')) }
  }

  async start(): Promise<void> {
    const { config, clock, log, appendSpool } = this.#app
    if (this.#servers.size === 0) return
    await appendSpool.open()
    for (const [protocol, server] of this.#servers) {
      const settings = [LISTENER_PORTS[protocol], 'CLIENT_BIND'] as const
      await listen(server, { protocol: 'IMAP', port: config[settings[0]], host: config.CLIENT_BIND, settings })
      server.on('error', (error) => log.error({ event: 'imap.listener_error', err: error }, 'IMAP listener error'))
    }
    this.#sweep = clock.every(SWEEP_MS, () => this.#checkDeadlines())
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    const closed = [...this.#servers.values()].map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    )
    for (const socket of this.#pending) socket.destroy()
    await this.#sessions.end({
      clock: this.#app.clock,
      retire: (session) => session.retire(),
      cut: (session) => session.destroy(),
    })
    await Promise.all([...closed, this.#app.searcher.close()])
    this.#sweep?.cancel()
    this.#app.views.close()
  }

  #checkDeadlines(): void {
    for (const session of this.#sessions) checkSession(session)
  }

  #createServer(protocol: Protocol): Server {
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#accept(socket, protocol).catch((error: unknown) => {
        this.#app.log.error({ event: 'imap.accept_failed', err: error }, 'IMAP connection could not be accepted')
        socket.destroy()
      })
    })
  }

  async #accept(socket: Socket, protocol: Protocol): Promise<void> {
    const { config, clock, certificate } = this.#app
    this.#pending.add(socket)
    try {
      const accepted = await acceptClient(socket, {
        clock,
        counter: this.#connections,
        proxies: config.PROXY_PROTOCOL_FROM,
        secure: protocol === 'imaps' ? (raw) => certificate.secure(raw, { clock, alpn: ALPN }) : null,
      })
      if (typeof accepted === 'string') return refuseClient(socket, protocol === 'imap' ? TOO_MANY : null)
      if (!this.#isStopping && !accepted.socket.destroyed) return this.#open(accepted, protocol)
      accepted.release()
      accepted.socket.destroy()
    } finally {
      this.#pending.delete(socket)
    }
  }

  #open({ socket, source, tls, release }: AcceptedClient, protocol: Protocol): void {
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
      await db.write((tx) => store.views.takeRecent(tx, folder))
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
