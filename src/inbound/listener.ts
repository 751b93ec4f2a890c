// SMTP listener on port SMTP_PORT, in the first thread: accepts, counts and limits connections, and hands each to a receiver.

import { createServer, type Server, type Socket } from 'node:net'
import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import { ConnectionCounter, isListed, plainAddress } from '../net/connections.ts'
import { listen, portOf } from '../net/listen.ts'
import { SWEEP_MS } from '../smtp/limits.ts'
import { replies, type SmtpReply } from '../smtp/replies.ts'
import { Spool } from '../smtp/spool.ts'
import { ReceiveThreads, type ReceiveThreadsDeps } from './receive-threads.ts'
import type { AcceptedConnection, ConnectionOwner, Receiver } from './receiver.ts'
import { rejectConnection } from './reject-connection.ts'
import { SharedState } from './shared-state.ts'
import { InboundWriter } from './writer.ts'

/** The inbound SMTP service. */
export interface Inbound extends Service {
  /** TCP port it listens on after `start`; 0 before. */
  readonly port: number
}

/** Creates the listener for SMTP_PORT; the port is bound by `start`. */
export function openInbound(app: Context): Inbound {
  return new Listener(app)
}

/** What serves connections: the receive threads, or a receiver in this thread. */
type Receivers = Pick<ReceiveThreads, 'connect' | 'closed' | 'check' | 'stop'>

class Listener implements Inbound, ConnectionOwner {
  readonly name = 'smtp'
  readonly #app: Context
  readonly #writer: InboundWriter
  readonly #shared: SharedState
  readonly #counter: ConnectionCounter
  /** By the id of each open connection: ends its count for its source. */
  readonly #open = new Map<number, () => void>()
  readonly #server: Server
  #receivers: Receivers | undefined
  #lastId = 0
  #sweep: Timer | undefined

  constructor(app: Context) {
    const { config, clock, log } = app
    this.#app = app
    this.#writer = new InboundWriter(app)
    this.#shared = new SharedState(clock, log)
    this.#counter = new ConnectionCounter({
      total: config.SMTP_MAX_CONNECTIONS,
      perAddress: config.SMTP_MAX_PER_ADDRESS,
    })
    // A client may close its sending half after its last command and still read the replies (Exim does). Only a socket of which nothing
    // was read can be handed to another thread.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      try {
        this.#accept(socket)
      } catch (error) {
        log.error({ event: 'smtp.accept_failed', err: error }, 'SMTP connection could not be accepted')
        socket.destroy()
      }
    })
  }

  get port(): number {
    return portOf(this.#server)
  }

  async start(): Promise<void> {
    const { config, clock, log } = this.#app
    this.#receivers = await this.#openReceivers()
    const settings = ['SMTP_PORT', 'SMTP_BIND'] as const
    await listen(this.#server, { protocol: 'SMTP', port: config.SMTP_PORT, host: config.SMTP_BIND, settings })
    // For example EMFILE: connections fail until file descriptors are free again; the listener stays open.
    this.#server.on('error', (error) => log.error({ event: 'smtp.listener_error', err: error }, 'SMTP listener error'))
    this.#sweep = clock.every(SWEEP_MS, () => {
      this.#receivers!.check()
      this.#writer.countProbes()
    })
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await this.#receivers?.stop()
    await closed
    this.#sweep?.cancel()
    await this.#writer.flush()
  }

  admit(id: number, address: string): Promise<SmtpReply | null> {
    return Promise.resolve(this.#admit(id, address))
  }

  closed(id: number): void {
    const uncount = this.#open.get(id)
    if (uncount === undefined) return
    this.#open.delete(id)
    uncount()
    this.#counter.close()
    this.#receivers!.closed(id)
  }

  #accept(socket: Socket): void {
    // The peer may reset the connection at any time.
    socket.on('error', () => {})
    if (!this.#counter.open()) {
      rejectConnection(socket, replies.tooMany)
      return
    }
    const id = ++this.#lastId
    this.#open.set(id, () => {})
    const own = { address: plainAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 }
    const source = isListed(own.address, this.#app.config.PROXY_PROTOCOL_FROM) ? null : own
    const refusal = source && this.#admit(id, own.address)
    if (refusal === null && this.#hand({ id, socket, source })) return
    socket.once('close', () => this.closed(id))
    rejectConnection(socket, refusal ?? replies.closing)
  }

  /** @returns false when the connection cannot be served */
  #hand(connection: AcceptedConnection): boolean {
    try {
      return this.#receivers!.connect(connection)
    } catch (error) {
      this.closed(connection.id)
      throw error
    }
  }

  /** Counts a connection for its source. @returns the reply that refuses it, or null */
  #admit(id: number, address: string): SmtpReply | null {
    if (this.#shared.throttle.delay(address) === null) return replies.blocked
    const uncount = this.#counter.count(address)
    if (!uncount) return replies.tooManyHere
    if (this.#open.has(id)) this.#open.set(id, uncount)
    else uncount()
    return null
  }

  async #openReceivers(): Promise<Receivers> {
    const app = this.#app
    const deps = { app, writer: this.#writer, shared: this.#shared, connections: this, certificate: app.certificate }
    if (app.config.RECEIVE_THREADS === 0) return openReceiver(deps)
    // Each thread has a folder of its own in it.
    await new Spool(app.folder.spool).open()
    return new ReceiveThreads(deps)
  }
}

/** A receiver in this thread; loaded only when it is used. */
async function openReceiver({ app, shared, ...rest }: ReceiveThreadsDeps): Promise<Receivers> {
  const loaded = await import('./receiver.ts')
  const { throttle, splitRecipients } = shared
  const own = { ...rest, throttle, splitRecipients, spoolFolder: app.folder.spool, share: 1 }
  const receiver: Receiver = new loaded.Receiver({ ...app, ...own, emails: app.outbound.log.emails })
  await receiver.start()
  return {
    connect: (connection) => {
      receiver.connect(connection)
      return true
    },
    closed: () => {},
    check: () => {},
    stop: () => receiver.stop(),
  }
}
