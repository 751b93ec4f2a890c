// The DKIM signatures and the ARC chain of a mail, verified by mailauth under our bounds.

import mailauthArc from 'mailauth/lib/arc/index.js'
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { SignatureField, SignatureResult, Status } from 'mailauth/parts'
import { type HeaderField, SINGLE_FIELDS } from '../mime/headers.ts'
import type { AuthResult, SignatureVerdict } from '../mime/message.ts'
import { clean } from '../mime/one-line.ts'
import { BodyHash, hashRelaxed, hashSimple } from './body-hash.ts'
import { DkimKeys } from './dkim-public-keys.ts'
import type { WatchedDns } from './dns-evidence.ts'

/** Signatures looked at; each costs a question to a name server the sender chose. */
export const SIGNATURES_MAX = 10
/** Fields that stand once and that are shown, or that say how the body is shown (RFC 6376 8.15). */
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
}

/**
 * Verifies at most SIGNATURES_MAX signatures and the ARC chain. Strict: RFC 6376, 8301 (no rsa-sha1), 8463 and 8617 to
 * the letter. The time is bounded by the questions (see WatchedDns) and two passes over the body.
 * @param header bytes up to and with the empty line; its size and lines are bounded by the caller
 * @param fields the same header as it is shown
 */
export async function verifySignatures(
  header: Uint8Array,
  fields: readonly HeaderField[],
  body: Uint8Array,
  dns: WatchedDns,
  receivedAt: number,
): Promise<Signatures> {
  const verifier = new BoundedVerifier(dns, new Date(receivedAt), repeatedOf(fields))
  await verifier.verify(header, body)
  const results = verifier.checkedResults().slice(0, SIGNATURES_MAX)
  const chain = await arcOf(verifier, dns)
  return {
    signatures: results.filter((result) => result.signingDomain !== undefined).map(verdictOf),
    // A signature over the first bytes only (l=) says nothing of what a reader sees below them: RFC 6376 8.2.
    domains: results
      .filter(({ status, isCovering }) => status.result === 'pass' && !status.underSized && isCovering)
      .map((result) => result.signingDomain!),
    ...chain,
  }
}

/** How often each field occurs that may occur once, of those that occur more often. */
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

  constructor(dns: WatchedDns, curTime: Date, repeated: ReadonlyMap<string, number>) {
    super({ resolver: dns.resolve, minBitLength: MIN_KEY_BITS, strict: true, curTime })
    this.#repeated = repeated
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

  /** The results of the DKIM signatures, and whether each covers what is shown (RFC 6376 8.15). */
  checkedResults(): CheckedResult[] {
    const fields = this.signatureHeaders.filter(({ type }) => type === 'DKIM')
    return this.results.map((result, index) => ({
      ...result,
      isCovering: !fields[index] || this.covers(fields[index]),
    }))
  }

  /**
   * Whether a signature names a repeated field as often as it occurs. Signatures count from the end of the header and the
   * first field is shown: one more on top is a field that nobody signed.
   */
  covers(field: SignatureField): boolean {
    const tag = field.parsed?.h?.value
    const names = (typeof tag === 'string' ? tag : '').split(':').map((name) => name.trim().toLowerCase())
    return [...this.#repeated].every(([name, count]) => names.filter((signed) => signed === name).length >= count)
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
  const last = chain === false ? undefined : chain.at(-1)
  const newest = last?.['arc-seal'].parsed?.d?.value
  // RFC 8617 knows no temporary failure, but a chain our deadline cut short has not failed either.
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
    return 'The signature is good, but a field that may occur once is repeated, and the one that is shown is not signed.'
  }
  if (status.result === 'pass') {
    return status.underSized
      ? `The signature is good, but ${status.underSized} bytes at the end of the body are not signed.`
      : 'The signature is good.'
  }
  const said = typeof status.comment === 'string' ? status.comment : Object.values(status.policy ?? {}).join(' ')
  return clean(`Not verified: ${said || status.result}.`, TEXT_MAX)
}
