// Migration 24 on a file of an earlier version: entries get the flags, sizes and numbers of their messages, also after a kill.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'
import { openEarlierMailbox } from '../../support/earlier-mailbox.ts'
import { ROOT } from '../../support/source.ts'

/** More entries than one piece of the fill. */
const MESSAGES = 12_000
const PIECE = 10_000

async function fileOf(t: { after(run: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-entries-'))
  t.after(() => rm(folder, { recursive: true }))
  return join(folder, 'mail.db')
}

const name = (db: Db) => db.read.get<{ name: string }>('SELECT name FROM migrations WHERE number = 24')!.name

test('an upgrade that is killed goes on with the next start, and reports how far it is', async (t) => {
  const file = await fileOf(t)
  await (await openEarlierMailbox(file, MESSAGES)).close()
  const child = fork(join(ROOT, 'test/support/crash-while-upgrading.ts'), [file])
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])

  const db = new Db({ file })
  t.after(() => db.close())
  assert.equal(name(db), 'folder-entries (unfilled)')
  const total = db.read.get<{ n: number }>('SELECT count(*) AS n FROM message_folders')!.n
  const progress: object[] = []
  assert.equal(await migrate(db, mailMigrations, (one) => progress.push(one)), 0)
  const left = total - PIECE
  assert.deepEqual(progress, [{ name: 'folder-entries', filled: left, total: left }])
  assert.equal(name(db), 'folder-entries')
  assert.equal(await migrate(db, mailMigrations, () => assert.fail('nothing is left')), 0)

  const [row] = db.read.all(
    `SELECT count(*) AS n, sum(e.mod_seq = 77) AS numbered, sum(e.size_bytes = m.size_bytes) AS sized,
       sum(e.flags = m.seen + 2 * m.flagged + 4 * m.draft + 8 * m.answered
         + 32 * EXISTS (SELECT 1 FROM message_keywords k WHERE k.message = m.n)) AS flagged
     FROM message_folders e JOIN messages m ON m.n = e.message`,
  )
  assert.deepEqual(row, { n: total, numbered: total, sized: total, flagged: total })
  const folders = db.read.all<{
    recent_from: number
    uid_next: number
    mod_seq: number
    uid_validity: number
    floor: number
  }>(
    `SELECT recent_from, uid_next, mod_seq, uid_validity, (SELECT seq FROM expunged_floors WHERE folder = folders.n) AS floor
     FROM folders ORDER BY n`,
  )
  for (const [at, folder] of folders.entries()) {
    const { uid_next } = folder
    assert.deepEqual(folder, { recent_from: uid_next, uid_next, mod_seq: 77, uid_validity: 1000 + at, floor: 77 })
  }
  const account = db.read.get<{ last: number }>('SELECT last_uid_validity AS last FROM accounts')
  assert.deepEqual(account, { last: 1000 + folders.length - 1 })
})

test('folders that shadow the Inbox get a number, and clients learn their paths', async (t) => {
  const db = await openEarlierMailbox(await fileOf(t), 3)
  t.after(() => db.close())
  const made: [n: number, parent: number | null, name: string][] = [
    [11, null, 'inbox'],
    [12, null, 'INBOX'],
    [13, null, 'inbox (2)'],
    [14, 11, 'Inbox'],
    [15, null, 'Inbox and more'],
  ]
  await db.write((tx) => {
    for (const [n, parent, called] of made) {
      const row = { n, id: `fld_${n}`, account: 1, parent, name: called, sort_order: n, uid_validity: 1000 }
      tx.insert('folders', { ...row, created_at: 0, updated_at: 0 })
    }
  })
  await migrate(db, mailMigrations)
  assert.deepEqual(
    db.read.all<{ name: string }>('SELECT name FROM folders WHERE n > 10 ORDER BY n').map((row) => row.name),
    ['inbox (3)', 'INBOX (2)', 'inbox (2)', 'Inbox', 'Inbox and more'],
  )
  assert.deepEqual(db.read.all("SELECT name FROM folders WHERE role = 'inbox'"), [{ name: 'Inbox' }])
  assert.deepEqual(db.read.get('SELECT seq, folders_seq FROM accounts'), { seq: 78, folders_seq: 78 })
  const recorded = db.read.all<{ object: string }>(
    "SELECT object FROM changes WHERE type = 'folders' AND changed_seq = 78 AND altered_seq = 78 AND gone = 0 ORDER BY n",
  )
  assert.deepEqual(
    recorded.slice(-5).map(({ object }) => object),
    made.map(([n]) => `fld_${n}`),
  )
})
