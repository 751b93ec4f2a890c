// Servers of outside accounts as a person names them, completed by those that were discovered and by usual values.

import type { SmtpProtocol } from '../outbound/model/records.ts'
import type { DiscoveredServer, ImapSettings, RemoteProtocol } from '../sync/model/records.ts'

/** A server as a person names it; what is left out is found, or has a usual value. */
interface ServerInput<P extends string> {
  host?: string
  port?: number
  protocol?: P
  username?: string
}
export type ImapInput = ServerInput<RemoteProtocol>
export type SmtpInput = ServerInput<SmtpProtocol> & { password?: string }

export interface SmtpSettings {
  smtpHost: string
  smtpPort: number
  smtpProtocol: SmtpProtocol
  smtpUsername: string
  /** Undefined where it signs in with the tokens of the account. */
  smtpPassword?: string
}

const IMAP_PORTS: Record<RemoteProtocol, number> = { ssl: 993, starttls: 143, none: 143 }
const SUBMISSIONS_PORT = 465
const SUBMISSION_PORT = 587

/** Null without a server. */
export function imapOf(
  { email, imap }: { email: string; imap: ImapInput },
  found: DiscoveredServer | null,
): ImapSettings | null {
  const host = imap.host ?? found?.host
  if (host === undefined) return null
  const server = matching(imap, found)
  const protocol = imap.protocol ?? server?.protocol ?? (imap.port === IMAP_PORTS.starttls ? 'starttls' : 'ssl')
  const port = imap.port ?? server?.port ?? IMAP_PORTS[protocol]
  return { host, port, protocol, username: imap.username ?? found?.username ?? email }
}

/** The server that was found, unless another one, or another way to connect to it, was given: its port belongs to its protocol. */
function matching<P extends string>(given: ServerInput<P>, found: DiscoveredServer | null): DiscoveredServer | null {
  const members = ['host', 'port', 'protocol'] as const
  return members.every((member) => given[member] === undefined || given[member] === found?.[member]) ? found : null
}

/** Null without a server. */
export function smtpOf(
  { email, password, smtp }: { email: string; password: string; smtp: SmtpInput },
  imap: Pick<ImapSettings, 'username'>,
  found: DiscoveredServer | null,
): SmtpSettings | null {
  const host = smtp.host ?? found?.host
  if (host === undefined) return null
  const server = matching(smtp, found)
  const port = smtp.port ?? server?.port ?? (smtp.protocol === 'ssl' ? SUBMISSIONS_PORT : SUBMISSION_PORT)
  return {
    smtpHost: host,
    smtpPort: port,
    smtpProtocol: smtp.protocol ?? server?.protocol ?? (port === SUBMISSIONS_PORT ? 'ssl' : 'starttls'),
    smtpUsername: smtp.username ?? (host === found?.host ? found.username : undefined) ?? imap.username ?? email,
    smtpPassword: smtp.password ?? password,
  }
}

/** The envelope sender is the account's own address: its server accepts no other, and reports come back to it. */
export function sendingAccount(
  { email, name, displayName }: { email: string; name?: string; displayName?: string },
  settings: SmtpSettings,
) {
  return { ...settings, name: name ?? email, fromEmail: email, fromName: displayName ?? null, returnPath: email }
}

/** Only the members that were given. */
export function definedMembers(imap: ImapInput): Partial<ImapSettings> {
  return Object.fromEntries(Object.entries(imap).filter(([, value]) => value !== undefined))
}
