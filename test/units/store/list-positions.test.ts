// Random access to lists and changes of thread lists: pages by position, lengths, and followed lists equal the walked list, for random
// edits and filters.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ProductError } from '../../../src/base/errors.ts'
import type { MessageFilter, MessageSort, PageKey, SortDirection } from '../../../src/store/rows/records.ts'
import { amount } from '../../support/amount.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'

/** Set MODEL_ROUNDS for a long run. */
const ROUNDS = Number(process.env.MODEL_ROUNDS ?? amount(40, 120))
const FOLLOWERS = 12

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const QUERIES = [
  'common',
  'rare OR is:flagged',
  '-common',
  'is:unread',
  'in:trash',
  'in:anywhere blue',
  'subject:order',
]

function randomFilter(box: ModelMailbox, random: Random): MessageFilter {
  const folders = box.appliance.store.read.folders.list(box.account())
  const isSet = (chance: number) => random.chance(chance)
  return {
    ...(isSet(0.3) ? { q: random.pick(QUERIES) } : {}),
    ...(isSet(0.35) ? { folderId: random.pick(folders).id } : {}),
    ...(isSet(0.25) ? { isUnread: random.chance(0.6) } : {}),
    ...(isSet(0.1) ? { isFlagged: true } : {}),
    ...(isSet(0.2) ? { hasAttachment: random.chance(0.6) } : {}),
    ...(isSet(0.1) ? { participant: 'p1' } : {}),
    ...(isSet(0.1) ? { after: box.appliance.clock.now() - random.below(60_000) } : {}),
    ...(isSet(0.15) ? { inTrashOrJunk: true } : {}),
  }
}

type List = (cut: { limit: number; after: PageKey | null; position?: number }) => Promise<{
  items: { id: string }[]
  next: PageKey | null
}>

async function walked(list: List): Promise<string[]> {
  const ids: string[] = []
  for (let at: PageKey | null = null, more = true; more; more = at !== null) {
    const page = await list({ limit: 100, after: at })
    ids.push(...page.items.map(({ id }) => id))
    at = page.next
  }
  return ids
}

function messageList(box: ModelMailbox, filter: MessageFilter, random: Random): List {
  const sort: MessageSort = random.chance(0.8) ? 'received_at' : random.pick(['subject', 'size'])
  const order = { sort, direction: random.pick(['asc', 'desc'] as const), collapseThreads: random.chance(0.3) }
  return (cut) => box.appliance.store.read.messages.list(box.account(), filter, { ...order, ...cut })
}

function threadList(box: ModelMailbox, filter: MessageFilter, direction: SortDirection): List {
  return (cut) => box.appliance.store.read.threads.list(box.account(), filter, { direction, ...cut })
}

async function checkPositions(list: List, random: Random, what: string): Promise<number> {
  const all = await walked(list)
  for (const position of [0, random.below(all.length + 1), all.length + 3]) {
    const limit = 1 + random.below(6)
    const page = await list({ limit, after: null, position })
    const shown = page.items.map(({ id }) => id)
    assert.deepEqual(shown, all.slice(position, position + limit), `${what} from ${position}`)
    assert.equal(page.next !== null, position + limit < all.length, `${what} from ${position}`)
    // A page by position can be continued by its cursor.
    if (page.next === null) continue
    const next = await list({ limit, after: page.next })
    assert.deepEqual(next.items[0]?.id, all[position + limit], what)
  }
  return all.length
}

/** The index of any thread is that in the walked list, and there is none of a thread outside it. */
async function checkIndexes(
  box: ModelMailbox,
  filter: MessageFilter,
  direction: SortDirection,
  random: Random,
  what: string,
): Promise<void> {
  const ids = await walked(threadList(box, filter, direction))
  const all = await walked(threadList(box, { inTrashOrJunk: true }, 'desc'))
  for (const id of random.some(all, 0.2)) {
    const index = await appliance.store.read.threads.indexOf(box.account(), filter, direction, id)
    assert.equal(index ?? -1, ids.indexOf(id), `${what} ${direction} ${id}`)
  }
}

test('pages by position are parts of the list, and totals are its length', async () => {
  const random = new Random(1912)
  const box = await ModelMailbox.open(appliance, random)
  const { store } = appliance
  for (let round = 0; round < ROUNDS; round++) {
    await box.work()
    if (round < 20) continue
    const filter = randomFilter(box, random)
    const what = `round ${round} ${JSON.stringify(filter)}`
    const direction = random.pick(['asc', 'desc'] as const)
    const threads = await checkPositions(threadList(box, filter, direction), random, what)
    await checkIndexes(box, filter, direction, random, what)
    assert.equal(await store.read.threads.total(box.account(), filter), threads, what)
    await checkPositions(messageList(box, filter, random), random, what)
    for (const collapseThreads of [false, true]) {
      const order = { sort: 'received_at', direction: 'desc', collapseThreads } as const
      const list: List = (cut) => store.read.messages.list(box.account(), filter, { ...order, ...cut })
      const total = await store.read.messages.total(box.account(), filter, collapseThreads)
      assert.equal(total, (await walked(list)).length, `${what} ${collapseThreads}`)
    }
  }
})

/** A client that reads a thread list once, and then applies changes. */
class ThreadFollower {
  readonly #box: ModelMailbox
  readonly #filter: MessageFilter
  readonly #direction: SortDirection
  #ids: string[] = []
  #state = ''

  constructor(box: ModelMailbox, filter: MessageFilter, direction: SortDirection) {
    this.#box = box
    this.#filter = filter
    this.#direction = direction
  }

  async read(): Promise<void> {
    this.#state = this.#box.account().states.threads
    this.#ids = await walked(threadList(this.#box, this.#filter, this.#direction))
  }

  /** @returns false if it had to read the list again */
  async follow(what: string): Promise<boolean> {
    const { threads } = this.#box.appliance.store.read
    const request = { since: this.#state, most: 30 }
    try {
      const account = this.#box.account()
      const { removed, added, total, newState } = await threads.queryChanges(
        account,
        this.#filter,
        this.#direction,
        request,
      )
      this.#ids = this.#ids.filter((id) => !removed.includes(id))
      for (const { id, index } of added) {
        assert.ok(index <= this.#ids.length, `${what}: ${id} is after a gap`)
        this.#ids.splice(index, 0, id)
      }
      this.#state = newState
      assert.equal(total, this.#ids.length, what)
    } catch (error) {
      if (!(error instanceof ProductError) || error.code !== 'conflict') throw error
      await this.read()
      return false
    }
    const now = await walked(threadList(this.#box, this.#filter, this.#direction))
    assert.deepEqual(this.#ids, now, `${what} ${JSON.stringify([this.#filter, this.#direction])}`)
    return true
  }
}

test('a client that applies changes has the current list of threads', async () => {
  const random = new Random(77)
  const box = await ModelMailbox.open(appliance, random)
  const followers: ThreadFollower[] = []
  let followed = 0
  for (let round = 0; round < ROUNDS; round++) {
    await box.work()
    if (followers.length < FOLLOWERS) {
      const filter = randomFilter(box, random)
      // The meaning of a folder's name can change; the API compares it (folderReferences).
      const follower = new ThreadFollower(
        box,
        { ...filter, q: filter.q?.replace('in:trash', 'is:read') },
        random.pick(['asc', 'desc']),
      )
      await follower.read()
      followers.push(follower)
    }
    for (const follower of random.some(followers, 0.3)) if (await follower.follow(`round ${round}`)) followed++
  }
  assert.ok(followed > ROUNDS, `only ${followed} lists were followed`)
})

test('only the part of the list that the client has is reported', async () => {
  const random = new Random(3)
  const box = await ModelMailbox.open(appliance, random)
  for (let i = 0; i < 30; i++) await box.work()
  const since = box.account().states.threads
  const ids = await walked(threadList(box, {}, 'desc'))
  assert.ok(ids.length > 3)
  const messages = [ids[0]!, ids.at(-1)!].map(
    (id) => appliance.store.read.threads.get(box.account(), id)!.messageIds[0]!,
  )
  await appliance.store.edit.messages.change(box.account(), messages, { keywords: { add: ['later'] } })
  const request = { since, most: 30, upTo: ids[1] }
  const { removed, added } = await appliance.store.read.threads.queryChanges(box.account(), {}, 'desc', request)
  assert.deepEqual(removed.toSorted(), [ids[0], ids.at(-1)].toSorted())
  assert.deepEqual(added, [{ id: ids[0], index: 0 }])
})
