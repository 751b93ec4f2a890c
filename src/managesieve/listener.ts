// The ManageSieve listener on MANAGESIEVE_PORT (STARTTLS): accepts and limits connections, and shuts down.

import { createServer, type Server, type Socket } from 'node:net'
import { ProtocolMeters } from '../access/protocol-meters.ts'
import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Context } from '../context.ts'
import { acceptClient, refuseClient } from '../net/accept.ts'
import { ConnectionCounter } from '../net/connections.ts'
import { listen, portOf } from '../net/listen.ts'
import { CONNECTIONS, SWEEP_MS } from './limits.ts'
import type { SieveSessions } from './sessions.ts'

/** The ManageSieve service. */
export interface ManageSieveService extends Service {
  /** The TCP port it listens on after `start`; 0 before, and when it is switched off. */
  readonly port: number
}

/** Creates the listener when CLIENT_PROTOCOLS names it; the port is bound by `start`. */
export function openManageSieve(app: Context): ManageSieveService {
  return new ManageSieveListener(app)
}

const METERS = {
  connections: 'managesieve_connections',
  logins: 'managesieve_logins_total',
  commands: 'managesieve_commands_total',
}

class ManageSieveListener implements ManageSieveService {
  readonly name = 'managesieve'
  readonly #meters = new ProtocolMeters('ManageSieve', METERS)
  readonly #app: Context
  readonly #connections = new ConnectionCounter(CONNECTIONS)
  readonly #server: Server | null
  /** Open sockets without a session: waiting for a PROXY header. */
  readonly #pending = new Set<Socket>()
  #sessions: Promise<SieveSessions> | undefined
  #sweep: Timer | undefined
  #isStopping = false

  constructor(app: Context) {
    this.#app = app
    app.metrics.add(this.#meters.registry)
    const isServed = app.config.CLIENT_PROTOCOLS.includes('managesieve')
    this.#server = isServed ? createServer({ allowHalfOpen: true, noDelay: true }, (one) => this.#handle(one)) : null
  }

  get port(): number {
    return portOf(this.#server)
  }

  async start(): Promise<void> {
    if (this.#server === null) return
    const { config, clock, log } = this.#app
    const { MANAGESIEVE_PORT: port, CLIENT_BIND: host } = config
    const settings = ['MANAGESIEVE_PORT', 'CLIENT_BIND'] as const
    await listen(this.#server, { protocol: 'ManageSieve', port, host, settings })
    this.#server.on('error', (error) =>
      log.error({ event: 'managesieve.listener_error', err: error }, 'ManageSieve listener error'),
    )
    this.#sweep = clock.every(SWEEP_MS, () => {
      this.#sessions?.then((sessions) => sessions.checkDeadlines()).catch(() => {})
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    if (this.#server === null) resolve()
    else this.#server.close(() => resolve())
    for (const socket of this.#pending) socket.destroy()
    await (await this.#sessions)?.stop()
    await closed
    this.#sweep?.cancel()
  }

  #handle(socket: Socket): void {
    this.#pending.add(socket)
    this.#accept(socket)
      .catch((error: unknown) => {
        this.#app.log.error({ event: 'managesieve.accept_failed', err: error }, 'Connection could not be accepted')
        socket.destroy()
      })
      .finally(() => this.#pending.delete(socket))
  }

  async #accept(socket: Socket): Promise<void> {
    const { config, clock } = this.#app
    const proxies = config.PROXY_PROTOCOL_FROM
    const accepted = await acceptClient(socket, { clock, counter: this.#connections, proxies, secure: null })
    if (typeof accepted === 'string') return refuseClient(socket, 'BYE (TRYLATER) "Too many connections."')
    const sessions = await this.#opened().catch((error: unknown) => {
      accepted.release()
      throw error
    })
    if (!this.#isStopping && !socket.destroyed) return sessions.open(accepted)
    accepted.release()
    socket.destroy()
  }

  #opened(): Promise<SieveSessions> {
    this.#sessions ??= this.#load().catch((error: unknown) => {
      // The next connection tries again.
      this.#sessions = undefined
      throw error
    })
    return this.#sessions
  }

  async #load(): Promise<SieveSessions> {
    const { SieveSessions: Sessions } = await import('./sessions.ts')
    return new Sessions(this.#app, this.#connections, this.#meters)
  }
}
