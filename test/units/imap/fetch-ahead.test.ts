// What FETCH reads ahead for the commands that wait: no more than they ask for stays in memory, and nothing older than what was sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ImapSession } from '../../../src/imap/session/session.ts'
import { aheadOf } from '../../../src/imap/untagged/fetch-ahead.ts'

const NEEDS = { rows: false, labels: false, headers: false, structure: false }

/** A session on a folder with 20 messages, whose UIDs are their sequence numbers. */
function opened() {
  const view = { count: 20, sequenceOf: (uid: number) => uid, uidAt: (sequence: number) => sequence }
  const reads: number[] = []
  const entries = (_: number, [{ first, last }]: [{ first: number; last: number }]) => {
    reads.push(first)
    return Array.from({ length: last - first + 1 }, (_, n) => ({ uid: first + n, message: first + n }))
  }
  const reader = { buffered: 0 }
  const folder = { n: 1, view, modSeq: 1 }
  const app = { db: { changes: 0, foreignVersion: 1 }, store: { programs: { views: { entries }, mail: {} } } }
  const session = { app, reader, folder } as unknown as ImapSession
  /** @param waiting commands behind this one */
  const take = (uid: number, waiting: number) => {
    reader.buffered = waiting * 40
    return aheadOf(session).take(session, uid, NEEDS)?.entry.uid ?? null
  }
  return { session, folder, take, reads }
}

test('what was read further is dropped when no command waits any more', () => {
  const { take, reads } = opened()
  assert.deepEqual([take(1, 5), take(2, 4), take(3, 3), take(4, 0)], [null, 2, 3, 4])
  // The page had one more.
  assert.equal(take(5, 0), null)
  assert.deepEqual(reads, [2])
})

test('what was read is read again behind an announcement in the same turn, which may know a later commit', () => {
  const { folder, take, reads } = opened()
  assert.deepEqual([take(1, 9), take(2, 8)], [null, 2])
  folder.modSeq = 2
  assert.deepEqual([take(3, 7), take(4, 6)], [3, 4])
  assert.deepEqual(reads, [2, 3])
})

test('what was read is read again behind messages that were read for another command', () => {
  const { session, take, reads } = opened()
  assert.deepEqual([take(1, 9), take(2, 8)], [null, 2])
  aheadOf(session).forget()
  assert.equal(take(3, 7), 3)
  assert.deepEqual(reads, [2, 3])
})
