// What the TLS of a mail server must show before a message is sent to it, and the errors when it does not (docs/design/internet.md §5).

import type { X509Certificate } from 'node:crypto'
import { CERTIFICATE_ERRORS } from '../../net/peer-errors.ts'
import { failureOfCode, type TlsFailure } from '../../tls-policy/failures.ts'
import { chainOf, matchesTlsa, type TlsaRecord, tlsaText } from '../../tls-policy/tlsa.ts'

/** What a socket of node:tls shows of its peer. */
export interface SecuredPeer {
  /** The certificate is valid for its host. */
  readonly authorized: boolean
  readonly authorizationError: unknown
  getPeerX509Certificate(): X509Certificate | undefined
}

export interface TlsRequirement {
  /** The domain whose MTA-STS policy requires a valid certificate (RFC 8461 §4.1); null without one. */
  stsDomain: string | null
  /** Null without DANE. */
  dane: DaneRequirement | null
}

/** RFC 7672 §2.2. */
export interface DaneRequirement {
  /** The TLSA base domain: sent as SNI (§8.1). */
  base: string
  /** One must match; empty: TLS with any certificate, as no record can be used. */
  records: readonly TlsaRecord[]
  /** Reference names of an authority's certificate (§3.2.2). */
  names: readonly string[]
}

/** Why a server does not meet a requirement. */
export interface PolicyFailure {
  failure: TlsFailure
  enhancedCode: string
  /** One sentence that names the policy. */
  sentence: string
}

/** RFC 3463 §3.8: the server lacks the feature; the certificate is not the one required. */
const NO_TLS = '4.7.4'
const BAD_CERTIFICATE = '4.7.5'

/** Connections with the same key have met the same requirement. "" for none. */
export function requirementKey(requirement: TlsRequirement | null): string {
  if (requirement === null) return ''
  const { stsDomain, dane } = requirement
  const records = dane?.records.map(tlsaText).sort()
  return JSON.stringify([stsDomain !== null, ...(dane === null ? [] : [dane.base, records, dane.names])])
}

/** "MTA-STS of a.example", the beginning of a sentence. */
export function policyName({ stsDomain, dane }: TlsRequirement): string {
  const names = [dane === null ? null : `DANE of ${dane.base}`, stsDomain === null ? null : `MTA-STS of ${stsDomain}`]
  return names.filter((name) => name !== null).join(' and ')
}

/** Checks the certificate of a connection. @param now ms @returns null when it meets the requirement */
export function verifyPeer(
  socket: SecuredPeer,
  { stsDomain, dane }: TlsRequirement,
  { host, now }: { host: string; now: number },
): PolicyFailure | null {
  if (dane !== null && dane.records.length > 0) {
    const leaf = socket.getPeerX509Certificate()
    const chain = leaf === undefined ? [] : chainOf(leaf)
    if (!matchesTlsa(chain, dane.records, { names: dane.names, now })) {
      const sentence = `DANE requires a certificate that matches the TLSA records of ${dane.base}; ${host} has another.`
      return { failure: 'validation-failure', enhancedCode: BAD_CERTIFICATE, sentence }
    }
  }
  const problem = stsDomain === null ? null : certificateProblem(socket)
  if (problem === null) return null
  const sentence = `MTA-STS of ${stsDomain} requires a valid certificate for ${host}; it ${problem.text}.`
  return { failure: problem.failure, enhancedCode: BAD_CERTIFICATE, sentence }
}

/** What is wrong with the certificate of a connection, as the end of a sentence; null when it is valid for its host. */
export function certificateProblem(socket: SecuredPeer): { failure: TlsFailure; text: string } | null {
  if (socket.authorized) return null
  const code = String(socket.authorizationError ?? '')
  const failure = failureOfCode(code)
  const until = socket.getPeerX509Certificate()?.validToDate
  if (failure === 'certificate-expired' && until !== undefined) return { failure, text: `expired on ${dayOf(until)}` }
  return { failure, text: CERTIFICATE_ERRORS.get(code) ?? 'cannot be verified' }
}

/** The failure of a handshake, or its refusal. @param why the end of a sentence about the server */
export function tlsFailed(requirement: TlsRequirement, failure: TlsFailure, why: string): PolicyFailure {
  const enhancedCode = failure === 'starttls-not-supported' ? NO_TLS : BAD_CERTIFICATE
  return { failure, enhancedCode, sentence: `${policyName(requirement)} requires TLS: ${why}` }
}

/** The host is none of those that an enforced policy names (RFC 8461 §4.1). */
export function unnamedHost(domain: string, host: string): PolicyFailure {
  const sentence = `MTA-STS of ${domain} does not name ${host} as a mail server.`
  return { failure: 'validation-failure', enhancedCode: BAD_CERTIFICATE, sentence }
}

/** RFC 7672 §2.1.2: a server whose TLSA records cannot be looked up is not used. */
export function unansweredTlsa(host: string): PolicyFailure {
  const sentence = `DNS does not answer for the TLSA records of ${host}, which DANE requires.`
  return { failure: 'dnssec-invalid', enhancedCode: '4.4.3', sentence }
}

/** "3 May 2026", UTC. */
function dayOf(date: Date): string {
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
}
