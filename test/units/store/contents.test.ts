// Contents by their public name: found by an index in every form, and named where earlier versions did not.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sha256 } from '../../../src/base/secrets.ts'
import type { Reader, SqlValue } from '../../../src/db/db.ts'
import { heldNames } from '../../../src/store/contents.ts'
import {
  accountWithUnnamed,
  contentNamed,
  hasUnnamed,
  holdersOf,
  keptFile,
} from '../../../src/store/messages/contents.ts'
import { EVICTED_FROM_MS, PENDING_BYTES_MAX, PENDING_FILES_MAX, UPLOAD_LIFE_MS } from '../../../src/store/uploads.ts'
import { attachmentOf, mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let house: TestStore
let box: TestMailbox
let other: TestMailbox

before(async () => {
  house = await openTestStore()
  box = await TestMailbox.open(house)
  other = await TestMailbox.open(house)
  const files = ['a', 'b'].map((name) => ({ ...attachmentOf(`${name}.txt`), sha256: sha256(name) }))
  const mail = mailOf({ attachments: files, structure: null })
  await box.putAll(
    [1, 2, 3].map((receivedAt) => ({ mail, receivedAt, thread: 't', folders: ['inbox'], blob: sha256('mail') })),
  )
})
after(() => house[Symbol.asyncDispose]())

/** Asks SQLite how it goes about every statement that is read. */
function watching(plans: string[]): Reader {
  const note = async (sql: string, values: readonly SqlValue[] = []) => {
    const rows = await house.db.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
    plans.push(...rows.map(({ detail }) => detail))
  }
  return {
    async all(sql, values) {
      await note(sql, values)
      return house.db.read.all(sql, values)
    },
    async get(sql, values) {
      await note(sql, values)
      return house.db.read.get(sql, values)
    },
  }
}

test('every question is answered by an index', async () => {
  const plans: string[] = []
  const reader = watching(plans)
  const { account } = box
  const name = house.store.blobNames.of(account.mailboxId)
  await contentNamed(reader, account, name(sha256('a')))
  await contentNamed(reader, account, name(sha256('mail')))
  await contentNamed(reader, account, name(sha256('nobody')))
  await holdersOf(reader, account, name(sha256('a')), 10)
  await keptFile(reader, account, 'att_x')
  await hasUnnamed(reader, account.n)
  await accountWithUnnamed(reader)
  await heldNames(reader, account, [name(sha256('a')), name(sha256('b'))])
  await house.store.uploads.byBlobId(account, name(sha256('a')), reader)
  await house.store.uploads.pending(account, reader)
  const whole = plans.filter(
    (line) => /\bSCAN (?:m|a|messages|attachments|uploads)\b/.test(line) && !/USING (?:COVERING )?INDEX/.test(line),
  )
  assert.deepEqual(whole, [])
  assert.ok(plans.some((line) => /attachments_name|messages_name/.test(line)))
})

test('names are told from one another by mailbox, and the holders are the newest first', async () => {
  const { contents, blobNames } = house.store
  const name = blobNames.of(box.account.mailboxId)
  const match = await contents.lookUp(box.account, name(sha256('a')))
  assert.equal(match.messages.length, 3)
  assert.equal((await contents.lookUp(other.account, name(sha256('a')))).found, false)
  assert.equal((await contents.lookUp(box.account, blobNames.of(other.account.mailboxId)(sha256('a')))).found, false)
  const asked = [name(sha256('a')), name(sha256('mail')), name(sha256('nobody'))]
  assert.deepEqual([...(await heldNames(house.db.read, box.account, asked))].sort(), asked.slice(0, 2).sort())
})

const upload = (content: string, sizeBytes = 1) => ({
  filename: 'x',
  contentType: 'text/plain',
  sizeBytes,
  sha256: sha256(content),
})

test('a thousand uploads may wait, then one of an hour makes room, and a held one counts for nothing', async () => {
  const { uploads } = house.store
  const { account } = box
  const add = (content: string, size?: number) =>
    house.db.write((tx) => uploads.add(tx, account, upload(content, size)))
  const held = await add('a', PENDING_BYTES_MAX)
  assert.equal(held.expiresAt, null)
  const first = await add('first')
  assert.equal(first.expiresAt, house.clock.now() + UPLOAD_LIFE_MS)
  for (let at = 1; at < PENDING_FILES_MAX; at++) await add(`file ${at}`)
  assert.deepEqual(await uploads.pending(account), { files: PENDING_FILES_MAX, bytes: PENDING_FILES_MAX })
  await assert.rejects(add('one more'), { code: 'conflict' })
  house.clock.advance(EVICTED_FROM_MS)
  await add('one more')
  assert.equal(await uploads.get(account, first.id), undefined)
  assert.equal((await uploads.pending(account)).files, PENDING_FILES_MAX)
  assert.equal((await uploads.pending(other.account)).files, 0)
})

test('what is over goes in pieces, what is held is looked at again later', async () => {
  const { uploads } = house.store
  house.clock.advance(UPLOAD_LIFE_MS)
  assert.equal(await uploads.expire(new AbortController().signal), PENDING_FILES_MAX)
  const rows = await house.db.read.all<{ expires_at: number }>('SELECT expires_at FROM uploads')
  assert.deepEqual(rows, [{ expires_at: house.clock.now() + UPLOAD_LIFE_MS }])
  assert.equal(await house.db.write((tx) => uploads.purgeIn(tx, box.account, 10)), 1)
})
