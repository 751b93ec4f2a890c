// The computations of SCRAM-SHA-256 (RFC 5802, RFC 7677): keys of a password, proofs and signatures. No input or output.

import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** Iterations of PBKDF2: the minimum of RFC 7677 §4; app passwords are random, so that more would protect nothing. */
export const SCRAM_ITERATIONS = 4096
/** Length of a key, a proof and a signature in bytes. */
export const SCRAM_KEY_BYTES = 32

/** What a server stores of a password (RFC 5802 §2.2): it verifies proofs, and cannot be used to sign in. */
export interface ScramKeys {
  storedKey: Uint8Array
  serverKey: Uint8Array
}

/** The proof of a client, and the messages it was computed over (RFC 5802 §3, AuthMessage). */
export interface ScramProof {
  authMessage: string
  proof: Uint8Array
}

/** Derives the keys in the thread pool. @param password as the client enters it; ASCII, so that SASLprep changes nothing */
export async function deriveScramKeys(
  password: string,
  salt: Uint8Array,
  iterations: number = SCRAM_ITERATIONS,
): Promise<ScramKeys> {
  const salted = await promisify(pbkdf2)(password, salt, iterations, SCRAM_KEY_BYTES, 'sha256')
  return { storedKey: hash(mac(salted, 'Client Key')), serverKey: mac(salted, 'Server Key') }
}

/** Whether a proof was made with the password of these keys. Its time does not depend on the result. */
export function isScramProof({ storedKey }: Pick<ScramKeys, 'storedKey'>, { authMessage, proof }: ScramProof): boolean {
  if (proof.length !== SCRAM_KEY_BYTES || storedKey.length !== SCRAM_KEY_BYTES) return false
  const signature = mac(storedKey, authMessage)
  const clientKey = signature.map((byte, index) => byte ^ proof[index]!)
  return timingSafeEqual(hash(clientKey), storedKey)
}

/** Proves to the client that the server knows the password (RFC 5802 §3, ServerSignature). */
export function scramServerSignature({ serverKey }: Pick<ScramKeys, 'serverKey'>, authMessage: string): Buffer {
  return mac(serverKey, authMessage)
}

function mac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function hash(value: Uint8Array): Buffer {
  return createHash('sha256').update(value).digest()
}
