// What WebAuthn asks of an answer beyond its signature (Level 3 §7.1, §7.2): the page it was made on, and a public key that is one.

import { createPublicKey } from 'node:crypto'

/** Bits of the modulus of an RSA key, at least (NIST SP 800-131A). */
const RSA_BITS_MIN = 2048
/** Labels of a COSE key (RFC 9053 §7). */
const LABELS = { algorithm: 3, curve: -1, x: -2, y: -3, modulus: -1, exponent: -2 } as const
const ES256 = -7
const EDDSA = -8
const RS256 = -257
const [P_256, ED25519] = [1, 6]
/** The field and the constant of edwards25519 (RFC 8032 §5.1). */
const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/**
 * Whether the browser made the answer on a page of this server that no other site embeds.
 * @param clientData as received, base64url
 */
export function isOwnPage(clientData: string): boolean {
  try {
    const { crossOrigin, topOrigin } = JSON.parse(Buffer.from(clientData, 'base64url').toString()) as Record<
      string,
      unknown
    >
    return (crossOrigin === undefined || crossOrigin === false) && topOrigin === undefined
  } catch {
    return false
  }
}

/** Whether a COSE key of the algorithms we offer is a point of its curve, or an RSA key that is long enough. */
export function isSoundKey(key: ReadonlyMap<number, unknown>): boolean {
  try {
    switch (key.get(LABELS.algorithm)) {
      case ES256:
        return isOnP256(key)
      case EDDSA:
        return key.get(LABELS.curve) === ED25519 && isOnEdwards25519(bytesOf(key, LABELS.x))
      case RS256:
        return isLongRsa(key)
      default:
        return false
    }
  } catch {
    // OpenSSL refuses coordinates that are no point of the curve.
    return false
  }
}

function isOnP256(key: ReadonlyMap<number, unknown>): boolean {
  if (key.get(LABELS.curve) !== P_256) return false
  const [x, y] = [bytesOf(key, LABELS.x), bytesOf(key, LABELS.y)]
  const jwk = { kty: 'EC', crv: 'P-256', x: x.toString('base64url'), y: y.toString('base64url') }
  return createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyType === 'ec'
}

/** RFC 8032 §5.1.3: the y coordinate, little-endian, has an x coordinate with x² = (y² - 1) / (dy² + 1). */
function isOnEdwards25519(point: Buffer): boolean {
  if (point.length !== 32) return false
  const written = BigInt(`0x${Buffer.from(point).reverse().toString('hex')}`)
  const y = written & (2n ** 255n - 1n)
  if (y >= P) return false
  const square = ((y * y - 1n + P) % P) * power((D * y * y + 1n) % P, P - 2n)
  const residue = power(square % P, (P - 1n) / 2n)
  return residue === 1n || (residue === 0n && written >> 255n === 0n)
}

/** RFC 8017 §3.1: an odd exponent of 3 or more. */
function isLongRsa(key: ReadonlyMap<number, unknown>): boolean {
  const [n, e] = [bytesOf(key, LABELS.modulus), bytesOf(key, LABELS.exponent)]
  const jwk = { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') }
  const { modulusLength = 0, publicExponent = 0n } =
    createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {}
  return modulusLength >= RSA_BITS_MIN && publicExponent >= 3n && publicExponent % 2n === 1n
}

function bytesOf(key: ReadonlyMap<number, unknown>, label: number): Buffer {
  const value = key.get(label)
  if (!(value instanceof Uint8Array)) throw new Error('The key has no such member.')
  return Buffer.from(value)
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base % P
  for (let bits = exponent; bits > 0n; bits >>= 1n) {
    if (bits & 1n) result = (result * square) % P
    square = (square * square) % P
  }
  return result
}
