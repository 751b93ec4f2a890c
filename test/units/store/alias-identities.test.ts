// Upgrade of a data folder of an earlier version: aliases get the identity that a new alias brings, and the changes are recorded.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { idPattern, newId } from '../../../src/base/ids.ts'
import { Db, type Tx } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'

const folder = await mkdtemp(join(tmpdir(), 'mailstead-alias-'))
const db = new Db({ file: join(folder, 'mail.db') })
after(async () => {
  await db.close()
  await rm(folder, { recursive: true })
})

/** Last migration of the previous version. */
const BEFORE = 57

function addMailbox(tx: Tx, name: string, isAgent = false): { id: string; account: number } {
  const id = newId('mailbox')
  tx.insert('mailboxes', {
    ...{ id, team_id: 'team_x', domain_id: 'mdom_x', email: `${name}@shop.test`, search_text: '', quota_bytes: 1 },
    ...{ send_scope: '{"type":"all"}', status: 'active', is_agent: isAgent, created_at: 1, updated_at: 1 },
  })
  const account = tx.insert('accounts', { mailbox_id: id, created_at: 1, seq: 7, identities_seq: 5 })
  addIdentity(tx, account, `${name}@shop.test`, true)
  return { id, account }
}

function addIdentity(tx: Tx, account: number, email: string, isPrimary = false): void {
  const id = newId('identity')
  tx.insert('identities', { id, account, email, is_primary: isPrimary, created_at: 1, updated_at: 1 })
}

test('an alias of an earlier version has an identity after the upgrade, of a number that was not used', async () => {
  await migrate(
    db,
    mailMigrations.filter(({ number }) => number <= BEFORE),
  )
  const account = await db.write((tx) => {
    tx.insert('teams', { id: 'team_x', name: 'Shop', created_at: 1 })
    const ana = addMailbox(tx, 'ana')
    const agent = addMailbox(tx, 'agent', true)
    addIdentity(tx, ana.account, 'sales@shop.test')
    const alias = (mailbox: string, email: string, table = 'aliases') =>
      tx.insert(table, { id: newId('alias'), mailbox_id: mailbox, domain_id: 'mdom_x', email, created_at: 3 })
    for (const name of ['sales', 'desk']) alias(ana.id, `${name}@shop.test`)
    alias(ana.id, 'lost@shop.test', 'deleted_aliases')
    alias(agent.id, 'bot@shop.test')
    tx.insert('changes', {
      ...{ account: ana.account, type: 'identities', n: 90, object: 'idn_gone', created_seq: 2, changed_seq: 3 },
      ...{ gone: 1, changed_at: 1 },
    })
    return ana.account
  })
  await migrate(db, mailMigrations)
  const rows = db.read.all<{ n: number; id: string; email: string; account: number }>(
    'SELECT n, id, email, account FROM identities WHERE n > 90 ORDER BY n',
  )
  assert.deepEqual(
    rows.map((row) => [row.n, row.email, row.account]),
    [
      [91, 'desk@shop.test', account],
      [92, 'lost@shop.test', account],
    ],
  )
  assert.match(rows[0]!.id, new RegExp(idPattern('identity')))
  const changes = db.read.all('SELECT n, object, created_seq, changed_seq FROM changes WHERE n > 90 ORDER BY n')
  const [desk, lost] = rows
  assert.deepEqual(
    changes.map((row) => ({ ...row })),
    [
      { n: 91, object: desk!.id, created_seq: 8, changed_seq: 8 },
      { n: 92, object: lost!.id, created_seq: 8, changed_seq: 8 },
    ],
  )
  const seqs = db.read.all('SELECT seq, identities_seq FROM accounts ORDER BY n')
  assert.deepEqual(
    seqs.map((row) => ({ ...row })),
    [
      { seq: 8, identities_seq: 8 },
      { seq: 7, identities_seq: 5 },
    ],
  )
})
