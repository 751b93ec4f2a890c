// The threads of folders as UID THREAD answered last, kept while the same messages are asked for: programs that list threads ask for each page.

import type { ThreadAlgorithm } from './hit-facts.ts'

/** Bytes of all texts and UIDs together. */
export const KEPT_BYTES = 16 * 1024 * 1024

interface KeptThreads {
  /** The messages that were threaded. */
  uids: Uint32Array
  text: Uint8Array
}

/** What decides the threads of messages never changes under their UIDs: a text stays right for the same UIDs. */
export class ThreadTexts {
  /** By folder and algorithm; the last one that was used is the last one in the map. */
  readonly #known = new Map<string, KeptThreads>()
  #bytes = 0

  /** @returns undefined when other messages were threaded last */
  get(folder: number, algorithm: ThreadAlgorithm, uids: Uint32Array): Uint8Array | undefined {
    const key = `${folder} ${algorithm}`
    const kept = this.#known.get(key)
    if (kept === undefined || !isEqual(kept.uids, uids)) return undefined
    this.#known.delete(key)
    this.#known.set(key, kept)
    return kept.text
  }

  set(folder: number, algorithm: ThreadAlgorithm, kept: KeptThreads): void {
    const key = `${folder} ${algorithm}`
    this.#remove(key)
    if (sizeOf(kept) > KEPT_BYTES) return
    this.#known.set(key, kept)
    this.#bytes += sizeOf(kept)
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= KEPT_BYTES) break
      this.#remove(oldest)
    }
  }

  #remove(key: string): void {
    const kept = this.#known.get(key)
    if (kept === undefined) return
    this.#known.delete(key)
    this.#bytes -= sizeOf(kept)
  }
}

function sizeOf({ uids, text }: KeptThreads): number {
  return uids.byteLength + text.byteLength
}

function isEqual(one: Uint32Array, other: Uint32Array): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Uint32Array) => Buffer.from(buffer, byteOffset, byteLength)
  return one.length === other.length && bytes(one).equals(bytes(other))
}
