// The listener of a mail protocol: binds its ports, accepts connections, and shuts down with the sessions on them.

import { createServer, type Server, type Socket } from 'node:net'
import type { Clock, Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Log } from '../base/log.ts'
import { listen, portOf } from './listen.ts'

export interface ListenerPort<P extends string> {
  name: P
  port: number
  host: string
  /** Names of the settings of port and host. */
  settings: readonly [port: string, host: string]
  isServed: boolean
}

export interface MailListenerOptions<P extends string> {
  clock: Clock
  log: Log
  /** As its events in the log begin. */
  name: string
  /** As errors name it: `IMAP`. */
  protocol: string
  ports: readonly ListenerPort<P>[]
  socketOptions: { noDelay: true } | { pauseOnConnect: true }
  /** Begins to serve a connection; its socket is destroyed when that fails. */
  accept(socket: Socket, port: P): Promise<void> | void
  /** Called before the first port is bound; not at all when none is served. */
  open?(): Promise<void>
  /** Called every `sweepMs`: ends what is idle or hangs. */
  sweep(): void
  sweepMs: number
  /** Ends the sessions in order. */
  endSessions(): Promise<void>
  /** Closes what the sessions have shared, when all have ended. */
  close?(): Promise<void>
}

export class MailListener<P extends string> implements Service {
  readonly name: string
  readonly #options: MailListenerOptions<P>
  readonly #servers: ReadonlyMap<ListenerPort<P>, Server>
  /** Open sockets without a session: waiting for a PROXY header or a TLS handshake. */
  readonly #pending = new Set<Socket>()
  #sweep: Timer | undefined
  #isStopping = false

  constructor(options: MailListenerOptions<P>) {
    this.name = options.name
    this.#options = options
    const served = options.ports.filter(({ isServed }) => isServed)
    this.#servers = new Map(served.map((port) => [port, this.#createServer(port.name)]))
  }

  /** The TCP port of each by name: 0 before `start`, and for one that is not served. */
  get ports(): Record<P, number> {
    return Object.fromEntries(
      this.#options.ports.map((port) => [port.name, portOf(this.#servers.get(port))] as const),
    ) as Record<P, number>
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** @throws ProductError service_unavailable when a port cannot be opened */
  async start(): Promise<void> {
    const { clock, log, name, protocol, open, sweep, sweepMs } = this.#options
    if (this.#servers.size === 0) return
    await open?.()
    for (const [{ port, host, settings }, server] of this.#servers) {
      await listen(server, { protocol, port, host, settings })
      // For example EMFILE: connections fail until file descriptors are free again; the listener stays open.
      server.on('error', (error) => log.error({ event: `${name}.listener_error`, err: error }, 'Listener error'))
    }
    this.#sweep = clock.every(sweepMs, sweep)
  }

  async stop(): Promise<void> {
    const { endSessions, close } = this.#options
    this.#isStopping = true
    const closed = [...this.#servers.values()].map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    )
    for (const socket of this.#pending) socket.destroy()
    await endSessions()
    await Promise.all(closed)
    this.#sweep?.cancel()
    await close?.()
  }

  #createServer(port: P): Server {
    // A client may close its sending half after its last command and still read the replies (Exim does).
    const options = { allowHalfOpen: true, ...this.#options.socketOptions }
    return createServer(options, (socket) => void this.#accept(socket, port))
  }

  async #accept(socket: Socket, port: P): Promise<void> {
    const { accept, log, name } = this.#options
    this.#pending.add(socket)
    try {
      await accept(socket, port)
    } catch (error) {
      log.error({ event: `${name}.accept_failed`, err: error }, 'Connection could not be accepted')
      socket.destroy()
    } finally {
      this.#pending.delete(socket)
    }
  }
}
