// Folder entries: after any edit they equal their messages, and mail programs learn what changed and what left.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import { ENTRY_FLAGS, KEYWORDS_MAX } from '../../../src/store/entries/keywords.ts'
import { markAnswered, originalOf } from '../../../src/store/messages/original.ts'
import { EXPUNGED_RANGES_MAX, expungedSince, pruneExpunged } from '../../../src/store/rows/folders-expunged.ts'
import { EntryWatcher } from '../../support/entry-watcher.ts'
import { mailOf, openTestStore, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

test('entries equal their messages, and no UID is given twice or leaves unnoticed, after every random edit', async () => {
  const random = new Random(20261122)
  const box = await ModelMailbox.open(appliance, random)
  const watcher = new EntryWatcher(appliance, () => box.account())
  watcher.look()
  const { trashRetention } = appliance.store.upkeep
  for (let round = 0; round < 150; round++) {
    if (round % 25 !== 24) await box.work()
    else await trashRetention.run(appliance.clock.now() - 3000, new AbortController().signal)
    watcher.look()
  }
})

test('a reply marks its original answered in all its folders, and its copy is an entry of Sent', async () => {
  const random = new Random(4)
  const box = await ModelMailbox.open(appliance, random)
  while (box.account().messageCount < 3) await box.work()
  const { store, db } = appliance
  const watcher = new EntryWatcher(appliance, () => box.account())
  watcher.look()
  const { id } = db.read.get<{ id: string }>('SELECT id FROM messages WHERE account = ? AND answered = 0', [
    box.account().n,
  ])!
  const archive = store.read.folders.byRole(box.account().n, 'archive').id
  await store.edit.messages.change(box.account(), [id], { folders: { add: [archive] } })
  watcher.look()
  for (const copy of [true, false]) {
    const account = box.account()
    const answers = originalOf(db.read, account, id)!
    const content = { parsed: mailOf({ subject: 'Re' }), bcc: [], hash: sha256('Re'), sizeBytes: 50 }
    const sent = {
      ...{
        emailId: newId('email'),
        internetMessageId: 're@shop.test',
        subject: 'Re',
        copy: copy ? content : null,
        ownAddresses: [],
        answers,
        sendAt: 0,
      },
      ...{ envelope: { mailFrom: '', rcptTo: ['a@else.test'] }, identityId: newId('identity') },
    }
    await db.write((tx) => store.sending.copies.record(tx, account, sent))
    watcher.look()
    const entries = db.read.all<{ flags: number }>('SELECT flags FROM message_folders WHERE message = ?', [answers.n])
    assert.ok(entries.length >= 2 - Number(!copy) && entries.every(({ flags }) => flags & ENTRY_FLAGS.answered))
  }
})

test('a message with the maximum of keywords that was answered can still leave a folder', async () => {
  const box = await ModelMailbox.open(appliance, new Random(5))
  while (box.account().messageCount < 1) await box.work()
  const { store, db } = appliance
  const account = box.account()
  const { n, id } = db.read.get<{ n: number; id: string }>('SELECT n, id FROM messages WHERE account = ?', [account.n])!
  const folder = await store.edit.folders.create(account, { name: 'Full', parentId: null })
  const keywords = { set: Array.from({ length: KEYWORDS_MAX }, (_, at) => `label${at}`) }
  await store.edit.messages.change(account, [id], { keywords, folders: { add: [folder] } })
  await db.write((tx) => markAnswered(tx, n))
  const { updated } = await store.edit.messages.change(account, [id], { folders: { remove: [folder] } })
  assert.deepEqual(updated, [id])
  const { notUpdated } = await store.edit.messages.change(account, [id], { keywords: { add: ['more'] } })
  assert.deepEqual(
    notUpdated.map(({ about }) => about),
    ['keywords'],
  )
})

test('ranges that are deleted by age raise the floor of their folder', async () => {
  const random = new Random(3)
  const box = await ModelMailbox.open(appliance, random)
  for (let round = 0; round < 60; round++) await box.work()
  const { db, clock } = appliance
  const rows = db.read.all<{ folder: number; seq: number; at: number }>(
    'SELECT folder, seq, at FROM expunged_uids WHERE folder IN (SELECT n FROM folders WHERE account = ?) ORDER BY at, seq',
    [box.account().n],
  )
  const split = rows[Math.floor(rows.length / 2)]!
  const pruned = rows.filter(({ at }) => at < split.at)
  assert.ok(pruned.length > 0 && pruned.length < rows.length)
  while ((await db.write((tx) => pruneExpunged(tx, split.at, 2))) === 2);
  for (const { folder, seq } of pruned) assert.equal(expungedSince(db.read, folder, seq - 1), null)
  const { folder } = rows.at(-1)!
  const last = Math.max(0, ...pruned.filter((row) => row.folder === folder).map(({ seq }) => seq))
  assert.ok(expungedSince(db.read, folder, last)!.length > 0)
  assert.equal(await db.write((tx) => pruneExpunged(tx, clock.now() + 1, 500)), rows.length - pruned.length)
})

test('bounds: more ranges than EXPUNGED_RANGES_MAX count as not kept', async () => {
  const { db } = appliance
  const folder = 2 ** 40
  const add = (from: number, to: number) =>
    db.write((tx) =>
      tx.run(
        `WITH RECURSIVE k (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM k WHERE i < ?)
         INSERT INTO expunged_uids (folder, seq, first, last, at) SELECT ?, i, 2 * i, 2 * i, 0 FROM k`,
        [from, to, folder],
      ),
    )
  await add(1, EXPUNGED_RANGES_MAX)
  assert.equal(expungedSince(db.read, folder, 0)?.length, EXPUNGED_RANGES_MAX)
  await add(EXPUNGED_RANGES_MAX + 1, EXPUNGED_RANGES_MAX + 1)
  assert.equal(expungedSince(db.read, folder, 0), null)
  assert.equal(expungedSince(db.read, folder, 1)?.length, EXPUNGED_RANGES_MAX)
  await db.write((tx) => tx.run('DELETE FROM expunged_uids WHERE folder = ?', [folder]))
})
