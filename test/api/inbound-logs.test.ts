// The inbound log over the API: every outcome with its evidence.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { InboundLogDetail, InboundLogJson } from '../../src/api/schemas/inbound-log.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, receive, walk } from './expect.ts'

const NOON = Date.UTC(2030, 0, 2, 12)
const clock = new ManualClock(NOON)
const appliance = await startAppliance({
  clock,
  zone: {
    'friend.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    '_dmarc.friend.test': { TXT: ['v=DMARC1; p=reject'] },
  },
})
after(() => appliance.close())
const team = await appliance.team()
await team.domain('in.test')
const ana = await team.mailbox('ana@in.test')
const bob = await team.mailbox('bob@in.test')
await appliance.app.directory.filters.put(bob.id, { mode: 'denylist', rules: [{ type: 'deny', pattern: 'spam.test' }] })

await receive(appliance, { from: 'carl@friend.test', to: ana.email, subject: 'Summer plans' })
clock.advance(86_400_000)
await assert.rejects(receive(appliance, { from: 'win@spam.test', to: bob.email, subject: 'Prize' }))
await assert.rejects(receive(appliance, { from: 'carl@friend.test', to: 'nobody@in.test' }))

test('each recipient of each message is a row, newest first', async () => {
  const rows = await walk<InboundLogJson>(appliance, '/inbound/logs?limit=2', team.key)
  assert.deepEqual(
    rows.map((row) => [row.status, row.reason, row.rcpt_to]),
    [
      ['refused', 'unknown_recipient', 'nobody@in.test'],
      ['refused', 'sender_filtered', 'bob@in.test'],
      ['stored', null, 'ana@in.test'],
    ],
  )
  for (const row of rows) assert.ok(!('evidence' in row))
})

test('a stored message shows its sender, the checks and its folder', async () => {
  const [row] = await walk<InboundLogJson>(appliance, '/inbound/logs?status=stored', team.key)
  assert.equal(row!.mail_from, 'carl@friend.test')
  assert.equal(row!.header_from, 'carl@friend.test')
  assert.equal(row!.subject, 'Summer plans')
  assert.equal(row!.mailbox_id, ana.id)
  assert.deepEqual(row!.authentication, { spf: 'pass', dkim: 'none', dmarc: 'pass', arc: 'none' })
  assert.equal(
    data<Message>(await appliance.get(`/mailbox/messages/${row!.message_id}`, ana.key)).subject,
    'Summer plans',
  )

  const reply = await appliance.get(`/inbound/logs/${row!.id}`, team.key)
  const { evidence, ...rest } = data<InboundLogDetail>(reply)
  assert.deepEqual(rest, row)
  assert.equal(evidence.spf?.result, 'pass')
  assert.ok(evidence.dns.some((asked) => asked.name === 'friend.test' && asked.type === 'TXT'))
  assert.equal(evidence.dmarc?.policy, 'reject')
  assert.equal(evidence.thread?.by, 'new')
  const etag = etagOf(reply)
  assert.equal((await appliance.get(`/inbound/logs/${row!.id}`, team.key, { 'if-none-match': etag })).status, 304)
})

test('a message blocked by a filter shows the matching rule', async () => {
  const [row] = await walk<InboundLogJson>(appliance, `/inbound/logs?mailbox_id=${bob.id}`, team.key)
  assert.match(row!.smtp_reply, /^550 5\.7\.1 /)
  assert.equal(row!.message_id, null)
  const { evidence } = data<InboundLogDetail>(await appliance.get(`/inbound/logs/${row!.id}`, team.key))
  assert.deepEqual(evidence.filter?.rule, { type: 'deny', pattern: 'spam.test' })
  assert.equal(evidence.filter?.scope, 'mailbox')
  assert.equal(evidence.thread, null)
})

test('the list is filtered by day, domain and words', async () => {
  const count = async (query: string) =>
    (await walk<InboundLogJson>(appliance, `/inbound/logs?${query}`, team.key)).length
  assert.equal(await count('from_date=2030-01-03'), 2)
  assert.equal(await count('to_date=2030-01-02'), 1)
  assert.equal(await count('to_date=2030-01-02T12:00:00Z'), 0)
  assert.equal(await count('from_date=2030-01-02T13:00:00%2B01:00&to_date=2030-01-03'), 3)
  assert.equal(await count('domain=IN.test'), 3)
  assert.equal(await count('domain=other.test'), 0)
  assert.equal(await count('search=summer%20carl'), 1)
  assert.equal(await count('search=summer%20win'), 0)
  assert.equal(await count('search=100%25'), 0)
})

test('an invalid time is reported by name', async () => {
  for (const name of ['from_date', 'to_date']) {
    const reply = await appliance.get(`/inbound/logs?${name}=2030-02-30`, team.key)
    issues(reply, 400, 'invalid_parameter', [`${name} invalid_format`])
  }
})

test('rows of another team are not shown', async () => {
  const other = await appliance.team('Other')
  assert.deepEqual(await walk<InboundLogJson>(appliance, '/inbound/logs', other.key), [])
  const [row] = await walk<InboundLogJson>(appliance, '/inbound/logs', team.key)
  failure(await appliance.get(`/inbound/logs/${row!.id}`, other.key), 404, 'not_found')
  failure(await appliance.get(`/inbound/logs?mailbox_id=${ana.id}`, other.key), 404, 'not_found')
})
