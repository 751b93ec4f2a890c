// Verifies the DKIM signatures and the ARC chain of a message with mailauth, within limits.

import mailauthArc from 'mailauth/lib/arc/index.js'
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { SignatureField, SignatureResult, Status } from 'mailauth/parts'
import { type HeaderField, SINGLE_FIELDS } from '../mime/headers.ts'
import type { AuthResult, SignatureVerdict } from '../mime/message.ts'
import { clean } from '../mime/one-line.ts'
import { BodyHash, hashRelaxed, hashSimple } from './body-hash.ts'
import { DkimKeyCache } from './dkim-key-cache.ts'
import type { RecordingResolver } from './recording-resolver.ts'

/** Verified signatures; each needs a query to a name server of the sender's choice. */
export const SIGNATURES_MAX = 10
/** Fields that may occur once and that are displayed or determine how the body is displayed (RFC 6376 8.15). */
const SHOWN_ONCE = [...SINGLE_FIELDS, 'content-type', 'content-transfer-encoding']
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

/** The RFC 8601 result of a check; missing and other results are "permerror". */
export function resultOf(said: unknown): AuthResult {
  return typeof said === 'string' && RESULTS.has(said) ? (said as AuthResult) : 'permerror'
}

export interface Signatures {
  /** Without alignment, which DMARC determines. */
  signatures: SignatureVerdict[]
  /** Domains whose signature passes and covers the whole body. */
  domains: string[]
  arc: AuthResult
  arcDomain: string
}

/**
 * Verifies at most SIGNATURES_MAX signatures and the ARC chain, strictly by RFC 6376, 8301 (no rsa-sha1), 8463 and 8617.
 * the letter. The time is bounded by the DNS queries (see RecordingResolver) and two passes over the body.
 * @param header bytes up to and including the empty line; its size and lines are limited by the caller
 * @param fields the fields of the same header, as displayed
 */
export async function verifySignatures(
  header: Uint8Array,
  fields: readonly HeaderField[],
  body: Uint8Array,
  dns: RecordingResolver,
  receivedAt: number,
): Promise<Signatures> {
  if (!mayBeSigned(header)) return { signatures: [], domains: [], arc: 'none', arcDomain: '' }
  const verifier = new BoundedVerifier(dns, new Date(receivedAt), repeatedOf(fields))
  await verifier.verify(header, body)
  const results = verifier.checkedResults().slice(0, SIGNATURES_MAX)
  const chain = await arcOf(verifier, dns)
  return {
    signatures: results.filter((result) => result.signingDomain !== undefined).map(verdictOf),
    // A signature over the first bytes only (l=) does not cover what a reader sees after them: RFC 6376 8.2.
    domains: results
      .filter(({ status, isCovering }) => status.result === 'pass' && !status.underSized && isCovering)
      .map((result) => result.signingDomain!),
    ...chain,
  }
}

/** False when no reading of the header, however lenient, has a signature: the verifier has nothing to do. */
function mayBeSigned(header: Uint8Array): boolean {
  const text = Buffer.from(header.buffer, header.byteOffset, header.length).toString('latin1')
  return /dkim-signature|arc-/i.test(text)
}

/** Counts the fields that may occur once but are repeated. */
function repeatedOf(fields: readonly HeaderField[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { name } of fields) {
    if (SHOWN_ONCE.includes(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return new Map([...counts].filter(([, count]) => count > 1))
}

type CheckedResult = SignatureResult & { isCovering: boolean }

class BoundedVerifier extends DkimVerifier {
  readonly #simple: BodyHash[] = []
  readonly #relaxed: BodyHash[] = []
  readonly #repeated: ReadonlyMap<string, number>
  #signatures = 0

  constructor(dns: RecordingResolver, curTime: Date, repeated: ReadonlyMap<string, number>) {
    super({ resolver: dns.resolve, minBitLength: MIN_KEY_BITS, strict: true, curTime })
    this.#repeated = repeated
    this.keyCache = new DkimKeyCache(dns.resolve)
    this.arc.keyCache = this.keyCache
  }

  async verify(header: Uint8Array, body: Uint8Array): Promise<void> {
    // The verifier is a stream that processes each byte of the header; its inner steps are called directly instead.
    await this.emitHeaders(header)
    this.signatureHeaders = this.signatureHeaders.filter((field) => field.skip !== TOO_MANY)
    this.#prefetchKeys()
    // The body is hashed while the queries are pending.
    if (this.#simple.length > 0) hashSimple(body, this.#simple)
    if (this.#relaxed.length > 0) hashRelaxed(body, this.#relaxed)
    await this.finalChunk()
  }

  /** The results of the DKIM signatures, and whether each covers the displayed fields (RFC 6376 8.15). */
  checkedResults(): CheckedResult[] {
    const fields = this.signatureHeaders.filter(({ type }) => type === 'DKIM')
    return this.results.map((result, index) => ({
      ...result,
      isCovering: !fields[index] || this.covers(fields[index]),
    }))
  }

  /**
   * Whether a signature lists each repeated field as often as it occurs. Signatures count from the end of the header, but the
   * first field is displayed: an additional field at the top is not signed.
   */
  covers(field: SignatureField): boolean {
    const tag = field.parsed?.h?.value
    const names = (typeof tag === 'string' ? tag : '').split(':').map((name) => name.trim().toLowerCase())
    return [...this.#repeated].every(([name, count]) => names.filter((signed) => signed === name).length >= count)
  }

  /** Replaces the verifier's hashes, which take seconds for some bodies, and one pass each. */
  override addBodyHash(form: string, algorithm: string, limit: number | ''): string {
    const key = `${form}:${algorithm}:${limit}`
    if (this.bodyHashes.has(key)) return key
    const hash = new BodyHash(algorithm, limit === '' ? Infinity : limit)
    this.bodyHashes.set(key, hash)
    if (form === 'relaxed') this.#relaxed.push(hash)
    else this.#simple.push(hash)
    return key
  }

  /** Called for each signature before its body hash is created. */
  override prepareSignature(field: SignatureField): void {
    if (field.type === 'DKIM' && ++this.#signatures > SIGNATURES_MAX) {
      field.skip = TOO_MANY
      return
    }
    withPlainSelector(field, () => super.prepareSignature(field))
  }

  /** Looks up all keys in parallel: the verifier would do so sequentially. */
  #prefetchKeys(): void {
    for (const field of this.signatureHeaders) {
      if (field.skip !== undefined || field.invalid !== undefined || field.hashAlgo === 'sha1') continue
      const name = `${field.selector}._domainkey.${field.signingDomain}`
      void this.keyCache.get(field.type, name, MIN_KEY_BITS, { strict: true, hashAlgo: field.hashAlgo })
    }
  }
}

const TOO_MANY = 'more signatures than are verified'

/** The grammar does not allow underscores in selectors, but they are in use: hides them from the syntax check. */
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

async function arcOf(
  verifier: BoundedVerifier,
  dns: RecordingResolver,
): Promise<{ arc: AuthResult; arcDomain: string }> {
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
  const arc = result !== 'pass' || (last && verifier.covers(last['arc-message-signature'])) ? result : 'permerror'
  return { arc, arcDomain: typeof newest === 'string' ? clean(newest.toLowerCase(), TEXT_MAX) : '' }
}

function verdictOf(result: CheckedResult): SignatureVerdict {
  const { status, isCovering } = result
  return {
    domain: clean((result.signingDomain ?? '').toLowerCase(), TEXT_MAX),
    selector: clean(result.selector ?? '', TEXT_MAX),
    algorithm: clean(result.algo ?? '', 40),
    result: resultOf(status.result),
    reason: reasonOf(status, isCovering),
    aligned: false,
  }
}

function reasonOf(status: Status, isCovering: boolean): string {
  if (status.result === 'pass' && !isCovering) {
    return 'The signature is valid, but a field that may occur only once is repeated, and the displayed one is not signed.'
  }
  if (status.result === 'pass') {
    return status.underSized
      ? `The signature is valid, but ${status.underSized} bytes at the end of the body are not signed.`
      : 'The signature is valid.'
  }
  const said = typeof status.comment === 'string' ? status.comment : Object.values(status.policy ?? {}).join(' ')
  return clean(`Not verified: ${said || status.result}.`, TEXT_MAX)
}
