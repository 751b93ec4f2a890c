// The VERP address that receives reports about a message: it encodes the message's key, and a MAC makes it unforgeable.

import { timingSafeEqual } from 'node:crypto'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import { bounceDomain } from '../directory/domain-name.ts'

const PURPOSE = 'bounce-address'
/** Length of the message's key in base36: enough for 10^14 messages. Characters. */
const NUMBER_LENGTH = 9
/** Base36 characters of the MAC: 77 bits, more than an attacker can guess over SMTP. */
const PROOF_LENGTH = 15
const LOCAL_PART = /^b\+([0-9a-z]{9})([0-9a-z]{15})$/
const FEEDBACK_LOCAL_PART = 'fbl'

/** The envelope sender of a message, `b+…@bounce.<mail host>` (docs/design/sending.md §11). It is computed, not stored. */
export function bounceAddress(vault: Vault, config: Pick<Config, 'MAIL_HOSTS'>, emailN: number): string {
  const number = emailN.toString(36).padStart(NUMBER_LENGTH, '0')
  return `b+${number}${proof(vault, number)}@${bounceDomain(config.MAIL_HOSTS[0]!)}`
}

/** The key of the message an address encodes; null when its MAC is wrong. Case-insensitive, because some servers fold the case. */
export function readBounceAddress(vault: Vault, config: Pick<Config, 'MAIL_HOSTS'>, address: string): number | null {
  const [local, domain] = splitAddress(address)
  const match = LOCAL_PART.exec(local)
  if (match === null || !isBounceDomain(config, domain)) return null
  const expected = Buffer.from(proof(vault, match[1]!))
  return timingSafeEqual(expected, Buffer.from(match[2]!)) ? Number.parseInt(match[1]!, 36) : null
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

function proof(vault: Vault, number: string): string {
  const mac = BigInt(`0x${vault.mac(PURPOSE, number).toString('hex')}`)
  return (mac % 36n ** BigInt(PROOF_LENGTH)).toString(36).padStart(PROOF_LENGTH, '0')
}
