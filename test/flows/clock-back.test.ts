// A clock that was years behind (a dead CMOS battery) and is set right: what was done meanwhile must not be erased as years old.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openScheduler } from '../../src/jobs/scheduler.ts'
import { data, receive, walk } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'

const DAY_MS = 86_400_000
const YEARS_MS = 10 * 365 * DAY_MS

test('what was put into Trash, or deleted, while the clock was years behind keeps its time', async () => {
  const clock = new ManualClock()
  await using house = await startHouse({ clock, env: { TRASH_RETENTION_DAYS: '30' } })
  const team = await house.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const bob = await team.mailbox('bob@shop.test')
  await receive(house, { to: ana.email, subject: 'Thrown' })
  await receive(house, { to: bob.email, subject: 'Of Bob' })
  clock.leap(3_600_000)
  await house.settle()
  const run = async () => {
    await house.settle()
    await openScheduler(house.app).settle()
    await house.settle()
  }
  await run()
  clock.set(clock.now() - YEARS_MS)
  await run()
  const [thrown] = await walk<{ id: string }>(house, '/mailbox/messages', ana.key)
  data(await house.call('DELETE', `/mailbox/messages/${thrown!.id}`, ana.key))
  data(await house.call('DELETE', `/mailboxes/${bob.id}`, team.key))
  clock.leap(3_600_000)
  await run()
  clock.set(clock.now() + YEARS_MS)
  await run()
  assert.equal(house.app.guard.isHeld(), false)
  clock.leap(2 * 3_600_000)
  await run()
  clock.leap(25 * 3_600_000)
  await run()
  const rows = await house.app.db.read.all<{ subject: string }>('SELECT subject FROM messages ORDER BY n')
  assert.deepEqual(
    rows.map(({ subject }) => subject),
    ['Thrown', 'Of Bob'],
  )
})
