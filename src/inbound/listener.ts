// The SMTP door: takes connections, bounds them, gives each its session, and closes in order.

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import type { Timer } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import { Connections, isListed, plainAddress } from '../net/connections.ts'
import { takeProxyHeader } from '../net/proxy-protocol.ts'
import { findRemoteName } from '../net/reverse-name.ts'
import { CLOSING_MS, SWEEP_MS } from '../smtp/limits.ts'
import { openProtocol } from '../smtp/protocol.ts'
import { line, type Reply, replies } from '../smtp/replies.ts'
import { Spool } from '../smtp/spool.ts'
import { Bounces } from './bounces.ts'
import { Journal } from './journal.ts'
import { Receiver } from './receive.ts'
import { isTurned, Recipients } from './recipients.ts'
import { refusals } from './refusals.ts'
import { ReportAddresses } from './report-address.ts'
import { type Desk, Session } from './session.ts'
import { SourceThrottle } from './source-throttle.ts'
import { Divisions } from './split-recipients.ts'

/** What the SMTP door tells the operator. */
export interface Inbound extends Service {
  /** TCP port it listens on, once started. */
  readonly port: number
}

/** The door on port SMTP_PORT; nothing is bound before `start`. */
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
  readonly #connections: Connections
  readonly #throttle: SourceThrottle
  readonly #server: Server
  readonly #protocol: SMTPServer
  readonly #desk: Desk
  /** Open sockets that have no session yet. */
  readonly #waiting = new Set<Socket>()
  readonly #sessions = new Map<Session, () => void>()
  readonly #atWork = new Set<Promise<unknown>>()
  #sweep: Timer | undefined
  #emptied: (() => void) | undefined

  constructor(app: Context) {
    const { config, clock, log, store, directory, db } = app
    this.#app = app
    this.#spool = new Spool(app.folder.spool)
    this.#journal = new Journal({ db, inboundLog: store.inboundLog, clock, log })
    this.#connections = new Connections({ total: config.SMTP_MAX_CONNECTIONS, perAddress: config.SMTP_MAX_PER_ADDRESS })
    this.#throttle = new SourceThrottle({ clock, log })
    this.#protocol = openProtocol({ hostName: config.MAIL_HOSTS[0]!, tls: app.folder.tls, log })
    const divisions = new Divisions(clock)
    const { emails, feedback } = app.outbound
    const reports = new ReportAddresses({ config, vault: app.vault, emails })
    const recipients = new Recipients({ directory, accounts: store.accounts, clock, divisions, reports })
    const bounces = new Bounces({ feedback, journal: this.#journal, log })
    const own = { app, spool: this.#spool, journal: this.#journal, throttle: this.#throttle }
    const receiver = new Receiver({ ...own, recipients, divisions, bounces })
    this.#desk = this.#openDesk(recipients, receiver)
    // A peer that has sent its last command may close its half at once and still reads the answers (Exim does).
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#accept(socket).catch((error: unknown) => {
        log.error({ err: error }, 'an SMTP connection could not be taken')
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
      const message = `The SMTP port ${config.SMTP_PORT} of ${config.SMTP_BIND} cannot be opened (${reason}); see SMTP_PORT and SMTP_BIND.`
      throw new ProductError('service_unavailable', message, { cause })
    }
    // No file handles left, for one: connections are lost until there are some, the door stays open.
    this.#server.on('error', (error) => log.error({ err: error }, 'the SMTP port could not take a connection'))
    this.#sweep = clock.every(SWEEP_MS, () => this.#lookAround())
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#waiting) socket.destroy()
    for (const session of this.#sessions.keys()) session.retire()
    const cut = this.#app.clock.after(CLOSING_MS, () => {
      for (const session of this.#sessions.keys()) session.cut()
    })
    await new Promise<void>((resolve) => {
      this.#emptied = resolve
      if (this.#sessions.size === 0) resolve()
    })
    cut.cancel()
    await Promise.all(this.#atWork)
    await closed
    this.#sweep?.cancel()
    await this.#journal.flush()
  }

  #lookAround(): void {
    const now = this.#app.clock.now()
    for (const session of this.#sessions.keys()) session.checkDeadline(now)
    this.#track(this.#journal.countProbes())
  }

  async #accept(socket: Socket): Promise<void> {
    // A peer may break off at any moment; the session listens itself as soon as there is one.
    socket.on('error', () => {})
    if (!this.#connections.enter()) return turnAway(socket, replies.tooMany)
    this.#waiting.add(socket)
    const leave = () => {
      this.#waiting.delete(socket)
      this.#connections.leave()
    }
    socket.once('close', leave)
    const source = await this.#sourceOf(socket)
    if (source === null) return turnAway(socket, replies.badProxy)
    if (this.#throttle.delay(source.address) === null) return turnAway(socket, replies.blocked)
    const forget = this.#connections.count(source.address)
    if (!forget) return turnAway(socket, replies.tooManyHere)
    if (socket.destroyed || !this.#server.listening) {
      forget()
      socket.destroy()
      return
    }
    // From here on the session tells when it is over: STARTTLS takes every listener off the socket.
    socket.off('close', leave)
    this.#waiting.delete(socket)
    const session = new Session(this.#protocol, socket, source, this.#desk)
    this.#sessions.set(session, () => {
      forget()
      leave()
    })
    session.init()
  }

  /** @returns null when a proxy we believe did not say who connects */
  async #sourceOf(socket: Socket): Promise<Source | null> {
    const own = { address: plainAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 }
    if (!isListed(own.address, this.#app.config.PROXY_PROTOCOL_FROM)) return own
    const header = await takeProxyHeader(socket, this.#app.clock)
    if (header === 'wrong') return null
    return header.source ? { ...header.source, address: plainAddress(header.source.address) } : own
  }

  #openDesk(recipients: Recipients, receiver: Receiver): Desk {
    const { clock, log, resolver } = this.#app
    return {
      clock,
      findName: (address) => findRemoteName(address, resolver),
      judge: async (path, { sender, recipients: taken, report }, peer) => {
        try {
          const verdict = await recipients.judge(path, { sender, recipients: taken, report })
          if (!isTurned(verdict)) return verdict
          // Whoever tries addresses tries domains as well.
          if (verdict.refusal === refusals.unknown || verdict.refusal === refusals.foreign)
            this.#throttle.offended(peer.address, 'unknown_recipient')
          await this.#journal.refuseRecipient(verdict, sender, peer)
          return verdict.refusal.reply
        } catch (error) {
          log.error({ err: error }, 'a recipient could not be looked up')
          return refusals.failure.reply
        }
      },
      receive: (content, transaction, peer) => this.#track(receiver.receive(content, transaction, peer)),
      delay: (address) => this.#throttle.delay(address),
      noteProtocolError: (address) => this.#throttle.offended(address, 'protocol_error'),
      noteFault: (fault, peer) => this.#journal.countFault(fault, peer),
      left: (session) => this.#forget(session),
    }
  }

  #forget(session: Session): void {
    this.#sessions.get(session)?.()
    this.#sessions.delete(session)
    if (this.#sessions.size === 0) this.#emptied?.()
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#atWork.delete(tracked))
    this.#atWork.add(tracked)
    return tracked
  }
}

function turnAway(socket: Socket, reply: Reply): void {
  if (socket.destroyed) return
  socket.end(`${line(reply)}\r\n`)
  socket.destroySoon()
}
