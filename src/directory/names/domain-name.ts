// Domain names: normalisation, and which names teams may claim.

import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { parse } from 'tldts'
import { conflict, invalid, type ProductError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { isLoopbackName, isReserved } from '../../config/reserved-names.ts'

const NAME_MIN = 4
const NAME_MAX = 253
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * The stored form of a domain: lower-case A-labels, no final dot. Null for an invalid name or an IP address.
 * Underscores are allowed, since sender domains contain them; `isHostName` is stricter.
 */
export function domainName(text: string): string | null {
  // The URL host parser behind domainToASCII also decodes %41 and reads 0x7f.1 as an address; neither is a domain name.
  if (text.length > NAME_MAX || !/^[A-Za-z0-9._\u0080-\u{10ffff}-]+$/u.test(text)) return null
  const name = isAscii(text) ? text.toLowerCase() : domainToASCII(text)
  if (name.length > NAME_MAX || isIP(name) !== 0) return null
  const labels = name.split('.')
  if (!labels.every((label) => LABEL.test(label)) || /^[0-9]+$/.test(labels.at(-1)!)) return null
  return name
}

/** True for a stored form that can be the name of a host (RFC 1123 §2.1) with at least two labels. */
export function isHostName(name: string): boolean {
  return name.includes('.') && !name.includes('_')
}

/** The name that was registered, such as `example.co.uk` for `mail.example.co.uk`; null for a public suffix. */
export function registeredDomain(name: string): string | null {
  return parse(name, { allowPrivateDomains: false }).domain
}

/** True for a public suffix such as `co.uk`, below which third parties register names. */
export function isPublicSuffix(name: string): boolean {
  // Private suffixes such as github.io have an owner who can prove them in DNS.
  return parse(name, { allowPrivateDomains: false }).publicSuffix === name
}

export { isReserved }

/** The domain of the envelope sender, which receives bounces (docs/design/sending.md §11). */
export function bounceDomain(mailHost: string): string {
  return `bounce.${mailHost}`
}

/** True for names of the appliance itself, which no team may claim (docs/design/directory.md §5.1). */
function isOwnName(name: string, config: Config): boolean {
  const origins = [config.APP_ORIGIN, config.SEND_ORIGIN].map((origin) => new URL(origin).hostname)
  const hosts = config.MAIL_HOSTS.flatMap((host) => [host, bounceDomain(host)])
  return [...hosts, ...origins, config.AGENT_MAILBOX_DOMAIN].includes(name)
}

/**
 * The stored form of a name a team wants to claim.
 * @throws ProductError validation_error on `domain` (docs/design/directory.md §5.1), conflict while its records would name localhost
 */
export function checkDomainName(written: string, config: Config): string {
  const name = domainName(written)
  if (name === null || !isHostName(name)) {
    throw invalid('domain', 'invalid_format', 'The domain must be a host name with at least two labels.')
  }
  if (name.length < NAME_MIN)
    throw invalid('domain', 'too_small', `The domain must have at least ${NAME_MIN} characters.`)
  if (isPublicSuffix(name)) {
    throw invalid('domain', 'forbidden_value', 'The domain is a public suffix, below which others register names.')
  }
  if (isLoopbackName(config.MAIL_HOSTS[0]!) && !isReserved(name)) throw namelessServer()
  if (isOwnName(name, config)) throw invalid('domain', 'forbidden_value', 'The domain belongs to the appliance itself.')
  return name
}

function isAscii(text: string): boolean {
  return /^[\u0000-\u007f]*$/.test(text)
}

function namelessServer(): ProductError {
  return conflict(
    'This server has no name yet: the records of the domain would lead to localhost. Set the name of the mail server first, with the setting MAIL_HOSTS or in the console. Names that end with .test work without it.',
  )
}
