// The DKIM keys of domains: creation, detection in DNS, rotation and removal.

import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { conflict } from '../../base/errors.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Reader, Row, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { DnsRecord } from './dns-records.ts'
import type { RecordFinding } from './domain-checks.ts'

export type DkimAlgorithm = 'rsa' | 'ed25519'

/** A DKIM key without its private key; times in ms. */
export interface DkimKey {
  n: number
  /** `s1`, `s2`…: unique within a domain, never reused. */
  selector: string
  algorithm: DkimAlgorithm
  /** Base64 as `p=` publishes it. */
  public: string
  /** Whether the last check found its DNS record. */
  dnsOk: boolean
  /** When a check first found its DNS record; null before that. */
  foundAt: number | null
  createdAt: number
  /** When a newer key replaced it for signing; null before that. */
  retiredAt: number | null
}

/** How long the DNS record of a retired key is needed: messages in transit are still to be verified. */
export const RETIRED_NEEDED_MS = 7 * DAY_MS

/** The name of its DNS record. */
function keyName(key: DkimKey, domainName: string): string {
  return `${key.selector}._domainkey.${domainName}`
}

export function keyRecord(key: DkimKey, domainName: string): DnsRecord {
  return { name: keyName(key, domainName), value: `v=DKIM1; k=${key.algorithm}; p=${key.public}` }
}

/** True when the DNS record of the key is no longer needed. */
export function isSuperseded(key: DkimKey, now: number): boolean {
  return key.retiredAt !== null && now >= key.retiredAt + RETIRED_NEEDED_MS
}

/** A key pair that is not stored yet. */
export interface DkimPair {
  algorithm: DkimAlgorithm
  /** Base64 as `p=` publishes it. */
  public: string
  /** PKCS #8. */
  private: Buffer
}

/** @throws Error when the system makes none */
export type NewDkimPair = (algorithm: DkimAlgorithm) => Promise<DkimPair>

/** Vault purpose of the sealed private keys. */
export const DKIM_PURPOSE = 'dkim'
const RSA_BITS = 2048
/** Of one domain; replaced keys are deleted once their records are gone. */
const KEYS_MAX = 20
/** An Ed25519 public key without its SPKI header (RFC 8463 §4). */
const ED25519_BYTES = 32

const COLUMNS = 'n, domain_id, selector, algorithm, public, dns_ok, found_at, created_at, retired_at'

/** Generating RSA takes up to a second on a pool thread: never call it inside a unit of work. */
export async function newDkimPair(algorithm: DkimAlgorithm): Promise<DkimPair> {
  const encodings = {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  } as const
  if (algorithm === 'rsa') {
    const pair = await promisify(generateKeyPair)('rsa', { modulusLength: RSA_BITS, ...encodings })
    return { algorithm, public: pair.publicKey.toString('base64'), private: pair.privateKey }
  }
  const pair = await promisify(generateKeyPair)('ed25519', encodings)
  return { algorithm, public: pair.publicKey.subarray(-ED25519_BYTES).toString('base64'), private: pair.privateKey }
}

export class DkimKeys {
  readonly #clock: Clock
  readonly #vault: Vault

  constructor({ clock, vault }: { clock: Clock; vault: Vault }) {
    this.#clock = clock
    this.#vault = vault
  }

  /** All keys of these domains, the oldest first; a domain without any has an empty list. */
  of(reader: Reader, domainIds: readonly string[]): Map<string, DkimKey[]> {
    const keys = new Map(domainIds.map((id) => [id, [] as DkimKey[]]))
    if (keys.size === 0) return keys
    const marks = placeholders(domainIds)
    const rows = reader.all(
      `SELECT ${COLUMNS} FROM dkim_keys WHERE domain_id IN (${marks}) ORDER BY domain_id, n`,
      domainIds,
    )
    for (const row of rows) keys.get(row.domain_id as string)!.push(keyOf(row))
    return keys
  }

  /** The signing keys of a domain: the newest published key of each algorithm, RSA first. */
  signing(reader: Reader, domainId: string): DkimKey[] {
    const rows = reader.all(
      `SELECT ${COLUMNS} FROM dkim_keys WHERE domain_id = ? AND dns_ok = 1 AND retired_at IS NULL ORDER BY n DESC`,
      [domainId],
    )
    const newest = new Map(rows.toReversed().map((row) => [row.algorithm as DkimAlgorithm, keyOf(row)]))
    return (['rsa', 'ed25519'] as const).flatMap((algorithm) => newest.get(algorithm) ?? [])
  }

  /** The private key; undefined when the key was deleted. */
  open(reader: Reader, key: DkimKey): KeyObject | undefined {
    const row = reader.get('SELECT private_sealed FROM dkim_keys WHERE n = ? AND public = ?', [key.n, key.public])
    if (row === undefined) return undefined
    const der = this.#vault.open(DKIM_PURPOSE, row.private_sealed as Uint8Array)
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  }

  /**
   * Adds a key to a domain. The previous key signs until the DNS record of the new one is found.
   * @param found true for reserved names, which need no record: the key signs immediately
   * @throws ProductError conflict while the last key of the algorithm was never found in DNS, and with too many keys
   */
  add(tx: Tx, domain: { id: string; name: string }, pair: DkimPair, found: boolean): void {
    const now = this.#clock.now()
    const known = this.of(tx, [domain.id]).get(domain.id)!
    if (known.length >= KEYS_MAX)
      throw conflict(`The domain has ${KEYS_MAX} keys. Remove the DNS records of replaced keys, then check the domain.`)
    const last = known.findLast(({ algorithm }) => algorithm === pair.algorithm)
    if (last !== undefined && last.foundAt === null) {
      const name = keyName(last, domain.name)
      throw conflict(`The key ${name} was not found in DNS yet. Publish it before you replace it.`)
    }
    const numbers = known.map(({ selector }) => Number(selector.slice(1)))
    tx.insert('dkim_keys', {
      domain_id: domain.id,
      selector: `s${Math.max(0, ...numbers) + 1}`,
      algorithm: pair.algorithm,
      public: pair.public,
      private_sealed: this.#vault.seal(DKIM_PURPOSE, pair.private),
      dns_ok: found,
      found_at: found ? now : null,
      created_at: now,
    })
    this.#retire(tx, domain.id)
  }

  /**
   * Applies the findings of a DNS check, by record name: published keys sign and retire their predecessors; a superseded key is deleted
   * once its record is gone.
   */
  applyFindings(tx: Tx, domain: { id: string; name: string }, findings: ReadonlyMap<string, RecordFinding>): void {
    const now = this.#clock.now()
    for (const key of this.of(tx, [domain.id]).get(domain.id)!) {
      const finding = findings.get(keyName(key, domain.name)) ?? 'unknown'
      if (finding === 'unknown') continue
      if (finding === 'missing' && isSuperseded(key, now)) {
        tx.run('DELETE FROM dkim_keys WHERE n = ?', [key.n])
      } else if (key.dnsOk !== (finding === 'found')) {
        const foundAt = key.foundAt ?? (finding === 'found' ? now : null)
        tx.run('UPDATE dkim_keys SET dns_ok = ?, found_at = ? WHERE n = ?', [finding === 'found', foundAt, key.n])
      }
    }
    this.#retire(tx, domain.id)
  }

  /** Deletes the keys of a domain, in the unit of work that deletes the domain. */
  drop(tx: Tx, domainId: string): void {
    tx.run('DELETE FROM dkim_keys WHERE domain_id = ?', [domainId])
  }

  /** Retires every key older than the signing key of its algorithm. */
  #retire(tx: Tx, domainId: string): void {
    for (const { algorithm, n } of this.signing(tx, domainId)) {
      tx.run(
        'UPDATE dkim_keys SET retired_at = ? WHERE domain_id = ? AND algorithm = ? AND n < ? AND retired_at IS NULL',
        [this.#clock.now(), domainId, algorithm, n],
      )
    }
  }
}

function keyOf(row: Row): DkimKey {
  return {
    n: row.n as number,
    selector: row.selector as string,
    algorithm: row.algorithm as DkimAlgorithm,
    public: row.public as string,
    dnsOk: row.dns_ok === 1,
    foundAt: row.found_at as number | null,
    createdAt: row.created_at as number,
    retiredAt: row.retired_at as number | null,
  }
}

/** Whether the vault's secret opens the stored private keys; true without any. */
export function opensDkimKeys(reader: Reader, vault: Vault): boolean {
  const sql = 'SELECT private_sealed AS sealed FROM dkim_keys ORDER BY n DESC LIMIT 1'
  const row = reader.get<{ sealed: Uint8Array }>(sql)
  if (row === undefined) return true
  try {
    vault.open(DKIM_PURPOSE, row.sealed)
    return true
  } catch {
    return false
  }
}
