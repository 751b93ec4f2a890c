// Edits of messages: counts stay correct and all changes are recorded, for random sequences of edits.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { conflict } from '../../../src/base/errors.ts'
import type { ChangeType } from '../../../src/store/rows/records.ts'
import { amount } from '../../support/amount.ts'
import { mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

test('after every random edit a full recount gives the same counts', async () => {
  const random = new Random(20261121)
  const box = await ModelMailbox.open(appliance, random)
  for (let round = 0; round < amount(100, 400); round++) {
    await box.work()
    if (round % 4 === 0) await box.recount()
  }
  await box.recount()
})

/** A client that only reads changes since a state. */
class Follower {
  readonly states: Record<'messages' | 'threads' | 'folders', string>
  readonly views: Record<'messages' | 'threads' | 'folders', Map<string, string>>

  constructor(states: Follower['states'], views: Follower['views']) {
    this.states = { ...states }
    this.views = { messages: new Map(views.messages), threads: new Map(views.threads), folders: new Map(views.folders) }
  }

  follow(box: ModelMailbox, type: 'messages' | 'threads' | 'folders', max: () => number): void {
    for (let more = true; more; ) {
      const account = box.account()
      const changes = box.appliance.store.read.changes.since(account, type as ChangeType, this.states[type], max())
      for (const id of changes.created) assert.ok(!this.views[type].has(id), `${id} was reported as created twice`)
      for (const id of changes.updated)
        assert.ok(this.views[type].has(id), `${id} was reported as updated, but never as created`)
      for (const id of [...changes.created, ...changes.updated]) {
        const shown = box.shown(type, id)
        // Fetched after it was reported: it may be deleted, which a later page reports.
        this.views[type].set(id, shown)
      }
      for (const id of changes.destroyed) this.views[type].delete(id)
      this.states[type] = changes.newState
      more = changes.hasMoreChanges
    }
  }
}

test('a client that only reads changes, from any older state and page by page, reaches the state of the mailbox', async () => {
  const random = new Random(7)
  const box = await ModelMailbox.open(appliance, random)
  const followers: Follower[] = []
  for (let round = 0; round < amount(150, 600); round++) {
    await box.work()
    if (round % 10 === 0) {
      const { messages, threads, folders } = box.account().states
      followers.push(new Follower({ messages, threads, folders }, await box.view()))
    }
    if (round % 5 !== 4) continue
    const follower = random.pick(followers)
    for (const type of ['messages', 'threads', 'folders'] as const) {
      follower.follow(box, type, () => 1 + random.below(12))
    }
    assert.deepEqual(follower.views, await box.view())
  }
})

test('a large folder is deleted in batches, and its precondition is checked again only if another client changed it', async () => {
  const box = await TestMailbox.open(appliance)
  const { account } = box
  const put = { mail: mailOf(), receivedAt: 1000, thread: 'x', folders: ['inbox' as const] }
  const remove = async (meanwhile: (id: string) => void) => {
    const id = await appliance.store.edit.folders.create(account, { name: 'Large', parentId: null })
    const ids = await box.putAll(Array.from({ length: 250 }, (_, n) => ({ ...put, thread: `${id} ${n % 50}` })))
    await appliance.store.edit.messages.change(account, ids, { folders: { set: [id] } })
    let calls = 0
    const removed = appliance.store.edit.folders.remove(account, id, 'delete', () => {
      if (++calls === 1) meanwhile(id)
      else throw conflict('It changed.')
    })
    return { id, removed }
  }
  assert.equal(await (await remove(() => {})).removed, 250)
  // An edit requested during the first batch is applied before the second one.
  const touched = await remove(
    (id) => void appliance.store.edit.folders.update(account, id, { sortOrder: 1 }, async () => {}),
  )
  await assert.rejects(touched.removed, { code: 'conflict' })
  assert.equal(appliance.store.read.folders.byId(account, touched.id)?.totalMessages, 50)
})
