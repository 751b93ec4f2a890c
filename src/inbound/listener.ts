// SMTP listener on port SMTP_PORT: accepts and limits connections, opens a session for each, and shuts down gracefully.

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import type { Timer } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import { ConnectionCounter, isListed, plainAddress } from '../net/connections.ts'
import { takeProxyHeader } from '../net/proxy-protocol.ts'
import { findRemoteName } from '../net/reverse-name.ts'
import { CLOSING_MS, SWEEP_MS } from '../smtp/limits.ts'
import { openProtocol } from '../smtp/protocol.ts'
import { line, replies, type SmtpReply } from '../smtp/replies.ts'
import { Spool } from '../smtp/spool.ts'
import { Bounces } from './bounces.ts'
import { Journal } from './journal.ts'
import { MessageReceiver } from './receive.ts'
import { isRejected, Recipients } from './recipients.ts'
import { refusals } from './refusals.ts'
import { ReportAddresses } from './report-address.ts'
import { type SessionHandler, SmtpSession } from './session.ts'
import { SourceThrottle } from './source-throttle.ts'
import { SplitRecipients } from './split-recipients.ts'

/** The inbound SMTP service. */
export interface Inbound extends Service {
  /** TCP port it listens on after `start`; 0 before. */
  readonly port: number
}

/** Creates the listener for SMTP_PORT; the port is bound by `start`. */
export function openInbound(app: Context): Inbound {
  return new Listener(app)
}

interface Source {
  address: string
  port: number
}

class Listener implements Inbound {
  readonly name = 'smtp'
  readonly #app: Context
  readonly #spool: Spool
  readonly #journal: Journal
  readonly #connections: ConnectionCounter
  readonly #throttle: SourceThrottle
  readonly #server: Server
  readonly #protocol: SMTPServer
  readonly #handler: SessionHandler
  /** Open sockets without a session: waiting for a PROXY header. */
  readonly #pendingSockets = new Set<Socket>()
  readonly #sessions = new Map<SmtpSession, () => void>()
  readonly #inFlight = new Set<Promise<unknown>>()
  #sweep: Timer | undefined
  #emptied: (() => void) | undefined

  constructor(app: Context) {
    const { config, clock, log, store, directory, db } = app
    this.#app = app
    this.#spool = new Spool(app.folder.spool)
    this.#journal = new Journal({ db, inboundLog: store.inboundLog, clock, log })
    this.#connections = new ConnectionCounter({
      total: config.SMTP_MAX_CONNECTIONS,
      perAddress: config.SMTP_MAX_PER_ADDRESS,
    })
    this.#throttle = new SourceThrottle({ clock, log })
    this.#protocol = openProtocol({ hostName: config.MAIL_HOSTS[0]!, tls: app.folder.tls, log })
    const splitRecipients = new SplitRecipients(clock)
    const { emails, feedback } = app.outbound
    const reports = new ReportAddresses({ config, vault: app.vault, emails })
    const recipients = new Recipients({ directory, accounts: store.accounts, clock, splitRecipients, reports })
    const bounces = new Bounces({ feedback, journal: this.#journal, log })
    const shared = { app, spool: this.#spool, journal: this.#journal, throttle: this.#throttle }
    const receiver = new MessageReceiver({ ...shared, recipients, splitRecipients, bounces })
    this.#handler = this.#openHandler(recipients, receiver)
    // A client may close its sending half after its last command and still read the replies (Exim does).
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#accept(socket).catch((error: unknown) => {
        log.error({ event: 'smtp.accept_failed', err: error }, 'SMTP connection could not be accepted')
        socket.destroy()
      })
    })
  }

  get port(): number {
    return (this.#server.address() as { port: number } | null)?.port ?? 0
  }

  async start(): Promise<void> {
    const { config, clock, log } = this.#app
    await this.#spool.open()
    try {
      this.#server.listen(config.SMTP_PORT, config.SMTP_BIND)
      await once(this.#server, 'listening')
    } catch (cause) {
      const reason = (cause as NodeJS.ErrnoException).code ?? String(cause)
      const message = `The SMTP port ${config.SMTP_PORT} of ${config.SMTP_BIND} cannot be opened (${reason}). Check SMTP_PORT and SMTP_BIND.`
      throw new ProductError('service_unavailable', message, { cause })
    }
    // For example EMFILE: connections fail until file descriptors are free again; the listener stays open.
    this.#server.on('error', (error) => log.error({ event: 'smtp.listener_error', err: error }, 'SMTP listener error'))
    this.#sweep = clock.every(SWEEP_MS, () => this.#checkDeadlines())
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#pendingSockets) socket.destroy()
    for (const session of this.#sessions.keys()) session.retire()
    const cut = this.#app.clock.after(CLOSING_MS, () => {
      for (const session of this.#sessions.keys()) session.cut()
    })
    await new Promise<void>((resolve) => {
      this.#emptied = resolve
      if (this.#sessions.size === 0) resolve()
    })
    cut.cancel()
    await Promise.all(this.#inFlight)
    await closed
    this.#sweep?.cancel()
    await this.#journal.flush()
  }

  #checkDeadlines(): void {
    const now = this.#app.clock.now()
    for (const session of this.#sessions.keys()) session.checkDeadline(now)
    this.#track(this.#journal.countProbes())
  }

  async #accept(socket: Socket): Promise<void> {
    // The peer may reset the connection at any time; the session adds its own error listener.
    socket.on('error', () => {})
    if (!this.#connections.open()) return rejectConnection(socket, replies.tooMany)
    this.#pendingSockets.add(socket)
    const closed = () => {
      this.#pendingSockets.delete(socket)
      this.#connections.close()
    }
    socket.once('close', closed)
    const source = await this.#sourceOf(socket)
    if (source === null) return rejectConnection(socket, replies.badProxy)
    if (this.#throttle.delay(source.address) === null) return rejectConnection(socket, replies.blocked)
    const uncount = this.#connections.count(source.address)
    if (!uncount) return rejectConnection(socket, replies.tooManyHere)
    if (socket.destroyed || !this.#server.listening) {
      uncount()
      socket.destroy()
      return
    }
    // From here on the session reports its end itself: STARTTLS removes every listener from the socket.
    socket.off('close', closed)
    this.#pendingSockets.delete(socket)
    const session = new SmtpSession(this.#protocol, socket, source, this.#handler)
    this.#sessions.set(session, () => {
      uncount()
      closed()
    })
    session.init()
  }

  /** @returns null when a trusted proxy did not send a valid PROXY header */
  async #sourceOf(socket: Socket): Promise<Source | null> {
    const own = { address: plainAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 }
    if (!isListed(own.address, this.#app.config.PROXY_PROTOCOL_FROM)) return own
    const header = await takeProxyHeader(socket, this.#app.clock)
    if (header === 'wrong') return null
    return header.source ? { ...header.source, address: plainAddress(header.source.address) } : own
  }

  #openHandler(recipients: Recipients, receiver: MessageReceiver): SessionHandler {
    const { clock, log, resolver } = this.#app
    return {
      clock,
      lookupName: (address) => findRemoteName(address, resolver),
      evaluateRecipient: async (path, { sender, recipients: accepted, report }, peer) => {
        try {
          const verdict = await recipients.evaluate(path, { sender, recipients: accepted, report })
          if (!isRejected(verdict)) return verdict
          // Address harvesting probes domains as well as local parts.
          if (verdict.refusal === refusals.unknown || verdict.refusal === refusals.foreign)
            this.#throttle.offended(peer.address, 'unknown_recipient')
          await this.#journal.noteRefusedRecipient(verdict, sender, peer)
          return verdict.refusal.reply
        } catch (error) {
          log.error({ event: 'smtp.recipient_lookup_failed', err: error }, 'Recipient could not be looked up')
          return refusals.failure.reply
        }
      },
      receive: (content, transaction, peer) => this.#track(receiver.receive(content, transaction, peer)),
      delay: (address) => this.#throttle.delay(address),
      noteProtocolError: (address) => this.#throttle.offended(address, 'protocol_error'),
      noteLineError: (error, peer) => this.#journal.countLineError(error, peer),
      sessionClosed: (session) => this.#removeSession(session),
    }
  }

  #removeSession(session: SmtpSession): void {
    this.#sessions.get(session)?.()
    this.#sessions.delete(session)
    if (this.#sessions.size === 0) this.#emptied?.()
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#inFlight.delete(tracked))
    this.#inFlight.add(tracked)
    return tracked
  }
}

function rejectConnection(socket: Socket, reply: SmtpReply): void {
  if (socket.destroyed) return
  socket.end(`${line(reply)}\r\n`)
  socket.destroySoon()
}
