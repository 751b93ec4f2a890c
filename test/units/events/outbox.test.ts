// Events wait for the dispatcher only where a subscription of their team is enabled.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSendingAppliance, type SendingAppliance } from '../../support/sending-appliance.ts'

let appliance: SendingAppliance
before(async () => {
  appliance = await openSendingAppliance()
})
after(() => appliance[Symbol.asyncDispose]())

/** Records an event of each team, in units of work that share a transaction. @returns whether each was inserted as dispatched */
async function recorded(...teams: string[]): Promise<boolean[]> {
  const { db, outbox } = appliance.app
  const ids = await Promise.all(
    teams.map((teamId) => {
      const event = { teamId, type: 'service.test', mailboxId: null, domainId: null, at: 0, data: {} } as const
      return db.write((tx) => outbox.record(tx, event))
    }),
  )
  const sql = 'SELECT dispatched FROM events WHERE id = ?'
  return ids.map((id) => db.read.get<{ dispatched: number }>(sql, [id])!.dispatched === 1)
}

test('events of a team without an enabled subscription are inserted as dispatched, and the dispatcher is not notified', async () => {
  const { db, directory, notifier } = appliance.app
  const { teamId } = appliance
  const other = (await directory.teams.create({ name: 'Other' })).id
  let notified = 0
  const unlisten = notifier.listen('webhooks', () => void notified++)
  assert.deepEqual(await recorded(teamId, other), [true, true])
  assert.equal(notified, 0)
  await db.write((tx) =>
    tx.insert('webhooks', {
      ...{ id: 'whk_1', team_id: teamId, url: 'https://hooks.test/', event_types: '["*"]', status: 'enabled' },
      ...{ secret_sealed: new Uint8Array(1), secret_hint: 'abcd', created_at: 0, updated_at: 0 },
    }),
  )
  assert.deepEqual(await recorded(teamId, other), [false, true])
  assert.ok(notified > 0)
  await db.write((tx) => tx.run(`UPDATE webhooks SET status = 'disabled'`))
  assert.deepEqual(await recorded(teamId, other), [true, true])
  unlisten()
})
