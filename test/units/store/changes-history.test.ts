// Pruning of the change ledger: a client whose state is too old is rejected, and all other clients reach the correct state.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ProductError } from '../../../src/base/errors.ts'
import type { Change } from '../../../src/store/rows/changes.ts'
import { RETAINED_MIN, RETENTION_MS } from '../../../src/store/rows/changes-history.ts'
import type { Account } from '../../../src/store/rows/records.ts'
import { openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const prune = () => appliance.store.upkeep.history.prune(new AbortController().signal)

/** The expected mailbox: its objects and their last changes. */
class Model {
  readonly account: Account
  readonly objects = new Map<string, number>()
  #last = 0

  constructor(account: Account) {
    this.account = account
  }

  /** Creates, updates and destroys objects in one unit of work. */
  async work(made: number, altered: string[], removed: string[]): Promise<void> {
    const { db, store, clock } = appliance
    await db.write((tx) => {
      const seq = store.accounts.advance(tx, this.account.n, ['messages'], { bytes: 0, messages: 0 })
      const changes: Change[] = []
      for (let i = 0; i < made; i++) changes.push(this.#change(`object ${++this.#last}`, 'created'))
      for (const object of altered) changes.push(this.#change(object, 'updated'))
      for (const object of removed) changes.push(this.#change(object, 'destroyed'))
      for (const { kind, object } of changes) {
        if (kind === 'destroyed') this.objects.delete(object)
        else this.objects.set(object, seq)
      }
      store.read.changes.record(tx, this.account.n, seq, changes, clock.now())
    })
  }

  #change(object: string, kind: Change['kind']): Change {
    return { type: 'messages', n: Number(object.slice(6)), object, kind }
  }

  state(): string {
    return appliance.store.accounts.byMailbox(this.account.mailboxId)!.states.messages
  }
}

/** The objects a client knew at a state. */
interface Client {
  state: string
  known: Map<string, number>
  at: number
}

/** @returns null if the state is too old */
function changesSince(account: Model['account'], state: string) {
  try {
    return appliance.store.read.changes.since(account, 'messages', state, 3000)
  } catch (error) {
    assert.ok(error instanceof ProductError && error.code === 'conflict' && error.param === 'since_state')
    return null
  }
}

/** Applies all changes since a state. @returns false if the state is too old and the list has to be fetched again */
async function follow(model: Model, client: Client): Promise<boolean> {
  const known = new Map(client.known)
  for (let { state } = client, more = true; more; ) {
    const changes = changesSince(model.account, state)
    if (changes === null) return false
    for (const object of changes.created) assert.ok(!known.has(object), `${object} was reported as created twice`)
    for (const object of changes.updated) assert.ok(known.has(object), `${object} was never reported as created`)
    for (const object of [...changes.created, ...changes.updated]) known.set(object, model.objects.get(object) ?? 0)
    for (const object of changes.destroyed) known.delete(object)
    state = changes.newState
    more = changes.hasMoreChanges
  }
  assert.deepEqual(known, model.objects)
  return true
}

test('old states are rejected, and all others lead to the correct state across pruned changes', async () => {
  const { account } = await TestMailbox.open(appliance)
  const model = new Model(account)
  const random = new Random(12)
  const clients: Client[] = []
  const note = () => clients.push({ state: model.state(), known: new Map(model.objects), at: appliance.clock.now() })
  note()
  for (let round = 0; round < 24; round++) {
    await model.work(500, [], [])
    appliance.clock.advance(HOUR_MS)
    note()
  }
  assert.equal(await prune(), 0, 'nothing is old enough')

  // Forty days later: changes older than the newest ten thousand are deleted first.
  appliance.clock.leap(40 * DAY_MS)
  const total = model.objects.size
  assert.equal(await prune(), total - RETAINED_MIN)
  assert.equal(await prune(), 0)
  const refused = []
  for (const client of clients) if (!(await follow(model, client))) refused.push(client)
  assert.deepEqual(
    refused,
    clients.slice(0, (total - RETAINED_MIN) / 500),
    'those who know all that is forgotten go on',
  )

  // Changes of lists are limited to the same age, for any number of changes.
  const order = { sort: 'received_at', direction: 'desc', collapseThreads: false } as const
  for (const { state } of clients) {
    const list = async () =>
      appliance.store.read.messages.queryChanges(account, {}, order, { since: state, most: total })
    const ids = async () => appliance.store.read.changes.changedIds(account, 'messages', state, total)
    if (refused.some((client) => client.state === state)) {
      for (const followed of [list, ids])
        await assert.rejects(followed, { code: 'conflict', param: 'since_query_state' })
    } else assert.deepEqual((await list()).removed, (await ids()).ids)
  }

  // Objects whose changes were pruned still exist, and are updated and destroyed like all others.
  for (let round = 0; round < 60; round++) {
    const objects = [...model.objects.keys()]
    const some = random.some(objects, 30 / objects.length)
    await model.work(random.below(40), some.slice(0, 25), some.slice(25))
    appliance.clock.advance(HOUR_MS)
    note()
    if (round % 20 === 19) await prune()
  }
  appliance.clock.leap(RETENTION_MS - 30 * HOUR_MS)
  await prune()
  const rows = appliance.db.read.all<{ count: number }>('SELECT count(*) AS count FROM changes WHERE account = ?', [
    account.n,
  ])
  assert.ok(rows[0]!.count >= RETAINED_MIN)
  const spared = clients.filter(({ at }) => at >= appliance.clock.now() - RETENTION_MS)
  assert.ok(spared.length > 20 && spared.length < clients.length)
  for (const client of spared) assert.ok(await follow(model, client), 'changes of thirty days are always available')
  for (const client of clients.slice(0, 4)) assert.ok(!(await follow(model, client)))
  for (const client of clients.slice(4, -spared.length)) await follow(model, client)
})

test('purging the mailbox deletes its floors', async () => {
  const { account } = await TestMailbox.open(appliance)
  const model = new Model(account)
  for (let round = 0; round < 11; round++) await model.work(1000, [], [])
  appliance.clock.leap(RETENTION_MS + 1)
  const floors = () => appliance.db.read.all('SELECT type FROM change_floors WHERE account = ?', [account.n]).length
  await prune()
  assert.equal(floors(), 1)
  while ((await appliance.store.upkeep.purge.next(account.mailboxId)) > 0);
  assert.equal(floors(), 0)
})
