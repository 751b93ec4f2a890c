// Events are deleted once they are old, dispatched and without pending deliveries.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pruneEvents } from '../../../src/events/webhooks/retention.ts'
import { openSendingAppliance, type SendingAppliance } from '../../support/sending-appliance.ts'

let appliance: SendingAppliance
before(async () => {
  appliance = await openSendingAppliance()
})
after(() => appliance[Symbol.asyncDispose]())

test('old, dispatched events without pending deliveries are deleted', async () => {
  const { db, outbox } = appliance.app
  const record = (at: number) =>
    db.write((tx) =>
      outbox.record(tx, {
        teamId: appliance.teamId,
        type: 'service.test',
        mailboxId: null,
        domainId: null,
        at,
        data: {},
      }),
    )
  const old: string[] = []
  for (let at = 0; at < 1200; at++) old.push(await record(at))
  const undispatched = await record(1200)
  const pending = await record(1201)
  const recent = await record(5000)
  await db.write((tx) => {
    tx.run('UPDATE events SET dispatched = id <> ?', [undispatched])
    tx.run(
      `INSERT INTO webhook_queue (webhook, event, attempt, ends_at, due_at)
       SELECT 1, n, 1, 9000, 9000 FROM events WHERE id = ?`,
      [pending],
    )
  })
  assert.equal(await pruneEvents(db, 5000), old.length)
  const rows = db.read.all<{ id: string }>('SELECT id FROM events ORDER BY n')
  assert.deepEqual(
    rows.map(({ id }) => id),
    [undispatched, pending, recent],
  )
  assert.equal(await pruneEvents(db, 5000), 0)
})
