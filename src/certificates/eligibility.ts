// Whether a name can get a certificate: its addresses are those of this server, and its CAA records allow the authority.

import { networkInterfaces } from 'node:os'
import type { Resolver } from '../base/resolver.ts'
import { plainAddress } from '../net/connections.ts'

/** Labels of a name that are climbed for CAA records (RFC 8659 §3). */
const LABELS_MAX = 20
const RECORDS_MAX = 50

/** A CAA record as the resolver presents it (RFC 8659 §4.1). */
export interface CaaRecord {
  critical: number
  tag: string
  value: string
}

export interface EligibilityDeps {
  resolver: Resolver
  /** The name of the mail host: its addresses are those of this server, wherever address translation leaves ours unseen. */
  mailHost: string
}

/** Why a name gets no certificate now, one sentence; null when it can. */
export async function complaintOf(
  name: string,
  { resolver, mailHost }: EligibilityDeps,
  authority: { identities: readonly string[]; account: string | null },
): Promise<string | null> {
  const addresses = await addressesOf(resolver, name)
  if (addresses === null) return `The name servers of ${name} did not answer.`
  if (addresses.length === 0)
    return `${name} has no address in DNS. Publish A or AAAA records that lead to this server.`
  if (name !== mailHost) {
    const own = new Set([...interfaceAddresses(), ...((await addressesOf(resolver, mailHost)) ?? [])])
    const foreign = addresses.find((address) => !own.has(address))
    if (foreign !== undefined) {
      return `${name} leads to ${foreign}, which is no address of this server. Correct its A and AAAA records.`
    }
  }
  return authority.identities.length === 0 ? null : caaComplaint(name, resolver, authority)
}

async function caaComplaint(
  name: string,
  resolver: Resolver,
  { identities, account }: { identities: readonly string[]; account: string | null },
): Promise<string | null> {
  const found = await caaRecords(name, resolver)
  if (found === 'failed') return `The CAA records of ${name} cannot be looked up: its name servers did not answer.`
  if (found.records.some(isUnknownCritical)) return forbidden(found.at, identities)
  const issuers = found.records.filter(({ tag }) => tag.toLowerCase() === 'issue')
  if (found.records.length === 0 || issuers.length === 0) return null
  return issuers.some(({ value }) => allows(value, identities, account)) ? null : forbidden(found.at, identities)
}

/** The records of the closest name that has some (RFC 8659 §3). */
async function caaRecords(name: string, resolver: Resolver): Promise<{ at: string; records: CaaRecord[] } | 'failed'> {
  const labels = name.split('.').slice(-LABELS_MAX)
  for (let from = 0; from < labels.length; from++) {
    const at = labels.slice(from).join('.')
    try {
      return { at, records: ((await resolver.fresh(at, 'CAA')) as CaaRecord[]).slice(0, RECORDS_MAX) }
    } catch (error) {
      if (!isAbsent(error)) return 'failed'
    }
  }
  return { at: name, records: [] }
}

/** One issuer: a domain, and parameters of which `accounturi` narrows it to an account (RFC 8657 §3). */
function allows(value: string, identities: readonly string[], account: string | null): boolean {
  const [domain = '', ...parameters] = value.split(';').map((part) => part.trim())
  if (!identities.includes(domain.toLowerCase())) return false
  const uri = parameters.find((one) => /^accounturi\s*=/i.test(one))?.replace(/^[^=]*=\s*/, '')
  return uri === undefined || account === null || uri === account
}

function isUnknownCritical({ critical, tag }: CaaRecord): boolean {
  return (
    (critical & 128) !== 0 && !['issue', 'issuewild', 'iodef', 'contactemail', 'issuemail'].includes(tag.toLowerCase())
  )
}

function forbidden(at: string, identities: readonly string[]): string {
  return `The CAA records of ${at} do not allow this certificate authority. Add: ${at} CAA 0 issue "${identities[0]}"`
}

/** Null when no server answered. */
async function addressesOf(resolver: Resolver, name: string): Promise<string[] | null> {
  const answers = await Promise.allSettled([resolver.fresh(name, 'A'), resolver.fresh(name, 'AAAA')])
  const found = answers.flatMap((one) => (one.status === 'fulfilled' ? (one.value as string[]) : []))
  const isSure = answers.every((one) => one.status === 'fulfilled' || isAbsent(one.reason))
  return found.length === 0 && !isSure ? null : found.map(plainAddress)
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => plainAddress(address)))
}

function isAbsent(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes((error as { code?: string }).code ?? '')
}
