// Upgrade of a data folder of an earlier version: mailboxes get a primary identity, quotas and counts, and the changes are recorded.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { idPattern, newId } from '../../../src/base/ids.ts'
import { openNotifier } from '../../../src/base/notifier.ts'
import { Vault } from '../../../src/base/secrets.ts'
import { Db } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'
import { openStore } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'

const folder = await mkdtemp(join(tmpdir(), 'mailstead-first-'))
const db = new Db({ file: join(folder, 'mail.db') })
const wake = openNotifier(folder)
after(async () => {
  wake.close()
  await db.close()
  await rm(folder, { recursive: true })
})

/** Last migration of the previous version. */
const BEFORE = 8
const FILES = [100, 23]

test('mailboxes of an earlier version are equal to new ones after the upgrade', async () => {
  await migrate(
    db,
    mailMigrations.filter(({ number }) => number <= BEFORE),
  )
  const ids = [newId('mailbox'), newId('mailbox')]
  const team = newId('team')
  await db.write((tx) => {
    tx.insert('teams', { id: team, name: 'Shop', created_at: 1 })
    for (const [index, id] of ids.entries()) {
      tx.insert('mailboxes', {
        ...{ id, team_id: team, domain_id: 'mdom_x', email: `box${index}@shop.test`, search_text: '', quota_bytes: 1 },
        ...{ send_scope: '{"type":"all"}', status: 'active', created_at: 1, updated_at: 1 },
      })
      tx.insert('accounts', { mailbox_id: id, created_at: 1, seq: 7, folders_seq: 7 })
    }
    for (const [index, size] of FILES.entries()) {
      tx.insert('attachments', {
        ...{ id: newId('attachment'), account: 1, message: index, part_id: '1', filename: 'a', content_type: 'a/b' },
        ...{ size_bytes: size, sha256: Buffer.alloc(32), disposition: 'attachment', inline: 0 },
      })
    }
    tx.insert('changes', {
      ...{ account: 1, type: 'folders', n: 1, object: 'fld_x', created_seq: 2, changed_seq: 7, gone: 0, changed_at: 1 },
    })
  })
  await migrate(db, mailMigrations)
  const clock = new ManualClock()
  const store = openStore({
    db,
    blobsDb: db,
    clock,
    vault: new Vault(Buffer.alloc(32)),
    notifier: wake,
    closeLinks: () => [],
  })
  for (const [index, id] of ids.entries()) {
    const account = store.accounts.byMailbox(id)!
    const [primary, ...others] = store.sending.identities.list(account)
    assert.deepEqual([primary!.email, primary!.isPrimary, others.length], [`box${index}@shop.test`, true, 0])
    assert.match(primary!.id, new RegExp(idPattern('identity')))
    const quotas = store.sending.quotas.list(account)
    assert.deepEqual(
      quotas.map(({ name }) => name),
      ['storage', 'messages', 'daily_recipients'],
    )
    assert.match(quotas[0]!.id, new RegExp(idPattern('quota')))
    const changes = store.read.changes.since(account, 'identities', 'i0', 10)
    assert.deepEqual([changes.created, changes.newState], [[primary!.id], account.states.identities])
    assert.equal(store.sending.quotas.changesSince(account, 'q0', 10).created.length, 3)
    assert.equal(account.attachmentBytes, index === 0 ? 123 : 0)
  }
  const account = store.accounts.byMailbox(ids[0]!)!
  // Which members of the folder changed before is not recorded.
  assert.equal(store.read.changes.since(account, 'folders', 'f3', 10).countsOnly, false)
})
