// The page cache: pages are valid until the account changes, and the cache is bounded.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, it } from 'node:test'
import { readState } from '../../../src/store/rows/accounts.ts'
import { ENTRIES_MAX, PageCache } from '../../../src/store/rows/page-cache.ts'
import type { Page } from '../../../src/store/rows/records.ts'
import { mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
let box: TestMailbox

before(async () => {
  appliance = await openTestStore()
  box = await TestMailbox.open(appliance)
})
after(() => appliance[Symbol.asyncDispose]())

const pageOf = (entries: number): Page<number> => ({ items: Array.from({ length: entries }, (_, i) => i), next: null })

/** Reads pages and counts the reads. */
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

it('a list is read once until its account changes', async () => {
  const first = await box.put({ mail: mailOf({ subject: 'one' }), receivedAt: 1000, thread: 'a', folders: ['inbox'] })
  const list = () =>
    appliance.store.read.threads.list(box.account, { q: 'one' }, { direction: 'desc', limit: 25, after: null })
  const page = await list()
  assert.equal(await list(), page)
  const second = await box.put({ mail: mailOf({ subject: 'one' }), receivedAt: 2000, thread: 'b', folders: ['inbox'] })
  assert.deepEqual(
    (await list()).items.map(({ lastMessage }) => lastMessage.id),
    [second, first],
  )
})

it('a search that depends on the current time is never cached', async () => {
  const [query, cut] = [{ q: 'newer_than:1d' }, { direction: 'desc', limit: 25, after: null } as const]
  const at = appliance.clock.now()
  const id = await box.put({ mail: mailOf(), receivedAt: at, thread: 'now', folders: ['inbox'] })
  assert.deepEqual(
    (await appliance.store.read.threads.list(box.account, query, cut)).items.map(({ lastMessage }) => lastMessage.id),
    [id],
  )
  appliance.clock.advance(2 * 24 * 60 * 60 * 1000)
  assert.deepEqual((await appliance.store.read.threads.list(box.account, query, cut)).items, [])
})

it('an account is never newer than the number its pages are kept by', async () => {
  const { accounts } = appliance.store
  const { account } = await TestMailbox.open(appliance)
  await new Promise(setImmediate)
  for (let n = 0; n < 3; n++) accounts.seq(account)
  using other = new DatabaseSync(appliance.db.file)
  other.prepare('UPDATE accounts SET seq = seq + 1, messages_seq = seq + 1 WHERE n = ?').run(account.n)
  const { states } = accounts.byMailbox(account.mailboxId)!
  assert.ok(readState('messages', states.messages)! <= accounts.seq(account), states.messages)
  await new Promise(setImmediate)
  assert.equal(readState('messages', accounts.byMailbox(account.mailboxId)!.states.messages), accounts.seq(account))
})

it('other lists and other accounts have separate pages', async () => {
  const pages = new PageCache<number>(appliance.store.accounts)
  const other = await TestMailbox.open(appliance)
  const { reads, read } = counted()
  await pages.page(box.account, ['a'], read)
  await pages.page(box.account, ['b'], read)
  await pages.page(other.account, ['a'], read)
  assert.equal(reads.count, 3)
  await pages.page(other.account, ['a'], read)
  assert.equal(reads.count, 3)
})

it('concurrent requests for a page share one read', async () => {
  const pages = new PageCache<number>(appliance.store.accounts)
  const { reads, read } = counted()
  const all = await Promise.all(Array.from({ length: 5 }, () => pages.page(box.account, ['a'], read)))
  assert.equal(reads.count, 1)
  assert.ok(all.every((page) => page === all[0]))
})

it('a failed read is repeated by the next request', async () => {
  const pages = new PageCache<number>(appliance.store.accounts)
  await assert.rejects(
    pages.page(box.account, ['a'], () => Promise.reject(new Error('disk'))),
    /disk/,
  )
  assert.deepEqual(await pages.page(box.account, ['a'], counted(2).read), pageOf(2))
})

it('the least recently used pages are evicted when there are too many entries', async () => {
  const pages = new PageCache<number>(appliance.store.accounts)
  const { reads, read } = counted(ENTRIES_MAX / 4 - 1)
  for (const name of ['a', 'b', 'c', 'd']) await pages.page(box.account, name, read)
  await pages.page(box.account, 'a', read)
  assert.equal(reads.count, 4)
  await pages.page(box.account, 'e', read)
  await pages.page(box.account, 'a', read)
  assert.equal(reads.count, 5, 'a was requested again and stays')
  await pages.page(box.account, 'b', read)
  assert.equal(reads.count, 6, 'b had to go')
})
