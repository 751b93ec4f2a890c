// The envelope sender of a message: where reports about it go (RFC 5321 §4.4, Return-Path).

import { parseMailbox } from '../../mime/address.ts'
import type { Email, Provider } from './records.ts'

/**
 * The address an SMTP account sends with: its Return-Path setting, else its `from_email`, else the address it signs in with.
 * Servers that check sender ownership accept no other. Null for an account without any of them.
 */
export function accountSender(provider: Pick<Provider, 'returnPath' | 'fromEmail' | 'smtpUsername'>): string | null {
  return provider.returnPath ?? provider.fromEmail ?? parseMailbox(provider.smtpUsername ?? '')?.email ?? null
}

/**
 * The envelope sender that all recipients of a message share when it leaves the appliance; null when each delivery has an address of its
 * own (bounce-address.ts).
 * @param provider the account that carries it; null for our own MTA
 */
export function sharedSender(
  { returnPath, from }: Pick<Email, 'returnPath' | 'from'>,
  provider: Provider | null,
): string | null {
  if (returnPath !== null) return returnPath
  if (provider === null) return null
  // The APIs of providers take no envelope sender.
  if (provider.type !== 'smtp') return from.email
  // A configured Return-Path wins even when the server accepts other envelope senders.
  if (provider.returnPath === null && provider.takesVerp) return null
  return accountSender(provider) ?? from.email
}
