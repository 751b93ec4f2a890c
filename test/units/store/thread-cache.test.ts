// The cache of threads: what it returns is always what the database has, it reads again only what changed, and it is bounded.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { presentThreads } from '../../../src/api/mailbox/threads/threads-page.ts'
import { presentThread } from '../../../src/api/schemas/thread.ts'
import type { Thread } from '../../../src/store/rows/records.ts'
import { skipUids } from '../../../src/store/rows/renumber.ts'
import { THREADS_MAX, ThreadCache } from '../../../src/store/threads/cache.ts'
import { Threads } from '../../../src/store/threads/threads.ts'
import { mailOf, openTestStore, person, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

const FIRST = { direction: 'desc', limit: 25, after: null } as const
const STEPS = 150

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const accountOf = (box: TestMailbox) => appliance.store.accounts.byMailbox(box.account.mailboxId)!

async function filled(threads: number, perThread = 2): Promise<{ box: TestMailbox; ids: string[] }> {
  const box = await TestMailbox.open(appliance)
  const ids = await box.putAll(
    Array.from({ length: threads * perThread }, (_, n) => ({
      mail: mailOf({ subject: `subject ${n}`, from: [person(`p${n}@test.example`)] }),
      receivedAt: 1000 + n,
      thread: `t${n % threads}`,
      folders: ['inbox'],
    })),
  )
  await skipTaken()
  return { box, ids }
}

/** The mailbox of the tests numbers its messages itself: edits go on above its UIDs. */
const skipTaken = () => appliance.db.write((tx) => skipUids(tx, 1000, 0))

async function listed(box: TestMailbox): Promise<readonly Thread[]> {
  return (await appliance.store.read.threads.list(accountOf(box), {}, FIRST)).items
}

/** The same list, read from the database. */
async function stored(box: TestMailbox): Promise<readonly Thread[]> {
  const { db, clock, store } = appliance
  const uncached = new Threads({ db, clock, accounts: store.accounts, folders: store.read.folders })
  return (await uncached.list(accountOf(box), {}, FIRST)).items
}

/** The JSON of the list, which is joined of the kept JSON of its threads. */
async function rendered(box: TestMailbox): Promise<unknown> {
  const { states } = accountOf(box)
  const page = await appliance.store.read.threads.list(accountOf(box), {}, FIRST)
  return JSON.parse(presentThreads(page, states).json.toString())
}

test('after a change the changed thread is read again, and no other', async () => {
  const { box, ids } = await filled(5)
  const changes = [
    { keywords: { add: ['label'] } },
    { keywords: { add: ['$seen'] } },
    { folders: { set: [box.folder('archive').id] } },
  ]
  for (const change of changes) {
    // The first thread from its last message, or from another one.
    for (const id of [ids[5]!, ids[0]!]) {
      const before = await listed(box)
      await appliance.store.edit.messages.change(accountOf(box), [id], change)
      const now = await listed(box)
      assert.deepEqual(now, await stored(box))
      const same = now.filter((thread) => before.includes(thread))
      assert.equal(same.length, 4, JSON.stringify(change))
    }
  }
})

test('after a change of a folder, or one that the ledger does not have, all are read again', async () => {
  const { box, ids } = await filled(5)
  const inbox = box.folder('inbox').id
  const own = await appliance.store.edit.folders.create(accountOf(box), { name: 'Own', parentId: null })
  await appliance.store.edit.messages.change(accountOf(box), ids, { folders: { set: [inbox, own] } })
  const before = await listed(box)
  assert.deepEqual(before[0]?.folderIds, [inbox, own])
  await appliance.store.edit.folders.update(accountOf(box), inbox, { sortOrder: 999 }, () => {})
  const reordered = await listed(box)
  assert.deepEqual(reordered[0]?.folderIds, [own, inbox])
  await box.settle()
  const settled = await listed(box)
  assert.deepEqual(settled, reordered)
  assert.equal(
    settled.some((thread) => reordered.includes(thread)),
    false,
  )
})

test('a request that read its account before a change shows the change, as those after it', async () => {
  const { box, ids } = await filled(3)
  await listed(box)
  const earlier = accountOf(box)
  await appliance.store.edit.messages.change(earlier, [ids[0]!, ids[5]!], { keywords: { add: ['label'] } })
  const { items } = await appliance.store.read.threads.list(earlier, {}, FIRST)
  assert.deepEqual(items, await stored(box))
  assert.deepEqual(await listed(box), items)
})

test('after any changes, lists are what the database has', async () => {
  const { box, ids } = await filled(12, 3)
  const random = new Random(7)
  const roles = ['inbox', 'archive', 'trash', 'junk'] as const
  const keywords = ['$seen', '$flagged', 'label']
  for (let step = 0; step < STEPS; step++) {
    const some = [...new Set([random.pick(ids), random.pick(ids)])]
    const account = accountOf(box)
    const choice = random.next()
    if (choice < 0.4)
      await appliance.store.edit.messages.change(account, some, { keywords: { add: [random.pick(keywords)] } })
    else if (choice < 0.6)
      await appliance.store.edit.messages.change(account, some, { keywords: { remove: [random.pick(keywords)] } })
    else if (choice < 0.85) {
      await appliance.store.edit.messages.change(account, some, {
        folders: { set: [box.folder(random.pick(roles)).id] },
      })
    } else if (choice < 0.92) {
      await appliance.db.write((tx) => appliance.store.edit.messages.deleteIn(tx, account, [some[0]!]))
    } else {
      await box.put({
        mail: mailOf(),
        receivedAt: 5000 + step,
        thread: `t${step % 12}x`,
        folders: [random.pick(roles)],
      })
      await skipTaken()
    }
    const expected = await stored(box)
    assert.deepEqual(await listed(box), expected, `step ${step}`)
    assert.deepEqual(
      await rendered(box),
      expected.map((thread) => presentThread(thread, accountOf(box).states)),
    )
  }
})

test('at most so many threads are cached, those of the account used last', async () => {
  const cache = new ThreadCache(appliance.db)
  const [{ box: first }, { box: second }] = [await filled(1), await filled(1)]
  const reads: number[] = []
  const read = (missing: readonly number[]) => {
    reads.push(missing.length)
    return new Map(missing.map((n) => [n, { id: String(n) } as Thread]))
  }
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)
  cache.threads(accountOf(first), numbers(0, 10), read)
  assert.equal(cache.threads(accountOf(second), numbers(10, THREADS_MAX - 10), read).length, THREADS_MAX - 10)
  assert.equal(cache.size, THREADS_MAX)
  cache.threads(accountOf(second), numbers(THREADS_MAX, 1), read)
  assert.equal(cache.size, THREADS_MAX - 9)
  cache.threads(accountOf(first), numbers(0, 10), read)
  assert.deepEqual(reads, [10, THREADS_MAX - 10, 1, 10])
  assert.ok(cache.size <= THREADS_MAX)
})
