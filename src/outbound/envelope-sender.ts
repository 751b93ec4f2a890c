// The envelope sender of a message: where reports about it go (RFC 5321 §4.4, Return-Path).

import { parseMailbox } from '../mime/address.ts'
import type { Email, Provider } from './records.ts'

/**
 * The address an SMTP account sends with: its Return-Path setting, else its `from_email`, else the address it signs in with.
 * Servers that check sender ownership take no other. Null for an account without any.
 */
export function accountSender(provider: Pick<Provider, 'returnPath' | 'fromEmail' | 'smtpUsername'>): string | null {
  return provider.returnPath ?? provider.fromEmail ?? parseMailbox(provider.smtpUsername ?? '')?.email ?? null
}

/**
 * The envelope sender of a message that leaves the appliance.
 * @param provider the account it goes through; null for our own MTA
 * @param verp the address of our own that names the message (bounce-address.ts)
 */
export function envelopeSender(
  { returnPath, from }: Pick<Email, 'returnPath' | 'from'>,
  provider: Provider | null,
  verp: string,
): string {
  if (returnPath !== null) return returnPath
  if (provider?.type !== 'smtp') return verp
  // A Return-Path that was set is wanted even where the server would take any other.
  if (provider.returnPath === null && provider.takesVerp) return verp
  return accountSender(provider) ?? from.email
}
