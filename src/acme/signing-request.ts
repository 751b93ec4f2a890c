// Requests for certificates (PKCS #10, RFC 2986), encoded here: Node makes none.

import { createPrivateKey, createPublicKey, generateKeyPair, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { BIT_STRING, der, IMPLICIT_0, INTEGER, oid, SEQUENCE, SET, subjectAltName } from '../base/der.ts'

const ECDSA_SHA256 = '2a8648ce3d040302'
/** extensionRequest (RFC 2985 §5.4.2). */
const EXTENSION_REQUEST = '2a864886f70d01090e'
/** [0] constructed: the attributes. */
const ATTRIBUTES = IMPLICIT_0 | 0x20

/** A new private key for a certificate: ECDSA P-256, PKCS #8, PEM. */
export async function newCertificateKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
}

/** The request, DER, for these names; without a subject, as authorities read subjectAltName only (RFC 8555 §7.4). @param key P-256, PEM */
export function signingRequest(key: string, names: readonly string[]): Buffer {
  const privateKey = createPrivateKey(key)
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const extensions = der(SEQUENCE, subjectAltName(names))
  const attribute = der(SEQUENCE, oid(EXTENSION_REQUEST), der(SET, extensions))
  const info = der(SEQUENCE, der(INTEGER, Buffer.of(0)), der(SEQUENCE), spki, der(ATTRIBUTES, attribute))
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', info, privateKey))
  return der(SEQUENCE, info, der(SEQUENCE, oid(ECDSA_SHA256)), signature)
}
