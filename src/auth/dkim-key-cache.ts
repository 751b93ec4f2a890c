// Public keys of DKIM and ARC: lookups are cached per message, parsed key records for all messages.

import { createPublicKey, type KeyObject } from 'node:crypto'
import tools from 'mailauth/lib/tools.js'
import type { KeyCache, PublicKey, Resolve } from 'mailauth/parts'

/** Cached key records, at most a few KiB each. */
const RECORDS_MAX = 500
const RECORD_CHARS_MAX = 4096
/** Longer names have no A-labels, which take quadratic time: no name of DNS is as long in any form. */
export const NAME_CHARS_MAX = 1024

/** A key record as read. */
export type ReadKey = Omit<PublicKey, 'publicKey'> & { publicKey: KeyObject }

/** By record and hash algorithm, least recently used first. Parsing a record costs more than verifying a signature. */
const read = new Map<string, ReadKey>()

/** Replaces the verifier's cache; looks up each name once per message, and the resolver caches by TTL. */
export class DkimKeyCache implements KeyCache {
  readonly resolver: Resolve
  readonly #asked = new Map<string, Promise<ReadKey>>()

  constructor(resolver: Resolve) {
    this.resolver = resolver
  }

  get(...asked: Parameters<KeyCache['get']>): Promise<ReadKey> {
    const [type, name, minBitLength, options] = asked
    const id = `${options.hashAlgo} ${name}`
    let answer = this.#asked.get(id)
    if (answer === undefined) {
      answer = this.#ask(type, name, minBitLength, options)
      // A key may be requested before it is awaited: its rejection must not be unhandled.
      answer.catch(() => {})
      this.#asked.set(id, answer)
    }
    return answer
  }

  async #ask(...asked: Parameters<KeyCache['get']>): Promise<ReadKey> {
    const [type, name, minBitLength, options] = asked
    if (name.length > NAME_CHARS_MAX) throw noSuchName()
    const records = (await this.resolver(tools.toALabel(name), 'TXT').catch(withoutBadNames)) as string[][]
    const id = `${options.hashAlgo} ${records[0]?.join('') ?? ''}`
    const known = read.get(id)
    if (known !== undefined) {
      read.delete(id)
      read.set(id, known)
      return known
    }
    const key = await tools.getPublicKey(type, name, minBitLength, async () => records, options)
    const ready = { ...key, publicKey: createPublicKey(key.publicKey) }
    if (id.length <= RECORD_CHARS_MAX) read.set(id, ready)
    if (read.size > RECORDS_MAX) read.delete(read.keys().next().value!)
    return ready
  }
}

/** An invalid DNS name never has a key: RFC 6376 6.1.2 calls that "no key for signature". */
function withoutBadNames(error: unknown): never {
  throw (error as { code?: string }).code === 'EBADNAME' ? noSuchName() : error
}

function noSuchName(): Error {
  return Object.assign(new Error('The name cannot exist.'), { code: 'ENOTFOUND' })
}
