// A flipped bit in stored content, as a disk does it.

import type { TestAppliance } from './appliance.ts'

export interface Chunk {
  /** SHA-256 of the content. */
  hash: Uint8Array
  /** Offset of the chunk in the content. */
  start: number
}

/** Flips one bit in the middle of a chunk. @returns how to flip it back */
export async function flipBit(
  { app: { blobsDb } }: TestAppliance,
  { hash, start }: Chunk,
): Promise<() => Promise<void>> {
  const place = [hash, start]
  const { data } = blobsDb.read.get<{ data: Uint8Array }>(
    'SELECT data FROM chunks WHERE hash = ? AND start = ?',
    place,
  )!
  const flipped = Uint8Array.from(data)
  flipped[flipped.length >> 1]! ^= 1
  const put = (bytes: Uint8Array) =>
    blobsDb.write((tx) => void tx.run('UPDATE chunks SET data = ? WHERE hash = ? AND start = ?', [bytes, ...place]))
  await put(flipped)
  return () => put(data)
}
