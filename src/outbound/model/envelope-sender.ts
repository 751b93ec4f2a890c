// The envelope sender of a message: where reports about it go (RFC 5321 §4.4, Return-Path). The address of a delivery encodes its key, and a
// MAC makes it unforgeable (VERP).

import { timingSafeEqual } from 'node:crypto'
import type { Vault } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import { bounceDomain } from '../../directory/names/domain-name.ts'
import { parseMailbox } from '../../mime/address.ts'
import type { Email, Provider } from './records.ts'

/** Purposes of the MAC: the address of a delivery, and the one of a message that earlier versions sent with. */
const PURPOSES = { delivery: 'delivery-bounce-address', message: 'bounce-address' } as const
/** Length of the key in base36: enough for 10^14 deliveries. Characters. */
const NUMBER_LENGTH = 9
/** Base36 characters of the MAC: 77 bits, more than an attacker can guess over SMTP. */
const PROOF_LENGTH = 15
const LOCAL_PART = /^b\+([0-9a-z]{9})([0-9a-z]{15})$/
const FEEDBACK_LOCAL_PART = 'fbl'

/** What a bounce address belongs to. */
export interface BounceKey {
  /** `message`: an address of an earlier version, which all recipients of the message have seen. */
  of: keyof typeof PURPOSES
  /** Key of the delivery or of the message. */
  n: number
}

/**
 * The envelope sender of a delivery, `b+…@bounce.<mail host>` (docs/design/sending.md §11). It is computed, not stored. Only the recipient
 * of the delivery sees it, so that a report to it speaks for that recipient.
 */
export function bounceAddress(vault: Vault, config: Pick<Config, 'MAIL_HOSTS'>, deliveryN: number): string {
  const number = deliveryN.toString(36).padStart(NUMBER_LENGTH, '0')
  return `b+${number}${proof(vault, 'delivery', number)}@${bounceDomain(config.MAIL_HOSTS[0]!)}`
}

/** What an address belongs to; null when its MAC is wrong. Case-insensitive, because some servers fold the case. */
export function readBounceAddress(vault: Vault, config: Pick<Config, 'MAIL_HOSTS'>, address: string): BounceKey | null {
  const [local, domain] = splitAddress(address)
  const match = LOCAL_PART.exec(local)
  if (match === null || !isBounceDomain(config, domain)) return null
  const [, number, mac] = match
  const isProof = (of: BounceKey['of']) => timingSafeEqual(Buffer.from(proof(vault, of, number!)), Buffer.from(mac!))
  const of = (['delivery', 'message'] as const).find(isProof)
  return of === undefined ? null : { of, n: Number.parseInt(number!, 36) }
}

/** True for the address that receives complaints (RFC 5965), `fbl@bounce.<mail host>`, for any of our host names. */
export function isFeedbackAddress(config: Pick<Config, 'MAIL_HOSTS'>, address: string): boolean {
  const [local, domain] = splitAddress(address)
  return local === FEEDBACK_LOCAL_PART && isBounceDomain(config, domain)
}

/** True for `bounce.<mail host>` of any of our host names. Case-insensitive. */
export function isBounceDomain(config: Pick<Config, 'MAIL_HOSTS'>, domain: string): boolean {
  return config.MAIL_HOSTS.some((host) => bounceDomain(host) === domain.toLowerCase())
}

function splitAddress(address: string): [local: string, domain: string] {
  const at = address.lastIndexOf('@')
  return [address.slice(0, Math.max(at, 0)).toLowerCase(), address.slice(at + 1)]
}

function proof(vault: Vault, of: BounceKey['of'], number: string): string {
  const mac = BigInt(`0x${vault.mac(PURPOSES[of], number).toString('hex')}`)
  return (mac % 36n ** BigInt(PROOF_LENGTH)).toString(36).padStart(PROOF_LENGTH, '0')
}

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
