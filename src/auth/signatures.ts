// Verifies the DKIM signatures and the ARC chain of a message with mailauth, within limits.

import mailauthArc from 'mailauth/lib/arc/index.js'
import type { AuthResult, SignatureVerdict } from '../mime/message.ts'
import { clean } from '../mime/one-line.ts'
import { aLabels } from './a-labels.ts'
import { MIN_KEY_BITS } from './dkim-key-record.ts'
import type { RecordingResolver } from './recording-resolver.ts'
import { type CheckedSignature, SignatureVerifier } from './signature-verifier.ts'

const TEXT_MAX = 255

const RESULTS: ReadonlySet<string> = new Set<AuthResult>([
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'temperror',
  'permerror',
])

/** The RFC 8601 result of a check; missing and other results are "permerror". */
export function resultOf(said: unknown): AuthResult {
  return typeof said === 'string' && RESULTS.has(said) ? (said as AuthResult) : 'permerror'
}

export interface Signatures {
  /** Without alignment, which DMARC determines. */
  signatures: SignatureVerdict[]
  /** Domains whose signature passes and covers the whole body, as their keys were looked up: in A-labels. */
  domains: string[]
  arc: AuthResult
  arcDomain: string
}

/**
 * Verifies at most SIGNATURES_MAX signatures and the ARC chain, strictly by RFC 6376, 8301 (no rsa-sha1), 8463 and 8617.
 * The time is bounded by the DNS queries (see RecordingResolver) and two passes over the body.
 * @param header bytes up to and including the empty line; its size and lines are limited by the caller
 */
export async function verifySignatures(
  header: Uint8Array,
  body: Uint8Array,
  dns: RecordingResolver,
  receivedAt: number,
): Promise<Signatures> {
  if (!mayBeSigned(header)) return { signatures: [], domains: [], arc: 'none', arcDomain: '' }
  const verifier = new SignatureVerifier(dns, receivedAt)
  const results = await verifier.verify(header, body)
  const chain = await arcOf(verifier, dns)
  return {
    signatures: results.map(verdictOf),
    // A signature over the first bytes only (l=) does not cover what a reader sees after them: RFC 6376 8.2.
    domains: results
      .filter(({ result, unsignedBytes, isCovering }) => result === 'pass' && unsignedBytes === 0 && isCovering)
      .map(({ signature }) => domainText(signature.domain)),
    ...chain,
  }
}

/** False when no reading of the header, however lenient, has a signature: the verifier has nothing to do. */
function mayBeSigned(header: Uint8Array): boolean {
  const text = Buffer.from(header.buffer, header.byteOffset, header.length).toString('latin1')
  return /dkim-signature|arc-/i.test(text)
}

async function arcOf(
  verifier: SignatureVerifier,
  dns: RecordingResolver,
): Promise<{ arc: AuthResult; arcDomain: string }> {
  if (verifier.arc.chain === false && verifier.arc.error === undefined) return { arc: 'none', arcDomain: '' }
  const { status } = await mailauthArc.arc(verifier.arc, {
    resolver: dns.resolve,
    minBitLength: MIN_KEY_BITS,
    strict: true,
  })
  const chain = verifier.arc.chain
  const last = chain === false ? undefined : chain.at(-1)
  const newest = last?.['arc-seal'].parsed?.d?.value
  // RFC 8617 defines no temporary error, but a chain that could not be checked before the deadline has not failed.
  const result = status.result === 'fail' && dns.expired ? 'temperror' : resultOf(status.result)
  const newestSignature = verifier.newestOfArc
  const isCovered = newestSignature?.isCovering === true && newestSignature.unsignedBytes === 0
  const arc = result !== 'pass' || isCovered ? result : 'permerror'
  return { arc, arcDomain: typeof newest === 'string' ? domainText(newest) : '' }
}

/**
 * A-labels in lower case, the name whose records were asked for: without characters that are not seen it would look like another, and
 * the lower case of a capital sigma depends on what follows it.
 */
export function domainText(domain: string): string {
  return clean(aLabels(domain).toLowerCase(), TEXT_MAX)
}

function verdictOf(checked: CheckedSignature): SignatureVerdict {
  const { domain, selector, algorithm } = checked.signature
  return {
    domain: domainText(domain),
    selector: clean(selector, TEXT_MAX),
    algorithm: clean(algorithm, 40),
    result: resultOf(checked.result),
    reason: reasonOf(checked),
    aligned: false,
  }
}

function reasonOf({ result, comment, unsignedBytes, isCovering }: CheckedSignature): string {
  if (result !== 'pass') return clean(`Not verified: ${comment}.`, TEXT_MAX)
  if (!isCovering) {
    return 'The signature is valid, but the header is malformed, or a field that may occur only once is repeated: what is displayed may not be signed.'
  }
  if (unsignedBytes > 0)
    return `The signature is valid, but ${unsignedBytes} bytes at the end of the body are not signed.`
  return 'The signature is valid.'
}
