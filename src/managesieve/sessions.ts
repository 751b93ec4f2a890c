// The ManageSieve sessions: which commands there are, how sessions begin and end. Loaded with the first connection.

import type { ProtocolMeters } from '../access/protocol-meters.ts'
import type { SignedIn } from '../access/signed-in.ts'
import type { Context } from '../context.ts'
import type { AcceptedClient } from '../net/client-listener.ts'
import type { ConnectionCounter } from '../net/connections.ts'
import { OpenSessions } from '../net/open-sessions.ts'
import { scriptCommands } from './script-commands.ts'
import { SieveSession } from './session.ts'
import { sessionCommands } from './session-commands.ts'

const COMMANDS = new Map([...sessionCommands, ...scriptCommands].map((one) => [one.name, one]))
export const ALPN = ['managesieve']

export class SieveSessions {
  readonly #app: Context
  readonly #connections: ConnectionCounter
  readonly #meters: ProtocolMeters
  readonly #sessions = new OpenSessions<SieveSession, () => void>()

  constructor(app: Context, connections: ConnectionCounter, meters: ProtocolMeters) {
    this.#app = app
    this.#connections = connections
    this.#meters = meters
  }

  /** Serves an accepted connection. */
  open({ socket, source, tls, release }: AcceptedClient): void {
    const { certificate, clock } = this.#app
    const session = new SieveSession(socket, {
      ...{ app: this.#app, commands: COMMANDS, source, tls },
      secure: (raw) => certificate.secure(raw, { clock, alpn: ALPN }),
      admit: (one, access) => this.#admit(one, access),
      refused: (reason) => this.#meters.login(reason),
      answered: (name, condition) => this.#meters.command(name, condition),
      closed: (one) => this.#closed(one),
    })
    this.#sessions.add(session, release)
    this.#meters.opened()
    void session.run()
  }

  checkDeadlines(): void {
    for (const session of this.#sessions) session.checkDeadlines()
  }

  /** Ends idle sessions at once and the others after their command, at most CLOSING_MS later. */
  stop(): Promise<void> {
    return this.#sessions.end({
      clock: this.#app.clock,
      retire: (session) => session.expire('The server is shutting down.'),
      cut: (session) => session.stream.destroy(),
    })
  }

  #admit(session: SieveSession, access: SignedIn): (() => void) | null {
    const uncount = this.#connections.countMailbox(access.principal.mailboxId)
    if (uncount === null) return null
    this.#meters.login('ok')
    const unwatch = this.#app.access.watch(access, () => session.expire('The login is no longer valid.'))
    return () => {
      unwatch()
      uncount()
      this.#logEnd(session, access)
    }
  }

  #logEnd({ id, counts }: SieveSession, { principal, mechanism }: SignedIn): void {
    const facts = { session: id, mailbox: principal.mailboxId, mechanism, commands: Object.fromEntries(counts) }
    this.#app.log.info({ event: 'managesieve.session_ended', ...facts }, 'ManageSieve session ended')
  }

  #closed(session: SieveSession): void {
    this.#sessions.remove(session)?.()
    this.#meters.closed()
  }
}
