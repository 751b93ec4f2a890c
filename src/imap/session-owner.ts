// What a session is given: its listener, and the connection it serves.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SignedIn } from '../access/signed-in.ts'
import type { TableOf } from './command.ts'
import type { ImapDeps } from './deps.ts'
import type { SignedInUser } from './user.ts'

export interface SessionSource {
  address: string
}

/** What a session needs of its listener. */
export interface OwnerOf<S> {
  readonly commands: TableOf<S>
  greeting(session: S): string
  /** Starts TLS on the connection. @throws Error when the handshake fails */
  secure(socket: Socket): Promise<TLSSocket>
  /** Begins a session of a mailbox. @returns null when the mailbox has too many */
  admit(session: S, access: SignedIn): SignedInUser | null
  /** Announces what changed in the selected folder. @param mayRemove EXPUNGE may be sent */
  announce(session: S, options: { mayRemove: boolean; withUid: boolean }): Promise<void>
  closed(session: S): void
}

export interface OptionsOf<S> {
  app: ImapDeps
  owner: OwnerOf<S>
  source: SessionSource
  /** The connection where its TLS ends here; null in plain text and behind a proxy. */
  tls: TLSSocket | null
  isSecure: boolean
}
