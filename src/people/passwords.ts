// Passwords of people, where the operator allows them: Argon2id (RFC 9106), computed outside the main thread.

import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { invalid, ProductError } from '../base/errors.ts'
import { FairTurns, type TurnOwner } from '../base/fair-turns.ts'

export const PASSWORD_MIN = 10
export const PASSWORD_MAX = 256
/** Memory of one computation, KiB: RFC 9106 §4, second recommendation. */
const MEMORY_KIB = 65_536
const PASSES = 3
const TAG_BYTES = 32
const SALT_BYTES = 16
/** Computations at once: each takes 64 MiB and one of the four threads of the pool. */
const AT_ONCE = 2
/** Computations of one source, or one known browser, that run or wait; further ones are refused. */
export const COMPUTATIONS_EACH = 8
/** Computations of strangers that wait, and as many of persons who are known. */
const WAITING_MAX = 128
const RETRY_SECONDS = 5

const derive = promisify(argon2)
const turns = new FairTurns({ atOnce: AT_ONCE, each: COMPUTATIONS_EACH, waiting: WAITING_MAX })

/** @throws ProductError validation_error for a password that is too short, too long or the address itself */
export function checkPassword(password: string, email: string): void {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    throw invalid('password', 'invalid_length', `A password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`)
  }
  if (password.toLowerCase() === email) throw invalid('password', 'too_weak', 'The password must not be the address.')
}

/**
 * @param owner waits in a line of its own
 * @returns the parameters, the salt and the tag as one text
 * @throws ProductError service_unavailable when too many wait
 */
export async function hashPassword(password: string, owner: TurnOwner): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await compute(password, salt, owner)
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${base64(salt)}$${base64(tag)}`
}

/** A hash that no password has. */
const NO_PASSWORD = `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(TAG_BYTES))}`

/**
 * Whether the password is the one that was hashed. Without a hash it takes as long, so that an answer does not show whether a person exists.
 * @param owner as in `hashPassword`
 * @throws ProductError service_unavailable when too many wait: nothing was checked then
 */
export async function isPassword(password: string, hashed: string | null, owner: TurnOwner): Promise<boolean> {
  const [salt, tag] = (hashed ?? NO_PASSWORD).split('$').slice(4)
  const made = await compute(password, Buffer.from(salt!, 'base64'), owner)
  return timingSafeEqual(made, Buffer.from(tag!, 'base64')) && hashed !== null
}

async function compute(password: string, nonce: Buffer, owner: TurnOwner): Promise<Buffer> {
  const turn = turns.take(owner)
  if (turn === null) {
    const sentence = 'Too many sign-ins by password at this moment. Try again in a few seconds.'
    throw new ProductError('service_unavailable', sentence, { retryAfter: RETRY_SECONDS })
  }
  // NFKC: keyboards write the same letters in different forms (RFC 8265 §4).
  const message = password.normalize('NFKC')
  const parameters: Argon2Parameters = {
    message,
    nonce,
    parallelism: 1,
    tagLength: TAG_BYTES,
    memory: MEMORY_KIB,
    passes: PASSES,
  }
  const end = await turn
  try {
    return await derive('argon2id', parameters)
  } finally {
    end()
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}
