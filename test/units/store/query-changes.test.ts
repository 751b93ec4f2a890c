// Changes of lists: a client that applies the changes to an old list gets the current list, for random edits and filters.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ProductError } from '../../../src/base/errors.ts'
import type { MessageOrder } from '../../../src/store/lists/message-list.ts'
import type { MessageFilter, PageKey } from '../../../src/store/rows/records.ts'
import { amount } from '../../support/amount.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'

/** Set MODEL_ROUNDS for a long run. */
const ROUNDS = Number(process.env.MODEL_ROUNDS ?? amount(60, 250))
const FOLLOWERS = 24
const MOST = 40

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const QUERIES = [
  'common',
  'rare OR is:flagged',
  '-common',
  'common -is:read',
  'is:unread',
  'in:inbox',
  'in:trash',
  'in:Work',
  '-in:Later',
  'in:anywhere blue',
  'gre* keyword:work',
  'from:p1@else.test',
  'subject:order',
  '"nothing at all"',
]

function randomFilter(box: ModelMailbox, random: Random): MessageFilter {
  const filter: MessageFilter = {}
  const may = (chance: number, set: () => void) => random.chance(chance) && set()
  const folders = box.appliance.store.read.folders.list(box.account())
  may(0.35, () => {
    filter.q = random.pick(QUERIES)
  })
  may(0.25, () => {
    filter.folderId = random.pick(folders).id
  })
  may(0.2, () => {
    filter.isUnread = random.chance(0.7)
  })
  may(0.1, () => {
    filter.isFlagged = random.chance(0.7)
  })
  may(0.1, () => {
    filter.keyword = random.pick(['work', '$answered'])
  })
  may(0.1, () => {
    filter.notKeyword = random.pick(['later', '$seen'])
  })
  may(0.1, () => {
    filter.hasAttachment = random.chance(0.5)
  })
  may(0.1, () => {
    filter.participant = random.pick(['p1', 'else', 'me@'])
  })
  may(0.1, () => {
    filter.after = box.appliance.clock.now() - random.below(60_000)
  })
  may(0.2, () => {
    filter.inTrashOrJunk = true
  })
  return filter
}

function randomOrder(random: Random): MessageOrder {
  return {
    sort: random.chance(0.7) ? 'received_at' : random.pick(['sent_at', 'subject', 'from', 'size'] as const),
    direction: random.pick(['asc', 'desc'] as const),
    collapseThreads: random.chance(0.3),
  }
}

/** A client that reads a list once and then only applies changes. */
class Follower {
  readonly filter: MessageFilter
  readonly order: MessageOrder
  /** How many entries of the list it has; null: all. */
  readonly prefixLength: number | null
  readonly #box: ModelMailbox
  ids: string[] = []
  #state = ''
  #names = ''

  constructor(box: ModelMailbox, filter: MessageFilter, order: MessageOrder, prefixLength: number | null) {
    this.filter = filter
    this.order = order
    this.prefixLength = prefixLength
    this.#box = box
  }

  /** The current list. */
  async list(): Promise<string[]> {
    const { store } = this.#box.appliance
    const account = this.#box.account()
    const ids: string[] = []
    for (let at: PageKey | null = null, more = true; more; more = at !== null) {
      const page = await store.read.messages.list(account, this.filter, { ...this.order, limit: 100, after: at })
      ids.push(...page.items.map(({ id }) => id))
      at = page.next
    }
    return ids
  }

  async read(): Promise<void> {
    const account = this.#box.account()
    this.#state = account.states.messages
    this.#names = this.#box.appliance.store.read.messages.folderReferences(account, this.filter)
    this.ids = this.#cut(await this.list())
  }

  /** @returns false if it had to read the list again */
  async follow(): Promise<boolean> {
    const { store } = this.#box.appliance
    const account = this.#box.account()
    const { filter, order } = this
    const upTo = this.prefixLength === null ? undefined : this.ids.at(-1)
    try {
      if (store.read.messages.folderReferences(account, filter) !== this.#names) throw new ProductError('conflict', '')
      const request = { since: this.#state, most: MOST, upTo }
      const { removed, added, total, newState } = await store.read.messages.queryChanges(
        account,
        filter,
        order,
        request,
      )
      for (const id of removed) if (this.ids.includes(id)) this.ids.splice(this.ids.indexOf(id), 1)
      for (const { id, index } of added) {
        assert.ok(!this.ids.includes(id), `${id} was added twice`)
        assert.ok(index <= this.ids.length || this.prefixLength !== null, `${id} is after a gap`)
        // With only the beginning of the list, positions after it are not reported.
        if (index <= this.ids.length) this.ids.splice(index, 0, id)
      }
      assert.ok(total >= this.ids.length)
      if (this.prefixLength === null) assert.equal(total, this.ids.length, 'total')
      this.#state = newState
      return true
    } catch (error) {
      if (!(error instanceof ProductError) || error.code !== 'conflict') throw error
      await this.read()
      return false
    }
  }

  #cut(ids: string[]): string[] {
    return this.prefixLength === null ? ids : ids.slice(0, this.prefixLength)
  }

  /** Checks that the client's list equals the list, or its beginning. */
  async check(seed: string): Promise<void> {
    const now = await this.list()
    const what = `${seed} ${JSON.stringify([this.filter, this.order, this.prefixLength])}`
    assert.deepEqual(this.ids, this.prefixLength === null ? now : now.slice(0, this.ids.length), what)
  }
}

async function newFollower(box: ModelMailbox, random: Random): Promise<Follower> {
  const prefixLength = random.chance(0.25) ? 1 + random.below(10) : null
  const follower = new Follower(box, randomFilter(box, random), randomOrder(random), prefixLength)
  await follower.read()
  return follower
}

test('a client that applies changes has the current list, for all filters, orders and ages of its state', async () => {
  const random = new Random(20261121)
  const box = await ModelMailbox.open(appliance, random)
  const followers: Follower[] = []
  let followed = 0
  for (let round = 0; round < ROUNDS; round++) {
    await box.work()
    if (followers.length < FOLLOWERS || random.chance(0.1)) followers.push(await newFollower(box, random))
    if (followers.length > FOLLOWERS) followers.splice(random.below(followers.length), 1)
    for (const follower of random.some(followers, 0.2)) {
      if (await follower.follow()) followed++
      await follower.check(`round ${round}`)
    }
  }
  assert.ok(followed > ROUNDS, `only ${followed} lists were followed`)
})

test('a list that is read and updated during edits is correct after the edits end', async () => {
  const random = new Random(5)
  const box = await ModelMailbox.open(appliance, random)
  for (let i = 0; i < 40; i++) await box.work()
  for (let round = 0; round < ROUNDS / 25; round++) {
    const reading = Promise.all(Array.from({ length: 4 }, () => newFollower(box, random)))
    const works = (async () => {
      for (let i = 0; i < 6; i++) await box.work()
    })()
    const followers = await reading
    await Promise.all([works, ...followers.map((follower) => follower.follow())])
    for (const follower of followers) {
      await follower.follow()
      await follower.check(`round ${round}`)
    }
  }
})
