// Forgetting old changes: who is told less than all is refused, and whoever is not refused still ends with the same picture.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ProductError } from '../../../src/base/errors.ts'
import type { Change } from '../../../src/store/changes.ts'
import { KEPT_MIN, KEPT_MS } from '../../../src/store/changes-history.ts'
import type { Account } from '../../../src/store/records.ts'
import { openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let house: TestStore
before(async () => {
  house = await openTestStore()
})
after(() => house[Symbol.asyncDispose]())

const prune = () => house.store.history.prune(new AbortController().signal)

/** A mailbox as the one sees it who changes it: what there is, and its last change. */
class Model {
  readonly account: Account
  readonly things = new Map<string, number>()
  #last = 0

  constructor(account: Account) {
    this.account = account
  }

  /** Makes, alters and removes things in one unit of work. */
  async work(made: number, altered: string[], removed: string[]): Promise<void> {
    const { db, store, clock } = house
    await db.write(async (tx) => {
      const seq = await store.accounts.advance(tx, this.account.n, ['messages'], { bytes: 0, messages: 0 })
      const told: Change[] = []
      for (let i = 0; i < made; i++) told.push(this.#change(`thing ${++this.#last}`, 'created'))
      for (const object of altered) told.push(this.#change(object, 'updated'))
      for (const object of removed) told.push(this.#change(object, 'destroyed'))
      for (const { kind, object } of told) {
        if (kind === 'destroyed') this.things.delete(object)
        else this.things.set(object, seq)
      }
      await store.changes.record(tx, this.account.n, seq, told, clock.now())
    })
  }

  #change(object: string, kind: Change['kind']): Change {
    return { type: 'messages', n: Number(object.slice(6)), object, kind }
  }

  async state(): Promise<string> {
    return (await house.store.accounts.byMailbox(this.account.mailboxId))!.states.messages
  }
}

/** What a client knew at a time. */
interface Client {
  state: string
  known: Map<string, number>
  at: number
}

/** Follows from a state on. @returns false when it is refused, and must then fetch the list again */
async function follow(model: Model, client: Client): Promise<boolean> {
  const known = new Map(client.known)
  for (let { state } = client, more = true; more; ) {
    const told = await house.store.changes.since(model.account, 'messages', state, 3000).catch((error: unknown) => {
      assert.ok(error instanceof ProductError && error.code === 'conflict' && error.param === 'since_state')
      return null
    })
    if (told === null) return false
    for (const object of told.created) assert.ok(!known.has(object), `${object} was told as new twice`)
    for (const object of told.updated) assert.ok(known.has(object), `${object} was never told as new`)
    for (const object of [...told.created, ...told.updated]) known.set(object, model.things.get(object) ?? 0)
    for (const object of told.destroyed) known.delete(object)
    state = told.newState
    more = told.hasMoreChanges
  }
  assert.deepEqual(known, model.things)
  return true
}

test('old states are refused, all others still lead to the same picture, also over what is forgotten', async () => {
  const { account } = await TestMailbox.open(house)
  const model = new Model(account)
  const random = new Random(12)
  const clients: Client[] = []
  const note = async () =>
    clients.push({ state: await model.state(), known: new Map(model.things), at: house.clock.now() })
  await note()
  for (let round = 0; round < 24; round++) {
    await model.work(500, [], [])
    house.clock.advance(HOUR_MS)
    await note()
  }
  assert.equal(await prune(), 0, 'nothing is old enough')

  // Forty days later: first the oldest beyond the newest ten thousand go.
  house.clock.leap(40 * DAY_MS)
  const total = model.things.size
  assert.equal(await prune(), total - KEPT_MIN)
  assert.equal(await prune(), 0)
  const refused = []
  for (const client of clients) if (!(await follow(model, client))) refused.push(client)
  assert.deepEqual(refused, clients.slice(0, (total - KEPT_MIN) / 500), 'those who know all that is forgotten go on')

  // Lists are followed no further back, whatever number of changes is asked for.
  const order = { sort: 'received_at', direction: 'desc', collapseThreads: false } as const
  for (const { state } of clients) {
    const list = house.store.messages.queryChanges(account, {}, order, { since: state, most: total })
    const ids = house.store.changes.touched(account, 'messages', state, total)
    if (refused.some((client) => client.state === state)) {
      for (const followed of [list, ids])
        await assert.rejects(followed, { code: 'conflict', param: 'since_query_state' })
    } else assert.deepEqual((await list).removed, (await ids).ids)
  }

  // What is forgotten lives on, and is altered and removed like the rest.
  for (let round = 0; round < 60; round++) {
    const things = [...model.things.keys()]
    const some = random.some(things, 30 / things.length)
    await model.work(random.below(40), some.slice(0, 25), some.slice(25))
    house.clock.advance(HOUR_MS)
    await note()
    if (round % 20 === 19) await prune()
  }
  house.clock.leap(KEPT_MS - 30 * HOUR_MS)
  await prune()
  const rows = await house.db.read.all<{ count: number }>('SELECT count(*) AS count FROM changes WHERE account = ?', [
    account.n,
  ])
  assert.ok(rows[0]!.count >= KEPT_MIN)
  const spared = clients.filter(({ at }) => at >= house.clock.now() - KEPT_MS)
  assert.ok(spared.length > 20 && spared.length < clients.length)
  for (const client of spared) assert.ok(await follow(model, client), 'thirty days are told in any case')
  for (const client of clients.slice(0, 4)) assert.ok(!(await follow(model, client)))
  for (const client of clients.slice(4, -spared.length)) await follow(model, client)
})

test('with the mailbox the bound goes as well', async () => {
  const { account } = await TestMailbox.open(house)
  const model = new Model(account)
  for (let round = 0; round < 11; round++) await model.work(1000, [], [])
  house.clock.leap(KEPT_MS + 1)
  const floors = async () =>
    (await house.db.read.all('SELECT type FROM change_floors WHERE account = ?', [account.n])).length
  await prune()
  assert.equal(await floors(), 1)
  while ((await house.store.purge.next(account.mailboxId)) > 0);
  assert.equal(await floors(), 0)
})
