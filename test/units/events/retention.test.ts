// Events are deleted once they are old, dispatched and without pending deliveries.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pruneEvents } from '../../../src/events/webhooks/retention.ts'
import { openSent, type SentHouse } from '../../support/sent.ts'

let house: SentHouse
before(async () => {
  house = await openSent()
})
after(() => house[Symbol.asyncDispose]())

test('old, dispatched events without pending deliveries are deleted', async () => {
  const { db, outbox } = house.app
  const record = (at: number) =>
    db.write((tx) =>
      outbox.record(tx, { teamId: house.teamId, type: 'service.test', mailboxId: null, domainId: null, at, data: {} }),
    )
  const old: string[] = []
  for (let at = 0; at < 1200; at++) old.push(await record(at))
  const undispatched = await record(1200)
  const pending = await record(1201)
  const recent = await record(5000)
  await db.write(async (tx) => {
    await tx.run('UPDATE events SET told = 1 WHERE id <> ?', [undispatched])
    await tx.run(
      `INSERT INTO webhook_queue (webhook, event, attempt, ends_at, due_at)
       SELECT 1, n, 1, 9000, 9000 FROM events WHERE id = ?`,
      [pending],
    )
  })
  assert.equal(await pruneEvents(db, 5000), old.length)
  const rows = await db.read.all<{ id: string }>('SELECT id FROM events ORDER BY n')
  assert.deepEqual(
    rows.map(({ id }) => id),
    [undispatched, pending, recent],
  )
  assert.equal(await pruneEvents(db, 5000), 0)
})
