// Merges the segments of the search index in small steps, in transactions of their own.

import type { Tx } from '../../db/db.ts'

// FTS5 writes a segment for each transaction. By itself it merges them inside the transactions of deliveries, 64 pages and more for each
// level at once: in one of a hundred the messages waited for 100 to 200 pages. Migration 45 turns that off (`automerge`).

/** Pages that one step writes, about. */
const STEP_PAGES = 64
/** Bytes of text after which a step is due. 64 KiB fill eight pages, and each is written once for every level, of which 1,000,000 messages have nine. */
const STEP_BYTES = 64 * 1024
/** For a short text, or one that is removed: each transaction writes a page at least. */
const LEAST_BYTES = 2048
/** Steps that may be due: as many as for the largest transactions. With fewer, many of these would end in one merge of all at once. */
const DUE_MAX = 256

/** Of this thread: each thread merges for what it writes. */
let unmerged = 0
/** Transactions that have queued a step. */
const queued = new WeakSet<Tx>()

/** Counts text that was added to the index, or removed from it; queues a step when it is time. */
export function noteWritten(tx: Tx, bytes: number): void {
  unmerged = Math.min(unmerged + Math.max(bytes, LEAST_BYTES), DUE_MAX * STEP_BYTES)
  queueStep(tx)
}

function queueStep(tx: Tx): void {
  if (unmerged < STEP_BYTES || queued.has(tx)) return
  queued.add(tx)
  unmerged -= STEP_BYTES
  tx.followUp(mergeStep)
}

function mergeStep(tx: Tx): void {
  tx.keepsCaches()
  tx.run(`INSERT INTO message_text (message_text, rank) VALUES ('merge', ?)`, [STEP_PAGES])
  queueStep(tx)
}
