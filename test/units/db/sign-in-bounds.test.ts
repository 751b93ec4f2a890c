// The step of form 19: links and sessions that a key of a mailbox may have been able to read end with it.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'

test('links, sessions, and the links of invitations to addresses here end; other invitations keep theirs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-step-'))
  const db = new Db({ file: join(folder, 'mail.db') })
  try {
    await migrate(
      db,
      mailMigrations.filter(({ number }) => number < 19),
    )
    const hash = Buffer.alloc(32, 1)
    const invite = { registration: 1, state: 'pending', created_at: 0, expires_at: 1 }
    await db.write((tx) => {
      tx.insert('sign_in_links', { hash, email: 'ana@shop.test', expires_at: 1 })
      tx.insert('sessions', { hash, email: 'ana@shop.test', expires_at: 1 })
      tx.insert('teams', { id: 'team_a', name: 'A', created_at: 0 })
      const domain = { id: 'mdom_a', team_id: 'team_a', name: 'shop.test', created_at: 0, verification_token: 'x' }
      tx.insert('domains', { ...domain, verification_status: 'verified', receives: 1 })
      const agent = { id: 'areg_a', team_id: 'team_b', mailbox_id: 'mbx_a', email: 'a@b', state: 'invited' }
      tx.insert('agent_registrations', { ...agent, request_scope: hash, created_at: 0 })
      tx.insert('owner_invites', { ...invite, id: 'ainv_a', email: 'ana@shop.test', token_hash: hash })
      const away = { id: 'ainv_b', email: 'ben@people.example', token_hash: Buffer.alloc(32, 2) }
      tx.insert('owner_invites', { ...invite, ...away })
    })
    await migrate(db, mailMigrations)
    assert.deepEqual(db.read.all('SELECT 1 FROM sign_in_links UNION ALL SELECT 1 FROM sessions'), [])
    const rows = db.read.all<{ token_hash: Uint8Array }>('SELECT token_hash FROM owner_invites ORDER BY n')
    assert.deepEqual(
      rows.map(({ token_hash: kept }, index) => Buffer.alloc(32, index + 1).equals(kept)),
      [false, true],
    )
  } finally {
    await db.close()
    await rm(folder, { recursive: true })
  }
})
