// Connections to remote mail servers, kept open briefly for the next message to the same server.

import type { Clock } from '../../../base/clock.ts'
import { type Connection, openConnection, type ServerSettings } from '../smtp/connection.ts'
import { SmtpError } from '../smtp/errors.ts'
import { Pool } from '../smtp/pool.ts'
import { ownReply } from '../smtp/reply.ts'
import { HostGate, NotConnected, REQUEUE_MS } from './host-gate.ts'

/** Maximum number of concurrent connections to one server, across all its domains. */
export const HOST_CONNECTIONS_MAX = 10
/** Maximum number of servers with idle connections. */
export const KEPT_SERVERS_MAX = 100

interface ServersDeps {
  clock: Clock
  /** TCP port to connect to. */
  port: number
  /** Our host name in EHLO. */
  helo: string
}

export class Servers {
  /** Decides which addresses may be connected to now. */
  readonly gate: HostGate
  readonly #deps: ServersDeps
  readonly #pools = new Map<string, Pool>()

  constructor(deps: ServersDeps) {
    this.#deps = deps
    this.gate = new HostGate(deps.clock)
  }

  /** The connection pool for one address of a host. */
  at(host: string, address: string): Pool {
    const key = `${host} ${address}`
    const known = this.#pools.get(key)
    if (known !== undefined) return known
    const pool: Pool = new Pool({
      clock: this.#deps.clock,
      most: HOST_CONNECTIONS_MAX,
      open: (signal) => this.gate.connect(address, signal, () => this.#open(host, address, signal)),
      stalled: () => {
        const reply = ownReply(`${address} has not answered to earlier messages yet.`)
        return new NotConnected(new SmtpError('timeout', 'connect', reply), this.#deps.clock.now() + REQUEUE_MS, false)
      },
      mayKeep: () => this.#pools.size <= KEPT_SERVERS_MAX,
      onEmpty: () => {
        if (this.#pools.get(key) === pool) this.#pools.delete(key)
      },
    })
    this.#pools.set(key, pool)
    return pool
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()))
  }

  /** Uses TLS if offered, with any certificate: cleartext would be worse (RFC 7435). @throws SmtpError */
  async #open(host: string, address: string, signal: AbortSignal): Promise<Connection> {
    const { clock, port, helo } = this.#deps
    const settings: ServerSettings = { host, port, security: 'offered', credentials: null, helo }
    const connection = await openConnection(address, settings, { clock, signal }).catch((error: unknown) => {
      if (!(error instanceof SmtpError) || error.stage !== 'tls' || signal.aborted) throw error
      return openConnection(address, { ...settings, security: 'none' }, { clock, signal })
    })
    if (connection.greeting !== helo) return connection
    void connection.channel.quit()
    const sentence = `${host} greets with the name of this appliance: the message would loop.`
    throw new SmtpError('refused', 'greeting', ownReply(sentence, LOOP), 'transient')
  }
}

/** Enhanced status code of a routing loop (RFC 3463 §3.5). */
export const LOOP = '5.4.6'
