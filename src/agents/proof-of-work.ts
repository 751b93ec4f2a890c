// Proof of work for registrations (ALTCHA v2): stateless signed challenges, and the check of their solutions.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Challenge, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { canonicalJson } from '../base/canonical-json.ts'
import type { Clock } from '../base/clock.ts'
import { invalid, ProductError } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'

/** The members of a registration request; the proof is bound to them exactly as given. */
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

/** A valid proof. It is valid for one registration; the database enforces that. */
export interface Proof {
  nonce: Uint8Array
  /** ms; afterwards the proof is invalid. */
  expiresAt: number
}

const LIFETIME_SECONDS = 600
const ALGORITHM = 'PBKDF2/SHA-256'
const PURPOSE = 'agent_registration'
const KEY_BYTES = 32
/** Characters of a proof as it is sent (docs/design/agents.md §3: 8 KiB). */
export const PROOF_MAX = 8192
const EASY = '00'
const HARD = '000'
const COUNTER_MAX = 0xffffffff

/** Hex SHA-256 of the request members (docs/design/agents.md §2). */
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

  /** @param deps `secret` signs challenges; `cost` is PBKDF2 iterations of one try */
  constructor(deps: { clock: Clock; secret: string; cost: number }) {
    this.#clock = deps.clock
    this.#secret = deps.secret
    this.#cost = deps.cost
  }

  /** @param busy makes the challenge sixteen times as hard */
  challenge(request: AgentRequest, busy: boolean): SignedChallenge {
    const expiresAt = Math.floor(this.#clock.now() / 1000) + LIFETIME_SECONDS
    const parameters = {
      algorithm: ALGORITHM,
      cost: this.#cost,
      data: { purpose: PURPOSE, request_hash: requestHash(request) },
      expiresAt,
      keyLength: KEY_BYTES,
      keyPrefix: busy ? HARD : EASY,
      nonce: randomBytes(16).toString('hex'),
      salt: randomBytes(16).toString('hex'),
    }
    return { parameters, signature: signatureOf(parameters, this.#secret), expiresAt: expiresAt * 1000 }
  }

  /**
   * Checks a proof: form, signature, expiry, purpose and request before the one derivation it costs.
   * @throws ProductError invalid_parameter for malformed input, validation_error on `proof_of_work` for an invalid proof
   */
  async check(written: string, request: AgentRequest): Promise<Proof> {
    const { challenge, solution } = readProof(written)
    const { parameters, signature } = challenge
    if (!isSame(signature, signatureOf(parameters, this.#secret))) throw wrong('invalid_signature', 'signature')
    const expiresAt = (parameters.expiresAt as number) * 1000
    if (expiresAt <= this.#clock.now()) throw wrong('expired', 'expiry')
    const { purpose, request_hash: hash } = parameters.data as Record<string, unknown>
    if (purpose !== PURPOSE || hash !== requestHash(request)) throw wrong('request_mismatch', 'request')
    // The library would check the expiry against the system clock instead of `clock`.
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

/** The signature of ALTCHA v2: hex HMAC-SHA-256 over canonical JSON, keyed with the UTF-8 secret. */
export function signatureOf(parameters: object, secret: string): string {
  return createHmac('sha256', secret).update(canonicalJson(parameters)).digest('hex')
}

interface ParsedProof {
  challenge: { parameters: Record<string, unknown>; signature: string }
  solution: { counter: number; derivedKey: string }
}

function readProof(written: string): ParsedProof {
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
  return invalid('proof_of_work', code, `The ${what} of the proof is not valid. Request a new challenge.`)
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
