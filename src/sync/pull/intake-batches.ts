// Which contents of new messages are fetched, and which of them together.

import type { SkipReason } from '../model/records.ts'
import { type AccountServer, MESSAGE_BYTES_MAX, MessageTooLarge, type ServerError } from '../model/server.ts'
import { readByHalves } from '../session/halving.ts'
import type { SyncSession } from '../session/sync-session.ts'
import type { KeyedHead } from './matching.ts'

/** Contents fetched with one command: bytes, and messages stored in one unit of work. */
const BATCH_BYTES = 4 * 1024 * 1024
export const BATCH_MESSAGES = 50

/** Messages of a batch as a server gives them, by UID. */
export interface FetchedBatch {
  contents: Map<number, Uint8Array>
  /** Those that it refuses to give. */
  skipped: Map<number, SkipReason>
}

/** Whether a message has more bytes than are fetched. */
export function isLarge(head: KeyedHead['head']): boolean {
  return head.sizeBytes > MESSAGE_BYTES_MAX
}

/** Whether a message is to be stored here. */
export function isWanted({ account }: SyncSession, head: KeyedHead['head']): boolean {
  return account.mode === 'mirror' || account.since === null || head.receivedAt > account.since
}

/** Messages that are fetched and stored together. @param isAlone asked for each when its turn comes */
export function* batchesOf(heads: readonly KeyedHead[], isAlone: (one: KeyedHead) => boolean): Generator<KeyedHead[]> {
  let batch: KeyedHead[] = []
  let bytes = 0
  let isFull = false
  for (const one of heads) {
    const size = bytesOf([one])
    const isSingle = isAlone(one)
    const isOver = batch.length >= BATCH_MESSAGES || bytes + size > BATCH_BYTES
    if (batch.length > 0 && (isFull || isSingle || isOver)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(one)
    bytes += size
    isFull = isSingle
  }
  if (batch.length > 0) yield batch
}

export function uidsOf(batch: readonly KeyedHead[]): number[] {
  return batch.map(({ head }) => head.uid)
}

/** What the contents of messages take in memory at most, as far as their server names their sizes. */
export function bytesOf(batch: readonly KeyedHead[]): number {
  return batch.reduce((sum, { head }) => sum + Math.min(head.sizeBytes, MESSAGE_BYTES_MAX), 0)
}

/** Contents by UID; messages that the server refuses are left out, each by itself. */
export async function fetchBatch(server: AccountServer, batch: readonly KeyedHead[]): Promise<FetchedBatch> {
  const { results, refused } = await readByHalves(batch, (part) => fetchContents(server, part))
  const reasonOf = (error: ServerError) => (error instanceof MessageTooLarge ? 'large' : 'refused')
  return {
    contents: new Map(results.flatMap((contents) => [...contents])),
    skipped: new Map(refused.map(({ item, error }) => [item.head.uid, reasonOf(error)])),
  }
}

/** A single large message is fetched in pieces. */
async function fetchContents(server: AccountServer, batch: readonly KeyedHead[]): Promise<Map<number, Uint8Array>> {
  const [only] = batch
  if (only === undefined) return new Map()
  if (batch.length > 1 || only.head.sizeBytes <= BATCH_BYTES) return server.contents(batch.map(({ head }) => head.uid))
  const stream = await server.content(only.head.uid)
  if (stream === null) return new Map()
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return new Map([[only.head.uid, Buffer.concat(chunks)]])
}
