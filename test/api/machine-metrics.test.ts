// The state of the appliance for machines: every line in the form of Prometheus, and true.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'
import { receive } from './expect.ts'

const clock = new ManualClock()
const house = await startHouse({ clock, env: { ...EASY_WORK, DIRECT_DELIVERY: 'false' } })
after(() => house.close())
const team = await house.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const { secret } = await house.app.directory.operatorKeys.issue('test')
const path = `http://127.0.0.1:${house.ports.operator}/operator/v1/metrics`

/** Name with labels → value, by the grammar of the text format 0.0.4. */
async function scrape(): Promise<Map<string, number>> {
  const reply = await house.call('GET', path, secret)
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const values = new Map<string, number>()
  const typed = new Set<string>()
  for (const line of (reply.body as string).trimEnd().split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue
    const [, name] = /^# TYPE (\w+) (?:gauge|counter)$/.exec(line) ?? []
    if (name !== undefined) typed.add(name)
    else {
      const match = /^([a-zA-Z_:][\w:]*)((?:\{(?:\w+="[^"\\\n]*",?)*\})?) (-?[\d.e+-]+)$/.exec(line)
      assert.ok(match, line)
      assert.ok(typed.has(match[1]!), `${match[1]} has a type`)
      values.set(match[1]! + match[2], Number(match[3]))
    }
  }
  return values
}

test('it tells what came, what waits, and how the process is', async () => {
  const before = await scrape()
  assert.equal(before.get('mailstead_queue_deliveries'), 0)
  await receive(house, { to: ana.email })
  await assert.rejects(receive(house, { to: 'nobody@shop.test' }))
  // Held while its mailbox is suspended.
  const mail = {
    to: [{ email: 'ben@shop.test' }],
    subject: 'x',
    text_body: 'x',
    send_at: new Date(clock.now() + 60_000).toISOString(),
  }
  assert.equal((await house.call('POST', '/mailbox/messages/send', ana.key, mail)).status, 202)
  const values = await scrape()
  assert.equal(values.get('mailstead_inbound_last_hour{status="stored",reason="none"}'), 1)
  assert.equal(values.get('mailstead_inbound_last_hour{status="refused",reason="unknown_recipient"}'), 1)
  assert.equal(values.get('mailstead_queue_deliveries'), 1)
  assert.equal(values.get('mailstead_queue_oldest_due_seconds'), 0)
  assert.ok(values.get('mailstead_mail_db_units_total')! >= values.get('mailstead_mail_db_commits_total')!)
  for (const name of ['mail_db', 'blobs_db']) {
    for (const what of ['commit', 'flush']) {
      const took = values.get(`mailstead_${name}_${what}_seconds_total`)!
      assert.ok(took > before.get(`mailstead_${name}_${what}_seconds_total`)! && took < 60, `${name} ${what} ${took}`)
    }
  }
  assert.ok(values.get('mailstead_resident_memory_bytes')! > 1e7)
  assert.ok(values.has('mailstead_event_loop_delay_seconds{quantile="0.99"}'))
  const text = [...values.keys()].join('\n')
  assert.ok(!text.includes('shop.test') && !text.includes(team.id), 'nobody is named')
})

test('how deliveries ended, by the hour', async () => {
  const hourly = async (hour: string) => {
    const values = await scrape()
    return ['accepted', 'delivered', 'rejected', 'failed', 'received'].map((fact) =>
      values.get(`mailstead_mail_hourly{fact="${fact}",hour="${hour}"}`),
    )
  }
  assert.deepEqual(await hourly('current'), [1, 0, 0, 0, 1])
  clock.advance(60_000)
  await house.settle()
  // Ben is nobody here, and Ana is told so.
  assert.deepEqual(await hourly('current'), [1, 0, 0, 1, 2])
  assert.deepEqual(await hourly('previous'), [0, 0, 0, 0, 0])
  clock.leap(3_600_000)
  assert.deepEqual(await hourly('current'), [0, 0, 0, 0, 0])
  assert.deepEqual(await hourly('previous'), [1, 0, 0, 1, 2])
})

test('how long what is due has waited', async () => {
  const hook = { url: 'https://hook.shop.test/', event_types: ['message.received'] }
  assert.equal((await house.call('POST', '/webhooks', team.key, hook)).status, 201)
  await receive(house, { to: ana.email })
  await house.settle()
  const later = new Date(clock.now() + 60_000).toISOString()
  const mail = { to: [{ email: ana.email }], subject: 'x', text_body: 'x', send_at: later }
  assert.equal((await house.call('POST', '/mailbox/messages/send', ana.key, mail)).status, 202)
  const before = await scrape()
  assert.deepEqual(
    [before.get('mailstead_queue_deliveries'), before.get('mailstead_webhook_deliveries_waiting')],
    [1, 1],
  )
  // As if nobody had worked for a while.
  await house.app.db.write(async (tx) => {
    await tx.run('UPDATE queue SET due_at = ?', [clock.now() - 90_000])
    await tx.run('UPDATE webhook_queue SET due_at = ?', [clock.now() - 30_000])
  })
  const values = await scrape()
  assert.equal(values.get('mailstead_queue_oldest_due_seconds'), 90)
  assert.equal(values.get('mailstead_webhook_oldest_due_seconds'), 30)
})

test('agents, by state', async () => {
  await new AgentClient(house).register()
  assert.equal((await scrape()).get('mailstead_agents{state="unclaimed"}'), 1)
})

test('it takes the key of an operator, and no other', async () => {
  for (const key of [null, team.key, ana.key]) assert.equal((await house.call('GET', path, key)).status, 401)
})
