// TLSA records of mail servers (RFC 6698, RFC 7672 §3): which can be used, and whether a certificate chain matches one of them.

import { createHash, type X509Certificate } from 'node:crypto'

/** A TLSA record, in the form of node:dns. */
export interface TlsaRecord {
  certUsage: number
  selector: number
  match: number
  data: Uint8Array
}

/** RFC 7218: the key or certificate of the server itself. */
const DANE_EE = 3
/** RFC 7218: an authority of the domain, which must be in the chain. */
const DANE_TA = 2
const SELECTORS = [0, 1]
const DIGESTS: Readonly<Record<number, string>> = { 1: 'sha256', 2: 'sha512' }
/** Records of one name that are compared. */
const RECORDS_MAX = 32
/** Certificates of a chain that are looked at. */
const CHAIN_MAX = 10

/** The records that mail servers may use (RFC 7672 §3.1): usages 2 and 3 with a known selector and digest. */
export function usableRecords(records: readonly TlsaRecord[]): TlsaRecord[] {
  return records.slice(0, RECORDS_MAX).filter(({ certUsage, selector, match, data }) => {
    const isKnown = (certUsage === DANE_EE || certUsage === DANE_TA) && SELECTORS.includes(selector)
    const digest = DIGESTS[match]
    if (!isKnown || (match !== 0 && digest === undefined)) return false
    return match === 0 ? data.length > 0 : data.length === createHash(digest!).digest().length
  })
}

/** A record as a zone file has it: "3 1 1 0123…". */
export function tlsaText({ certUsage, selector, match, data }: TlsaRecord): string {
  return `${certUsage} ${selector} ${match} ${Buffer.from(data).toString('hex')}`
}

/** The certificates of a chain that a connection has shown, the server's first. */
export function chainOf(leaf: X509Certificate): X509Certificate[] {
  const chain = [leaf]
  for (let next = leaf.issuerCertificate; next !== undefined; next = next.issuerCertificate) {
    if (chain.length >= CHAIN_MAX || next.raw.equals(chain.at(-1)!.raw)) break
    chain.push(next)
  }
  return chain
}

/**
 * Whether a chain matches a usable record: the server's own certificate whatever its names and dates (RFC 7672 §3.1.1), or one it is
 * signed by, with a name of the server and in force (§3.1.2).
 * @param names the reference names of §3.2.2 @param now ms
 */
export function matchesTlsa(
  chain: readonly X509Certificate[],
  records: readonly TlsaRecord[],
  { names, now }: { names: readonly string[]; now: number },
): boolean {
  const leaf = chain[0]
  if (leaf === undefined) return false
  const own = records.filter(({ certUsage }) => certUsage === DANE_EE)
  if (own.some((record) => isOf(record, leaf))) return true
  const authorities = records.filter(({ certUsage }) => certUsage === DANE_TA)
  if (authorities.length === 0 || !names.some((name) => leaf.checkHost(name) !== undefined)) return false
  for (const [index, certificate] of chain.entries()) {
    if (!isInForce(certificate, now)) return false
    if (index > 0 && !isSignedBy(chain[index - 1]!, certificate)) return false
    if (index > 0 && authorities.some((record) => isOf(record, certificate))) return true
  }
  return false
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

function isInForce({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now && now < validToDate.getTime()
}

function isOf({ selector, match, data }: TlsaRecord, certificate: X509Certificate): boolean {
  const content = selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
  const digest = DIGESTS[match]
  const value = digest === undefined ? content : createHash(digest).update(content).digest()
  return value.equals(Buffer.from(data))
}
