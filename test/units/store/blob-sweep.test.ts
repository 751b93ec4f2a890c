// Which content the sweep erases: none that a row references, and none that mail.db may be too old to reference, for 30 days.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type FindNamed,
  isClaimedBy,
  noteUnclaimed,
  SWEEP_GRACE_MS,
  UNCLAIMED_RETENTION_MS,
} from '../../../src/store/content/blobs.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'

const DAY_MS = 86_400_000
const nothing: FindNamed = async () => new Set()

const hashOf = (first: number) => new Uint8Array(32).fill(first)
const put = ({ store }: TestStore, first: number) => store.blobs.put(hashOf(first), 0, [])
const note = ({ blobsDb }: TestStore, since: number, token: string | null = null) =>
  blobsDb.write((tx) => noteUnclaimed(tx, since, token))
const stored = async ({ store }: TestStore) => (await store.blobs.hashes()).map(([first]) => first)

describe('the sweep', () => {
  it('leaves content alone that was stored while mail.db was not in use', async () => {
    await using parts = await openTestStore()
    const { clock, store } = parts
    await put(parts, 1)
    clock.leap(DAY_MS)
    await put(parts, 2)
    await note(parts, clock.now())
    clock.leap(DAY_MS)
    await put(parts, 3)
    clock.leap(DAY_MS)
    assert.equal(await store.blobs.sweep(nothing), 2)
    assert.deepEqual(await stored(parts), [2])
  })

  it('leaves it for 30 days after the first sweep, whenever that is', async () => {
    await using parts = await openTestStore()
    const { clock, store } = parts
    await put(parts, 1)
    await note(parts, 0)
    clock.leap(400 * DAY_MS)
    assert.equal(await store.blobs.sweep(nothing), 0)
    clock.leap(UNCLAIMED_RETENTION_MS - 1)
    assert.equal(await store.blobs.sweep(nothing), 0)
    clock.leap(1)
    assert.equal(await store.blobs.sweep(nothing), 1)
  })

  it('erases it like any other once a row has referenced it', async () => {
    await using parts = await openTestStore()
    const { clock, store } = parts
    for (let first = 0; first < 3; first++) await put(parts, first)
    await note(parts, 0, 'token')
    clock.leap(SWEEP_GRACE_MS + 1)
    const named = new Set([0, 1, 2].map((first) => Buffer.from(hashOf(first)).toString('hex')))
    assert.equal(isClaimedBy(parts.blobsDb.read, 'token'), true)
    assert.equal(await store.blobs.sweep(async () => named), 0)
    assert.equal(isClaimedBy(parts.blobsDb.read, 'token'), false)
    assert.equal(await store.blobs.sweep(nothing), 3)
  })

  it('reviews more than one batch', async () => {
    await using parts = await openTestStore()
    const { clock, store } = parts
    const contents = Array.from({ length: 1203 }, (_, n) => {
      const hash = new Uint8Array(32)
      new DataView(hash.buffer).setUint32(0, n)
      return { hash, sizeBytes: 0, chunks: [] }
    })
    await store.blobs.putAll(contents)
    await note(parts, 0)
    clock.leap(SWEEP_GRACE_MS + 1)
    assert.equal(await store.blobs.sweep(nothing), 0)
    clock.leap(UNCLAIMED_RETENTION_MS)
    assert.equal(await store.blobs.sweep(nothing), contents.length)
  })

  it('counts the 30 days again for content that is noted again, and keeps the heartbeat that claims it', async () => {
    await using parts = await openTestStore()
    const { clock, store } = parts
    await put(parts, 1)
    await note(parts, 0, 'token')
    clock.leap(DAY_MS)
    await store.blobs.sweep(nothing)
    clock.leap(UNCLAIMED_RETENTION_MS - 1)
    await note(parts, 0)
    assert.equal(isClaimedBy(parts.blobsDb.read, 'token'), true)
    clock.leap(1)
    assert.equal(await store.blobs.sweep(nothing), 0)
    clock.leap(UNCLAIMED_RETENTION_MS)
    assert.equal(await store.blobs.sweep(nothing), 1)
    assert.equal(isClaimedBy(parts.blobsDb.read, 'token'), false)
  })
})
