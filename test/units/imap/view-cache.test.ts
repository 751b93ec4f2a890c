// The views of folders that sessions share: how long they are kept.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../../src/db/db.ts'
import { IDLE_VIEW_MS, IDLE_VIEWS_MAX, ViewCache } from '../../../src/imap/views/view-cache.ts'
import type { FolderViews } from '../../../src/store/entries/folders-views.ts'
import { ManualClock } from '../../support/clock.ts'

function opened() {
  const clock = new ManualClock()
  const read: number[] = []
  const views = {
    head: () => ({ modSeq: 1, uidNext: 2 }),
    view: async (folder: number) => {
      read.push(folder)
      return {
        ...{ folder, seq: 1, modSeq: 1, uidNext: 2, size: 1 },
        firsts: Uint32Array.of(1),
        counts: Uint32Array.of(0),
      }
    },
  } as unknown as FolderViews
  const db = { read: { get: () => ({ data_version: 1 }) }, counts: { commits: 0 } } as unknown as Db
  const cache = new ViewCache({ views, db, clock }, async () => {})
  /** Opens a folder. @returns closes it */
  const open = async (folder: number) => cache.hold(folder, (await cache.current(folder))!)
  return { clock, cache, open, read: () => read.splice(0) }
}

test('a view is read once for all sessions, and for a program that comes back within a minute', async () => {
  const { clock, cache, open, read } = opened()
  const [first, second] = [await open(1), await open(1)]
  assert.deepEqual(read(), [1])
  first()
  second()
  clock.advance(IDLE_VIEW_MS - 1)
  const third = await open(1)
  assert.deepEqual(read(), [])
  clock.advance(2 * IDLE_VIEW_MS)
  const fourth = await open(1)
  assert.deepEqual(read(), [])
  third()
  fourth()
  clock.advance(IDLE_VIEW_MS)
  assert.equal(cache.size, 0)
  await open(1)
  assert.deepEqual(read(), [1])
})

test('views without sessions are bounded: the oldest goes first', async () => {
  const { cache, open, read } = opened()
  const held = await open(0)
  for (let folder = 1; folder <= IDLE_VIEWS_MAX + 1; folder++) (await open(folder))()
  read()
  await open(2)
  assert.deepEqual(read(), [])
  await open(1)
  assert.deepEqual(read(), [1])
  held()
  cache.close()
  assert.equal(cache.size, 2)
})

test('a view that was read after the number of its folder does not go back to that', async () => {
  const [before, after] = [
    { modSeq: 1, uidNext: 2 },
    { modSeq: 2, uidNext: 3 },
  ]
  let head = before
  const views = {
    head: () => head,
    view: async (folder: number) => {
      // Another thread has committed a message: within this turn of the event loop the number stays in memory.
      head = after
      return { ...{ folder, seq: 1, ...after, size: 2 }, firsts: Uint32Array.of(1), counts: Uint32Array.of(1) }
    },
    expungedSince: () => [],
    entries: () => [],
  } as unknown as FolderViews
  const cache = new ViewCache(
    { views, db: { changes: 0, foreignVersion: 1 }, clock: new ManualClock() },
    async () => {},
  )
  const loading = cache.current(1)
  head = before
  await cache.current(1)
  const loaded = (await loading)!
  const release = cache.hold(1, loaded)
  const { modSeq, uidNext } = (await cache.current(1))!
  assert.deepEqual({ modSeq, uidNext }, after)
  release()
  cache.close()
})
