// The change ledger: a client that reads changes page by page must reach the correct state.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { Db } from '../../../src/db/db.ts'
import { Accounts, readState, writeState } from '../../../src/store/rows/accounts.ts'
import { type Change, ChangeLedger } from '../../../src/store/rows/changes.ts'
import type { Account } from '../../../src/store/rows/records.ts'
import { copyEmptyDatabase } from '../../support/empty-database.ts'

let folder: string
let db: Db
let accounts: Accounts
let ledger: ChangeLedger
let counter = 0

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-changes-'))
  await copyEmptyDatabase(join(folder, 'mail.db'))
  db = new Db({ file: join(folder, 'mail.db') })
  accounts = new Accounts(db, systemClock, { notify() {} })
  ledger = new ChangeLedger(db, accounts)
})
after(async () => {
  await db.close()
  await rm(folder, { recursive: true })
})

async function newAccount(): Promise<Account> {
  const mailboxId = `mbx_${++counter}`
  await db.write((tx) => accounts.create(tx, mailboxId))
  return accounts.byMailbox(mailboxId)!
}

const stateNow = (account: Account) => accounts.byMailbox(account.mailboxId)!.states.messages

async function record(account: Account, changes: Change[]): Promise<void> {
  await db.write((tx) => {
    const types = [...new Set(changes.map((change) => change.type))]
    const seq = accounts.advance(tx, account.n, types, { bytes: 0, messages: 0 })
    ledger.record(tx, account.n, seq, changes, seq)
  })
}

const numbers = new Map<string, number>()
function change(object: string, kind: Change['kind']): Change {
  if (!numbers.has(object)) numbers.set(object, numbers.size + 1)
  return { type: 'messages', n: numbers.get(object)!, object, kind }
}

/** A small generator of repeatable random numbers (mulberry32). */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

describe('states', () => {
  it('are formatted with the letter of their type and parsed back', () => {
    assert.equal(writeState('messages', 50_000), 'm12kw')
    assert.equal(readState('messages', 'm12kw'), 50_000)
    for (const wrong of ['t12kw', 'm', 'mZZ', 'm01', 'm-1', '', 'm99999999999999'])
      assert.equal(readState('messages', wrong), null, wrong)
  })
})

describe('since', () => {
  it('returns created, updated and destroyed objects, merged within a page', async () => {
    const account = await newAccount()
    await record(account, [change('a', 'created'), change('b', 'created')])
    const state = stateNow(account)
    await record(account, [change('a', 'updated'), change('c', 'created')])
    await record(account, [change('b', 'destroyed'), change('d', 'created')])
    await record(account, [change('c', 'updated'), change('d', 'destroyed')])
    const changes = ledger.since(account, 'messages', state, 100)
    assert.deepEqual(
      { created: changes.created, updated: changes.updated, destroyed: changes.destroyed },
      { created: ['c'], updated: ['a'], destroyed: ['b'] },
    )
    assert.equal(changes.hasMoreChanges, false)
    assert.equal(changes.newState, stateNow(account))
  })

  it('never reports an object as updated before it was reported as created', async () => {
    const account = await newAccount()
    const state = stateNow(account)
    for (const name of ['a', 'b', 'c']) await record(account, [change(name, 'created')])
    await record(account, [change('a', 'updated')])
    const first = ledger.since(account, 'messages', state, 2)
    assert.deepEqual([first.created, first.updated, first.hasMoreChanges], [['a', 'b'], [], true])
    const second = ledger.since(account, 'messages', first.newState, 2)
    assert.deepEqual([second.created, second.updated, second.hasMoreChanges], [['c'], ['a'], false])
  })

  it('does not split a unit of work, even if it is larger than the page', async () => {
    const account = await newAccount()
    const state = stateNow(account)
    await record(
      account,
      ['a', 'b', 'c', 'd'].map((name) => change(name, 'created')),
    )
    await record(account, [change('e', 'created')])
    const first = ledger.since(account, 'messages', state, 2)
    assert.deepEqual([first.created, first.hasMoreChanges], [['a', 'b', 'c', 'd'], true])
    const second = ledger.since(account, 'messages', first.newState, 2)
    assert.deepEqual([second.created, second.hasMoreChanges], [['e'], false])
  })

  it('rejects invalid states, states of other types and future states', async () => {
    const account = await newAccount()
    await record(account, [change('a', 'created')])
    for (const state of ['m2', 't0', 'x', '', 'mzzzz', "m0' OR 1"]) {
      assert.throws(
        () => ledger.since(account, 'messages', state, 10),
        { code: 'conflict', param: 'since_state' },
        state,
      )
    }
  })

  it('leads every client to the correct state for any page size', async () => {
    for (const seed of [1, 2, 3, 4, 5]) await follow(random(seed))
  })
})

async function follow(next: () => number): Promise<void> {
  const account = await newAccount()
  const truth = new Map<string, number>()
  const client = new Map<string, number>()
  let state = stateNow(account)
  let version = 0
  for (let round = 0; round < 60; round++) {
    const changes: Change[] = []
    for (let i = 0; i < 1 + next() * 4; i++) {
      const living = [...truth.keys()].filter((name) => !changes.some((done) => done.object === name))
      const name = living[Math.floor(next() * living.length)]
      version++
      if (name === undefined || next() < 0.5) {
        truth.set(`o${version}`, version)
        changes.push(change(`o${version}`, 'created'))
      } else if (next() < 0.6) {
        truth.set(name, version)
        changes.push(change(name, 'updated'))
      } else {
        truth.delete(name)
        changes.push(change(name, 'destroyed'))
      }
    }
    await record(account, changes)
    if (next() < 0.3) state = catchUp(account, state, client, truth, 1 + Math.floor(next() * 7))
  }
  catchUp(account, state, client, truth, 3)
  assert.deepEqual([...client].sort(), [...truth].sort())
}

function catchUp(account: Account, from: string, client: Map<string, number>, truth: Map<string, number>, max: number) {
  let state = from
  for (;;) {
    const page = ledger.since(account, 'messages', state, max)
    for (const name of page.updated) assert.ok(client.has(name), `updated ${name} was never created`)
    for (const name of page.destroyed) client.delete(name)
    // A real client would fetch the object now; a deleted one is not found and reported as destroyed later.
    for (const name of [...page.created, ...page.updated]) client.set(name, truth.get(name) ?? -1)
    state = page.newState
    if (!page.hasMoreChanges) return state
  }
}
