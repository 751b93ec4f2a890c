// What an authority issued: read within bounds, and compared with what was asked for.

import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { type DerElement, IMPLICIT_0, OBJECT_ID, OCTET_STRING, readDer } from '../base/der.ts'
import { AcmeError } from './problem.ts'

const CHAIN_MAX = 10
const PEM = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g
const AUTHORITY_KEY_ID = '551d23'
/** A certificate may begin this much after this clock: authorities backdate, clocks differ. ms. */
const SLACK_MS = 5 * 60 * 1000

/** A chain that was checked. */
export interface IssuedChain {
  /** The certificate first, then those between it and the root; PEM. */
  pem: string
  notBefore: number
  notAfter: number
  /** SHA-256 of the public key, hex: TLSA 3 1 1 (RFC 6698). */
  keyDigest: string
}

/**
 * Checks the chain of an order: the certificate has the key and all names, is in force, and each certificate is signed by the next.
 * @param now ms @throws AcmeError that says what is wrong
 */
export function checkChain(
  text: string,
  expected: { key: string; names: readonly string[]; now: number },
): IssuedChain {
  const blocks = text.match(PEM) ?? []
  if (blocks.length === 0 || blocks.length > CHAIN_MAX) throw unusable(`has ${blocks.length} certificates`)
  const chain = blocks.map(certificateOf)
  const [leaf] = chain as [X509Certificate]
  if (!leaf.checkPrivateKey(createPrivateKey(expected.key))) throw unusable('is for another key')
  const missing = expected.names.filter((name) => leaf.checkHost(name, { wildcards: false }) === undefined)
  if (missing.length > 0) throw unusable(`does not name ${missing.join(', ')}`)
  const [notBefore, notAfter] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  if (expected.now + SLACK_MS < notBefore || expected.now >= notAfter) throw unusable('is not in force')
  for (const [index, one] of chain.entries()) {
    const issuer = chain[index + 1]
    if (issuer !== undefined && !(one.checkIssued(issuer) && one.verify(issuer.publicKey))) {
      throw unusable('is not signed by the certificate that follows it')
    }
  }
  return { pem: `${blocks.join('\n')}\n`, notBefore, notAfter, keyDigest: keyDigestOf(leaf) }
}

/** SHA-256 of the public key (SPKI), hex. */
export function keyDigestOf(certificate: X509Certificate): string {
  return createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
}

/**
 * The id of a certificate in renewal information (RFC 9773 §4.1): key identifier of the authority and serial number; null for one without.
 * @param pem the certificate first
 */
export function certificateId(pem: string): string | null {
  try {
    const [tbs] = readDer(readDer(new X509Certificate(pem).raw)[0]!.content)
    const fields = readDer(tbs!.content)
    // version [0], serialNumber, …, extensions [3].
    const serial = fields[1]!.content
    const extensions = fields.at(-1)!
    const keyId = authorityKeyId(readDer(readDer(extensions.content)[0]!.content))
    return keyId === null ? null : `${keyId.toString('base64url')}.${serial.toString('base64url')}`
  } catch {
    return null
  }
}

function authorityKeyId(extensions: readonly DerElement[]): Buffer | null {
  for (const { content } of extensions) {
    const parts = readDer(content)
    const isKeyId = parts[0]?.tag === OBJECT_ID && parts[0].content.toString('hex') === AUTHORITY_KEY_ID
    const value = parts.findLast(({ tag }) => tag === OCTET_STRING)
    if (!isKeyId || value === undefined) continue
    const members = readDer(readDer(value.content)[0]!.content)
    return members.find(({ tag }) => tag === IMPLICIT_0)?.content ?? null
  }
  return null
}

function certificateOf(block: string): X509Certificate {
  try {
    return new X509Certificate(block)
  } catch (cause) {
    throw new AcmeError('The certificate authority sent a certificate that cannot be read.', { cause })
  }
}

function unusable(why: string): AcmeError {
  return new AcmeError(`The certificate the authority sent ${why}; it is not used.`)
}
