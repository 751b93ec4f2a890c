// The SMTP listener on SMTP_PORT, in the first thread: counts and limits connections, and hands each to a receiver.

import type { Socket } from 'node:net'
import type { Context } from '../context.ts'
import { ConnectionCounter, isListed, plainAddress, refuseConnection } from '../net/connections.ts'
import { MailListener } from '../net/mail-listener.ts'
import { SWEEP_MS } from '../smtp/limits.ts'
import { line, replies, type SmtpReply } from '../smtp/replies.ts'
import { Spool } from '../smtp/spool.ts'
import type { AcceptedConnection, ConnectionOwner } from './connections.ts'
import { ReceiveThreads, type ReceiveThreadsDeps } from './receive-threads.ts'
import type { Receiver } from './receiver.ts'
import { SharedState } from './shared-state.ts'
import { InboundWriter } from './writer.ts'

/** Creates the listener on SMTP_PORT. */
export function openInbound(app: Context): MailListener<'smtp'> {
  const { clock, config, log } = app
  const connections = new InboundConnections(app)
  return new MailListener({
    ...{ clock, log, name: 'smtp', protocol: 'SMTP' },
    ports: [
      {
        name: 'smtp',
        port: config.SMTP_PORT,
        host: config.SMTP_BIND,
        settings: ['SMTP_PORT', 'SMTP_BIND'],
        isServed: true,
      },
    ],
    // Only a socket of which nothing was read can be handed to another thread.
    socketOptions: { pauseOnConnect: true },
    accept: (socket) => connections.accept(socket),
    open: () => connections.open(),
    sweep: () => connections.sweep(),
    sweepMs: SWEEP_MS,
    endSessions: () => connections.stop(),
    close: () => connections.flush(),
  })
}

/** What serves connections: the receive threads, or a receiver in this thread. */
type Receivers = Pick<ReceiveThreads, 'connect' | 'closed' | 'check' | 'stop'>

class InboundConnections implements ConnectionOwner {
  readonly #app: Context
  readonly #writer: InboundWriter
  readonly #shared: SharedState
  readonly #counter: ConnectionCounter
  /** By the id of each open connection: ends its count for its source. */
  readonly #open = new Map<number, () => void>()
  #receivers: Receivers | undefined
  #lastId = 0

  constructor(app: Context) {
    const { config, clock, log } = app
    this.#app = app
    this.#writer = new InboundWriter(app)
    this.#shared = new SharedState(clock, log)
    this.#counter = new ConnectionCounter({
      total: config.SMTP_MAX_CONNECTIONS,
      perAddress: config.SMTP_MAX_PER_ADDRESS,
    })
  }

  async open(): Promise<void> {
    this.#receivers = await this.#openReceivers()
  }

  sweep(): void {
    this.#receivers!.check()
    this.#writer.countProbes()
  }

  /** Ends the sessions in order. */
  async stop(): Promise<void> {
    await this.#receivers?.stop()
  }

  /** Waits until everything that sessions have handed over is written. */
  flush(): Promise<void> {
    return this.#writer.flush()
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

  accept(socket: Socket): void {
    // The peer may reset the connection at any time.
    socket.on('error', () => {})
    if (!this.#counter.open()) {
      refuseConnection(socket, line(replies.tooMany))
      return
    }
    const id = ++this.#lastId
    this.#open.set(id, () => {})
    const own = { address: plainAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 }
    const source = isListed(own.address, this.#app.config.PROXY_PROTOCOL_FROM) ? null : own
    const refusal = source && this.#admit(id, own.address)
    if (refusal === null && this.#hand({ id, socket, source })) return
    socket.once('close', () => this.closed(id))
    refuseConnection(socket, line(refusal ?? replies.closing))
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
  const spamKey = app.store.spam.learning.key
  const own = { ...rest, throttle, splitRecipients, spoolFolder: app.folder.spool, share: 1, spamKey }
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
