// TLSA records of mail servers (RFC 7672), from resolvers that validate.

import { isIP } from 'node:net'
import type { Resolver } from '../../base/resolver.ts'
import { type TlsaRecord, usableRecords } from '../../tls-policy/tlsa.ts'

export type DaneLookup =
  | { kind: 'none' }
  /** `records` holds those that can be used; none of them with records of unknown kinds only. */
  | { kind: 'records'; base: string; records: TlsaRecord[] }
  /** The host is signed and its records cannot be had: it must not be used (RFC 7672 §2.1.2). */
  | { kind: 'unanswered' }

const ABSENT = new Set(['ENOTFOUND', 'ENODATA'])
const NONE: DaneLookup = { kind: 'none' }

/** Asks for the records of a mail server, where its addresses are signed (RFC 7672 §2.2.2). @param port the port of SMTP */
export async function lookUpTlsa(resolver: Resolver, host: string, port: number): Promise<DaneLookup> {
  if (resolver.authenticated === undefined || isIP(host) !== 0) return NONE
  const ask = (name: string, type: string) => resolver.authenticated!(name, type)
  const [four, six] = await Promise.all([ask(host, 'A'), ask(host, 'AAAA')])
  const addresses = [four, six].filter(({ records }) => records.length > 0)
  if (addresses.length === 0 || !addresses.every(({ isAuthentic }) => isAuthentic)) return NONE
  // RFC 7672 §2.2.2: the name that aliases lead to, then the name itself.
  for (const base of new Set([addresses[0]!.name, host])) {
    const answer = await ask(`_${port}._tcp.${base}`, 'TLSA')
    if (answer.code !== null && !ABSENT.has(answer.code)) return { kind: 'unanswered' }
    if (answer.records.length === 0 || !answer.isAuthentic) continue
    return { kind: 'records', base, records: usableRecords(answer.records as TlsaRecord[]) }
  }
  return NONE
}
