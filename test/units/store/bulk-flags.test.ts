// Flags and keywords of many messages at once: the same rows as one edit after the other, and what mail programs ask for beyond it.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import type { Tx } from '../../../src/db/db.ts'
import { ENTRY_FLAGS } from '../../../src/store/entries/keywords.ts'
import { FLAGGED_MAX, type FlagChange, type FlagTarget } from '../../../src/store/messages/bulk-flags.ts'
import { EntryWatcher } from '../../support/entry-watcher.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'

const KEYWORDS = ['$seen', '$flagged', '$answered', '$draft', 'work', 'later', '$junk', '$notjunk']

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

/** Thrown to undo a unit of work. */
class Undone extends Error {}

/** All rows of all tables after `work`, which is undone. */
async function rowsAfter(work: (tx: Tx) => void): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  const done = appliance.db.write((tx) => {
    work(tx)
    const tables = tx.all<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'message\\_text%' ESCAPE '\\'",
    )
    for (const { name } of tables)
      found[name] = tx
        .all(`SELECT * FROM ${name}`)
        .map((row) => inspect(row))
        .sort()
    throw new Undone()
  })
  await assert.rejects(done, Undone)
  return found
}

function targetOf(box: ModelMailbox, random: Random): FlagTarget & { numbers: number[] } {
  const folder = random.pick(
    appliance.store.programs.views.statuses(box.account()).filter(({ messages }) => messages > 0),
  )
  const entries = appliance.store.programs.views.entries(folder.n, [{ first: 1, last: folder.uidNext }], 1000)
  const chosen = random.some(entries, 0.6)
  return { folder: folder.n, uids: chosen.map(({ uid }) => uid), numbers: chosen.map(({ message }) => message) }
}

function keywordsOf(random: Random): NonNullable<FlagChange['keywords']> {
  return random.chance(0.3)
    ? { set: random.some(KEYWORDS.slice(0, 6), 0.3) }
    : { add: random.some(KEYWORDS, 0.25), remove: random.some(KEYWORDS, 0.25) }
}

test('every table has the rows that single edits leave', async () => {
  const random = new Random(20261122)
  const box = await ModelMailbox.open(appliance, random)
  for (let round = 0; round < 40; round++) await box.work()
  const watcher = new EntryWatcher(appliance, () => box.account())
  let changed = 0
  for (let round = 0; round < 60; round++) {
    await box.work()
    watcher.look()
    const { numbers, ...target } = targetOf(box, random)
    const keywords = keywordsOf(random)
    const {
      edit: { messages: edits },
      programs: { flags },
    } = appliance.store
    const one = await rowsAfter((tx) => {
      edits.changeNumbersIn(tx, box.account(), numbers, { keywords }, { moves: false })
    })
    const many = await rowsAfter((tx) => {
      flags.changeIn(tx, box.account(), target, { keywords })
    })
    assert.deepEqual(many, one)
    const result = await flags.change(box.account(), target, { keywords })
    if (result.modSeq !== null) changed++
    watcher.look()
  }
  assert.ok(changed > 30)
  await box.recount()
})

test('\\Deleted belongs to one folder, and does not follow a copy', async () => {
  const random = new Random(5)
  const box = await ModelMailbox.open(appliance, random)
  for (let round = 0; round < 30; round++) await box.work()
  const {
    programs: { flags, views },
    edit: { messages: edits },
  } = appliance.store
  const watcher = new EntryWatcher(appliance, () => box.account())
  watcher.look()
  const { numbers, ...target } = targetOf(box, random)
  const [first] = numbers
  const statuses = views.statuses(box.account())
  const others = statuses.filter(({ n }) => n !== target.folder)
  const there = others.map(({ n }) => deletedIn(n))
  const { modSeq, entries } = await flags.change(box.account(), target, { deleted: true })
  assert.deepEqual(
    [modSeq, entries.map(({ uid }) => uid)],
    [views.status(box.account(), target.folder)!.modSeq, target.uids],
  )
  assert.ok(entries.every((entry) => entry.flags & ENTRY_FLAGS.deleted && entry.modSeq === modSeq))
  assert.deepEqual(
    others.map(({ n }) => deletedIn(n)),
    there,
  )
  assert.deepEqual(await views.sums(target.folder), {
    deleted: target.uids.length,
    deletedBytes: entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    sizeBytes: views
      .entries(target.folder, [{ first: 1, last: 2 ** 32 - 1 }], 1000)
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  })
  const archive = statuses.find(({ role }) => role === 'archive')!
  await appliance.db.write((tx) =>
    edits.changeNumbersIn(tx, box.account(), [first!], { folders: { add: [archive.id] } }, { moves: false }),
  )
  const copy = views
    .entries(archive.n, [{ first: 1, last: 2 ** 32 - 1 }], 1000)
    .find(({ message }) => message === first)
  if (archive.n !== target.folder) assert.equal(copy!.flags & ENTRY_FLAGS.deleted, 0)
  // It is still there after an edit of the message, and taken back.
  await flags.change(box.account(), target, { keywords: { add: ['$flagged'] } })
  assert.equal(deletedIn(target.folder).length, target.uids.length)
  await flags.change(box.account(), target, { deleted: false })
  assert.deepEqual(deletedIn(target.folder), [])
  watcher.look()
})

function deletedIn(folder: number): number[] {
  const entries = appliance.store.programs.views.entries(folder, [{ first: 1, last: 2 ** 32 - 1 }], 1000)
  return entries.filter(({ flags }) => flags & ENTRY_FLAGS.deleted).map(({ uid }) => uid)
}

test('entries changed meanwhile, gone, or with too many keywords are left alone and named', async () => {
  const random = new Random(6)
  const box = await ModelMailbox.open(appliance, random)
  const { flags, views } = appliance.store.programs
  const large = () => views.statuses(box.account()).find(({ messages }) => messages >= 3)
  while (large() === undefined) await box.work()
  const inbox = large()!
  const [a, b, c] = views.entries(inbox.n, [{ first: 1, last: 2 ** 32 - 1 }], 3).map(({ uid }) => uid) as [
    number,
    number,
    number,
  ]
  const change = (uids: number[], given: FlagChange, unchangedSince?: number) =>
    flags.change(
      box.account(),
      { folder: inbox.n, uids, ...(unchangedSince !== undefined && { unchangedSince }) },
      given,
    )
  const full = Array.from({ length: 100 }, (_, n) => `k${n}`)
  await change([c], { keywords: { set: full } })
  const { modSeq: since } = views.status(box.account(), inbox.n)!
  await change([b], { keywords: { add: ['met'] } })
  const missing = inbox.uidNext + 5
  const result = await change([a, b, c, missing], { keywords: { add: ['new'] } }, since)
  assert.deepEqual(
    result.entries.map(({ uid }) => uid),
    [a],
  )
  assert.deepEqual([result.modified, result.refused, result.missing], [[b], [c], [missing]])
  const nothing = await change([a], { keywords: { add: ['new'] } })
  assert.deepEqual([nothing.modSeq, nothing.entries.length], [null, 1])
  const other = await ModelMailbox.open(appliance, random)
  const foreign = await flags.change(other.account(), { folder: inbox.n, uids: [a, b] }, { deleted: true })
  assert.deepEqual(foreign, { modSeq: null, entries: [], modified: [], missing: [a, b], refused: [] })
  const uids = Array.from({ length: FLAGGED_MAX + 1 }, (_, n) => n + 1)
  await assert.rejects(change(uids, { deleted: true }), RangeError)
})
