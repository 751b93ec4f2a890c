// A connection between the listener, which counts it, and the receiver that serves it.

import type { Socket } from 'node:net'
import type { ConnectionSource } from '../net/connections.ts'
import type { SmtpReply } from '../smtp/replies.ts'

/** An accepted connection, counted by the listener. */
export interface AcceptedConnection {
  id: number
  /** Nothing of it is read yet. */
  socket: Socket
  /** Null when a trusted proxy has to say who it is (PROXY header). */
  source: Pick<ConnectionSource, 'address' | 'port'> | null
}

/** The listener that counts the connections of all threads. */
export interface ConnectionOwner {
  /** Counts a connection for its source, once that is known. @returns the reply that refuses it, or null */
  admit(id: number, address: string): Promise<SmtpReply | null>
  closed(id: number): void
}
