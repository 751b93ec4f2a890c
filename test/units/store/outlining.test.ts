// Structure and header fields for mail programs: stored with each message, and by a job for messages of earlier versions.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Part } from '../../../src/mime/message.ts'
import type { Account } from '../../../src/store/rows/records.ts'
import { readMessage } from '../../../src/workers/read-message.ts'
import { EntryWatcher } from '../../support/entry-watcher.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'
import { ModelMailbox } from '../../support/model-mailbox.ts'
import { Random } from '../../support/random.ts'

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const mail = (n: number, eol = '\r\n') =>
  [`From: p${n}@else.test`, `Subject: Number ${n}`, 'X-Other: no', '', 'Hello', 'World', ''].join(eol)

/** Imports a message with its content. @returns its number and id */
async function take(account: Account, text: string, receivedAt: number): Promise<{ n: number; id: string }> {
  const { store, db } = appliance
  const { message: parsed, hash, sizeBytes, chunks } = readMessage(Buffer.from(text))
  await store.blobs.put(hash, sizeBytes, chunks)
  const none = 'none' as const
  const imported = {
    ...{ parsed, hash, sizeBytes, receivedAt, folderIds: null, keywords: [] },
    authentication: { spf: none, dkim: none, dmarc: none, arc: none, fromAligned: false, reasons: [] },
    spam: { score: 0, isSpam: false, reasons: [] },
    envelope: { mailFrom: '', rcptTo: '' },
  }
  const result = await db.write((tx) =>
    store.edit.imports.import(tx, { account, ownAddresses: [], quotaBytes: 1e9 }, imported),
  )
  assert.ok(result.outcome === 'new')
  const { n } = db.read.get<{ n: number }>('SELECT n FROM messages WHERE id = ?', [result.id])!
  return { n, id: result.id }
}

const stored = (n: number) => {
  const headers = appliance.store.programs.mail.headers([n]).get(n)?.bytes.toString()
  return { headers, root: appliance.store.programs.mail.contents([n]).get(n)!.root as Part }
}
const entryOf = (n: number) =>
  appliance.db.read.all<{ uid: number; size: number }>(
    'SELECT uid, size_bytes AS size FROM message_folders WHERE message = ?',
    [n],
  )

/** Takes what is stored about the messages of an account back to the version before. */
async function asBefore(account: Account): Promise<void> {
  await appliance.db.write((tx) => {
    tx.run('DELETE FROM message_headers WHERE message IN (SELECT n FROM messages WHERE account = ?)', [account.n])
    tx.run(
      `UPDATE messages SET structure = json_remove(structure, '$.root.hasNul', '$.root.headerLf', '$.root.bodyLf')
      WHERE account = ?`,
      [account.n],
    )
    tx.run(
      `UPDATE message_folders SET size_bytes = (SELECT size_bytes FROM messages WHERE n = message)
      WHERE message IN (SELECT n FROM messages WHERE account = ?)`,
      [account.n],
    )
    tx.run('INSERT INTO outline_progress (account, before) VALUES (?, ?)', [account.n, (account.n + 1) * 2 ** 32])
  })
}

test('a stored message has its fields, and the size it is served with; both go with it', async () => {
  const box = await ModelMailbox.open(appliance, new Random(1))
  const plain = await take(box.account(), mail(1), 1000)
  const bare = await take(box.account(), mail(2, '\n'), 2000)
  assert.equal(stored(plain.n).headers, 'From: p1@else.test\r\nSubject: Number 1\r\n')
  assert.equal(stored(plain.n).root.hasNul, false)
  assert.deepEqual(
    [plain.n, bare.n].map((n) => entryOf(n)[0]!.size),
    [mail(1).length, mail(2).length],
  )
  await appliance.db.write((tx) => appliance.store.edit.messages.deleteIn(tx, box.account(), [plain.id]))
  const left = 'SELECT count(*) AS n FROM message_headers WHERE message = ?'
  assert.deepEqual(appliance.db.read.get(left, [plain.n]), { n: 0 })
})

test('messages of earlier versions get them, the newest of each mailbox first, from where it stopped', async () => {
  const boxes = [await ModelMailbox.open(appliance, new Random(1)), await ModelMailbox.open(appliance, new Random(2))]
  const taken: { n: number; id: string }[][] = [[], []]
  for (let n = 0; n < 30; n++) {
    for (const [i, box] of boxes.entries()) taken[i]!.push(await take(box.account(), mail(n + 100 * i), 1000 * n))
  }
  const wanted = taken.flat().map(({ n }) => stored(n))
  for (const box of boxes) await asBefore(box.account())
  const { outlining } = appliance.store.upkeep
  const { signal } = new AbortController()
  assert.equal(outlining.left(), 60)
  assert.deepEqual(await outlining.run(signal, 40), { outlined: 40, unreadable: 0 })
  for (const list of taken) {
    assert.deepEqual(
      list.map(({ n }) => stored(n).headers !== undefined),
      [...Array(10).fill(false), ...Array(20).fill(true)],
    )
  }
  // One is deleted meanwhile, and the content of another is damaged.
  const [gone, damaged] = [taken[0]![3]!, taken[1]![4]!]
  await appliance.db.write((tx) => appliance.store.edit.messages.deleteIn(tx, boxes[0]!.account(), [gone.id]))
  await appliance.db.write((tx) => tx.run('UPDATE messages SET blob = ? WHERE n = ?', [Buffer.alloc(32), damaged.n]))
  assert.deepEqual(await outlining.run(signal), { outlined: 18, unreadable: 1 })
  assert.equal(outlining.left(), 0)
  const has = taken
    .flat()
    .map((one, i) => ({ one, row: wanted[i]! }))
    .filter(({ one }) => one !== gone && one !== damaged)
  for (const { one, row } of has) assert.deepEqual(stored(one.n), row)
  assert.deepEqual(await outlining.run(signal), { outlined: 0, unreadable: 0 })
})

test('an earlier message with bare LF gets a new UID, because its size is another one, and no other does', async () => {
  const box = await ModelMailbox.open(appliance, new Random(1))
  const [plain, bare] = [await take(box.account(), mail(1), 1000), await take(box.account(), mail(2, '\n'), 2000)]
  await asBefore(box.account())
  const watcher = new EntryWatcher(appliance, () => box.account())
  watcher.look()
  const { outlining } = appliance.store.upkeep
  for (let twice = 0; twice < 2; twice++) {
    await outlining.run(new AbortController().signal)
    assert.deepEqual(
      [entryOf(plain.n), entryOf(bare.n)],
      [[{ uid: 1, size: mail(1).length }], [{ uid: 3, size: mail(2).length }]],
    )
    await appliance.db.write((tx) =>
      tx.run('INSERT OR REPLACE INTO outline_progress (account, before) VALUES (?, ?)', [
        box.account().n,
        (box.account().n + 1) * 2 ** 32,
      ]),
    )
  }
  const folder = appliance.store.programs.views.statuses(box.account()).find(({ role }) => role === 'inbox')!
  assert.deepEqual(appliance.store.programs.views.expungedSince(folder.n, 0), [{ first: 2, last: 2 }])
  assert.deepEqual([folder.messages, folder.uidNext], [2, 4])
})
