// Content by blob id: all lookups use an index, and content of earlier versions gets a blob id.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sha256 } from '../../../src/base/secrets.ts'
import type { Reader, SqlValue } from '../../../src/db/db.ts'
import {
  EVICTED_FROM_MS,
  PENDING_BYTES_MAX,
  PENDING_FILES_MAX,
  UPLOAD_LIFE_MS,
} from '../../../src/store/content/uploads.ts'
import { namesInUse } from '../../../src/store/mailbox/contents.ts'
import {
  accountWithUnnamedContent,
  attachmentById,
  contentByName,
  hasUnnamedContent,
  holdersOf,
} from '../../../src/store/messages/contents.ts'
import { attachmentOf, mailOf, openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
let box: TestMailbox
let other: TestMailbox

before(async () => {
  appliance = await openTestStore()
  box = await TestMailbox.open(appliance)
  other = await TestMailbox.open(appliance)
  const files = ['a', 'b'].map((name) => ({ ...attachmentOf(`${name}.txt`), sha256: sha256(name) }))
  const mail = mailOf({ attachments: files, structure: null })
  await box.putAll(
    [1, 2, 3].map((receivedAt) => ({ mail, receivedAt, thread: 't', folders: ['inbox'], blob: sha256('mail') })),
  )
})
after(() => appliance[Symbol.asyncDispose]())

/** Records the query plan of every read statement. */
function watching(plans: string[]): Reader {
  const note = (sql: string, values: readonly SqlValue[] = []) => {
    const rows = appliance.db.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
    plans.push(...rows.map(({ detail }) => detail))
  }
  return {
    all(sql, values) {
      note(sql, values)
      return appliance.db.read.all(sql, values)
    },
    get(sql, values) {
      note(sql, values)
      return appliance.db.read.get(sql, values)
    },
  }
}

test('every lookup uses an index', () => {
  const plans: string[] = []
  const reader = watching(plans)
  const { account } = box
  const name = appliance.store.read.blobNames.of(account.mailboxId)
  contentByName(reader, account, name(sha256('a')))
  contentByName(reader, account, name(sha256('mail')))
  contentByName(reader, account, name(sha256('nobody')))
  holdersOf(reader, account, name(sha256('a')), 10)
  attachmentById(reader, account, 'att_x')
  hasUnnamedContent(reader, account.n)
  accountWithUnnamedContent(reader)
  namesInUse(reader, account, [name(sha256('a')), name(sha256('b'))])
  appliance.store.edit.uploads.byBlobId(account, name(sha256('a')), reader)
  appliance.store.edit.uploads.pending(account, reader)
  const whole = plans.filter(
    (line) => /\bSCAN (?:m|a|messages|attachments|uploads)\b/.test(line) && !/USING (?:COVERING )?INDEX/.test(line),
  )
  assert.deepEqual(whole, [])
  assert.ok(plans.some((line) => /attachments_name|messages_name/.test(line)))
})

test('blob ids are separate per mailbox, and references are listed newest first', async () => {
  const { contents, blobNames } = appliance.store.read
  const name = blobNames.of(box.account.mailboxId)
  const match = await contents.references(box.account, name(sha256('a')))
  assert.equal(match.messages.length, 3)
  assert.equal((await contents.references(other.account, name(sha256('a')))).found, false)
  assert.equal(
    (await contents.references(box.account, blobNames.of(other.account.mailboxId)(sha256('a')))).found,
    false,
  )
  const names = [name(sha256('a')), name(sha256('mail')), name(sha256('nobody'))]
  assert.deepEqual([...namesInUse(appliance.db.read, box.account, names)].sort(), names.slice(0, 2).sort())
})

const upload = (content: string, sizeBytes = 1) => ({
  filename: 'x',
  contentType: 'text/plain',
  sizeBytes,
  sha256: sha256(content),
})

test('a thousand uploads can be pending, then one of an hour is evicted; an upload in use does not count', async () => {
  const { uploads } = appliance.store.edit
  const { account } = box
  const add = (content: string, size?: number) =>
    appliance.db.write((tx) => uploads.add(tx, account, upload(content, size)))
  const inUse = await add('a', PENDING_BYTES_MAX)
  assert.equal(inUse.expiresAt, null)
  const first = await add('first')
  assert.equal(first.expiresAt, appliance.clock.now() + UPLOAD_LIFE_MS)
  for (let at = 1; at < PENDING_FILES_MAX; at++) await add(`file ${at}`)
  assert.deepEqual(uploads.pending(account), { files: PENDING_FILES_MAX, bytes: PENDING_FILES_MAX })
  await assert.rejects(add('one more'), { code: 'conflict' })
  appliance.clock.advance(EVICTED_FROM_MS)
  await add('one more')
  assert.equal(uploads.get(account, first.id), undefined)
  assert.equal(uploads.pending(account).files, PENDING_FILES_MAX)
  assert.equal(uploads.pending(other.account).files, 0)
})

test('expired uploads are deleted in batches, and the expiry of those in use is extended', async () => {
  const { uploads } = appliance.store.edit
  appliance.clock.advance(UPLOAD_LIFE_MS)
  assert.equal(await uploads.expire(new AbortController().signal), PENDING_FILES_MAX)
  const rows = appliance.db.read.all<{ expires_at: number }>('SELECT expires_at FROM uploads')
  assert.deepEqual(rows, [{ expires_at: appliance.clock.now() + UPLOAD_LIFE_MS }])
  assert.equal(await appliance.db.write((tx) => uploads.purgeIn(tx, box.account, 10)), 1)
})
