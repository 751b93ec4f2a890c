// Connections to remote mail servers, kept open briefly for the next message to the same server.

import type { Clock } from '../../../base/clock.ts'
import { requirementKey, type TlsRequirement, tlsFailed, verifyPeer } from '../../tls/requirement.ts'
import type { PeerCheck } from '../smtp/channel.ts'
import { type Connection, openConnection, type ServerSettings } from '../smtp/connection.ts'
import { policyError, SmtpError } from '../smtp/errors.ts'
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

  /**
   * The connection pool for one address of a host. A requirement has connections of its own: those that did not meet it are not used.
   * @param requirement null where any connection will do
   */
  at(host: string, address: string, requirement: TlsRequirement | null = null): Pool {
    const key = `${host} ${address} ${requirementKey(requirement)}`
    const known = this.#pools.get(key)
    if (known !== undefined) return known
    const pool: Pool = new Pool({
      clock: this.#deps.clock,
      most: HOST_CONNECTIONS_MAX,
      open: (signal) => this.gate.connect(address, signal, () => this.#open(host, address, requirement, signal)),
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

  /** @throws SmtpError */
  async #open(
    host: string,
    address: string,
    requirement: TlsRequirement | null,
    signal: AbortSignal,
  ): Promise<Connection> {
    const { port, helo } = this.#deps
    const settings: ServerSettings = { host, port, security: 'offered', credentials: null, helo }
    const connection = await (requirement === null
      ? this.#openAny(address, settings, signal)
      : this.#openVerified(address, settings, requirement, signal))
    if (connection.greeting !== helo) return connection
    void connection.channel.quit()
    const sentence = `${host} greets with the name of this appliance: the message would loop.`
    throw new SmtpError('refused', 'greeting', ownReply(sentence, LOOP), 'transient')
  }

  /** Uses TLS if offered, with any certificate: cleartext would be worse (RFC 7435). @throws SmtpError */
  #openAny(address: string, settings: ServerSettings, signal: AbortSignal): Promise<Connection> {
    const { clock } = this.#deps
    return openConnection(address, settings, { clock, signal }).catch((error: unknown) => {
      if (!(error instanceof SmtpError) || error.stage !== 'tls' || signal.aborted) throw error
      return openConnection(address, { ...settings, security: 'none' }, { clock, signal })
    })
  }

  /** With the TLS that a policy requires, never in cleartext. @throws SmtpError */
  async #openVerified(
    address: string,
    settings: ServerSettings,
    requirement: TlsRequirement,
    signal: AbortSignal,
  ): Promise<Connection> {
    const { clock } = this.#deps
    const { host } = settings
    const peerCheck: PeerCheck = {
      serverName: requirement.dane?.base ?? host,
      check(socket) {
        const failure = verifyPeer(socket, requirement, { host, now: clock.now() })
        return failure === null ? null : policyError(failure)
      },
    }
    try {
      return await openConnection(address, { ...settings, security: 'policy', peerCheck }, { clock, signal })
    } catch (error) {
      const isHandshake = error instanceof SmtpError && error.stage === 'tls' && error.cause !== 'tls_policy'
      if (!isHandshake || (error.kind !== 'tls' && error.kind !== 'refused')) throw error
      const failure = error.tlsFailure ?? 'starttls-not-supported'
      throw policyError(tlsFailed(requirement, failure, error.reply.text))
    }
  }
}

/** Enhanced status code of a routing loop (RFC 3463 §3.5). */
export const LOOP = '5.4.6'
