// One story of sending: accepted, routed, handed to real servers, and what became of each copy.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLog } from '../../src/api/schemas/delivery-log.ts'
import type { NewMail, Sender } from '../../src/outbound/submit/new-mail.ts'
import { walk } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'
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
}
const house = await startHouse({
  clock,
  zone,
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
})
after(async () => {
  await house.close()
  await remote[Symbol.asyncDispose]()
})
const team = await house.team()
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
  const made = await house.app.outbound.submitter.submit(sender, mails)
  await house.settle()
  return made.map((one) => {
    assert.equal(one.kind, 'accepted', JSON.stringify(one))
    return one.kind === 'accepted' ? one.emailId : ''
  })
}

async function fate(emailId: string): Promise<DeliveryLog> {
  const [row] = await walk<DeliveryLog>(house, `/emails/logs?message_id=${emailId}`, team.key)
  return row!
}

test('a mail goes straight to the server of its recipient, from an address that knows it', async () => {
  const [id] = await send(byTeam, mail('bob@customer.example'))
  const row = await fate(id!)
  assert.deepEqual([row.status, row.provider_name, row.attempts], ['sent', 'Direct delivery', 1], JSON.stringify(row))
  const got = remote.mails.at(-1)!
  assert.match(got.from, /^b\+[0-9a-z]{24}@bounce\.mx\.mailstead\.test$/)
  assert.deepEqual(got.to, ['bob@customer.example'])
  assert.match(got.bytes.toString(), /^DKIM-Signature: /)
})

test('a mail to a mailbox here stays in the house', async () => {
  const before = remote.mails.length
  const [id] = await send(byTeam, mail('ana@shop.test', { subject: 'Inside' }))
  const row = await fate(id!)
  assert.deepEqual([row.status, row.provider_name], ['sent', 'Local delivery'], JSON.stringify(row))
  assert.equal(remote.mails.length, before)
  const messages = await walk<{ subject: string }>(house, '/mailbox/messages', ana.key)
  assert.ok(messages.some(({ subject }) => subject === 'Inside'))
})

test('a mail that is put off is tried again on the schedule, and given up after two days', async () => {
  refusal = { code: 450, text: '4.2.0 later' }
  const [id] = await send(byTeam, mail('slow@customer.example'))
  let row = await fate(id!)
  assert.deepEqual([row.status, row.attempts], ['pending', 1])
  assert.match(row.status_reason ?? '', /^deferred: 450/)
  for (let minutes = 0; minutes < 90; minutes++) {
    clock.advance(MINUTE)
    await house.settle()
  }
  assert.ok((await fate(id!)).attempts >= 5)
  for (let hours = 0; hours < 50; hours++) {
    clock.advance(60 * MINUTE)
    await house.settle()
  }
  row = await fate(id!)
  assert.equal(row.status, 'failed')
  assert.match(row.status_reason ?? '', /^expired: /)
  refusal = null
})

test('a sender from a mailbox is told of a mail that failed for good', async () => {
  refusal = { code: 550, text: '5.1.1 no such user' }
  const own = { from: { email: 'ana@shop.test', name: 'Ana' } }
  const [id] = await send(byAna, mail('nobody@customer.example', own))
  refusal = null
  const row = await fate(id!)
  assert.equal(row.status, 'failed')
  assert.match(row.status_reason ?? '', /^bounced: 550/)
  await house.settle()
  const messages = await walk<{ subject: string; from: { email: string } }>(house, '/mailbox/messages', ana.key)
  assert.ok(
    messages.some(({ from }) => from.email.startsWith('mailer-daemon@')),
    JSON.stringify(messages),
  )
  const [again] = await send(byTeam, mail('nobody@customer.example'))
  const stopped = await fate(again!)
  assert.deepEqual([stopped.status, stopped.status_reason?.split(':')[0]], ['rejected', 'suppressed'])
})
