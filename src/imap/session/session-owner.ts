// What a session is given: its listener, and the connection it serves.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SignedIn } from '../../access/signed-in.ts'
import type { SignedInUser } from '../views/user.ts'
import type { TableOf } from './command.ts'
import type { ImapDeps } from './deps.ts'
import type { NotifySettings } from './notify-settings.ts'

export interface SessionSource {
  address: string
}

export interface AnnounceOptions {
  /** EXPUNGE may be sent: sequence numbers may change now. */
  mayRemove: boolean
  /** FETCH names the UID, as answers to UID commands do. */
  withUid: boolean
}

/** Announces changes to one session, in `session-changes.ts`. */
export interface ChangeAnnouncements {
  /** Announcements are being written, between commands. */
  readonly isRunning: boolean
  notify(settings: NotifySettings): { sayAll(): Promise<void> } | null
  /** Runs something that must not get into an announcement: at once, or behind the one that is being written. */
  whenSilent(run: () => void): void
  idleBegan(): void
  idleEnded(): Promise<void>
  commandBegan(): Promise<void>
  commandEnded(): void
  announce(options: AnnounceOptions): Promise<void>
  announceOwn(uids: readonly number[], withUid: boolean): Promise<void>
  close(): void
}

/** What a session needs of its listener. */
export interface OwnerOf<S> {
  readonly commands: TableOf<S>
  greeting(session: S): string
  /** Starts TLS on the connection. @throws Error when the handshake fails */
  secure(socket: Socket): Promise<TLSSocket>
  /** Begins a session of a mailbox. @returns null when the mailbox has too many */
  admit(session: S, access: SignedIn): SignedInUser | null
  /** What announces changes to a new session. */
  changesOf(session: S): ChangeAnnouncements
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
