// Who a mail is really from: SPF, DKIM, DMARC and ARC by mailauth, under our bounds of time, number and trust.

import mailauthDmarc from 'mailauth/lib/dmarc/index.js'
import mailauthSpf from 'mailauth/lib/spf/index.js'
import tools from 'mailauth/lib/tools.js'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import { parseAddressList } from './address.ts'
import { clean } from './clean-text.ts'
import { WatchedDns } from './dns-evidence.ts'
import { fieldText, type Headers, readHeaders } from './headers.ts'
import type { Arrival, AuthResult, AuthVerdict, SignatureVerdict } from './mail.ts'
import { resultsHeader } from './results-header.ts'
import { resultOf, type Signatures, verifySignatures } from './signatures.ts'

/** Wall clock for the whole check; what is not decided by then is "temperror". */
export const DEADLINE_MS = 10_000
// RFC 7208 4.6.4.
const SPF_LOOKUPS_MAX = 10
const SPF_VOID_LOOKUPS_MAX = 2
const REASON_MAX = 300
/** White space at a stretch in a header, in bytes: the verifier's time grows with its square, and no mailer writes more. */
const WHITE_SPACE_MAX = 256

export interface Authentication {
  verdict: AuthVerdict
  /** Value of Authentication-Results, folded; below 8 KiB whatever arrived. */
  resultsHeader: string
}

/**
 * Judges a mail by the bytes as they arrived. Never throws: what cannot be judged is "permerror", what DNS does not
 * answer in time "temperror".
 */
export async function authenticate(
  bytes: Uint8Array,
  arrival: Arrival,
  resolver: Resolver,
  options: { deadlineMs?: number; clock?: Clock } = {},
): Promise<Authentication> {
  const dns = new WatchedDns(resolver, options.clock ?? systemClock, options.deadlineMs ?? DEADLINE_MS)
  try {
    const headers = readHeaders(bytes)
    const [spf, signed] = await Promise.all([checkSpf(arrival, dns), checkSignatures(bytes, headers, dns, arrival)])
    const author = authorOf(headers, signed)
    const dmarc = await checkDmarc(author, spf, signed, dns)
    const verdict: AuthVerdict = {
      spf: spf.result,
      spfDomain: spf.domain,
      spfReason: spf.reason,
      dkim: bestOf(signed.signatures),
      signatures: signed.signatures.map((signature) => ({ ...signature, aligned: dmarc.aligned(signature) })),
      dmarc: dmarc.result,
      dmarcPolicy: dmarc.policy,
      dmarcReason: dmarc.reason,
      arc: signed.arc,
      arcDomain: signed.arcDomain,
      fromDomain: dmarc.result === 'permerror' ? '' : author.domain,
      fromAligned: dmarc.fromAligned,
      dns: dns.evidence,
    }
    if (signed.problem !== null) verdict.dkim = 'permerror'
    return { verdict, resultsHeader: resultsHeader(verdict, arrival) }
  } finally {
    dns.close()
  }
}

interface Spf {
  result: AuthResult
  domain: string
  reason: string
}

async function checkSpf(arrival: Arrival, dns: WatchedDns): Promise<Spf> {
  const identity = arrival.mailFrom || `postmaster@${arrival.helo}`
  const domain = clean(identity.slice(identity.lastIndexOf('@') + 1).toLowerCase(), 255)
  try {
    const { status } = await mailauthSpf.spf({
      sender: arrival.mailFrom,
      ip: arrival.remoteAddress,
      helo: arrival.helo,
      mta: arrival.hostName,
      resolver: dns.resolve,
      maxResolveCount: SPF_LOOKUPS_MAX,
      maxVoidCount: SPF_VOID_LOOKUPS_MAX,
      strict: true,
    })
    // A mechanism may take a lost answer for a "no": past the deadline nothing is certain.
    if (dns.expired) return { result: 'temperror', domain, reason: 'The name servers did not answer in time.' }
    const said = typeof status.comment === 'string' ? status.comment.replace(`${arrival.hostName}: `, '') : ''
    return { result: resultOf(status.result), domain, reason: clean(said, REASON_MAX) }
  } catch (error) {
    return { result: 'permerror', domain, reason: clean(`SPF could not be checked: ${error}`, REASON_MAX) }
  }
}

/** `problem`: why the signatures were not looked at, null when they were. */
type Signed = Signatures & { problem: string | null }

async function checkSignatures(
  bytes: Uint8Array,
  headers: Headers,
  dns: WatchedDns,
  arrival: Arrival,
): Promise<Signed> {
  const nothing = { signatures: [], domains: [], arcDomain: '', fromAddresses: [], fromFields: 0 }
  const header = bytes.subarray(0, headers.bodyStart)
  // The verifier's own reading of a header is quadratic in its lines: it only gets what is within the bounds.
  const problem = headers.problem ?? whiteSpaceProblem(header)
  if (problem !== null) return { ...nothing, arc: 'permerror', problem }
  try {
    const body = bytes.subarray(headers.bodyStart)
    return { ...(await verifySignatures(header, body, dns, arrival.receivedAt)), problem: null }
  } catch (error) {
    return { ...nothing, arc: 'permerror', problem: clean(`The signatures could not be read: ${error}`, REASON_MAX) }
  }
}

function whiteSpaceProblem(header: Uint8Array): string | null {
  let run = 0
  for (const byte of header) {
    run = byte === 32 || (byte >= 9 && byte <= 13) ? run + 1 : 0
    if (run > WHITE_SPACE_MAX) return `The header has more than ${WHITE_SPACE_MAX} bytes of white space at a stretch.`
  }
  return null
}

interface Author {
  /** "" when nobody can say whose mail this claims to be. */
  domain: string
  address: string
  problem: string
}

/**
 * The one author. Two readers must agree on it, ours (which the owner of the mailbox sees) and the verifier's: forgers
 * live in between.
 */
function authorOf(headers: Headers, signed: Signed): Author {
  const unknown = (problem: string): Author => ({ domain: '', address: '', problem })
  if (signed.problem !== null) return unknown(signed.problem)
  const fields = headers.fields.filter((field) => field.name === 'from')
  if (fields.length !== 1 || signed.fromFields !== 1) return unknown('There is not exactly one From field.')
  const addresses = parseAddressList(fieldText(fields[0]!))
  if (addresses.length !== 1 || signed.fromAddresses.length !== 1) {
    return unknown('There is not exactly one address in From.')
  }
  const domain = domainOf(addresses[0]!.email)
  if (domain === '' || domain !== domainOf(signed.fromAddresses[0]!))
    return unknown('The address in From is not clear.')
  return { domain, address: signed.fromAddresses[0]!, problem: '' }
}

function domainOf(address: string): string {
  const at = address.lastIndexOf('@')
  return at < 0 ? '' : tools.formatDomain(address.slice(at + 1))
}

interface Dmarc {
  result: AuthResult
  policy: string
  reason: string
  fromAligned: boolean
  aligned(signature: SignatureVerdict): boolean
}

async function checkDmarc(author: Author, spf: Spf, signed: Signed, dns: WatchedDns): Promise<Dmarc> {
  const none = { policy: '', fromAligned: false, aligned: () => false }
  if (author.domain === '') return { ...none, result: 'permerror', reason: author.problem }
  // Without a record nobody says what aligned means: the same registered domain then.
  const related = (domain: string) => Boolean(tools.getAlignment(author.domain, [domain]))
  try {
    const { response, dkimAligned } = await mailauthDmarc.evaluateDmarc({
      headerFrom: [author.address],
      fromFields: 1,
      spfDomains: spf.result === 'pass' ? [spf.domain] : [],
      dkimDomains: signed.domains.map((domain) => ({ domain })),
      resolver: dns.resolve,
      strict: true,
    })
    if (response === false) return { ...none, result: 'permerror', reason: 'The address in From is not clear.' }
    const passing = new Set(signed.domains.map((domain) => tools.formatDomain(domain)))
    const aligned = ({ result, domain }: SignatureVerdict) => {
      if (result !== 'pass') return related(domain)
      return passing.has(domain) && (dkimAligned?.has(domain) ?? related(domain))
    }
    const result = undecided(resultOf(response.status.result), spf, signed, related)
    const byIdentity = (spf.result === 'pass' && related(spf.domain)) || signed.domains.some(related)
    return {
      result,
      policy: response.policy ?? '',
      reason: clean(dmarcReason(result, author.domain, response.error), REASON_MAX),
      fromAligned: result === 'pass' || (result === 'none' && byIdentity),
      aligned,
    }
  } catch (error) {
    return { ...none, result: 'permerror', reason: clean(`DMARC could not be checked: ${error}`, REASON_MAX) }
  }
}

/** A "fail" is none yet while an aligned SPF or DKIM result may still come: refusing for ever would be wrong. */
function undecided(result: AuthResult, spf: Spf, signed: Signed, related: (domain: string) => boolean): AuthResult {
  if (result !== 'fail') return result
  const open = (other: { result: AuthResult; domain: string }) => other.result === 'temperror' && related(other.domain)
  return open(spf) || signed.signatures.some(open) ? 'temperror' : 'fail'
}

function dmarcReason(result: AuthResult, domain: string, error: string | undefined): string {
  if (result === 'pass') return `SPF or a DKIM signature is aligned with ${domain}.`
  if (result === 'none') return `There is no DMARC policy for ${domain}.`
  if (result === 'fail') return `Neither SPF nor a DKIM signature is aligned with ${domain}.`
  return `DMARC of ${domain} could not be decided: ${error ?? 'SPF or DKIM has no result yet'}.`
}

/** The best of the results, most favourable first; "none" when there is no signature. */
function bestOf(signatures: readonly SignatureVerdict[]): AuthResult {
  const order: AuthResult[] = ['pass', 'temperror', 'neutral', 'permerror', 'fail']
  return order.find((result) => signatures.some((signature) => signature.result === result)) ?? 'none'
}
