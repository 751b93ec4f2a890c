// Submission listeners on SUBMISSIONS_PORT (TLS) and SUBMISSION_PORT (STARTTLS): accept and limit connections, and shut down.

import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { ProtocolMeters } from '../access/protocol-meters.ts'
import type { Timer } from '../base/clock.ts'
import type { Service } from '../base/lifecycle.ts'
import { LISTENER_PORTS } from '../config/client-listeners.ts'
import type { Context } from '../context.ts'
import { acceptClient, type NotAccepted, refuseClient } from '../net/accept.ts'
import { ConnectionCounter } from '../net/connections.ts'
import { listen, portOf } from '../net/listen.ts'
import { SWEEP_MS } from '../smtp/limits.ts'
import { line, replies, type SmtpReply } from '../smtp/replies.ts'
import { Spool } from '../smtp/spool.ts'
import { CONNECTIONS_MAX, CONNECTIONS_PER_MAILBOX_MAX, SPOOL_LIMITS } from './limits.ts'
import type { SubmissionSessions } from './sessions.ts'

/** The submission service. */
export interface SubmissionService extends Service {
  /** TCP ports it listens on after `start`; 0 before, and for listeners that are switched off. */
  readonly ports: { submissions: number; submission: number }
}

/** Creates the listeners that CLIENT_PROTOCOLS names; the ports are bound by `start`. */
export function openSubmission(app: Context): SubmissionService {
  return new SubmissionListener(app)
}

type Protocol = 'submissions' | 'submission'

const PROTOCOLS: readonly Protocol[] = ['submissions', 'submission']
/** What a client of the STARTTLS listener hears that is not served; with TLS there is no way to say it. */
const REFUSALS: Partial<Record<NotAccepted, SmtpReply>> = {
  too_many: replies.tooMany,
  too_many_here: replies.tooManyHere,
  bad_proxy: replies.badProxy,
}

const METERS = { connections: 'submission_connections', logins: 'submission_logins_total' }

class SubmissionListener implements SubmissionService {
  readonly name = 'submission'
  readonly #app: Context
  readonly #connections: ConnectionCounter
  readonly #spool: Spool
  readonly #meters = new ProtocolMeters('Submission', METERS)
  readonly #servers = new Map<Protocol, Server>()
  /** Open sockets without a session: waiting for a PROXY header or a TLS handshake. */
  readonly #pending = new Set<Socket>()
  #sessions: Promise<SubmissionSessions> | undefined
  #sweep: Timer | undefined
  #isStopping = false

  constructor(app: Context) {
    const { config, folder } = app
    this.#app = app
    app.metrics.add(this.#meters.registry)
    this.#spool = new Spool(join(folder.path, 'spool-submission'), SPOOL_LIMITS)
    this.#connections = new ConnectionCounter({
      total: CONNECTIONS_MAX,
      perAddress: config.SUBMISSION_MAX_PER_ADDRESS,
      perMailbox: CONNECTIONS_PER_MAILBOX_MAX,
    })
    for (const protocol of PROTOCOLS) {
      if (config.CLIENT_PROTOCOLS.includes(protocol)) this.#servers.set(protocol, this.#createServer(protocol))
    }
  }

  get ports(): { submissions: number; submission: number } {
    return {
      submissions: portOf(this.#servers.get('submissions')),
      submission: portOf(this.#servers.get('submission')),
    }
  }

  async start(): Promise<void> {
    const { config, clock, log } = this.#app
    if (this.#servers.size === 0) return
    await this.#spool.open()
    for (const [protocol, server] of this.#servers) {
      const settings = [LISTENER_PORTS[protocol], 'CLIENT_BIND'] as const
      await listen(server, { protocol: 'submission', port: config[settings[0]], host: config.CLIENT_BIND, settings })
      server.on('error', (error) =>
        log.error({ event: 'submission.listener_error', err: error }, 'Submission listener error'),
      )
    }
    this.#sweep = clock.every(SWEEP_MS, () => {
      this.#sessions?.then((sessions) => sessions.checkDeadlines(clock.now())).catch(() => {})
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    const closed = [...this.#servers.values()].map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    )
    for (const socket of this.#pending) socket.destroy()
    await (await this.#sessions)?.stop()
    await Promise.all(closed)
    this.#sweep?.cancel()
  }

  #createServer(protocol: Protocol): Server {
    // A client may close its sending half after its last command and still read the replies.
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#accept(socket, protocol).catch((error: unknown) => {
        this.#app.log.error({ event: 'submission.accept_failed', err: error }, 'Connection could not be accepted')
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
        secure: protocol === 'submissions' ? (raw) => certificate.secure(raw, { clock }) : null,
      })
      if (typeof accepted === 'string') {
        const reply = protocol === 'submission' ? REFUSALS[accepted] : undefined
        return refuseClient(socket, reply === undefined ? null : line(reply))
      }
      const sessions = await this.#opened().catch((error: unknown) => {
        accepted.release()
        throw error
      })
      if (!this.#isStopping && !accepted.socket.destroyed) return sessions.open(accepted)
      accepted.release()
      accepted.socket.destroy()
    } finally {
      this.#pending.delete(socket)
    }
  }

  #opened(): Promise<SubmissionSessions> {
    this.#sessions ??= this.#load().catch((error: unknown) => {
      // The next connection tries again.
      this.#sessions = undefined
      throw error
    })
    return this.#sessions
  }

  async #load(): Promise<SubmissionSessions> {
    const loaded = await import('./sessions.ts')
    const own = { connections: this.#connections, spool: this.#spool, meters: this.#meters }
    return new loaded.SubmissionSessions(this.#app, own)
  }
}
