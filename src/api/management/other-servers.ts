// Whether a change of an account leads to another server or user: who is there sees what is sent, or what the mailbox receives.

import type { Provider } from '../../outbound/model/records.ts'
import type { ImapSettings } from '../../sync/model/records.ts'

/** @param current undefined where there is no sending account yet */
export function isOtherSmtp(
  { smtp_host: host, smtp_username: username }: { smtp_host?: string; smtp_username?: string },
  current: Pick<Provider, 'smtpHost' | 'smtpUsername'> | undefined,
): boolean {
  return isOther(host, current?.smtpHost) || isOther(username, current?.smtpUsername)
}

/** Of an outside account another port is another server, too. */
export function isOtherOwnedSmtp(
  given: { smtp_host?: string; smtp_port?: number; smtp_username?: string },
  current: Pick<Provider, 'smtpHost' | 'smtpPort' | 'smtpUsername'> | undefined,
): boolean {
  return isOtherSmtp(given, current) || isOther(given.smtp_port, current?.smtpPort)
}

/** Another port of a host may be the service of another user. */
export function isOtherImap(
  given: { imap_host?: string; imap_port?: number; imap_username?: string },
  current: ImapSettings | null | undefined,
): boolean {
  const { imap_host: host, imap_port: port, imap_username: username } = given
  return isOther(host, current?.host) || isOther(port, current?.port) || isOther(username, current?.username)
}

function isOther<T>(given: T | undefined, current: T | null | undefined): boolean {
  return given !== undefined && given !== current
}
