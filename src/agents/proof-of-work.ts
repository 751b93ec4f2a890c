// The work a stranger pays for an inbox: challenges we sign and keep nothing of, and the solutions that come back.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Challenge, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { canonicalJson } from '../base/canonical-json.ts'
import type { Clock } from '../base/clock.ts'
import { invalid, ProductError } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'

/** What an agent asks for; the proof is bound to exactly these members as they were given. */
export interface AgentRequest {
  type: 'anonymous'
  mailboxLocalPart?: string
  clientName?: string
  idempotencyKey?: string
}

export interface SignedChallenge {
  parameters: Challenge['parameters']
  signature: string
  /** ms */
  expiresAt: number
}

/** A proof that holds: it is worth one registration, which the database sees to. */
export interface Proof {
  nonce: Uint8Array
  /** ms; afterwards nobody can show it again. */
  expiresAt: number
}

const LIFETIME_SECONDS = 600
const ALGORITHM = 'PBKDF2/SHA-256'
const PURPOSE = 'agent_registration'
const KEY_BYTES = 32
/** Characters of a proof as it is sent (decisions §11.3: 8 KiB). */
export const PROOF_MAX = 8192
const EASY = '00'
const HARD = '000'
const COUNTER_MAX = 0xffffffff

/** SHA-256 of the members a proof is bound to, hex (decisions §11.2). */
export function requestHash(request: AgentRequest): string {
  const { type, mailboxLocalPart, clientName, idempotencyKey } = request
  const members = {
    type,
    mailbox_local_part: mailboxLocalPart,
    client_name: clientName,
    idempotency_key: idempotencyKey,
  }
  return sha256(canonicalJson(members)).toString('hex')
}

export class ProofOfWork {
  readonly #clock: Clock
  readonly #secret: string
  readonly #cost: number

  /** @param parts `secret` signs challenges; `cost` is PBKDF2 iterations of one try */
  constructor(parts: { clock: Clock; secret: string; cost: number }) {
    this.#clock = parts.clock
    this.#secret = parts.secret
    this.#cost = parts.cost
  }

  /** @param crowded makes it sixteen times as much work */
  challenge(request: AgentRequest, crowded: boolean): SignedChallenge {
    const expiresAt = Math.floor(this.#clock.now() / 1000) + LIFETIME_SECONDS
    const parameters = {
      algorithm: ALGORITHM,
      cost: this.#cost,
      data: { purpose: PURPOSE, request_hash: requestHash(request) },
      expiresAt,
      keyLength: KEY_BYTES,
      keyPrefix: crowded ? HARD : EASY,
      nonce: randomBytes(16).toString('hex'),
      salt: randomBytes(16).toString('hex'),
    }
    return { parameters, signature: signatureOf(parameters, this.#secret), expiresAt: expiresAt * 1000 }
  }

  /**
   * Checks a proof: form, signature, expiry, purpose and request before the one derivation it costs.
   * @throws ProductError invalid_parameter for what is no proof, validation_error on `proof_of_work` for one that does not hold
   */
  async check(written: string, request: AgentRequest): Promise<Proof> {
    const { challenge, solution } = readProof(written)
    const { parameters, signature } = challenge
    if (!isSame(signature, signatureOf(parameters, this.#secret))) throw wrong('invalid_signature', 'signature')
    const expiresAt = (parameters.expiresAt as number) * 1000
    if (expiresAt <= this.#clock.now()) throw wrong('expired', 'expiry')
    const { purpose, request_hash: hash } = parameters.data as Record<string, unknown>
    if (purpose !== PURPOSE || hash !== requestHash(request)) throw wrong('request_mismatch', 'request')
    // Its own check of the expiry asks another clock than ours.
    const { expiresAt: _, ...timeless } = parameters
    const verdict = await verifySolution({
      challenge: {
        parameters: timeless as unknown as Challenge['parameters'],
        signature: signatureOf(timeless, this.#secret),
      },
      solution,
      deriveKey,
      hmacSignatureSecret: this.#secret,
    })
    if (!verdict.verified) throw wrong('invalid_solution', 'solution')
    return { nonce: Buffer.from(parameters.nonce as string, 'hex'), expiresAt }
  }
}

/** The rule of ALTCHA v2: HMAC-SHA-256 over canonical JSON, hex, the secret as it is written. */
export function signatureOf(parameters: object, secret: string): string {
  return createHmac('sha256', secret).update(canonicalJson(parameters)).digest('hex')
}

interface Written {
  challenge: { parameters: Record<string, unknown>; signature: string }
  solution: { counter: number; derivedKey: string }
}

function readProof(written: string): Written {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(written)) throw malformed('standard base64')
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(written, 'base64')))
  } catch {
    throw malformed('base64 of JSON')
  }
  const { challenge, solution } = recordOf(value)
  const { parameters, signature } = recordOf(challenge)
  const { counter, derivedKey } = recordOf(solution)
  const read = recordOf(parameters)
  if (typeof signature !== 'string' || !/^[0-9a-f]{64}$/.test(signature)) throw wrong('invalid_signature', 'signature')
  const isCounter = typeof counter === 'number' && Number.isInteger(counter) && counter >= 0 && counter <= COUNTER_MAX
  const isKey = typeof derivedKey === 'string' && /^[0-9a-f]{64}$/.test(derivedKey)
  if (!isCounter || !isKey) throw wrong('invalid_solution', 'solution')
  return { challenge: { parameters: read, signature }, solution: { counter, derivedKey } }
}

function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw malformed('base64 of {challenge, solution}')
}

function malformed(form: string): ProductError {
  return new ProductError('invalid_parameter', `proof_of_work must be ${form}.`, { param: 'proof_of_work' })
}

function wrong(code: string, what: string): ProductError {
  return invalid('proof_of_work', code, `The ${what} of the proof does not hold; ask for a new challenge.`)
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
