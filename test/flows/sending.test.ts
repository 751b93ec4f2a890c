// Sending: accepted, routed, delivered to real servers, and the outcome of each copy.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import { readBounceAddress } from '../../src/outbound/model/envelope-sender.ts'
import type { NewMail, Sender } from '../../src/outbound/model/new-message.ts'
import { walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'

const MINUTE = 60_000
const clock = new ManualClock()
/** What the remote server says to every recipient; null to take it. */
let refusal: { code: number; text: string } | null = null
const remote = await startMailServer({
  onRcptTo(_address, _session, done) {
    done(refusal === null ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
  },
})
const zone = {
  'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
  'mx.customer.example': { A: ['127.0.0.1'] },
  'silent.example': { MX: [{ priority: 0, exchange: '.' }] },
  'round.example': { CNAME: 'about.example' },
  'about.example': { CNAME: 'round.example' },
}
const appliance = await startAppliance({
  clock,
  zone,
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const byTeam: Sender = { kind: 'team', teamId: team.id, source: 'batch_api' }
const byAna: Sender = { kind: 'mailbox', teamId: team.id, mailboxId: ana.id, source: 'mailbox_api' }

function mail(to: string, more: Partial<NewMail> = {}): NewMail {
  return {
    ...{ from: { email: 'news@shop.test', name: 'Shop' }, to: [{ email: to, name: '' }], cc: [], bcc: [], replyTo: [] },
    ...{ subject: 'Your order', textBody: 'It is on its way.', htmlBody: null, headers: {}, attachments: [] },
    ...{ returnPath: null, inReplyTo: null, sendAt: null, undoSeconds: 0, saveToSent: true, ...more },
  }
}

async function send(sender: Sender, ...mails: NewMail[]): Promise<string[]> {
  const made = await appliance.app.outbound.submit.submitter.submit(sender, mails)
  await appliance.settle()
  return made.map((one) => {
    assert.equal(one.kind, 'accepted', JSON.stringify(one))
    return one.kind === 'accepted' ? one.emailId : ''
  })
}

async function outcome(emailId: string): Promise<DeliveryLogJson> {
  const [row] = await walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${emailId}`, team.key)
  return row!
}

test('a message goes directly to the server of its recipient, with a signed envelope sender', async () => {
  const [id] = await send(byTeam, mail('bob@customer.example'))
  const row = await outcome(id!)
  assert.deepEqual([row.status, row.provider_name, row.attempts], ['sent', 'Direct delivery', 1], JSON.stringify(row))
  const got = remote.messages.at(-1)!
  assert.match(got.from, /^b\+[0-9a-z]{24}@bounce\.mx\.mailstead\.test$/)
  assert.deepEqual(got.to, ['bob@customer.example'])
  assert.match(got.bytes.toString(), /^DKIM-Signature: /)
})

test('each recipient has an envelope sender of its own, and a given one is shared', async () => {
  const before = remote.messages.length
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const to = names.map((name) => ({ email: `${name}@customer.example`, name: '' }))
  await send(byTeam, mail('', { to }))
  const got = remote.messages.slice(before)
  assert.deepEqual(
    got.map(({ to: [email, ...more] }) => [email, more]).sort(),
    to.map(({ email }) => [email, []]),
  )
  const { emails } = appliance.app.outbound.log
  for (const {
    from,
    to: [email],
  } of got) {
    const key = readBounceAddress(appliance.app.vault, appliance.app.config, from)!
    assert.deepEqual([key.of, emails.deliveriesByN([key.n])[0]!.to], ['delivery', email])
  }
  assert.equal(new Set(got.map(({ bytes }) => bytes.toString())).size, 1, 'the same signed bytes for all')
  await send(byTeam, mail('', { to, returnPath: 'bounces@shop.test' }))
  const shared = remote.messages.slice(before + names.length)
  assert.deepEqual(
    shared.map(({ from, to: all }) => [from, all.length]),
    [['bounces@shop.test', names.length]],
  )
})

test('a message to a mailbox here is delivered locally', async () => {
  const before = remote.messages.length
  const [id] = await send(byTeam, mail('ana@shop.test', { subject: 'Inside' }))
  const row = await outcome(id!)
  assert.deepEqual([row.status, row.provider_name], ['sent', 'Local delivery'], JSON.stringify(row))
  assert.equal(remote.messages.length, before)
  const messages = await walk<{ subject: string }>(appliance, '/mailbox/messages', ana.key)
  assert.ok(messages.some(({ subject }) => subject === 'Inside'))
})

test('a message that no server was asked about comes back with the reason, and no server is named', async () => {
  const before = remote.connections
  const to = ['a@silent.example', 'b@round.example', 'c@nowhere.example'].map((email) => ({ email, name: '' }))
  const [id] = await send(byAna, mail('', { from: { email: 'ana@shop.test', name: '' }, to }))
  const rows = await walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${id}`, team.key)
  assert.deepEqual(rows.map(({ status_reason: reason }) => reason).sort(), [
    'bounced: 5.1.10 silent.example accepts no mail (null MX).',
    'bounced: 5.1.2 There is no domain nowhere.example.',
    'bounced: 5.4.4 The aliases (CNAME) of round.example form a loop in DNS.',
  ])
  for (const { id: log, attempts } of rows) {
    assert.equal(attempts, 0)
    const { timeline } = (await appliance.get(`/emails/logs/${log}`, team.key)).body.data
    assert.deepEqual(
      timeline.map(({ type }: { type: string }) => type),
      ['accepted', 'bounced'],
    )
  }
  const bounced = appliance.app.db.read.all<{ body: string }>(
    `SELECT body FROM events WHERE type = 'message.bounced' AND body LIKE ?`,
    [`%${id}%`],
  )
  for (const { body } of bounced) assert.equal(JSON.parse(body).data.bounce.reporting_mta, null)
  assert.equal(bounced.length, 3)
  const [notice] = await walk<{ id: string; subject: string }>(appliance, '/mailbox/messages?limit=1', ana.key)
  assert.match(notice!.subject, /^Not delivered: /)
  const { raw } = (await appliance.get(`/mailbox/messages/${notice!.id}/raw`, ana.key)).body.data
  const text = Buffer.from(raw, 'base64').toString().replaceAll('=\r\n', '')
  assert.match(text, /silent\.example accepts no mail \(null MX\)\./)
  assert.doesNotMatch(text, /refused|remote server|Diagnostic-Code|Remote-MTA|Last-Attempt-Date/)
  assert.equal(remote.connections, before)
})

test('a deferred message is retried on the schedule, and given up after two days', async () => {
  refusal = { code: 450, text: '4.2.0 later' }
  const [id] = await send(byTeam, mail('slow@customer.example'))
  let row = await outcome(id!)
  assert.deepEqual([row.status, row.attempts], ['pending', 1])
  assert.match(row.status_reason ?? '', /^deferred: 450/)
  for (let minutes = 0; minutes < 90; minutes++) {
    clock.advance(MINUTE)
    await appliance.settle()
  }
  assert.ok((await outcome(id!)).attempts >= 5)
  for (let hours = 0; hours < 50; hours++) {
    clock.advance(60 * MINUTE)
    await appliance.settle()
  }
  row = await outcome(id!)
  assert.equal(row.status, 'failed')
  assert.match(row.status_reason ?? '', /^expired: /)
  refusal = null
})

test('the sender mailbox is notified of a message that failed permanently', async () => {
  refusal = { code: 550, text: '5.1.1 no such user' }
  const own = { from: { email: 'ana@shop.test', name: 'Ana' } }
  const [id] = await send(byAna, mail('nobody@customer.example', own))
  refusal = null
  const row = await outcome(id!)
  assert.equal(row.status, 'failed')
  assert.match(row.status_reason ?? '', /^bounced: 550/)
  await appliance.settle()
  const messages = await walk<{ subject: string; from: { email: string } }>(appliance, '/mailbox/messages', ana.key)
  assert.ok(
    messages.some(({ from }) => from.email.startsWith('mailer-daemon@')),
    JSON.stringify(messages),
  )
  const [again] = await send(byTeam, mail('nobody@customer.example'))
  const stopped = await outcome(again!)
  assert.deepEqual([stopped.status, stopped.status_reason?.split(':')[0]], ['rejected', 'suppressed'])
})
