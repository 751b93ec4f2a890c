// The DKIM signatures and the ARC chain of a mail, verified by mailauth under our bounds.

import mailauthArc from 'mailauth/lib/arc/index.js'
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { SignatureField, Status } from 'mailauth/parts'
import { BodyHash, hashRelaxed, hashSimple } from './body-hash.ts'
import { clean } from './clean-text.ts'
import { DkimKeys } from './dkim-keys.ts'
import type { WatchedDns } from './dns-evidence.ts'
import type { AuthResult, SignatureVerdict } from './mail.ts'

/** Signatures looked at; each costs a question to a name server the sender chose. */
export const SIGNATURES_MAX = 10
/** RFC 8301 3.2: shorter RSA keys must not count. */
const MIN_KEY_BITS = 1024
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

/** The word of RFC 8601 for what a check said; what it did not say, or says in words of policy, is "permerror". */
export function resultOf(said: unknown): AuthResult {
  return typeof said === 'string' && RESULTS.has(said) ? (said as AuthResult) : 'permerror'
}

export interface Signatures {
  /** Without alignment, which only DMARC can tell. */
  signatures: SignatureVerdict[]
  /** Domains whose signature passes and covers the whole body. */
  domains: string[]
  arc: AuthResult
  arcDomain: string
  /** Addresses of all From fields and the number of these, as the verifier reads them. */
  fromAddresses: string[]
  fromFields: number
}

/**
 * Verifies at most SIGNATURES_MAX signatures and the ARC chain. Strict: RFC 6376, 8301 (no rsa-sha1), 8463 and 8617 to
 * the letter. The time is bounded by the questions (see WatchedDns) and two passes over the body.
 * @param header bytes up to and with the empty line; its size and lines are bounded by the caller
 */
export async function verifySignatures(
  header: Uint8Array,
  body: Uint8Array,
  dns: WatchedDns,
  receivedAt: number,
): Promise<Signatures> {
  const verifier = new BoundedVerifier(dns, new Date(receivedAt))
  await verifier.verify(header, body)
  const results = verifier.results.slice(0, SIGNATURES_MAX)
  const chain = await arcOf(verifier, dns)
  return {
    signatures: results.filter((result) => result.signingDomain !== undefined).map(verdictOf),
    // A signature over the first bytes only (l=) says nothing of what a reader sees below them: RFC 6376 8.2.
    domains: results
      .filter(({ status }) => status.result === 'pass' && !status.underSized)
      .map((result) => result.signingDomain!),
    ...chain,
    fromAddresses: verifier.headerFrom,
    fromFields: verifier.fromFields,
  }
}

class BoundedVerifier extends DkimVerifier {
  readonly #simple: BodyHash[] = []
  readonly #relaxed: BodyHash[] = []
  #signatures = 0

  constructor(dns: WatchedDns, curTime: Date) {
    super({ resolver: dns.resolve, minBitLength: MIN_KEY_BITS, strict: true, curTime })
    this.keyCache = new DkimKeys(dns.resolve)
    this.arc.keyCache = this.keyCache
  }

  async verify(header: Uint8Array, body: Uint8Array): Promise<void> {
    // The verifier is a stream that looks at each byte of the header; what it does between is called directly.
    await this.emitHeaders(header)
    this.signatureHeaders = this.signatureHeaders.filter((field) => field.skip !== TOO_MANY)
    this.#askForKeys()
    // While the name servers are asked.
    if (this.#simple.length > 0) hashSimple(body, this.#simple)
    if (this.#relaxed.length > 0) hashRelaxed(body, this.#relaxed)
    await this.finalChunk()
  }

  /** The verifier's own hashes take seconds for some bodies, and one pass each. */
  override addBodyHash(form: string, algorithm: string, limit: number | ''): string {
    const key = `${form}:${algorithm}:${limit}`
    if (this.bodyHashes.has(key)) return key
    const hash = new BodyHash(algorithm, limit === '' ? Infinity : limit)
    this.bodyHashes.set(key, hash)
    if (form === 'relaxed') this.#relaxed.push(hash)
    else this.#simple.push(hash)
    return key
  }

  /** Called once for each signature before its body hash is begun. */
  override prepareSignature(field: SignatureField): void {
    if (field.type === 'DKIM' && ++this.#signatures > SIGNATURES_MAX) {
      field.skip = TOO_MANY
      return
    }
    withPlainSelector(field, () => super.prepareSignature(field))
  }

  /** All keys at once: the verifier would wait for one before it asks for the next. */
  #askForKeys(): void {
    for (const field of this.signatureHeaders) {
      if (field.skip !== undefined || field.invalid !== undefined || field.hashAlgo === 'sha1') continue
      const name = `${field.selector}._domainkey.${field.signingDomain}`
      void this.keyCache.get(field.type, name, MIN_KEY_BITS, { strict: true, hashAlgo: field.hashAlgo })
    }
  }
}

const TOO_MANY = 'more signatures than are looked at'

/** The grammar has no underscore in a selector, the keys that are published have: it is hidden from the syntax check. */
function withPlainSelector(field: SignatureField, prepare: () => void): void {
  const tag = field.parsed?.s
  const given = tag?.value
  if (tag === undefined || typeof given !== 'string' || !given.includes('_')) {
    prepare()
    return
  }
  tag.value = given.replaceAll('_', 'x')
  prepare()
  tag.value = given
  field.selector = given
}

async function arcOf(verifier: BoundedVerifier, dns: WatchedDns): Promise<{ arc: AuthResult; arcDomain: string }> {
  const { status } = await mailauthArc.arc(verifier.arc, {
    resolver: dns.resolve,
    minBitLength: MIN_KEY_BITS,
    strict: true,
  })
  const chain = verifier.arc.chain
  const newest = chain === false ? undefined : chain.at(-1)?.['arc-seal'].parsed?.d?.value
  // RFC 8617 knows no temporary failure, but a chain our deadline cut short has not failed either.
  const arc = status.result === 'fail' && dns.expired ? 'temperror' : resultOf(status.result)
  return { arc, arcDomain: typeof newest === 'string' ? clean(newest.toLowerCase(), TEXT_MAX) : '' }
}

function verdictOf(result: {
  signingDomain?: string
  selector?: string
  algo?: string
  status: Status
}): SignatureVerdict {
  const { status } = result
  return {
    domain: clean((result.signingDomain ?? '').toLowerCase(), TEXT_MAX),
    selector: clean(result.selector ?? '', TEXT_MAX),
    algorithm: clean(result.algo ?? '', 40),
    result: resultOf(status.result),
    reason: reasonOf(status),
    aligned: false,
  }
}

function reasonOf(status: Status): string {
  if (status.result === 'pass') {
    return status.underSized
      ? `The signature is good, but ${status.underSized} bytes at the end of the body are not signed.`
      : 'The signature is good.'
  }
  const said = typeof status.comment === 'string' ? status.comment : Object.values(status.policy ?? {}).join(' ')
  return clean(`Not verified: ${said || status.result}.`, TEXT_MAX)
}
