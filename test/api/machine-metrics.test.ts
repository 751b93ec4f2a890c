// The metrics of the appliance: valid Prometheus text, and correct values.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { receive } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { ...EASY_WORK, DIRECT_DELIVERY: 'false' } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const { secret } = await appliance.app.directory.operatorKeys.issue('test')
const path = `http://127.0.0.1:${appliance.ports.operator}/operator/v1/metrics`

/** Name with labels → value, by the grammar of the text format 0.0.4. */
async function scrape(): Promise<Map<string, number>> {
  const reply = await appliance.call('GET', path, secret)
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

test('counts of received messages, the queue, and the process', async () => {
  const before = await scrape()
  assert.equal(before.get('mailstead_queue_deliveries'), 0)
  await receive(appliance, { to: ana.email })
  await assert.rejects(receive(appliance, { to: 'nobody@shop.test' }))
  // Held while its mailbox is suspended.
  const mail = {
    to: [{ email: 'ben@shop.test' }],
    subject: 'x',
    text_body: 'x',
    send_at: new Date(clock.now() + 60_000).toISOString(),
  }
  assert.equal((await appliance.call('POST', '/mailbox/messages/send', ana.key, mail)).status, 202)
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
  assert.ok(!text.includes('shop.test') && !text.includes(team.id), 'no domain and no team is named')
})

test('final outcomes of deliveries, by hour', async () => {
  const hourly = async (hour: string) => {
    const values = await scrape()
    return ['accepted', 'delivered', 'rejected', 'failed', 'received'].map((fact) =>
      values.get(`mailstead_mail_hourly{fact="${fact}",hour="${hour}"}`),
    )
  }
  assert.deepEqual(await hourly('current'), [1, 0, 0, 0, 1])
  clock.advance(60_000)
  await appliance.settle()
  // Ben does not exist here, and Ana gets a bounce.
  assert.deepEqual(await hourly('current'), [1, 0, 0, 1, 2])
  assert.deepEqual(await hourly('previous'), [0, 0, 0, 0, 0])
  clock.leap(3_600_000)
  assert.deepEqual(await hourly('current'), [0, 0, 0, 0, 0])
  assert.deepEqual(await hourly('previous'), [1, 0, 0, 1, 2])
})

test('the age of the oldest due delivery', async () => {
  const hook = { url: 'https://hook.shop.test/', event_types: ['message.received'] }
  assert.equal((await appliance.call('POST', '/webhooks', team.key, hook)).status, 201)
  await receive(appliance, { to: ana.email })
  await appliance.settle()
  const later = new Date(clock.now() + 60_000).toISOString()
  const mail = { to: [{ email: ana.email }], subject: 'x', text_body: 'x', send_at: later }
  assert.equal((await appliance.call('POST', '/mailbox/messages/send', ana.key, mail)).status, 202)
  const before = await scrape()
  assert.deepEqual(
    [before.get('mailstead_queue_deliveries'), before.get('mailstead_webhook_deliveries_waiting')],
    [1, 1],
  )
  // As if the workers had been idle for a while.
  await appliance.app.db.write((tx) => {
    tx.run('UPDATE queue SET due_at = ?', [clock.now() - 90_000])
    tx.run('UPDATE webhook_queue SET due_at = ?', [clock.now() - 30_000])
  })
  const values = await scrape()
  assert.equal(values.get('mailstead_queue_oldest_due_seconds'), 90)
  assert.equal(values.get('mailstead_webhook_oldest_due_seconds'), 30)
})

test('agents, by state', async () => {
  await new AgentClient(appliance).register()
  assert.equal((await scrape()).get('mailstead_agents{state="unclaimed"}'), 1)
})

test('only an operator key is accepted', async () => {
  for (const key of [null, team.key, ana.key]) assert.equal((await appliance.call('GET', path, key)).status, 401)
})
