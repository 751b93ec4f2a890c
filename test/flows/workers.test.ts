// The threads of the workers: jobs run in one of their own, and the threads end with the appliance.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { MINUTE_MS } from '../../src/base/durations.ts'
import { Db } from '../../src/db/db.ts'
import { Blobs } from '../../src/store/content/blobs.ts'
import { ERASED_BYTES } from '../../src/store/content/erased-content.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'

const HOUR_MS = 3_600_000

/** Stores content that no row names. */
async function orphan(db: Db, at: number, mark: number): Promise<string> {
  const hash = Buffer.alloc(32, mark)
  await new Blobs(db, new ManualClock(at)).put(hash, 0, [])
  return hash.toString('hex')
}

async function stored(appliance: TestAppliance): Promise<string[]> {
  return (await appliance.app.store.blobs.hashes()).map((hash) => Buffer.from(hash).toString('hex'))
}

test('jobs run in the thread of the scheduler, with what the first thread knows of the data folder', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-workers-'))
  const now = Date.now()
  const before = await startAppliance({ dataDir, clock: new ManualClock(now - 5 * HOUR_MS) })
  await (await before.team()).domain('shop.test')
  await before.close()
  const file = new Db({ file: join(dataDir, 'blobs.db') })
  const known = await orphan(file, now - 10 * HOUR_MS, 1)
  // Stored while mail.db was not in use: it may be from before a restore of mail.db.
  const unknown = await orphan(file, now - 3 * HOUR_MS, 2)
  await file.close()
  const sweep = t.mock.method(Blobs.prototype, 'sweep')
  await using appliance = await startAppliance({ dataDir, workers: 'threads' })
  while ((await stored(appliance)).includes(known));
  assert.deepEqual(await stored(appliance), [unknown])
  assert.equal(sweep.mock.callCount(), 0, 'the first thread does not sweep')
  // It would be kept for 30 days.
  await appliance.app.blobsDb.write((tx) => tx.run('DELETE FROM unclaimed_blobs'))
  await appliance.app.store.blobs.sweep(async () => new Set())
  await appliance.close()
  await rm(dataDir, { recursive: true })
})

test('the first thread deletes the content of what was erased on it: no other thread knows of it', async () => {
  const clock = new ManualClock(Date.now())
  await using appliance = await startAppliance({ clock, workers: 'threads' })
  const { store } = appliance.app
  const hash = Buffer.alloc(32, 3)
  await store.blobs.put(hash, 0, [])
  store.upkeep.erased.add(1, [{ hash, sizeBytes: ERASED_BYTES, createdAt: clock.now() }])
  clock.advance(6 * MINUTE_MS)
  await appliance.settle()
  assert.deepEqual(await stored(appliance), [])
})

test('a worker thread terminated after it was done is not logged as crashed', async (t) => {
  await using appliance = await startAppliance({ workers: 'threads' })
  const error = t.mock.method(appliance.app.log, 'error')
  const warn = t.mock.method(appliance.app.log, 'warn')
  // Whether the thread exits (0) or is terminated (1) is a race; here it is always terminated.
  const { emit } = Worker.prototype
  t.mock.method(Worker.prototype, 'emit', function (this: Worker, event: string, ...rest: unknown[]) {
    return emit.call(this, event, ...(event === 'exit' ? [1] : rest))
  })
  await appliance.close()
  assert.equal(error.mock.callCount() + warn.mock.callCount(), 0)
})
