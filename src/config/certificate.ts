// Generates a self-signed certificate, encoded in DER here: Node can read X.509 certificates, but not create them.

import { generateKeyPair, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'
import {
  BIT_STRING,
  der,
  EXPLICIT_0,
  EXPLICIT_3,
  extension,
  GENERALIZED_TIME,
  INTEGER,
  oid,
  pem,
  SEQUENCE,
  SET,
  subjectAltName,
  UTC_TIME,
  UTF8_STRING,
} from '../base/der.ts'

/** A certificate and its private key, both PEM. */
export interface CertificatePair {
  cert: string
  key: string
}

const ECDSA_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const BASIC_CONSTRAINTS = '551d13'
/** basicConstraints: not an authority. */
const CONSTRAINTS = extension(BASIC_CONSTRAINTS, der(SEQUENCE), true)
/** Longest commonName (RFC 5280 appendix A, ub-common-name); the full name is in subjectAltName. */
const COMMON_NAME_MAX = 64

/**
 * Generates a self-signed ECDSA P-256 certificate.
 * @param host lower-case A-labels, as the others
 * @param from ms
 * @param until ms
 * @param others further names it is valid for
 */
export async function selfSigned(
  host: string,
  from: number,
  until: number,
  others: readonly string[] = [],
): Promise<CertificatePair> {
  return signed(await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' }), {
    host,
    from,
    until,
    others,
    more: [],
  })
}

/** The same at once, for the middle of a handshake: a key takes less than a millisecond. @param more further extensions, DER */
export function selfSignedNow(host: string, from: number, until: number, more: readonly Buffer[]): CertificatePair {
  return signed(generateKeyPairSync('ec', { namedCurve: 'P-256' }), { host, from, until, others: [], more })
}

interface Content {
  host: string
  from: number
  until: number
  others: readonly string[]
  more: readonly Buffer[]
}

function signed(
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  { host, from, until, others, more }: Content,
): CertificatePair {
  const algorithm = der(SEQUENCE, oid(ECDSA_SHA256))
  const commonName = der(SEQUENCE, oid(COMMON_NAME), der(UTF8_STRING, Buffer.from(host.slice(0, COMMON_NAME_MAX))))
  const name = der(SEQUENCE, der(SET, commonName))
  const body = der(
    SEQUENCE,
    der(EXPLICIT_0, der(INTEGER, Buffer.of(2))), // version 3
    der(INTEGER, serial()),
    algorithm,
    name,
    der(SEQUENCE, time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXPLICIT_3, der(SEQUENCE, CONSTRAINTS, subjectAltName([host, ...others]), ...more)),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, privateKey))
  return {
    cert: pem('CERTIFICATE', der(SEQUENCE, body, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

// RFC 5280 §4.1.2.2: positive, at most 20 octets.
function serial(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

// RFC 5280 §4.1.2.5: two digits of the year until 2049, four from 2050.
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replace(/\D/g, '')
  if (digits < '2050') return der(UTC_TIME, Buffer.from(`${digits.slice(2)}Z`))
  return der(GENERALIZED_TIME, Buffer.from(`${digits}Z`))
}
