// Content of messages erased in bulk: deleted before the sweep when it is much, and never while a row refers to it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERASED_BYTES, type ErasedContent } from '../../../src/store/content/erased-content.ts'
import { mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'

const { signal } = new AbortController()
const hashOf = (first: number) => new Uint8Array(32).fill(first)
const stored = async ({ store }: TestStore) => (await store.blobs.hashes()).map(([first]) => first).sort()

/** Messages with contents of this size, in Trash. @returns their ids */
async function filled(
  parts: TestStore,
  box: TestMailbox,
  contents: readonly number[],
  sizeBytes: number,
): Promise<string[]> {
  for (const first of contents) await parts.store.blobs.put(hashOf(first), 0, [])
  const put = { mail: mailOf(), receivedAt: parts.clock.now(), folders: ['trash' as const], sizeBytes }
  return box.putAll(contents.map((first) => ({ ...put, thread: `${first}`, blob: hashOf(first) })))
}

const erase = ({ db, store }: TestStore, { account }: TestMailbox, ids: readonly string[]) =>
  db.write((tx) => store.edit.messages.deleteIn(tx, account, ids))

test('content of much erased mail is deleted, but for what other messages have and what was stored again', async () => {
  await using parts = await openTestStore()
  const { store, clock } = parts
  const box = await TestMailbox.open(parts)
  const findNamed = (hashes: Uint8Array[]) => store.read.messages.namedBlobs(hashes)
  const ids = await filled(parts, box, [1, 2, 3], ERASED_BYTES / 4)
  const [copy] = await filled(parts, box, [2], 10)
  await erase(parts, box, ids)
  assert.equal(await store.upkeep.erased.release(findNamed, clock.now(), signal), 0)
  clock.advance(1000)
  await store.blobs.put(hashOf(3), 0, [])
  await erase(parts, box, await filled(parts, box, [4], ERASED_BYTES / 2))
  // What was stored just now may be of a message that is being stored.
  assert.equal(await store.upkeep.erased.release(findNamed, clock.now(), signal), 0)
  clock.advance(300_000)
  assert.equal(await store.upkeep.erased.release(findNamed, clock.now(), signal), 2)
  assert.deepEqual(await stored(parts), [2, 3])
  // What is released is forgotten: the sweep finds the rest.
  await erase(parts, box, [copy!])
  assert.equal(await store.upkeep.erased.release(findNamed, clock.now(), signal), 0)
})

test('an erasure that fails, and many of other mailboxes, release nothing', async () => {
  await using parts = await openTestStore()
  const { store, db, clock } = parts
  const box = await TestMailbox.open(parts)
  const ids = await filled(parts, box, [1], ERASED_BYTES)
  const failed = db.write((tx) => {
    store.edit.messages.deleteIn(tx, box.account, ids)
    throw new Error('no')
  })
  await assert.rejects(failed)
  const findNamed = async () => assert.fail('nothing is to be released')
  assert.equal(await store.upkeep.erased.release(findNamed, clock.now(), signal), 0)
  const many = Array.from({ length: 9999 }, (_, n): ErasedContent => ({ hash: hashOf(n), sizeBytes: 1, createdAt: 0 }))
  for (let account = 100; account < 120; account++) store.upkeep.erased.add(account, many)
  const small = (n: number): ErasedContent => ({ hash: hashOf(n), sizeBytes: ERASED_BYTES / 2 - 1, createdAt: 0 })
  for (let account = 1; account < 50; account++) store.upkeep.erased.add(account, [small(1), small(2)])
  assert.equal(await store.upkeep.erased.release(findNamed, clock.now(), signal), 0)
  // Mailboxes that began before are forgotten for those that come now.
  let asked = 0
  store.upkeep.erased.add(7, [small(5)])
  const ask = async ({ length }: Uint8Array[]) => {
    asked += length
    return new Set<string>()
  }
  await store.upkeep.erased.release(ask, clock.now(), signal)
  assert.equal(asked, 3)
})

test('large contents are deleted in small units of work', async () => {
  await using parts = await openTestStore()
  const { clock } = parts
  const { erased } = parts.store.upkeep
  const some = [5, 6, 7, 8, 9].map(
    (n): ErasedContent => ({ hash: hashOf(n), sizeBytes: ERASED_BYTES / 2, createdAt: 0 }),
  )
  erased.add(1, some)
  const asked: number[] = []
  const ask = async ({ length }: Uint8Array[]) => {
    asked.push(length)
    return new Set<string>()
  }
  await erased.release(ask, clock.now(), signal)
  assert.deepEqual(asked, [2, 2, 1])
})
