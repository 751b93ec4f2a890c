// Migration 63 on a file of an earlier version: the headers that are stored get their keys, in pieces.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'
import { readHeaders } from '../../../src/mime/headers.ts'
import { KEPT_HEADERS_MAX, packHeaders } from '../../../src/mime/message-headers.ts'

const PIECE = 1000
const COUNT = PIECE + 200
const NUMBER = 63

/** Of one of them not all fields are kept. */
const CUT = 17

function packedOf(n: number): Uint8Array {
  const long = n === CUT ? `References: ${'<a@x> '.repeat(KEPT_HEADERS_MAX)}\r\n` : ''
  const header = Buffer.from(`Subject: Re: Number ${n}\r\nMessage-ID: <${n}@x>\r\nTo: b${n}@x.test\r\n${long}\r\n`)
  return packHeaders(header, readHeaders(header).fields)
}

test('stored headers get their keys', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-keys-'))
  t.after(() => rm(folder, { recursive: true }))
  const db = new Db({ file: join(folder, 'mail.db') })
  t.after(() => db.close())
  await migrate(
    db,
    mailMigrations.filter(({ number }) => number < NUMBER),
  )
  await db.write((tx) => {
    for (let n = 1; n <= COUNT; n++) tx.insert('message_headers', { message: n, packed: packedOf(n) })
  })
  const progress: object[] = []
  await migrate(
    db,
    mailMigrations.filter(({ number }) => number <= NUMBER),
    (each) => progress.push(each),
  )
  assert.deepEqual(progress, [
    { name: 'header-keys', filled: PIECE, total: COUNT },
    { name: 'header-keys', filled: COUNT, total: COUNT },
  ])
  const rows = db.read.all<{ message: number }>(
    'SELECT message, subject_text, subject_key, is_reply, to_key, sent_at FROM message_headers ORDER BY message',
  )
  for (const row of rows) {
    const n = row.message
    const keys = { subject_text: `re: number ${n}`, subject_key: `NUMBER ${n}`, is_reply: 1, to_key: `B${n}` }
    const none = { subject_text: null, subject_key: null, is_reply: null, to_key: null }
    assert.deepEqual(row, { message: n, ...(n === CUT ? none : keys), sent_at: null })
  }
})
