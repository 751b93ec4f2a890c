// Reads and writes the rows of certificates. Private keys are sealed, and opened only to sign a request or to be served.

import type { ChallengeType } from '../acme/challenges.ts'
import type { IssuedChain } from '../acme/issued-chain.ts'
import type { Vault } from '../base/secrets.ts'
import type { CertificatePair } from '../config/certificate.ts'
import type { Reader, Tx } from '../db/db.ts'
import type { WantedCertificate } from './names.ts'
import {
  CERTIFICATES,
  type Certificate,
  CHALLENGES,
  KEYS,
  ORDERS,
  type StoredChallenge,
  type StoredOrder,
  VERSIONS,
  type Version,
} from './records.ts'

/** Vault purpose of the sealed private keys. */
export const CERTIFICATE_PURPOSE = 'certificate'
/** Versions of one certificate that are kept. */
const VERSIONS_KEPT = 10

export function allCertificates(reader: Reader): Certificate[] {
  return CERTIFICATES.all(reader, 'ORDER BY kind, n')
}

export function certificateNamed(reader: Reader, name: string): Certificate | undefined {
  return CERTIFICATES.get(reader, 'WHERE name = ?', [name])
}

/** Adds what is wanted and has no row, and deletes what is wanted no longer. @returns whether a row changed */
export function follow(tx: Tx, wanted: readonly WantedCertificate[], now: number): boolean {
  const rows = allCertificates(tx)
  let changed = false
  for (const { n, name } of rows) {
    if (wanted.some(({ names }) => names[0] === name)) continue
    for (const table of ['acme_orders', 'acme_challenges', 'certificate_versions', 'certificate_keys']) {
      tx.run(`DELETE FROM ${table} WHERE certificate = ?`, [n])
    }
    tx.run('DELETE FROM certificates WHERE n = ?', [n])
    changed = true
  }
  for (const { kind, names } of wanted) {
    const name = names[0]!
    const known = rows.find((row) => row.name === name)
    if (known === undefined)
      CERTIFICATES.insert(tx, { ...{ kind, name, names }, state: 'absent', lookAt: now, failedAt: [] })
    else if (known.kind !== kind || known.names.join() !== names.join()) {
      CERTIFICATES.update(tx, { kind, names, lookAt: now }, 'WHERE n = ?', [known.n])
    } else continue
    changed = true
  }
  return changed
}

export function updateCertificate(tx: Tx, n: number, changes: Partial<Omit<Certificate, 'n'>>): void {
  CERTIFICATES.update(tx, changes, 'WHERE n = ?', [n])
}

export function orderOfCertificate(reader: Reader, certificate: number): StoredOrder | undefined {
  return ORDERS.get(reader, 'WHERE certificate = ?', [certificate])
}

export function insertOrder(tx: Tx, order: StoredOrder): void {
  ORDERS.insert(tx, order)
}

export function countPoll(tx: Tx, certificate: number): void {
  tx.run('UPDATE acme_orders SET polls = polls + 1 WHERE certificate = ?', [certificate])
}

/** Ends the order of a certificate, and its challenges. */
export function dropOrder(tx: Tx, certificate: number): void {
  tx.run('DELETE FROM acme_orders WHERE certificate = ?', [certificate])
  tx.run('DELETE FROM acme_challenges WHERE certificate = ?', [certificate])
}

export function putChallenge(tx: Tx, challenge: StoredChallenge): void {
  tx.run('DELETE FROM acme_challenges WHERE token = ?', [challenge.token])
  CHALLENGES.insert(tx, challenge)
}

export function challengesOf(reader: Reader, certificate: number): StoredChallenge[] {
  return CHALLENGES.all(reader, 'WHERE certificate = ?', [certificate])
}

export function challengeByToken(reader: Reader, token: string): StoredChallenge | undefined {
  return CHALLENGES.get(reader, "WHERE token = ? AND type = 'http-01'", [token])
}

/** The challenge that waits for a connection with this server name. */
export function challengeByName(reader: Reader, name: string, type: ChallengeType): StoredChallenge | undefined {
  return CHALLENGES.get(reader, 'WHERE name = ? AND type = ?', [name, type])
}

/** The newest key of a certificate; undefined without one. */
export function latestKey(reader: Reader, certificate: number): { n: number } | undefined {
  return KEYS.get(reader, 'WHERE certificate = ? ORDER BY n DESC LIMIT 1', [certificate])
}

/** @param pem PKCS #8 */
export function insertKey(
  tx: Tx,
  vault: Vault,
  { certificate, pem, now }: { certificate: number; pem: string; now: number },
) {
  return KEYS.insert(tx, { certificate, keySealed: vault.seal(CERTIFICATE_PURPOSE, pem), createdAt: now })
}

/** The private key, PEM. @throws Error when it was sealed with another secret */
export function openKey(reader: Reader, vault: Vault, n: number): string {
  const row = KEYS.only('key_sealed').get(reader, 'WHERE n = ?', [n])
  return vault.open(CERTIFICATE_PURPOSE, row!.keySealed).toString()
}

/** All versions of a certificate, the newest first. */
export function versionsOf(reader: Reader, certificate: number): Version[] {
  return VERSIONS.all(reader, 'WHERE certificate = ? ORDER BY n DESC', [certificate])
}

/** The version that is served: the newest that no connection refused. */
export function servedVersion(reader: Reader, certificate: number): Version | undefined {
  return VERSIONS.get(reader, "WHERE certificate = ? AND state IN ('issued', 'proven') ORDER BY n DESC LIMIT 1", [
    certificate,
  ])
}

export function provenVersion(reader: Reader, certificate: number): Version | undefined {
  return VERSIONS.get(reader, "WHERE certificate = ? AND state = 'proven' ORDER BY n DESC LIMIT 1", [certificate])
}

export function insertVersion(tx: Tx, version: Omit<Version, 'n' | 'provenAt'>, chain: IssuedChain): number {
  const n = VERSIONS.insert(tx, { ...version, chain: chain.pem })
  const kept = 'SELECT n FROM certificate_versions WHERE certificate = ? ORDER BY n DESC LIMIT ?'
  const values = [version.certificate, version.certificate, VERSIONS_KEPT]
  tx.run(`DELETE FROM certificate_versions WHERE certificate = ? AND state <> 'proven' AND n NOT IN (${kept})`, values)
  const used = 'SELECT key FROM certificate_versions WHERE certificate = ?'
  tx.run(`DELETE FROM certificate_keys WHERE certificate = ? AND n <> ? AND n NOT IN (${used})`, [
    version.certificate,
    version.key,
    version.certificate,
  ])
  return n
}

export function updateVersion(tx: Tx, n: number, changes: Partial<Pick<Version, 'state' | 'provenAt'>>): void {
  VERSIONS.update(tx, changes, 'WHERE n = ?', [n])
}

/** A version proved itself: those before it are no longer used. */
export function replaceEarlier(tx: Tx, certificate: number, n: number): void {
  tx.run(
    "UPDATE certificate_versions SET state = 'replaced' WHERE certificate = ? AND n < ? AND state IN ('issued', 'proven')",
    [certificate, n],
  )
}

/** The chain of a version, PEM. */
export function chainOf(reader: Reader, n: number): string {
  return VERSIONS.only('chain').get(reader, 'WHERE n = ?', [n])!.chain
}

export function pairOf(reader: Reader, vault: Vault, { n, key }: Version): CertificatePair {
  return { cert: chainOf(reader, n), key: openKey(reader, vault, key) }
}
