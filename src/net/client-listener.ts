// The listener of a protocol of mail programs: finds the source of a connection (PROXY header), applies the limits, starts TLS.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { type ClientListener, LISTENER_PORTS } from '../config/client-listeners.ts'
import type { Config } from '../config/config.ts'
import { type ConnectionCounter, type ConnectionSource, readSource, refuseConnection } from './connections.ts'
import { MailListener, type MailListenerOptions } from './mail-listener.ts'

/** A connection that may have a session. */
export interface AcceptedClient {
  /** The TLS socket where its TLS ends here. */
  socket: Socket
  source: ConnectionSource
  /** Null in plain text and behind a proxy that ended TLS. */
  tls: TLSSocket | null
  /** Ends the counts of the connection; to be called once it has closed. */
  release(): void
}

export type NotAccepted = 'too_many' | 'too_many_here' | 'bad_proxy' | 'closed'

/** What serves accepted connections. */
export interface ClientSessions<P> {
  open(client: AcceptedClient, port: P): void
  checkDeadlines(): void
  stop(): Promise<void>
}

interface AppParts {
  clock: Clock
  log: Log
  config: Config
}

type SharedOptions = 'name' | 'protocol' | 'open' | 'close' | 'sweepMs'

interface ClientListenerOptions<P extends ClientListener> extends Pick<MailListenerOptions<P>, SharedOptions> {
  ports: readonly P[]
  counter: ConnectionCounter
  /** Starts TLS on a connection of that port; null where it begins with STARTTLS. */
  secure(port: P): ((socket: Socket) => Promise<TLSSocket>) | null
  /** The last line to a client that is not served; null where none can be sent. */
  refusal(why: NotAccepted, port: P): string | null
  /** Loads the sessions with the first connection; asked again after a failure. */
  load(): Promise<ClientSessions<P>>
}

/** Creates the listener on the ports that CLIENT_PROTOCOLS names; they are bound by `start`. */
export function openClientListener<P extends ClientListener>(
  { clock, log, config }: AppParts,
  { ports, counter, secure, refusal, load, ...shared }: ClientListenerOptions<P>,
): MailListener<P> {
  let loading: Promise<ClientSessions<P>> | undefined
  let sessions: ClientSessions<P> | undefined
  const opened = async () => {
    loading ??= load().catch((error: unknown) => {
      // The next connection tries again.
      loading = undefined
      throw error
    })
    sessions = await loading
    return sessions
  }
  const accept = async (socket: Socket, port: P) => {
    const proxies = config.PROXY_PROTOCOL_FROM
    const accepted = await acceptClient(socket, { clock, counter, proxies, secure: secure(port) })
    if (typeof accepted === 'string') return refuseConnection(socket, refusal(accepted, port))
    const open = await opened().catch((error: unknown) => {
      accepted.release()
      throw error
    })
    if (!listener.isStopping && !accepted.socket.destroyed) return open.open(accepted, port)
    accepted.release()
    accepted.socket.destroy()
  }
  const listener: MailListener<P> = new MailListener({
    ...{ clock, log, ...shared, accept },
    ports: ports.map((name) => ({
      name,
      port: config[LISTENER_PORTS[name]],
      host: config.CLIENT_BIND,
      settings: [LISTENER_PORTS[name], 'CLIENT_BIND'] as const,
      isServed: config.CLIENT_PROTOCOLS.includes(name),
    })),
    socketOptions: { noDelay: true },
    sweep: () => sessions?.checkDeadlines(),
    endSessions: async () => (await loading)?.stop(),
  })
  return listener
}

interface AcceptDeps {
  clock: Clock
  counter: ConnectionCounter
  /** PROXY_PROTOCOL_FROM */
  proxies: readonly string[]
  secure: ((socket: Socket) => Promise<TLSSocket>) | null
}

/** @returns why there is no session: then nothing is counted any more, and the caller ends the socket */
async function acceptClient(socket: Socket, deps: AcceptDeps): Promise<AcceptedClient | NotAccepted> {
  // The peer may reset the connection at any time; the session adds its own error listener.
  socket.on('error', () => {})
  const { counter, clock, proxies, secure } = deps
  if (!counter.open()) return 'too_many'
  const source = await readSource(socket, { from: proxies, clock })
  const uncount = source === null ? null : counter.count(source.address)
  const release = () => {
    uncount?.()
    counter.close()
  }
  const refused = (why: NotAccepted) => {
    release()
    return why
  }
  if (source === null) return refused('bad_proxy')
  if (uncount === null) return refused('too_many_here')
  if (socket.destroyed) return refused('closed')
  if (secure === null || source.tls) return { socket, source, tls: null, release }
  const tls = await secure(socket).catch(() => null)
  return tls === null ? refused('closed') : { socket: tls, source, tls, release }
}
