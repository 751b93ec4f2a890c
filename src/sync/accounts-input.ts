// Validates the settings of outside accounts (decisions-imap §10.2).

import { invalid } from '../base/errors.ts'
import { checkName } from '../directory/teams.ts'
import { checkEmail } from '../mime/compose/draft-rules.ts'
import { checkHost } from '../outbound/providers/input.ts'
import type { RemoteAccount, RemoteAuth, RemoteMode, RemoteProtocol } from './records.ts'

/** Where and as whom to sign in. */
export interface ImapSettings {
  host: string
  port: number
  protocol: RemoteProtocol
  username: string
}

/** The secret of an account, as it is sealed: a password, or the refresh token of a consent. */
export type RemoteSecret = { password: string } | { refresh_token: string }

/** A new account; the mailbox and the sending account exist in the same unit of work. */
export interface NewRemoteAccount {
  /** `racc_…`, new. */
  id: string
  teamId: string
  mailboxId: string
  /** Number of the mailbox's mail account in the store. */
  account: number
  mode: RemoteMode
  name: string
  email: string
  auth: RemoteAuth
  /** Null for Google and Microsoft. */
  imap: ImapSettings | null
  secret: RemoteSecret
  providerId: string | null
  folderId: string | null
  /** ms */
  since: number | null
}

/** Omitted members stay unchanged. */
export interface RemoteAccountChange {
  name?: string
  imap?: Partial<ImapSettings>
  secret?: RemoteSecret
  providerId?: string
  folderId?: string | null
  since?: number | null
}

export const NAME_MAX = 100
export const USERNAME_MAX = 255
export const PASSWORD_MAX = 500

/** @returns the lower-case address @throws ProductError validation_error on `email` */
export function checkAccountEmail(text: string): string {
  return checkEmail('email', text).toLowerCase()
}

/** @throws ProductError validation_error on `name` */
export function checkAccountName(name: string): string {
  return checkName(name, NAME_MAX)
}

/**
 * @param allowPrivate whether private networks, and connections without TLS, are allowed
 * @throws ProductError validation_error on `imap_…`
 */
export function checkImap<S extends Partial<ImapSettings>>(settings: S, allowPrivate: boolean): S {
  const { host, protocol, username } = settings
  if (protocol === 'none' && !allowPrivate) {
    throw invalid('imap_protocol', 'forbidden_value', 'A connection without TLS is not allowed on this appliance.')
  }
  if (username !== undefined) refuseControls('imap_username', username)
  return host === undefined ? settings : { ...settings, host: checkHost('imap_host', host, allowPrivate) }
}

/** @throws ProductError validation_error on `password` */
export function checkSecret(secret: RemoteSecret): RemoteSecret {
  if ('password' in secret) refuseControls('password', secret.password)
  return secret
}

/**
 * Keeps the stored password from a server that it was not given for: who may change settings does not thereby learn it.
 * @param imap validated @throws ProductError validation_error on `password`
 */
export function refuseOtherHost(imap: Partial<ImapSettings> | undefined, current: Pick<RemoteAccount, 'imap'>): void {
  if (imap?.host === undefined || imap.host === current.imap?.host) return
  throw invalid('password', 'required', 'The stored password is not sent to another imap_host. Give the password, too.')
}

/** Whether a change needs another sign-in. Any given secret counts, because secrets are not compared. */
export function touchesSignIn(change: RemoteAccountChange, current: RemoteAccount): boolean {
  if (change.secret !== undefined) return true
  const { imap } = current
  const wanted = { ...imap, ...change.imap }
  const members = ['host', 'port', 'protocol', 'username'] as const
  return imap !== null && members.some((member) => wanted[member] !== imap[member])
}

/** Whether a change may name another account: its base holds for the former one alone. */
export function namesOther(imap: Partial<ImapSettings> | undefined, { imap: current }: Pick<RemoteAccount, 'imap'>) {
  const members = ['host', 'port', 'username'] as const
  return members.some((member) => imap?.[member] !== undefined && imap[member] !== current?.[member])
}

function refuseControls(field: string, text: string): void {
  if (!/[\x00-\x1f\x7f]/.test(text)) return
  throw invalid(field, 'invalid_format', `The ${field} must not contain control characters.`)
}
