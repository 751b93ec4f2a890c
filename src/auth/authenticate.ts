// Authenticates a message: SPF, DKIM, DMARC and ARC by mailauth, with limits on time, lookups and signatures.

import mailauthSpf from 'mailauth/lib/spf/index.js'
import type { Resolve } from 'mailauth/parts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import { domainOf } from '../mime/address.ts'
import { readAuthor, TRACE_BYTES_MAX, TRACE_LINES_MAX } from '../mime/author.ts'
import { HEADER_BYTES_MAX, HEADER_LINES_MAX, type Headers, readHeaders } from '../mime/headers.ts'
import type { Arrival, AuthResult, AuthVerdict, SignatureVerdict } from '../mime/message.ts'
import { clean } from '../mime/one-line.ts'
import { resultsHeader } from './authentication-results.ts'
import { DmarcCheck } from './dmarc.ts'
import { KnownOutcomes } from './known-outcomes.ts'
import { RecordingResolver } from './recording-resolver.ts'
import { domainText, resultOf, type Signatures, verifySignatures } from './signatures.ts'
import { checkableSender } from './spf-labels.ts'

/** Timeout of the whole check; a check that is not complete by then results in "temperror". */
export const DEADLINE_MS = 10_000
// RFC 7208 4.6.4.
const SPF_LOOKUPS_MAX = 10
const SPF_VOID_LOOKUPS_MAX = 2
const LASTING_SPF: readonly AuthResult[] = ['pass', 'softfail', 'neutral', 'none']
const REASON_MAX = 300
/** Consecutive bytes of white space in a header: parsers of headers may take quadratic time in it, and mailers write less. */
const WHITE_SPACE_MAX = 256
const TOO_LONG = 'The header is too long to be displayed with our trace fields.'

export interface Authentication {
  verdict: AuthVerdict
  /** Value of Authentication-Results, folded; always below 8 KiB. */
  resultsHeader: string
}

/**
 * Authenticates a message as received. Never throws: what cannot be evaluated is "permerror", what DNS does not
 * answer in time "temperror".
 */
export async function authenticate(
  bytes: Uint8Array,
  arrival: Arrival,
  resolver: Resolver,
  options: { deadlineMs?: number; clock?: Clock } = {},
): Promise<Authentication> {
  const dns = new RecordingResolver(resolver, options.clock ?? systemClock, options.deadlineMs ?? DEADLINE_MS)
  try {
    const headers = readHeaders(bytes)
    const author = readAuthor(bytes)
    const check = new DmarcCheck(author, dns)
    const [spf, signed] = await Promise.all([checkSpf(arrival, dns), checkSignatures(bytes, headers, dns, arrival)])
    const dmarc = await check.result({ spf, signatures: signed.signatures, signed: signed.domains })
    const isUndecidable = dmarc.result === 'permerror'
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
      fromDomain: isUndecidable ? '' : dmarc.domain,
      authorProblem: author.problem || (isUndecidable ? dmarc.reason : ''),
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

type KnownSpf = Omit<Spf, 'domain'> & { isLasting: boolean }

/** By client, HELO name and sender domain; for a sender whose local part does not matter. */
const knownSpf = new KnownOutcomes<KnownSpf>()
/** Stands for the sender in a known reason. */
const SENDER = '\0'

async function checkSpf(arrival: Arrival, dns: RecordingResolver): Promise<Spf> {
  const { mailFrom, remoteAddress, helo, hostName } = arrival
  const domain = domainText(domainOf(mailFrom || `postmaster@${helo}`))
  const named = mailFrom === '' ? null : mailFrom.slice(mailFrom.lastIndexOf('@') + 1)
  const key = JSON.stringify([remoteAddress, helo, hostName, named])
  try {
    const { result, reason } = await knownSpf.get(
      key,
      dns,
      (resolve) => evaluateSpf(arrival, resolve),
      ({ isLasting }) => isLasting && !dns.expired,
    )
    // After the deadline a mechanism may have treated a missing answer as no match.
    if (dns.expired) return { result: 'temperror', domain, reason: 'The name servers did not answer in time.' }
    return {
      result,
      domain,
      reason: clean(
        reason.replaceAll(SENDER, () => mailFrom),
        REASON_MAX,
      ),
    }
  } catch (error) {
    return { result: 'permerror', domain, reason: clean(`SPF could not be checked: ${error}`, REASON_MAX) }
  }
}

async function evaluateSpf(arrival: Arrival, resolve: Resolve): Promise<KnownSpf> {
  const { mailFrom, helo, hostName } = arrival
  const { sender, restore } = checkableSender(mailFrom)
  const { status } = await mailauthSpf.spf({
    sender,
    ip: arrival.remoteAddress,
    helo,
    mta: hostName,
    resolver: (name, type) => resolve(restore(name), type),
    maxResolveCount: SPF_LOOKUPS_MAX,
    maxVoidCount: SPF_VOID_LOOKUPS_MAX,
    strict: true,
  })
  const said = typeof status.comment === 'string' ? restore(status.comment).replace(`${hostName}: `, '') : ''
  const result = resultOf(status.result)
  // The verifier names the whole sender when a macro has used its local part, and the domain alone otherwise. After a fail it
  // may have asked for an explanation, whose name and text may have the sender or the time in them.
  const isOfDomain = mailFrom.lastIndexOf('@') > 0 && status.smtp?.mailfrom?.includes('@') === false
  const isLasting = isOfDomain && LASTING_SPF.includes(result)
  return { result, reason: isLasting ? said.replaceAll(mailFrom, SENDER) : said, isLasting }
}

/** `problem`: why the signatures were not verified; null when they were. */
type Signed = Signatures & { problem: string | null }

async function checkSignatures(
  bytes: Uint8Array,
  headers: Headers,
  dns: RecordingResolver,
  arrival: Arrival,
): Promise<Signed> {
  const nothing = { signatures: [], domains: [], arcDomain: '' }
  const header = bytes.subarray(0, headers.bodyStart)
  // What is beyond the limits is not displayed: a signature would vouch for other fields.
  const problem = headers.problem ?? headerProblem(header)
  if (problem !== null) return { ...nothing, arc: 'permerror', problem }
  try {
    const body = bytes.subarray(headers.bodyStart)
    const found = await verifySignatures(header, body, dns, arrival.receivedAt)
    return { ...found, problem: null }
  } catch (error) {
    return { ...nothing, arc: 'permerror', problem: clean(`The signatures could not be read: ${error}`, REASON_MAX) }
  }
}

/** With the trace fields on top the stored message must be within the limits too: signed fields beyond them are not displayed. */
function headerProblem(header: Uint8Array): string | null {
  if (header.length > HEADER_BYTES_MAX - TRACE_BYTES_MAX) return TOO_LONG
  let run = 0
  let lines = 0
  for (let at = 0; at < header.length; at++) {
    const byte = header[at]!
    if (byte === 10 && ++lines > HEADER_LINES_MAX - TRACE_LINES_MAX) return TOO_LONG
    run = byte === 32 || (byte >= 9 && byte <= 13) ? run + 1 : 0
    if (run > WHITE_SPACE_MAX) return `The header has more than ${WHITE_SPACE_MAX} consecutive bytes of white space.`
  }
  return null
}

/** The most favourable result; "none" when there is no signature. */
function bestOf(signatures: readonly SignatureVerdict[]): AuthResult {
  const order: AuthResult[] = ['pass', 'temperror', 'neutral', 'permerror', 'fail']
  return order.find((result) => signatures.some((signature) => signature.result === result)) ?? 'none'
}
