// Signs outgoing messages with the DKIM keys of their From domain.

import type { KeyObject } from 'node:crypto'
import { type DkimSigningKey, dkimSignatures } from '../../auth/dkim-sign.ts'
import { RowCache } from '../../db/row-cache.ts'
import type { DkimKey } from '../../directory/domains/dkim-keys.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Email } from '../model/records.ts'

/** Private keys kept parsed in memory; parsing one costs half as much as a signature. */
export const READY_KEYS_MAX = 500

type SignerDeps = Pick<OutboundDeps, 'db' | 'clock' | 'directory'>

export class Signer {
  readonly #deps: SignerDeps
  /** By public key, least recently used first: a key never changes, and the set of signing keys is read for each message. */
  readonly #ready = new Map<string, KeyObject>()
  /** By sender. */
  readonly #known: RowCache<string, readonly DkimSigningKey[]>

  constructor(deps: SignerDeps) {
    this.#deps = deps
    this.#known = new RowCache(deps.db, READY_KEYS_MAX)
  }

  /**
   * Prepends DKIM signatures when the From domain is the team's, verified, and its key is published in DNS (docs/design/directory.md §5.3);
   * otherwise returns the same bytes. Carriers that change the header (Gmail, Outlook, SES) break a signature.
   * @param bytes CRLF line ends
   */
  async sign(email: Pick<Email, 'teamId' | 'mailboxId' | 'from'>, bytes: Uint8Array): Promise<Uint8Array> {
    const keys = this.keysOf(email)
    if (keys.length === 0) return bytes
    const fields = await dkimSignatures(bytes, keys, this.#deps.clock.now())
    return Buffer.concat([Buffer.from(fields, 'latin1'), bytes])
  }

  /** The published keys of a verified From domain; none otherwise. */
  keysOf(email: Pick<Email, 'teamId' | 'mailboxId' | 'from'>): readonly DkimSigningKey[] {
    const { teamId, mailboxId, from } = email
    return this.#known.get(JSON.stringify([teamId, mailboxId, from.email]), () => this.#readKeys(email))!
  }

  #readKeys(email: Pick<Email, 'teamId' | 'mailboxId' | 'from'>): DkimSigningKey[] {
    const { db, directory } = this.#deps
    const domain = directory.domains.statusFor(db.read, email, email.from.email)
    if (domain?.verificationStatus !== 'verified') return []
    const keys = directory.dkimKeys.signing(db.read, domain.id).map((key) => this.#open(key))
    return keys.flatMap((key) => (key === null ? [] : { domain: domain.name, ...key }))
  }

  /** Null when the key has been deleted in the meantime. */
  #open(key: DkimKey) {
    const { db, directory } = this.#deps
    const privateKey = this.#ready.get(key.public) ?? directory.dkimKeys.open(db.read, key)
    if (privateKey === undefined) return null
    this.#ready.delete(key.public)
    this.#ready.set(key.public, privateKey)
    if (this.#ready.size > READY_KEYS_MAX) this.#ready.delete(this.#ready.keys().next().value!)
    return { selector: key.selector, algorithm: `${key.algorithm}-sha256` as const, privateKey }
  }
}
