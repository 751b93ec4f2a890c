// Public keys of DKIM and ARC: lookups are cached per message, key records as read for all messages.

import type { KeyCache, Resolve } from 'mailauth/parts'
import { aLabels, NAME_CHARS_MAX } from './a-labels.ts'
import { type PublicKeyRecord, readKeyRecord } from './dkim-key-record.ts'

/** Cached key records, at most a few KiB each. */
const RECORDS_MAX = 500
const RECORD_CHARS_MAX = 4096

/** By record and hash algorithm, least recently used first. Reading a record costs more than verifying a signature. */
const recent = new Map<string, PublicKeyRecord>()

/** Looks up each name once per message; the resolver caches by TTL. mailauth takes it for the seals of ARC. */
export class DkimKeyCache implements KeyCache {
  readonly resolver: Resolve
  readonly #lookups = new Map<string, Promise<PublicKeyRecord>>()

  constructor(resolver: Resolve) {
    this.resolver = resolver
  }

  /** The key of `selector._domainkey.domain`. @throws KeyProblem, or the error of the resolver */
  get(...[, name, , { hashAlgo }]: Parameters<KeyCache['get']>): Promise<PublicKeyRecord> {
    return this.keyAt(name, hashAlgo)
  }

  /** @throws KeyProblem, or the error of the resolver */
  keyAt(name: string, hash: string): Promise<PublicKeyRecord> {
    const id = `${hash} ${name}`
    let lookup = this.#lookups.get(id)
    if (lookup === undefined) {
      lookup = this.#lookUp(name, hash)
      // A key may be requested before it is awaited: its rejection must not be unhandled.
      lookup.catch(() => {})
      this.#lookups.set(id, lookup)
    }
    return lookup
  }

  async #lookUp(name: string, hash: string): Promise<PublicKeyRecord> {
    if (name.length > NAME_CHARS_MAX) throw noSuchName()
    const records = (await this.resolver(aLabels(name), 'TXT').catch(withoutBadNames)) as string[][]
    const record = records[0]?.join('') ?? ''
    const id = `${hash} ${record}`
    const key = recent.get(id) ?? readKeyRecord(record, hash)
    recent.delete(id)
    if (id.length <= RECORD_CHARS_MAX) recent.set(id, key)
    if (recent.size > RECORDS_MAX) recent.delete(recent.keys().next().value!)
    return key
  }
}

/** An invalid DNS name never has a key: RFC 6376 6.1.2 calls that "no key for signature". */
function withoutBadNames(error: unknown): never {
  throw (error as { code?: string }).code === 'EBADNAME' ? noSuchName() : error
}

function noSuchName(): Error {
  return Object.assign(new Error('The name cannot exist.'), { code: 'ENOTFOUND' })
}
