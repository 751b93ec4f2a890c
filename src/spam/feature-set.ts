// Collects hashed features of one message: 32-bit numbers, each once, in linear time and with reused memory.

/** Distinct features of one message; further ones are dropped, the first parts of a message count. */
export const FEATURES_MAX = 12_000
const TABLE_BITS = 15
const TABLE_MASK = (1 << TABLE_BITS) - 1

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Spreads all bits of a 32-bit number over all others (the finalizer of MurmurHash3). */
export function mix(value: number): number {
  let hash = value ^ (value >>> 16)
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** FNV-1a over the code units of a text. */
export function hashText(text: string, seed = FNV_OFFSET): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash >>> 0
}

/** The hash of a text whose hash so far is `hash`, one code unit longer. */
export function addCode(hash: number, code: number): number {
  return Math.imul(hash ^ code, FNV_PRIME)
}

/** A hash table with open addressing; the list of its keys empties it again. */
export class FeatureSet {
  /** 0 for an empty slot: the feature 0 itself is one of many, and is never added. */
  readonly #table = new Uint32Array(1 << TABLE_BITS)
  readonly #list = new Uint32Array(FEATURES_MAX)
  readonly #slots = new Uint32Array(FEATURES_MAX)
  #count = 0

  /** Adds one feature; the same number again changes nothing. */
  add(hash: number): void {
    const key = mix(hash)
    if (key === 0 || this.#count >= FEATURES_MAX) return
    let at = key & TABLE_MASK
    for (let present = this.#table[at]!; present !== 0; present = this.#table[at]!) {
      if (present === key) return
      at = (at + 1) & TABLE_MASK
    }
    this.#table[at] = key
    this.#slots[this.#count] = at
    this.#list[this.#count++] = key
  }

  /** The features in the order of their first occurrence; the set is empty afterwards. */
  take(): Uint32Array {
    for (let index = 0; index < this.#count; index++) this.#table[this.#slots[index]!] = 0
    const features = this.#list.slice(0, this.#count)
    this.#count = 0
    return features
  }
}
