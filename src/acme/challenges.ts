// How a name is proved: HTTP-01 and DNS-01 (RFC 8555 §8.3, §8.4), TLS-ALPN-01 (RFC 8737).

import { der, extension, OCTET_STRING } from '../base/der.ts'
import { DAY_MS } from '../base/durations.ts'
import { sha256 } from '../base/secrets.ts'
import { type CertificatePair, selfSignedNow } from '../config/certificate.ts'

export const CHALLENGE_TYPES = ['http-01', 'tls-alpn-01', 'dns-01'] as const
export type ChallengeType = (typeof CHALLENGE_TYPES)[number]

/** Where the authority asks for the key authorization of HTTP-01; the token follows. */
export const HTTP_CHALLENGE_PATH = '/.well-known/acme-challenge/'
/** The protocol of TLS-ALPN-01. */
export const ALPN_CHALLENGE = 'acme-tls/1'
/** id-pe-acmeIdentifier. */
const ACME_IDENTIFIER = '2b0601050507011f'

/** Publishes and withdraws TXT records in the zone of a domain: what DNS-01 needs of the DNS of the operator. */
export interface TxtPublisher {
  /** Whether it can write in the zone of this name. */
  covers(name: string): boolean
  /** Resolves when every authoritative server has the record. */
  publish(name: string, value: string): Promise<void>
  /** Removes this value alone; other values of the name stay. */
  withdraw(name: string, value: string): Promise<void>
}

/** Name and value of the TXT record of DNS-01. */
export function dnsChallenge(name: string, keyAuthorization: string): { name: string; value: string } {
  return { name: `_acme-challenge.${name}`, value: sha256(keyAuthorization).toString('base64url') }
}

/** The certificate that answers TLS-ALPN-01 for a name. @param now ms */
export function alpnCertificate(name: string, keyAuthorization: string, now: number): CertificatePair {
  const digest = der(OCTET_STRING, sha256(keyAuthorization))
  return selfSignedNow(name, now - DAY_MS, now + DAY_MS, [extension(ACME_IDENTIFIER, digest, true)])
}
