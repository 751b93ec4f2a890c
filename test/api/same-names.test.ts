// What responses call a header or a media type, requests take by the same name; sent messages are looked for by what programs know of them.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type Json, startAppliance } from '../support/appliance.ts'
import { data, failure, issues, walk } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const mail = { from: 'news@shop.test', to: ana.email, subject: 'Order', text_body: 'Hello' }
const post = (more: object) => appliance.call('POST', '/emails/send', team.key, { ...mail, ...more })
const send = async (more: object) => data<{ message_id: string }>(await post(more), 202).message_id

async function received(subject: string): Promise<Json> {
  await appliance.settle()
  const [found] = await walk<Json>(appliance, `/mailbox/messages?q=subject:${subject}`, ana.key)
  return data<Json>(await appliance.get(`/mailbox/messages/${found.id}?include=headers,attachments`, ana.key))
}

describe('the names of responses', () => {
  test('are taken by requests', async () => {
    const attachments = [{ filename: 'a.csv', content_type: 'text/plain', content: 'YQ==' }]
    await send({ subject: 'Named', headers: { 'X-Order': '117' }, attachments })
    const named = await received('Named')
    assert.equal(named.attachments[0].content_type, 'text/plain')
    assert.ok(named.headers.some(({ name, value }: Json) => name === 'X-Order' && value === '117'))
    await send({ subject: 'Listed', headers: [{ name: 'X-Order', value: '118' }] })
    assert.ok((await received('Listed')).headers.some(({ value }: Json) => value === '118'))
  })

  test('are not mixed with the former ones', async () => {
    const both = await post({ headers: { 'X-A': '1' }, custom_headers: { 'X-A': '1' } })
    issues(both, 422, 'validation_error', ['headers forbidden_value'])
    const twice = [1, 2].map((n) => ({ name: 'X-A', value: String(n) }))
    issues(await post({ headers: twice }), 422, 'validation_error', ['headers duplicate'])
  })

  test('are the names of errors', async () => {
    const refused = async (more: object, code: string) => issues(await post(more), 422, 'validation_error', [code])
    await refused({ headers: { Bcc: 'eve@else.test' } }, 'headers.Bcc forbidden_value')
    await refused({ headers: [{ name: 'X A', value: '1' }] }, 'headers invalid_format')
    await refused({ custom_headers: { Bcc: 'eve@else.test' } }, 'custom_headers.Bcc forbidden_value')
    await refused({ reply_to: ana.email, headers: { 'Reply-To': ana.email } }, 'headers.Reply-To forbidden_value')
  })
})

describe('an answer', () => {
  const answer = async (subject: string, more: object) => {
    await send({ subject, ...more })
    const { in_reply_to, references } = await received(subject)
    return [in_reply_to, references]
  }

  test('names the message by its Message-ID, with or without angle brackets', async () => {
    const one = { in_reply_to: '<q1@else.test>' }
    assert.deepEqual(await answer('First', one), [['q1@else.test'], ['q1@else.test']])
    const later = { in_reply_to: 'q1@else.test', references: ['<q0@else.test>', 'q1@else.test'] }
    assert.deepEqual(await answer('Second', later), [['q1@else.test'], ['q0@else.test', 'q1@else.test']])
  })

  test('names it once, and by an id', async () => {
    const refused = async (more: object, code: string) => issues(await post(more), 422, 'validation_error', [code])
    for (const id of ['', '<>', 'a b@else.test', '<a@else.test> <b@else.test>', 'x\r\nBcc: eve@else.test']) {
      await refused({ in_reply_to: id }, 'in_reply_to invalid_format')
    }
    await refused({ in_reply_to: `${'x'.repeat(900)}@else.test` }, 'in_reply_to too_big')
    const header = { custom_headers: { 'In-Reply-To': '<q1@else.test>' } }
    await refused({ in_reply_to: 'q1@else.test', ...header }, 'custom_headers.In-Reply-To forbidden_value')
    await refused({ references: ['q0@else.test'], ...header }, 'custom_headers.In-Reply-To forbidden_value')
  })
})

test('a name of another API is answered with the name here, and a wrong time with its form', async () => {
  const meant = async (more: object) => {
    const { errors } = failure(await post(more), 422, 'validation_error') as Json
    return errors.map(({ message }: Json) => message.split('Did you mean ')[1] ?? message)
  }
  assert.deepEqual(await meant({ body: 'x' }), ['`text_body`?'])
  assert.deepEqual(await meant({ from_email: 'x' }), ['`from`?'])
  assert.deepEqual(await meant({ scheduled_at: 'x' }), ['`send_at`?'])
  assert.deepEqual(await meant({ content: 'x' }), ['`text_body`?'])
  assert.deepEqual(await meant({ htmlContent: 'x' }), ['`html_body`?'])
  // As JavaScript spells names, and as header fields are spelled.
  assert.deepEqual(await meant({ scheduledAt: 'x' }), ['`send_at`?'])
  for (const name of ['inReplyTo', 'In-Reply-To']) assert.deepEqual(await meant({ [name]: 'x' }), ['`in_reply_to`?'])
  for (const name of ['listUnsubscribe', 'List-Unsubscribe', 'list_unsubscribe']) {
    assert.deepEqual(await meant({ [name]: 'x' }), [
      `Unknown field \`${name}\`. Write List-Unsubscribe in \`headers\`.`,
    ])
  }
  const attachments = [{ name: 'a.txt', data: 'YQ==', filename: 'a.txt' }]
  assert.deepEqual(await meant({ attachments }), ['`filename`?', '`content`?'])
  assert.deepEqual(await meant({ send_at: 'tomorrow' }), [
    'send_at must be a time such as 2030-01-02T03:04:05Z, or a date such as 2030-01-02.',
  ])
})

test('List-Unsubscribe takes addresses in angle brackets', async () => {
  for (const value of [
    'https://shop.test/leave',
    '<leave@shop.test>',
    '<javascript:x>',
    '<https://a.test> <https://b.test>',
  ]) {
    const refused = await post({ custom_headers: { 'List-Unsubscribe': value } })
    issues(refused, 422, 'validation_error', ['custom_headers.List-Unsubscribe invalid_format'])
  }
  const wrong = { 'List-Unsubscribe': '<https://a.test/>', 'List-Unsubscribe-Post': 'yes' }
  issues(await post({ custom_headers: wrong }), 422, 'validation_error', [
    'custom_headers.List-Unsubscribe-Post invalid_format',
  ])
  await send({
    custom_headers: {
      'List-Unsubscribe': '<https://shop.test/leave?id=1>, <mailto:leave@shop.test>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  })
})

describe('sent messages', () => {
  test('are filtered by status, text, metadata and Message-ID', async () => {
    const metadata = { order: 117, paid: 'yes' }
    const sent = await send({ subject: 'Receipt for boats', metadata })
    const later = await send({ subject: 'Reminder', send_at: new Date(Date.now() + 86_400_000).toISOString() })
    const canceled = await send({ subject: 'Mistake', send_at: new Date(Date.now() + 86_400_000).toISOString() })
    data(await appliance.call('POST', `/emails/${canceled}/cancel`, team.key))
    await appliance.settle()
    const ids = async (query: string) => (await walk<Json>(appliance, `/emails?${query}`, team.key)).map(({ id }) => id)
    assert.ok((await ids('status=sent')).includes(sent))
    assert.deepEqual(await ids('status=scheduled'), [later])
    assert.deepEqual(await ids('status=canceled'), [canceled])
    assert.deepEqual(await ids('status=failed'), [])
    assert.deepEqual(await ids('q=boats'), [sent])
    assert.deepEqual(await ids('metadata=order:117'), [sent])
    assert.deepEqual(await ids('metadata=paid:yes&status=sent'), [sent])
    assert.deepEqual(await ids('metadata=paid:no'), [])
    const { internet_message_id: messageId } = data<Json>(await appliance.get(`/emails/${sent}`, team.key))
    assert.deepEqual(await ids(`internet_message_id=${encodeURIComponent(messageId)}`), [sent])
    // Every message has the status by which it is found.
    for (const { id, status } of await walk<Json>(appliance, '/emails', team.key)) {
      assert.ok((await ids(`status=${status}`)).includes(id), `${id} ${status}`)
    }
  })
})
