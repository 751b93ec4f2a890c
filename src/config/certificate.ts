// Generates a self-signed certificate for STARTTLS, encoded in DER here: Node can read X.509 certificates, but not create them.

import { generateKeyPair, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'

/** A certificate and its private key, both PEM. */
export interface CertificatePair {
  cert: string
  key: string
}

// Tags of ASN.1 (X.690 §8).
const BOOLEAN = 0x01
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_ID = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
const EXPLICIT_0 = 0xa0
const EXPLICIT_3 = 0xa3
/** GeneralName dNSName (RFC 5280 §4.2.1.6). */
const DNS_NAME = 0x82

const ECDSA_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const SUBJECT_ALT_NAME = '551d11'
const BASIC_CONSTRAINTS = '551d13'
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
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
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
    der(EXPLICIT_3, der(SEQUENCE, ...extensions([host, ...others]))),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, privateKey))
  return {
    cert: pem(der(SEQUENCE, body, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

function extensions(hosts: readonly string[]): Buffer[] {
  const constraints = der(SEQUENCE)
  const names = der(SEQUENCE, ...hosts.map((host) => der(DNS_NAME, Buffer.from(host))))
  return [
    der(SEQUENCE, oid(BASIC_CONSTRAINTS), der(BOOLEAN, Buffer.of(0xff)), der(OCTET_STRING, constraints)),
    der(SEQUENCE, oid(SUBJECT_ALT_NAME), der(OCTET_STRING, names)),
  ]
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...long), content])
}

function oid(hex: string): Buffer {
  return der(OBJECT_ID, Buffer.from(hex, 'hex'))
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

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
