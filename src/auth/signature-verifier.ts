// Verifies the signatures of one message: mailauth judges their tags and the chain of ARC; the header and the body are read once for all of them.

import { createHash, type KeyObject, verify } from 'node:crypto'
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js'
import tools from 'mailauth/lib/tools.js'
import type { ArcData, KeyCache, SignatureField, SignatureResult, Status } from 'mailauth/parts'
import { SINGLE_FIELDS } from '../mime/headers.ts'
import { BodyHash, hashRelaxed, hashSimple } from './body-hash.ts'
import { DkimKeyCache, NAME_CHARS_MAX, type ReadKey } from './dkim-key-cache.ts'
import { type HeaderRow, headerRows, repeatedFields, SignedRows, signedHeader } from './header-rows.ts'
import { arcChain, parserLine } from './parsed-fields.ts'
import type { RecordingResolver } from './recording-resolver.ts'

/** Verified signatures; each needs a query to a name server of the sender's choice. */
export const SIGNATURES_MAX = 10
/** RFC 8301 3.2: shorter RSA keys must not count. */
export const MIN_KEY_BITS = 1024

/** Fields that may occur once and that are displayed or determine how the body is displayed (RFC 6376 8.15). */
const SHOWN_ONCE: ReadonlySet<string> = new Set([...SINGLE_FIELDS, 'content-type', 'content-transfer-encoding'])

/** Checks the tags of signatures; nothing else of it is used. */
const rules = new DkimVerifier({ strict: true })

/** The result of a DKIM signature, and whether it covers the displayed fields (RFC 6376 8.15). */
export type CheckedResult = SignatureResult & { isCovering: boolean }

/** The steps of mailauth's verifier without what it makes for reports and trace fields, which costs several times as much. */
export class SignatureVerifier {
  /** Complete after `verify`. */
  readonly arc: ArcData
  readonly #keys: KeyCache
  readonly #now: Date
  #isWellFormed = true
  #repeated: ReadonlyMap<string, number> = new Map()
  readonly #fields: SignatureField[] = []
  readonly #bodies = new Map<string, BodyHash>()

  constructor(dns: RecordingResolver, receivedAt: number) {
    this.#keys = new DkimKeyCache(dns.resolve)
    this.#now = new Date(receivedAt)
    this.arc = { chain: false, keyCache: this.#keys }
  }

  /** Verifies the first SIGNATURES_MAX DKIM signatures and the newest of ARC. */
  async verify(header: Uint8Array, body: Uint8Array): Promise<CheckedResult[]> {
    const rows = headerRows(header)
    this.#isWellFormed = rows.every(({ isPlain }) => isPlain)
    this.#repeated = repeatedFields(rows, SHOWN_ONCE)
    this.#readSignatures(rows)
    this.#prefetchKeys()
    // The body is hashed while the queries are pending.
    this.#hashBody(body)
    const signed = new SignedRows(rows)
    const results: CheckedResult[] = []
    for (const field of this.#fields) {
      // RFC 8601 §2.7.1: "neutral" stands for what could not be processed.
      const problem = field.skip ?? field.invalid
      const status = problem === undefined ? await this.#verified(field, signed) : neutral(problem)
      const { signingDomain, selector } = field
      const result = { signingDomain, selector, algo: field.parsed?.a?.value, status }
      if (field.type === 'DKIM') results.push({ ...result, isCovering: this.covers(field) })
      else this.arc.lastEntry!.messageSignature = result
    }
    return results
  }

  /**
   * Whether what a signature lists is what is displayed. Signatures count from the end of the header, but the first field is
   * displayed: an additional field at the top is not signed. In a header that is malformed (RFC 6376 §3.8), readers take other lines
   * for the fields, or for the body, than the signature does, and what they take may be in a field that is not signed.
   */
  covers(field: SignatureField): boolean {
    if (!this.#isWellFormed) return false
    if (this.#repeated.size === 0) return true
    const names = signedNames(field)
      .split(':')
      .map((name) => name.trim().toLowerCase())
    return [...this.#repeated].every(([name, count]) => names.filter((signed) => signed === name).length >= count)
  }

  #readSignatures(rows: readonly HeaderRow[]): void {
    for (const row of rows.filter(({ key }) => key === 'dkim-signature').slice(0, SIGNATURES_MAX)) {
      const parsed = tools.parseDkimHeaders(parserLine(row), { strict: true })
      const field = { ...parsed, original: row.line, type: 'DKIM' }
      // The rest is set by the check of the syntax.
      this.#prepare(field as SignatureField)
    }
    try {
      this.arc.chain = arcChain(rows)
    } catch (error) {
      this.arc.error = error
    }
    const last = this.arc.chain === false ? undefined : this.arc.chain.at(-1)
    if (last === undefined) return
    this.arc.lastEntry = last
    this.#prepare(Object.assign(last['arc-message-signature'], { type: 'ARC' as const }))
  }

  #prepare(field: SignatureField): void {
    if (hasLongName(field)) Object.assign(field, { signingDomain: '', selector: '', invalid: 'signature syntax error' })
    else withPlainSelector(field, () => rules.prepareSignature(field))
    this.#fields.push(field)
    if (field.skip !== undefined || field.invalid !== undefined) return
    const key = bodyKey(field)
    const { hashAlgo, maxBodyLength } = field
    if (!this.#bodies.has(key))
      this.#bodies.set(key, new BodyHash(hashAlgo, maxBodyLength === '' ? Infinity : maxBodyLength))
  }

  /** Looks up all keys in parallel. */
  #prefetchKeys(): void {
    for (const field of this.#fields) {
      if (field.skip !== undefined || field.invalid !== undefined || field.hashAlgo === 'sha1') continue
      void this.#keyOf(field)
    }
  }

  #keyOf(field: SignatureField): Promise<unknown> {
    const name = `${field.selector}._domainkey.${field.signingDomain}`
    return this.#keys.get(field.type, name, MIN_KEY_BITS, { strict: true, hashAlgo: field.hashAlgo })
  }

  #hashBody(body: Uint8Array): void {
    const ofForm = (form: string) => [...this.#bodies].filter(([key]) => key.startsWith(form)).map(([, hash]) => hash)
    const [simple, relaxed] = [ofForm('simple'), ofForm('relaxed')]
    if (simple.length > 0) hashSimple(body, simple)
    if (relaxed.length > 0) hashRelaxed(body, relaxed)
  }

  /** RFC 6376 §6.1.2 and 6.1.3. */
  async #verified(field: SignatureField, signed: SignedRows): Promise<Status> {
    const body = this.#bodies.get(bodyKey(field))!
    if (field.parsed?.bh?.value !== body.digest('base64'))
      return { result: 'fail', comment: 'body hash did not verify' }
    // RFC 8301 §3.1.
    if (field.hashAlgo === 'sha1')
      return { result: 'policy', policy: { 'dkim-rules': 'weak-algorithm' }, comment: 'weak algorithm' }
    let key: ReadKey
    try {
      key = (await this.#keyOf(field)) as ReadKey
    } catch (error) {
      return keyProblem(error as { code?: string; message: string })
    }
    const problem = mismatch(field, key)
    if (problem !== null) return neutral(problem)
    try {
      if (
        !isSignedBy(
          key.publicKey,
          field,
          signedHeader(signed.named(signedNames(field)), textOf(field), field.headerCanon),
        )
      ) {
        return { result: 'fail', comment: 'bad signature' }
      }
    } catch (error) {
      return neutral((error as Error).message)
    }
    if (field.expiration && field.expiration < this.#now) return neutral('expired')
    const rest = body.canonicalizedLength - body.bodyHashedBytes
    return rest > 0 ? { result: 'pass', underSized: rest } : { result: 'pass' }
  }
}

function neutral(comment: string): Status {
  return { result: 'neutral', comment }
}

/** The key, as what mailauth reports of a record that has none. */
function keyProblem({ code = '', message }: { code?: string; message: string }): Status {
  const comment = tools.KEY_ERROR_COMMENTS.get(code)
  if (comment !== undefined) return neutral(comment)
  if (code === 'ESHORTKEY') return { result: 'policy', policy: { 'dkim-rules': 'weak-key' } }
  return { result: 'temperror', comment: `DNS failure: ${code || message}` }
}

/** Why a key is not one for this signature (RFC 6376 §3.6.1, flag "s", and §6.1.2, step 8); null when it is. */
function mismatch(
  { signAlgo, identityDomain, signingDomain }: SignatureField,
  { keyType, flags }: ReadKey,
): string | null {
  if (keyType !== signAlgo) return 'inappropriate key algorithm'
  const isOther =
    identityDomain && tools.normalizeDomainName(identityDomain) !== tools.normalizeDomainName(signingDomain)
  return isOther && flags.includes('s') ? 'domain mismatch' : null
}

/** RFC 8463 §3: Ed25519 signs the hash. @throws Error when the key cannot be used */
function isSignedBy(key: KeyObject, { signAlgo, hashAlgo, parsed }: SignatureField, content: Buffer): boolean {
  const signature = Buffer.from(String(parsed?.b?.value ?? ''), 'base64')
  if (signAlgo === 'rsa') return verify(hashAlgo, content, key, signature)
  return verify(null, createHash('sha256').update(content).digest(), key, signature)
}

/** The value of h=. */
function signedNames({ parsed }: SignatureField): string {
  const names = parsed?.h?.value
  return typeof names === 'string' ? names : ''
}

function hasLongName({ parsed }: SignatureField): boolean {
  return [parsed?.d, parsed?.s, parsed?.i].some((tag) => String(tag?.value ?? '').length > NAME_CHARS_MAX)
}

function textOf({ original }: SignatureField): string {
  return original.toString('latin1')
}

function bodyKey({ bodyCanon, hashAlgo, maxBodyLength }: SignatureField): string {
  return `${bodyCanon}:${hashAlgo}:${maxBodyLength}`
}

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
