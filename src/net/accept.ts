// Accepts connections of mail programs: their source (PROXY header), the limits, and TLS where it begins with the first byte.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import { type ConnectionCounter, type ConnectionSource, readSource } from './connections.ts'

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

export interface AcceptDeps {
  clock: Clock
  counter: ConnectionCounter
  /** PROXY_PROTOCOL_FROM */
  proxies: readonly string[]
  /** Starts TLS on a connection; null where it begins with STARTTLS. */
  secure: ((socket: Socket) => Promise<TLSSocket>) | null
}

/** Ends a connection that is not served. @param reply its last line, where one can be sent */
export function refuseClient(socket: Socket, reply: string | null): void {
  if (socket.destroyed) return
  if (reply !== null) socket.write(`${reply}\r\n`)
  // Unread bytes would reset the connection, and the reply could be lost.
  socket.resume()
  socket.destroySoon()
}

/** @returns why there is no session: then nothing is counted any more, and the caller ends the socket */
export async function acceptClient(socket: Socket, deps: AcceptDeps): Promise<AcceptedClient | NotAccepted> {
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
  const refuse = (why: NotAccepted) => {
    release()
    return why
  }
  if (source === null) return refuse('bad_proxy')
  if (uncount === null) return refuse('too_many_here')
  if (socket.destroyed) return refuse('closed')
  if (secure === null || source.tls) return { socket, source, tls: null, release }
  const tls = await secure(socket).catch(() => null)
  return tls === null ? refuse('closed') : { socket: tls, source, tls, release }
}
