// Verifies the signatures of one message: the header and the body are read once for all of them, and keys are looked up in parallel.

import { createHash, type KeyObject, verify } from 'node:crypto'
import type { ArcData } from 'mailauth/parts'
import { SINGLE_FIELDS } from '../mime/headers.ts'
import type { AuthResult } from '../mime/message.ts'
import { plainName } from './a-labels.ts'
import { BodyHash, hashRelaxed, hashSimple } from './body-hash.ts'
import { DkimKeyCache } from './dkim-key-cache.ts'
import { KeyProblem, type KeyProblemCode, type PublicKeyRecord } from './dkim-key-record.ts'
import { type DkimSignature, readSignature } from './dkim-signature.ts'
import { type HeaderRow, headerRows, repeatedFields, SignedRows, signedHeader } from './header-rows.ts'
import { arcChain } from './parsed-fields.ts'
import type { RecordingResolver } from './recording-resolver.ts'

/** Verified signatures; each needs a query to a name server of the sender's choice. */
export const SIGNATURES_MAX = 10

/** Fields that may occur once and that are displayed or determine how the body is displayed (RFC 6376 8.15). */
const SHOWN_ONCE: ReadonlySet<string> = new Set([...SINGLE_FIELDS, 'content-type', 'content-transfer-encoding'])

/** What is said of a key record that cannot be used. */
const KEY_PROBLEMS: Record<Exclude<KeyProblemCode, 'ESHORTKEY'>, string> = {
  EINVALIDVAL: 'invalid public key',
  EINVALIDVER: 'unknown key version',
  EINVALIDSERVICE: 'key not for email',
  EINVALIDHASH: 'inappropriate hash algorithm',
  EINVALIDTYPE: 'unknown key type',
}

export interface SignatureOutcome {
  /** RFC 8601 §2.7.1. */
  result: AuthResult | 'policy'
  comment: string
  /** Bytes at the end of the body that l= leaves unsigned; 0 without. */
  unsignedBytes: number
}

/** The outcome of a signature, and whether it covers the displayed fields (RFC 6376 8.15). */
export interface CheckedSignature extends SignatureOutcome {
  signature: DkimSignature
  isCovering: boolean
}

export class SignatureVerifier {
  /** The chain of ARC for mailauth, complete after `verify`. */
  readonly arc: ArcData
  /** The newest message signature of ARC, after `verify`; null without one. */
  newestOfArc: CheckedSignature | null = null
  readonly #keys: DkimKeyCache
  readonly #receivedAt: number
  #isWellFormed = true
  #repeated: ReadonlyMap<string, number> = new Map()
  readonly #signatures: DkimSignature[] = []
  readonly #bodies = new Map<string, BodyHash>()

  constructor(dns: RecordingResolver, receivedAt: number) {
    this.#keys = new DkimKeyCache(dns.resolve)
    this.#receivedAt = receivedAt
    this.arc = { chain: false, keyCache: this.#keys }
  }

  /** Verifies the first SIGNATURES_MAX DKIM signatures and the newest of ARC. */
  async verify(header: Uint8Array, body: Uint8Array): Promise<CheckedSignature[]> {
    const rows = headerRows(header)
    this.#isWellFormed = rows.every(({ isPlain }) => isPlain)
    this.#repeated = repeatedFields(rows, SHOWN_ONCE)
    this.#readSignatures(rows)
    this.#prefetchKeys()
    // The body is hashed while the queries are pending.
    this.#hashBody(body)
    const signed = new SignedRows(rows)
    const checked: CheckedSignature[] = []
    for (const signature of this.#signatures) {
      const outcome = signature.problem === null ? await this.#verified(signature, signed) : neutral(signature.problem)
      const result = { ...outcome, signature, isCovering: this.#covers(signature) }
      if (signature.type === 'DKIM') checked.push(result)
      else {
        this.newestOfArc = result
        this.arc.lastEntry!.messageSignature = { status: outcome }
      }
    }
    return checked
  }

  /**
   * Whether what a signature lists is what is displayed. Signatures count from the end of the header, but the first field is
   * displayed: an additional field at the top is not signed. In a header that is malformed (RFC 6376 §3.8), readers take other lines
   * for the fields, or for the body, than the signature does, and what they take may be in a field that is not signed.
   */
  #covers({ signedNames }: DkimSignature): boolean {
    if (!this.#isWellFormed) return false
    return [...this.#repeated].every(([name, count]) => signedNames.filter((signed) => signed === name).length >= count)
  }

  #readSignatures(rows: readonly HeaderRow[]): void {
    for (const row of rows.filter(({ key }) => key === 'dkim-signature').slice(0, SIGNATURES_MAX)) {
      this.#add(readSignature(row, 'DKIM'))
    }
    try {
      this.arc.chain = arcChain(rows)
    } catch (error) {
      this.arc.error = error
    }
    const last = this.arc.chain === false ? undefined : this.arc.chain.at(-1)
    if (last === undefined) return
    this.arc.lastEntry = last
    this.#add(readSignature({ text: last['arc-message-signature'].original.toString('latin1') }, 'ARC'))
  }

  #add(signature: DkimSignature): void {
    this.#signatures.push(signature)
    const key = bodyKey(signature)
    if (signature.problem !== null || this.#bodies.has(key)) return
    this.#bodies.set(key, new BodyHash(signature.hash, signature.bodyLength))
  }

  /** Looks up all keys in parallel. */
  #prefetchKeys(): void {
    for (const signature of this.#signatures) {
      if (signature.problem === null && signature.hash !== 'sha1') void this.#keyOf(signature)
    }
  }

  #keyOf({ selector, domain, hash }: DkimSignature): Promise<PublicKeyRecord> {
    return this.#keys.keyAt(`${selector}._domainkey.${domain}`, hash)
  }

  #hashBody(body: Uint8Array): void {
    const ofForm = (form: string) => [...this.#bodies].filter(([key]) => key.startsWith(form)).map(([, hash]) => hash)
    const [simple, relaxed] = [ofForm('simple'), ofForm('relaxed')]
    if (simple.length > 0) hashSimple(body, simple)
    if (relaxed.length > 0) hashRelaxed(body, relaxed)
  }

  /** RFC 6376 §6.1.2 and 6.1.3. */
  async #verified(signature: DkimSignature, signed: SignedRows): Promise<SignatureOutcome> {
    const body = this.#bodies.get(bodyKey(signature))!
    if (signature.bodyHash !== body.digest('base64')) return fail('body hash did not verify')
    // RFC 8301 §3.1.
    if (signature.hash === 'sha1') return { ...neutral('weak algorithm'), result: 'policy' }
    let key: PublicKeyRecord
    try {
      key = await this.#keyOf(signature)
    } catch (error) {
      return keyProblem(error as { code?: string; message: string })
    }
    const problem = mismatch(signature, key)
    if (problem !== null) return neutral(problem)
    const { signedNames, text, headerForm, expiresAt } = signature
    try {
      if (!isSignedBy(key.publicKey, signature, signedHeader(signed.named(signedNames), text, headerForm))) {
        return fail('bad signature')
      }
    } catch (error) {
      return neutral((error as Error).message)
    }
    if (expiresAt !== null && expiresAt < this.#receivedAt) return neutral('expired')
    return { result: 'pass', comment: '', unsignedBytes: body.canonicalizedLength - body.bodyHashedBytes }
  }
}

/** RFC 8601 §2.7.1: "neutral" stands for what could not be processed. */
function neutral(comment: string): SignatureOutcome {
  return { result: 'neutral', comment, unsignedBytes: 0 }
}

function fail(comment: string): SignatureOutcome {
  return { result: 'fail', comment, unsignedBytes: 0 }
}

/** What a key record that cannot be read, or is not there, means for a signature. */
function keyProblem(error: { code?: string; message: string }): SignatureOutcome {
  if (error instanceof KeyProblem) {
    return error.code === 'ESHORTKEY' ? { ...neutral('weak key'), result: 'policy' } : neutral(KEY_PROBLEMS[error.code])
  }
  const { code = '', message } = error
  if (code === 'ENOTFOUND' || code === 'ENODATA') return neutral('no key')
  return { result: 'temperror', comment: `DNS failure: ${code || message}`, unsignedBytes: 0 }
}

/** Why a key is not one for this signature (RFC 6376 §3.6.1, flag "s", and §6.1.2, step 8); null when it is. */
function mismatch(
  { keyType: declared, identityDomain, domain }: DkimSignature,
  { keyType, flags }: PublicKeyRecord,
): string | null {
  if (keyType !== declared) return 'inappropriate key algorithm'
  const isBelow = identityDomain !== null && plainName(identityDomain) !== plainName(domain)
  return isBelow && flags.includes('s') ? 'domain mismatch' : null
}

/** RFC 8463 §3: Ed25519 signs the hash. @throws Error when the key cannot be used */
function isSignedBy(key: KeyObject, { keyType, hash, signature }: DkimSignature, content: Buffer): boolean {
  const bytes = Buffer.from(signature, 'base64')
  if (keyType === 'rsa') return verify(hash, content, key, bytes)
  return verify(null, createHash('sha256').update(content).digest(), key, bytes)
}

function bodyKey({ bodyForm, hash, bodyLength }: DkimSignature): string {
  return `${bodyForm}:${hash}:${bodyLength}`
}
