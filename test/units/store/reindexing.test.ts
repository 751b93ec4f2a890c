// Re-indexing of messages of earlier versions: in batches, resumable, and only of messages whose tokens change.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Reader } from '../../../src/db/db.ts'
import { searchTextTables } from '../../../src/db/migrations/0015-search-text.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { packContent } from '../../../src/store/content/pack-content.ts'
import { BodyTextReader } from '../../../src/workers/body-reader.ts'
import { openTestStore, type Put, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
let box: TestMailbox
const reader = new BodyTextReader()

before(async () => {
  appliance = await openTestStore()
  box = await TestMailbox.open(appliance)
})
after(async () => {
  await reader.close()
  await appliance[Symbol.asyncDispose]()
})

const LONG = '<p>Lorem ipsum dolor sit amet</p>\r\n'.repeat(1000)
const mailWith = (body: string, type = 'text/plain', subject = 'x') =>
  Buffer.from(
    `From: a@b.example\r\nTo: c@d.example\r\nSubject: ${subject}\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${body}`,
  )

async function put(bytes: Buffer, at: number, more: Partial<Put['mail']> = {}): Promise<string> {
  const content = await packContent([bytes])
  await appliance.store.blobs.put(content.hash, content.sizeBytes, content.chunks)
  const mail = { ...parseMessage(bytes), ...more }
  const { hash: blob, sizeBytes } = content
  return box.put({ mail, blob, sizeBytes, receivedAt: at * 1000, thread: `t${at}`, folders: ['inbox'] })
}

/** The index as written before migration 15: texts without segmentation. */
async function writeAsBefore(ids: readonly string[]): Promise<void> {
  const contents = new Map<string, Uint8Array>()
  for (const id of ids) contents.set(id, await wholeOf(appliance.db.read, id))
  await appliance.db.write((tx) => {
    for (const id of ids) {
      const row = tx.get<{ n: number; subject: string; bcc: string }>(
        "SELECT n, subject, json_extract(addresses, '$.bcc[0].name') AS bcc FROM messages WHERE id = ?",
        [id],
      )!
      const bytes = contents.get(id)!
      tx.run('DELETE FROM message_text WHERE rowid = ?', [row.n])
      tx.insert('message_text', {
        rowid: row.n,
        keys: `a${box.account.n} old`,
        subject: row.subject,
        bcc_text: row.bcc,
        body: parseMessage(bytes).searchText,
      })
    }
    for (const name of ['come', 'go', 'change']) tx.run(`DROP TRIGGER message_totals_${name}`)
    for (const table of ['text_renewal', 'message_totals']) tx.run(`DROP TABLE ${table}`)
    searchTextTables.up(tx)
  })
}

async function wholeOf(tx: Reader, id: string): Promise<Uint8Array> {
  const row = tx.get<{ blob: Uint8Array; size_bytes: number }>('SELECT blob, size_bytes FROM messages WHERE id = ?', [
    id,
  ])!
  return appliance.store.blobs.bytes(row.blob, 0, row.size_bytes)
}

async function find(q: string): Promise<string[]> {
  const cut = { sort: 'received_at', direction: 'asc', limit: 100, after: null, collapseThreads: false } as const
  const { items } = await appliance.store.read.messages.list(box.account, { q }, cut)
  return items.map(({ id }) => id)
}

/** Messages whose index row is unchanged. */
function untouched(): number {
  const rows = appliance.db.read.all(`SELECT rowid FROM message_text WHERE message_text MATCH '{keys} : "old"'`)
  return rows.length
}

const run = (signal = new AbortController().signal) => appliance.store.upkeep.reindexing.run(reader, signal)

it('an appliance without messages has nothing to do', async () => {
  assert.deepEqual(appliance.db.read.all('SELECT * FROM text_renewal'), [])
  assert.deepEqual(await run(), { reindexed: 0, unreadable: 0 })
})

it('makes messages findable that were not before, and writes no others', async () => {
  const plain = await put(mailWith('nothing to cut, naïve'), 1)
  const body = await put(mailWith('北京大学的学生'), 2)
  const html = await put(mailWith(`${LONG}<p>会議は東京都庁で</p>`, 'text/html'), 3)
  const subject = await put(mailWith('plain', 'text/plain', '=?utf-8?B?5omL5py65aOz?='), 4)
  const blind = await put(mailWith('plain'), 5, { bcc: [{ email: 'x@y.example', name: '山田太郎' }] })
  const many: string[] = []
  for (let i = 0; i < 60; i++) many.push(await put(mailWith(i % 2 ? 'latin' : '내일 회의'), 10 + i))
  const all = [plain, body, html, subject, blind, ...many]
  await writeAsBefore(all)
  for (const q of ['大学', '京都', '手机', 'bcc:太郎', '회']) assert.deepEqual(await find(q), [], q)
  assert.equal(
    (await appliance.store.read.messages.count(box.account, {})).count,
    all.length,
    'totals begin with what is there',
  )

  // The first batch, then a shutdown: progress is kept, and messages stored and deleted in between do not matter.
  const stop = new AbortController()
  const { write } = appliance.db
  appliance.db.write = (work) => write.call(appliance.db, work).finally(() => stop.abort()) as never
  await run(stop.signal)
  appliance.db.write = write
  assert.deepEqual(await find('大学'), [body])
  const left = untouched()
  assert.ok(left > 40 && left < all.length - 4, String(left))
  await appliance.db.write((tx) => appliance.store.edit.messages.deleteIn(tx, box.account, many.slice(-2)))
  const late = await put(mailWith('ก่อน 大学'), 5000)

  const result = await run()
  assert.deepEqual(result, { reindexed: 21, unreadable: 0 }, 'of 29 eight were in the first batch')
  assert.deepEqual(await find('大学'), [body, late])
  assert.deepEqual(await find('京都'), [html])
  assert.deepEqual(await find('ipsum 東京'), [html])
  assert.deepEqual(await find('手机'), [subject])
  assert.deepEqual(await find('bcc:太郎'), [blind])
  assert.equal((await find('회')).length, 29)
  assert.equal((await find('from:a@b.example 회의')).length, 29, 'keys are written again')
  assert.equal(untouched(), 1 + 29)
  assert.deepEqual(await run(), { reindexed: 0, unreadable: 0 })
  assert.deepEqual(appliance.db.read.all('SELECT * FROM text_renewal'), [])
})

it('skips damaged content', async () => {
  const [damaged, intact] = [await put(mailWith('在'), 9000), await put(mailWith('这里'), 9001)]
  await writeAsBefore([damaged, intact])
  const chunk = appliance.db.read.get<{ blob: Uint8Array }>('SELECT blob FROM messages WHERE id = ?', [damaged])
  await appliance.blobsDb.write((tx) => tx.run('DELETE FROM chunks WHERE hash = ?', [chunk!.blob]))
  assert.equal((await run()).unreadable, 1)
  assert.deepEqual(await find('这里'), [intact])
})
