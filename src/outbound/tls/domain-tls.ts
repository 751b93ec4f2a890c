// Which TLS the mail servers of a domain must show: by DANE, else by MTA-STS, else none is required (docs/design/internet.md §5).

import type { Resolver } from '../../base/resolver.ts'
import { namesHost } from '../../tls-policy/sts.ts'
import { lookUpTlsa } from './dane.ts'
import { type PolicyFailure, type TlsRequirement, unansweredTlsa, unnamedHost } from './requirement.ts'
import type { StsState } from './sts-policies.ts'

/** How a host may be used. */
export type HostTls =
  /** `requirement` is null where any connection will do. */
  { requirement: TlsRequirement | null } | { refusal: PolicyFailure }

export interface DomainTls {
  /** The domain of the recipients. */
  domain: string
  sts: StsState
  /** The MX records were validated by DNSSEC; without any, that there is none. */
  isMxAuthentic: boolean
}

/** @param port the port of SMTP at the host */
export async function hostTls(
  { domain, sts, isMxAuthentic }: DomainTls,
  host: string,
  { resolver, port }: { resolver: Resolver; port: number },
): Promise<HostTls> {
  const tlsa = await lookUpTlsa(resolver, host, port)
  if (tlsa.kind === 'unanswered') return { refusal: unansweredTlsa(host) }
  const names = tlsa.kind === 'records' ? [...new Set([tlsa.base, host, ...(isMxAuthentic ? [domain] : [])])] : []
  const dane = tlsa.kind === 'records' ? { base: tlsa.base, records: tlsa.records, names } : null
  // RFC 8461 §2: MTA-STS never overrides DANE. Behind MX records that could be forged, both must hold.
  if (isMxAuthentic && dane !== null && dane.records.length > 0) return { requirement: { stsDomain: null, dane } }
  const isEnforced = sts.kind === 'policy' && sts.policy.mode === 'enforce'
  if (isEnforced && !namesHost(sts.policy, host)) return { refusal: unnamedHost(domain, host) }
  if (!isEnforced && dane === null) return { requirement: null }
  return { requirement: { stsDomain: isEnforced ? domain : null, dane } }
}
