// Pages that are kept: the same while nothing changes, new as soon as something does, and never too many.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { ENTRIES_KEPT, PageCache } from '../../../src/store/kept-pages.ts'
import type { Page } from '../../../src/store/records.ts'
import { mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let house: TestStore
let box: TestMailbox

before(async () => {
  house = await openTestStore()
  box = await TestMailbox.open(house)
})
after(() => house[Symbol.asyncDispose]())

const pageOf = (entries: number): Page<number> => ({ items: Array.from({ length: entries }, (_, i) => i), next: null })

/** Reads pages and counts how often it had to. */
function counted(entries = 1) {
  const reads = { count: 0 }
  return {
    reads,
    read: async () => {
      reads.count++
      return pageOf(entries)
    },
  }
}

it('a list is read once while its account stands still, and anew when it moved', async () => {
  const first = await box.put({ mail: mailOf({ subject: 'one' }), receivedAt: 1000, thread: 'a', folders: ['inbox'] })
  const list = () => house.store.threads.list(box.account, { q: 'one' }, { direction: 'desc', limit: 25, after: null })
  const page = await list()
  assert.equal(await list(), page)
  const second = await box.put({ mail: mailOf({ subject: 'one' }), receivedAt: 2000, thread: 'b', folders: ['inbox'] })
  assert.deepEqual(
    (await list()).items.map(({ lastMessage }) => lastMessage.id),
    [second, first],
  )
})

it('a search that counts from now is never kept', async () => {
  const [query, cut] = [{ q: 'newer_than:1d' }, { direction: 'desc', limit: 25, after: null } as const]
  const at = house.clock.now()
  const id = await box.put({ mail: mailOf(), receivedAt: at, thread: 'now', folders: ['inbox'] })
  assert.deepEqual(
    (await house.store.threads.list(box.account, query, cut)).items.map(({ lastMessage }) => lastMessage.id),
    [id],
  )
  house.clock.advance(2 * 24 * 60 * 60 * 1000)
  assert.deepEqual((await house.store.threads.list(box.account, query, cut)).items, [])
})

it('other lists and other accounts have pages of their own', async () => {
  const pages = new PageCache<number>(house.store.accounts)
  const other = await TestMailbox.open(house)
  const { reads, read } = counted()
  await pages.page(box.account, ['a'], read)
  await pages.page(box.account, ['b'], read)
  await pages.page(other.account, ['a'], read)
  assert.equal(reads.count, 3)
  await pages.page(other.account, ['a'], read)
  assert.equal(reads.count, 3)
})

it('who asks while a page is read waits for the same one', async () => {
  const pages = new PageCache<number>(house.store.accounts)
  const { reads, read } = counted()
  const all = await Promise.all(Array.from({ length: 5 }, () => pages.page(box.account, ['a'], read)))
  assert.equal(reads.count, 1)
  assert.ok(all.every((page) => page === all[0]))
})

it('a page that could not be read is asked for again', async () => {
  const pages = new PageCache<number>(house.store.accounts)
  await assert.rejects(
    pages.page(box.account, ['a'], () => Promise.reject(new Error('disk'))),
    /disk/,
  )
  assert.deepEqual(await pages.page(box.account, ['a'], counted(2).read), pageOf(2))
})

it('the pages asked for longest ago go when there are too many entries', async () => {
  const pages = new PageCache<number>(house.store.accounts)
  const { reads, read } = counted(ENTRIES_KEPT / 4 - 1)
  for (const name of ['a', 'b', 'c', 'd']) await pages.page(box.account, name, read)
  await pages.page(box.account, 'a', read)
  assert.equal(reads.count, 4)
  await pages.page(box.account, 'e', read)
  await pages.page(box.account, 'a', read)
  assert.equal(reads.count, 5, 'a was asked for again and stays')
  await pages.page(box.account, 'b', read)
  assert.equal(reads.count, 6, 'b had to go')
})
