// A clock that was years behind (a dead CMOS battery) and is corrected: recent deletions must not count as years old.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openScheduler } from '../../src/jobs/scheduler.ts'
import { data, receive, walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'

const DAY_MS = 86_400_000
const YEARS_MS = 10 * 365 * DAY_MS

test('messages moved to Trash, or deleted, while the clock was years behind keep their retention time', async () => {
  const clock = new ManualClock()
  await using appliance = await startAppliance({ clock, env: { TRASH_RETENTION_DAYS: '30' } })
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const bob = await team.mailbox('bob@shop.test')
  await receive(appliance, { to: ana.email, subject: 'Thrown' })
  await receive(appliance, { to: bob.email, subject: 'Of Bob' })
  clock.leap(3_600_000)
  await appliance.settle()
  const run = async () => {
    await appliance.settle()
    await openScheduler(appliance.app).settle()
    await appliance.settle()
  }
  await run()
  clock.set(clock.now() - YEARS_MS)
  await run()
  const [thrown] = await walk<{ id: string }>(appliance, '/mailbox/messages', ana.key)
  data(await appliance.call('DELETE', `/mailbox/messages/${thrown!.id}`, ana.key))
  data(await appliance.call('DELETE', `/mailboxes/${bob.id}`, team.key))
  clock.leap(3_600_000)
  await run()
  clock.set(clock.now() + YEARS_MS)
  await run()
  assert.equal(appliance.app.guard.isHeld(), false)
  clock.leap(2 * 3_600_000)
  await run()
  clock.leap(25 * 3_600_000)
  await run()
  const rows = appliance.app.db.read.all<{ subject: string }>('SELECT subject FROM messages ORDER BY n')
  assert.deepEqual(
    rows.map(({ subject }) => subject),
    ['Thrown', 'Of Bob'],
  )
})

/** Days the wrong clock is off: plausible, because the team was there then, or because mail may be that old. */
for (const days of [-200, -45, 45]) {
  test(`what was received and logged while the clock was ${days} days off is kept as long as anything`, async () => {
    const clock = new ManualClock()
    const env = { TRASH_RETENTION_DAYS: '30', LOG_RETENTION_DAYS: '30', SPAM_JUNK_SCORE: '0' }
    await using appliance = await startAppliance({ clock, env })
    const team = await appliance.team()
    await team.domain('shop.test')
    const ana = await team.mailbox('ana@shop.test')
    const bob = await team.mailbox('bob@shop.test')
    const send = async (subject: string) => {
      const message = { from: { email: ana.email }, to: { email: bob.email }, subject, text_body: 'x' }
      const path = `${appliance.sendOrigin}/api/v1/emails/send/batch`
      data(await appliance.call('POST', path, team.key, { messages: [message] }))
      await appliance.settle()
    }
    const run = async () => {
      await appliance.settle()
      await openScheduler(appliance.app).settle()
      await appliance.settle()
    }
    // The appliance has run for a year; what is as old as the wrong clock says is really old.
    clock.leap(100 * DAY_MS)
    await run()
    await receive(appliance, { to: ana.email, subject: 'Old' })
    await send('Old mail')
    clock.leap(200 * DAY_MS)
    await run()
    await receive(appliance, { to: ana.email, subject: 'Before' })
    await send('Mail before')
    const started = clock.now()

    clock.set(clock.now() + days * DAY_MS)
    await receive(appliance, { to: ana.email, subject: 'Meanwhile' })
    await send('Mail meanwhile')
    data(await appliance.call('DELETE', `/mailboxes/${bob.id}`, team.key))
    clock.leap(3_600_000)
    await run()
    await receive(appliance, { to: ana.email, subject: 'Later' })
    clock.set(started + 2 * 3_600_000)
    await run()
    assert.equal(appliance.app.guard.isHeld(), false)
    const right = clock.now()
    const subjects = (sql: string) =>
      appliance.app.db.read
        .all<{ subject: string }>(sql)
        .map(({ subject }) => subject)
        .sort()
    const logged = () => subjects(`SELECT subject FROM inbound_log WHERE subject NOT LIKE '%ail%'`)
    const mailed = () => subjects('SELECT subject FROM emails')
    const stored = () => subjects(`SELECT subject FROM messages WHERE subject NOT LIKE '%ail%'`)
    const events = () => appliance.app.db.read.all<{ n: number }>('SELECT n FROM events ORDER BY n')
    const known = events()
    const young = appliance.app.db.read.all<{ n: number }>('SELECT n FROM events WHERE created_at >= ?', [
      started - DAY_MS,
    ])
    assert.ok(known.length > 0)
    assert.deepEqual(young, known, 'no event is left that looks older than it is')
    for (let day = 0; day < 6; day++) {
      clock.leap(DAY_MS)
      await run()
    }
    assert.deepEqual(stored(), ['Before', 'Later', 'Meanwhile'])
    assert.deepEqual(logged(), ['Before', 'Later', 'Meanwhile'])
    assert.deepEqual(mailed(), ['Mail before', 'Mail meanwhile'])
    assert.equal(subjects(`SELECT subject FROM messages WHERE subject = 'Mail meanwhile'`).length, 1)
    assert.deepEqual(events(), known)
    // And no longer.
    while (clock.now() < right + 32 * DAY_MS) {
      clock.leap(DAY_MS)
      await run()
    }
    assert.deepEqual([stored(), logged(), mailed()], [[], [], []])
  })
}
