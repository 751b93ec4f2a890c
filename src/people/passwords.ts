// Passwords of people, where the operator allows them: Argon2id (RFC 9106), computed outside the main thread.

import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { invalid, ProductError } from '../base/errors.ts'
import { Semaphore } from '../base/semaphore.ts'

export const PASSWORD_MIN = 10
export const PASSWORD_MAX = 256
/** Memory of one computation, KiB: RFC 9106 §4, second recommendation. */
const MEMORY_KIB = 65_536
const PASSES = 3
const TAG_BYTES = 32
const SALT_BYTES = 16
/** Computations at once: each takes 64 MiB and one of the four threads of the pool. */
const AT_ONCE = 2
/** Computations that wait; further ones are refused. */
const WAITING_MAX = 16
const RETRY_SECONDS = 5

const derive = promisify(argon2)
const slots = new Semaphore(AT_ONCE)

/** @throws ProductError validation_error for a password that is too short, too long or the address itself */
export function checkPassword(password: string, email: string): void {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    throw invalid('password', 'invalid_length', `A password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`)
  }
  if (password.toLowerCase() === email) throw invalid('password', 'too_weak', 'The password must not be the address.')
}

/** @returns the parameters, the salt and the tag as one text @throws ProductError service_unavailable when too many wait */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await compute(password, salt)
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${base64(salt)}$${base64(tag)}`
}

/** A hash that no password has. */
const NO_PASSWORD = `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(TAG_BYTES))}`

/**
 * Whether the password is the one that was hashed. Without a hash it takes as long, so that an answer does not show whether a person exists.
 * @throws ProductError service_unavailable when too many wait
 */
export async function isPassword(password: string, hashed: string | null): Promise<boolean> {
  const [salt, tag] = (hashed ?? NO_PASSWORD).split('$').slice(4)
  const made = await compute(password, Buffer.from(salt!, 'base64'))
  return timingSafeEqual(made, Buffer.from(tag!, 'base64')) && hashed !== null
}

function compute(password: string, nonce: Buffer): Promise<Buffer> {
  if (slots.waiting >= WAITING_MAX) {
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
  return slots.during(1, () => derive('argon2id', parameters))
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}
