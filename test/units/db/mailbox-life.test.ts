// Step 12 on a file of an earlier version: mail in Trash and Junk gets the time it was put there, as far as anybody can know it.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'

test('what was put there before this version was put there no earlier than what came in before its neighbours', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-step-'))
  const db = new Db({ file: join(folder, 'mail.db') })
  t.after(async () => {
    await db.close()
    await rm(folder, { recursive: true })
  })
  await migrate(
    db,
    mailMigrations.filter((step) => step.number < 12),
  )
  await db.write((tx) => {
    tx.insert('accounts', { n: 1, mailbox_id: 'mbx_1', created_at: 0 })
    for (const [n, role] of [
      [1, 'inbox'],
      [2, 'trash'],
      [3, 'junk'],
    ] as const) {
      const times = { created_at: 0, updated_at: 0 }
      tx.insert('folders', {
        ...{ n, id: `fld_${n}`, account: 1, name: role, role, sort_order: n, uid_validity: 1 },
        ...times,
      })
    }
    const filed: [folder: number, uid: number, at: number][] = [
      [1, 1, 10],
      [2, 1, 50],
      [2, 2, 20],
      [2, 5, 70],
      [3, 1, 5],
    ]
    for (const [index, [folder, uid, received_at]] of filed.entries()) {
      tx.insert('message_folders', { folder, uid, message: index + 1, received_at })
    }
  })
  await migrate(db, mailMigrations)
  const rows = db.read.all<{ folder: number; uid: number; filed_at: number | null }>(
    'SELECT folder, uid, filed_at FROM message_folders ORDER BY folder, uid',
  )
  assert.deepEqual(
    rows.map(({ folder, uid, filed_at: at }) => [folder, uid, at]),
    [
      [1, 1, null],
      [2, 1, 50],
      [2, 2, 50],
      [2, 5, 70],
      [3, 1, 5],
    ],
  )
})
