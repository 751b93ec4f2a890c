// A shop writes to its customers and a customer replies: from the API to another server and back, in the log and the thread.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLogDetail, DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { ThreadDetail } from '../../src/api/schemas/thread.ts'
import { data, receiveRaw, walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { type ReceivedMail, startMailServer } from '../support/mail-server.ts'
import { plainMail } from '../support/smtp.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
/** The account the shop sends through; it refuses one recipient. */
const relay = await startMailServer({
  onRcptTo({ address }, _session, done) {
    const isGone = address.startsWith('gone@')
    done(isGone ? Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }) : null)
  },
})
const appliance = await startAppliance({
  clock,
  zone: { 'relay.example': { A: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true' },
})
after(async () => {
  await appliance.close()
  await relay[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const account = data<{ id: string }>(
  await appliance.call('POST', '/providers', team.key, {
    ...{ name: 'Relay', smtp_host: 'relay.example', smtp_port: relay.port, smtp_protocol: 'none' },
    ...{ smtp_username: 'shop', smtp_password: 'secret', from_email: 'news@shop.test', from_name: 'The shop' },
  }),
  201,
)
data(await appliance.call('POST', `/providers/${account.id}/test`, team.key, {}))

const headerOf = ({ bytes }: ReceivedMail, name: string) =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(bytes.toString('latin1'))?.[1]?.replace(/\r\n\s+/g, ' ')

test('each message of a batch is delivered through the account, and the log shows its outcome', async () => {
  const messages = ['bob', 'gone', 'eve'].map((name) => ({
    to: { email: `${name}@customer.example`, name },
    subject: `Dear ${name}`,
    html_body: `<p>Hello <b>${name}</b></p>`,
    custom_headers: { 'List-Unsubscribe': '<https://shop.test/u>' },
  }))
  const reply = await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send/batch`, team.key, { messages })
  const { results } = data<{ results: { message_id: string }[] }>(reply)
  await appliance.settle()
  assert.deepEqual(relay.messages.flatMap(({ to }) => to).sort(), ['bob@customer.example', 'eve@customer.example'])
  const mail = relay.messages.find(({ to }) => to[0]!.startsWith('bob'))!
  assert.equal(mail.user, 'shop')
  assert.equal(headerOf(mail, 'From'), 'The shop <news@shop.test>')
  assert.equal(headerOf(mail, 'Message-ID'), `<${results[0]!.message_id}@shop.test>`)
  assert.equal(headerOf(mail, 'List-Unsubscribe'), '<https://shop.test/u>')
  assert.match(mail.from, /^b\+[0-9a-z]{24}@bounce\.mx\.mailstead\.test$/)
  const rows = await walk<DeliveryLogJson>(appliance, '/emails/logs', team.key)
  assert.deepEqual(rows.map(({ to_email, status, provider_name }) => [to_email, status, provider_name]).sort(), [
    ['bob@customer.example', 'sent', 'Relay'],
    ['eve@customer.example', 'sent', 'Relay'],
    ['gone@customer.example', 'failed', 'Relay'],
  ])
  const gone = rows.find(({ status }) => status === 'failed')!
  const { timeline } = data<DeliveryLogDetail>(await appliance.get(`/emails/logs/${gone.id}`, team.key))
  assert.deepEqual(
    timeline.map(({ type, remote_host, remote_address }) => [type, remote_host, remote_address]),
    [
      ['accepted', null, null],
      ['routed', null, null],
      ['bounced', 'relay.example', '127.0.0.1'],
    ],
  )
  const events = appliance.app.db.read.all<{ type: string }>('SELECT type FROM events ORDER BY type')
  assert.deepEqual(
    events.map(({ type }) => type),
    ['message.bounced', 'message.delivered', 'message.delivered'],
  )
})

test('a customer writes, gets a reply from the mailbox, and writes again: one thread', async () => {
  const { messages } = relay
  const bob = 'bob@customer.example'
  const write = (id: string, more: string[] = []) =>
    receiveRaw(appliance, {
      from: bob,
      to: ana.email,
      content: plainMail({ from: bob, to: ana.email, subject: 'Where is it?', id, more }),
    })
  await write('q@customer.example')
  const [question] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?q=in:inbox', ana.key))
  const request = {
    ...{ to: [{ email: bob }], bcc: [{ email: 'boss@customer.example' }], subject: 'Re: Where is it?' },
    ...{ text_body: 'On its way.', in_reply_to_message_id: question!.id, undo_seconds: 10 },
  }
  const sent = data<{ stored_message_id: string; message_id: string; status: string }>(
    await appliance.call('POST', '/mailbox/messages/send', ana.key, request, { 'idempotency-key': 'answer' }),
    202,
  )
  await appliance.settle()
  assert.equal(sent.status, 'scheduled')
  const before = messages.length
  clock.advance(10_000)
  await appliance.settle()
  const answers = messages.slice(before)
  assert.deepEqual(answers.map(({ to }) => to).sort(), [[bob], ['boss@customer.example']])
  assert.equal(new Set(answers.map(({ from }) => from)).size, 2)
  const answer = answers.find(({ to }) => to[0] === bob)
  for (const { bytes } of answers) assert.doesNotMatch(bytes.toString('latin1'), /boss@/)
  assert.equal(headerOf(answer!, 'In-Reply-To'), '<q@customer.example>')
  await write('r@customer.example', [`In-Reply-To: ${headerOf(answer!, 'Message-ID')}`])
  const thread = data<ThreadDetail>(await appliance.get(`/mailbox/threads/${question!.thread_id}`, ana.key))
  assert.deepEqual([thread.message_ids.length, thread.message_ids[1]], [3, sent.stored_message_id])
  const copy = data<Message>(await appliance.get(`/mailbox/messages/${sent.stored_message_id}`, ana.key))
  assert.equal(copy.delivery!.status, 'sent')
  const original = data<Message>(await appliance.get(`/mailbox/messages/${question!.id}`, ana.key))
  assert.equal(original.flags.answered, true)
})
