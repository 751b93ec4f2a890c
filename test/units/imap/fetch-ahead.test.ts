// What FETCH reads ahead for the commands that wait: no more than they ask for stays in memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aheadOf } from '../../../src/imap/fetch-ahead.ts'
import type { ImapSession } from '../../../src/imap/session.ts'

const NEEDS = { rows: false, labels: false, headers: false, structure: false }

test('what was read further is dropped when no command waits any more', () => {
  const view = { count: 20, sequenceOf: (uid: number) => uid, uidAt: (sequence: number) => sequence }
  const reads: number[] = []
  const entries = (_: number, [{ first, last }]: [{ first: number; last: number }]) => {
    reads.push(first)
    return Array.from({ length: last - first + 1 }, (_, n) => ({ uid: first + n, message: first + n }))
  }
  const reader = { buffered: 0 }
  const app = { db: { changes: 0, foreignVersion: 1 }, store: { views: { entries }, mail: {} } }
  const session = { app, reader, folder: { n: 1, view } } as unknown as ImapSession
  /** @param waiting commands behind this one */
  const take = (uid: number, waiting: number) => {
    reader.buffered = waiting * 40
    return aheadOf(session).take(session, uid, NEEDS)?.entry.uid ?? null
  }
  assert.deepEqual([take(1, 5), take(2, 4), take(3, 3), take(4, 0)], [null, 2, 3, 4])
  // The page had one more.
  assert.equal(take(5, 0), null)
  assert.deepEqual(reads, [2])
})
