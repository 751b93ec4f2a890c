// What a credential may do in a mail program (docs/design/mail-programs.md §1), as its sign-in and the session document see it.

import { type ClientProtocol, clientSettings } from '../config/client-protocols.ts'
import type { Config } from '../config/config.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { allows } from '../directory/names/permissions.ts'
import type { MailboxPrincipal } from '../directory/names/principal.ts'

/** The permission without which a protocol is of no use. */
const NEEDED: Record<ClientProtocol, string> = {
  imap: 'mailbox.read',
  submission: 'email.send',
  managesieve: 'mailbox.read',
}
/** What agents may do with a mail program, whatever their credential. */
const AGENT_SCOPES = ['mailbox.read', 'email.receive']

/** The permissions of a credential in sessions of mail programs. */
export function permissionsFor(
  { permissions, agent }: Pick<MailboxPrincipal, 'permissions' | 'agent'>,
  { isAgent }: Pick<Mailbox, 'isAgent'>,
): readonly string[] {
  if (!isAgent && agent === undefined) return permissions
  return permissions.filter((permission) => AGENT_SCOPES.includes(permission))
}

/** Whether the operator allows a protocol, and these permissions (see `permissionsFor`) are of use in it. */
export function mayUse(protocol: ClientProtocol, permissions: readonly string[], config: Config): boolean {
  return !config.MAILBOX_GATED.includes(protocol) && allows(permissions, NEEDED[protocol])
}

/** Whether a protocol is served, and a credential may sign in to it. */
export function isOffered(
  protocol: ClientProtocol,
  principal: Pick<MailboxPrincipal, 'permissions' | 'agent'>,
  mailbox: Pick<Mailbox, 'isAgent' | 'email' | 'domainId'>,
  config: Config,
): boolean {
  // The provider of an outside account filters its mail.
  if (protocol === 'managesieve' && mailbox.domainId === null) return false
  const isServed = clientSettings(config, mailbox.email)[protocol] !== null
  return isServed && mayUse(protocol, permissionsFor(principal, mailbox), config)
}
