// The submission sessions of both listeners: how they sign in, what they may send, and their end. Loaded with the first connection.

import type { SMTPServer } from 'smtp-server'
import type { SaslResult } from '../access/access.ts'
import type { ProtocolMeters } from '../access/protocol-meters.ts'
import type { SignedIn } from '../access/signed-in.ts'
import { clientHost } from '../config/client-protocols.ts'
import type { Context } from '../context.ts'
import type { AcceptedClient } from '../net/client-listener.ts'
import type { ConnectionCounter } from '../net/connections.ts'
import { OpenSessions } from '../net/open-sessions.ts'
import { openProtocol } from '../smtp/protocol.ts'
import type { Spool } from '../smtp/spool.ts'
import { EnvelopeChecks } from './envelope-checks.ts'
import { SUBMITTED_BYTES_MAX } from './limits.ts'
import { SubmissionReceiver } from './receive.ts'
import { submissionReplies } from './replies.ts'
import { type SignInExchange, type SubmissionHandler, SubmissionSession, type SubmissionUser } from './session.ts'

interface Deps {
  connections: ConnectionCounter
  spool: Spool
  meters: ProtocolMeters
}

export class SubmissionSessions {
  readonly #app: Context
  readonly #connections: ConnectionCounter
  readonly #protocol: SMTPServer
  readonly #spool: Spool
  readonly #meters: ProtocolMeters
  readonly #handler: SubmissionHandler
  readonly #sessions = new OpenSessions<SubmissionSession, () => void>()
  readonly #inFlight = new Set<Promise<unknown>>()

  constructor(app: Context, { connections, spool, meters }: Deps) {
    const { config, certificate, log } = app
    this.#app = app
    this.#connections = connections
    const hostName = clientHost(config)
    this.#protocol = openProtocol({ hostName, certificate, log, maxBytes: SUBMITTED_BYTES_MAX, signsIn: true })
    this.#spool = spool
    this.#meters = meters
    this.#handler = this.#openHandler()
  }

  /** Serves an accepted connection. */
  open({ socket, source, tls, release }: AcceptedClient): void {
    const isSecure = tls !== null || source.tls
    const session = new SubmissionSession(this.#protocol, socket, source, { handler: this.#handler, isSecure })
    this.#sessions.add(session, release)
    this.#meters.opened()
    session.init()
  }

  checkDeadlines(): void {
    const now = this.#app.clock.now()
    for (const session of this.#sessions) session.checkDeadline(now)
  }

  /** Ends idle sessions at once and the others after their transaction, at most CLOSING_MS later. */
  async stop(): Promise<void> {
    await this.#sessions.end({
      clock: this.#app.clock,
      retire: (session) => session.retire(),
      cut: (session) => session.cut(),
    })
    await Promise.all(this.#inFlight)
  }

  #openHandler(): SubmissionHandler {
    const { clock, log, outbound, config } = this.#app
    const { rawSubmitter: submitter } = outbound.submit
    const checks = new EnvelopeChecks({ submitter, config, log })
    const receiver = new SubmissionReceiver({ log, memory: this.#app.memory, spool: this.#spool, submitter })
    return {
      clock,
      signIn: (exchange) => this.#signIn(exchange),
      admit: (session, signedIn) => this.#admit(session, signedIn),
      senderRefusal: (user, address) => checks.senderRefusal(user, address),
      evaluate: (user, path, transaction) => checks.evaluate(user, path, transaction),
      receive: (content, transaction, user) => this.#track(receiver.receive(content, transaction, user)),
      sessionClosed: (session) => this.#closed(session),
    }
  }

  async #signIn(exchange: SignInExchange): Promise<SaslResult> {
    const result = await this.#app.access.authenticate({ protocol: 'submission', client: null, ...exchange })
    if (!result.accepted) this.#meters.login(result.reason)
    return result
  }

  #admit(session: SubmissionSession, signedIn: SignedIn): SubmissionUser | null {
    const uncount = this.#connections.countMailbox(signedIn.principal.mailboxId)
    if (uncount === null) return null
    this.#meters.login('ok')
    const unwatch = this.#app.access.watch(signedIn, () => session.expire(submissionReplies.expired))
    const release = () => {
      unwatch()
      uncount()
    }
    return { access: signedIn, release }
  }

  #closed(session: SubmissionSession): void {
    this.#sessions.remove(session)?.()
    this.#meters.closed()
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#inFlight.delete(tracked))
    this.#inFlight.add(tracked)
    return tracked
  }
}
