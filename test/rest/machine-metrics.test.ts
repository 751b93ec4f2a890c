// The state of the appliance for machines: every line in the form of Prometheus, and true.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'
import { receive } from './expect.ts'

const clock = new ManualClock()
const house = await startHouse({ clock, env: { DIRECT_DELIVERY: 'false' } })
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
  assert.ok(values.get('mailstead_resident_memory_bytes')! > 1e7)
  assert.ok(values.has('mailstead_event_loop_delay_seconds{quantile="0.99"}'))
  const text = [...values.keys()].join('\n')
  assert.ok(!text.includes('shop.test') && !text.includes(team.id), 'nobody is named')
})

test('it takes the key of an operator, and no other', async () => {
  for (const key of [null, team.key, ana.key]) assert.equal((await house.call('GET', path, key)).status, 401)
})
