// The metrics of the appliance: valid Prometheus text, and correct values.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { connectImap, logInImap } from '../support/imap.ts'
import { SieveClient } from '../support/managesieve.ts'
import { plainMail } from '../support/smtp.ts'
import { connectSubmission, plainCredentials, signInToSubmit } from '../support/submission.ts'
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
    const [, name, kind] = /^# TYPE (\w+) (gauge|counter|histogram)$/.exec(line) ?? []
    if (kind === 'histogram') for (const part of ['bucket', 'sum', 'count']) typed.add(`${name}_${part}`)
    else if (name !== undefined) typed.add(name)
    if (name === undefined) {
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
  for (const one of ['in', 'out']) assert.equal(values.get(`mailstead_remote_messages_total{direction="${one}"}`), 0)
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

test('IMAP: connections, logins, commands, bytes, and how fast a change arrives', async () => {
  const before = await scrape()
  const sends = { name: 'sends', permissions: ['email.send'] }
  const { body } = await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, sends)
  const failed = await connectImap(appliance)
  assert.equal((await failed.run(`LOGIN ${ana.email} ${body.data.key}`)).status, 'NO')
  const client = await logInImap(appliance, ana)
  await client.run('SELECT INBOX')
  await client.run('FETCH 1:* (FLAGS FOO)')
  client.write('i IDLE\r\n')
  assert.equal(await client.response(), '+ idling')
  clock.advance(1000)
  await receive(appliance, { to: ana.email })
  clock.advance(300)
  assert.match((await client.response())!, /EXISTS$/)
  const values = await scrape()
  const grown = (name: string) =>
    (values.get(`mailstead_imap_${name}`) ?? 0) - (before.get(`mailstead_imap_${name}`) ?? 0)
  assert.equal(values.get('mailstead_imap_connections{protocol="imaps"}'), 2)
  assert.equal(grown('logins_total{outcome="not_allowed"}'), 1)
  assert.equal(grown('logins_total{outcome="ok"}'), 1)
  assert.equal(grown('commands_total{name="LOGIN",result="NO"}'), 1)
  assert.equal(grown('commands_total{name="SELECT",result="OK"}'), 1)
  assert.equal(grown('commands_total{name="FETCH",result="BAD"}'), 1)
  assert.equal(grown('command_seconds_count'), 4)
  assert.equal(grown('notify_seconds_count'), 1)
  assert.equal(grown('notify_seconds_bucket{le="0.4"}'), 1)
  assert.equal(grown('views'), 1)
  const bytes = grown('bytes_out_total')
  assert.ok(bytes > 500 && bytes < 5000, `${bytes}`)
  failed.close()
  client.write('DONE\r\n')
  await client.until('i')
  await client.run('LOGOUT')
  client.close()
  // The UIDs of a folder stay in memory for a minute.
  clock.advance(61_000)
  const last = await scrape()
  assert.ok(last.get('mailstead_imap_bytes_out_total')! > values.get('mailstead_imap_bytes_out_total')!)
  assert.equal(last.get('mailstead_imap_views'), 0)
})

test('submission and ManageSieve: connections, logins, commands', async () => {
  const before = await scrape()
  const submitting = await signInToSubmit(appliance, ana)
  const keyFor = async (permission: string) => {
    const wanted = { name: permission, permissions: [permission] }
    return (await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, wanted)).body.data.key as string
  }
  const { client: failed } = await connectSubmission(appliance)
  await failed.command(`AUTH PLAIN ${plainCredentials(ana.email, await keyFor('mailbox.read'))}`, 535)
  const editing = await SieveClient.signedIn(appliance, ana.email, ana.key)
  const { client: refused } = await SieveClient.connect(appliance)
  await refused.startTls()
  assert.match((await refused.login(ana.email, await keyFor('email.send'))).end, /^NO /)
  assert.match((await editing.ask('NONSENSE')).end, /^NO /)
  assert.match((await editing.ask('LISTSCRIPTS')).end, /^OK /)
  const values = await scrape()
  const grown = (name: string) => (values.get(`mailstead_${name}`) ?? 0) - (before.get(`mailstead_${name}`) ?? 0)
  assert.ok(values.get('mailstead_submission_connections')! >= 2)
  assert.equal(values.get('mailstead_managesieve_connections'), 2)
  for (const protocol of ['submission', 'managesieve']) {
    assert.equal(grown(`${protocol}_logins_total{outcome="ok"}`), 1, protocol)
    assert.equal(grown(`${protocol}_logins_total{outcome="not_allowed"}`), 1, protocol)
  }
  assert.equal(grown('managesieve_commands_total{name="AUTHENTICATE",result="NO"}'), 1)
  assert.equal(grown('managesieve_commands_total{name="LISTSCRIPTS",result="OK"}'), 1)
  assert.equal(grown('managesieve_commands_total{name="invalid",result="NO"}'), 1)
  submitting.drop()
  failed.drop()
  for (const client of [editing, refused]) {
    await client.ask('LOGOUT')
    await client.ended()
  }
  assert.equal((await scrape()).get('mailstead_managesieve_connections'), 0)
})

test('only an operator key is accepted', async () => {
  for (const key of [null, team.key, ana.key]) assert.equal((await appliance.call('GET', path, key)).status, 401)
})

test('submitted messages by result', async () => {
  await using program = await signInToSubmit(appliance, ana)
  for (const from of [ana.email, 'eve@shop.test']) {
    await program.mail({ from: ana.email, to: ana.email, content: plainMail({ from, to: ana.email }) })
  }
  const values = await scrape()
  const results = ['accepted', 'repeated', 'refused', 'deferred']
  const counts = results.map((result) => values.get(`mailstead_submission_messages_total{result="${result}"}`))
  assert.deepEqual(counts, [1, 0, 1, 0])
})
