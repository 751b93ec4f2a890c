// Validates the settings of outside accounts (docs/design/outside-accounts.md §2).

import { invalid } from '../../base/errors.ts'
import { checkName } from '../../directory/keys/teams.ts'
import { checkEmail } from '../../mime/compose/draft-rules.ts'
import { checkHost } from '../../outbound/providers/input.ts'
import {
  type HeldRemoval,
  type ImapSettings,
  REMOVAL_SIDES,
  type RemoteAccount,
  type RemoteAuth,
  type RemoteMode,
  type RemovalSide,
} from '../model/records.ts'

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
  /** Whether settings of its sending account change, too. */
  hasOtherSmtp?: boolean
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

/** The members that say to which service a password is sent, and for whom. */
const SERVICE = { host: 'imap_host', port: 'imap_port', username: 'imap_username' } as const

/**
 * Keeps the stored password from a service or user that it was not given for, and from being sent without TLS: who may change settings does
 * not thereby learn or use it. Another port of a host may be the service of another user.
 * @param imap validated @throws ProductError validation_error on `password`
 */
export function refuseOtherService(
  imap: Partial<ImapSettings> = {},
  { imap: current }: Pick<RemoteAccount, 'imap'>,
): void {
  const other = (['host', 'port', 'username'] as const).find(
    (member) => imap[member] !== undefined && imap[member] !== current?.[member],
  )
  if (other !== undefined)
    throw required(`The stored password is not sent to another ${SERVICE[other]}. Give the password, too.`)
  if (imap.protocol === 'none' && current?.protocol !== 'none')
    throw required('The stored password is not sent without TLS. Give the password, too.')
}

function required(message: string) {
  return invalid('password', 'required', message)
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

export interface RemoteActions {
  update: boolean
  delete: boolean
  pause: boolean
  resume: boolean
  sync: boolean
  confirmRemoval: boolean
  undoRemoval: boolean
}

/** The removals that wait for a confirmation. */
export function heldRemovals({
  removal,
  removalThere,
}: Pick<RemoteAccount, 'removal' | 'removalThere'>): { side: RemovalSide; removal: HeldRemoval }[] {
  const held = { here: removal, server: removalThere }
  return REMOVAL_SIDES.flatMap((side) => {
    const one = held[side]
    return one === null || one.isConfirmed || one.isUndone === true ? [] : [{ side, removal: one }]
  })
}

type Acted = Pick<RemoteAccount, 'status' | 'removal' | 'removalThere'>

export function remoteActions(account: Acted): RemoteActions {
  const { status } = account
  const isStopped = status === 'paused' || status === 'error'
  return {
    update: true,
    delete: true,
    pause: status !== 'paused',
    resume: isStopped,
    sync: !isStopped,
    confirmRemoval: heldRemovals(account).length > 0,
    undoRemoval: heldRemovals(account).length > 0,
  }
}

/** Why the state does not allow an action, with what to do. */
export function whyNotRemote({ status }: Pick<RemoteAccount, 'status'>, action: keyof RemoteActions): string {
  if (action === 'confirmRemoval' || action === 'undoRemoval') return 'No removal is held back.'
  if (action === 'pause') return 'The outside account is paused already.'
  if (action === 'resume') return `The outside account is ${status}: there is nothing to resume.`
  return status === 'paused'
    ? 'The outside account is paused. Resume it first.'
    : 'The outside account is in error. Change its settings, or resume it.'
}
