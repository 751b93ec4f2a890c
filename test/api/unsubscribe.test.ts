// Leaving a mailing list by one click: the POST of RFC 8058, only for proven senders, never to private addresses.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { startHook } from '../support/hook.ts'
import { data, failure, receiveRaw } from './expect.ts'

const hook = await startHook()
const zone = {
  'hooks.test': { A: ['127.0.0.1'] },
  'list.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  '_dmarc.list.test': { TXT: ['v=DMARC1; p=reject'] },
  'else.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
}
const env = { EXTRA_CA_FILE: hook.caFile, SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' }
const appliance = await startAppliance({ zone, env, fetchesPrivate: true })
after(async () => {
  await appliance.close()
  await hook[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

const ONE_CLICK = 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'

async function arrive(head: string[], from = 'news@list.test'): Promise<string> {
  const fields = [`From: ${from}`, `To: ${ana.email}`, 'Subject: News', ...head]
  await receiveRaw(appliance, { from, to: ana.email, content: `${fields.join('\r\n')}\r\n\r\nNews.\r\n` })
  return data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))[0]!.id
}

const leave = (id: string, key = ana.key) => appliance.call('POST', `/mailbox/messages/${id}/unsubscribe`, key)

test('one click is one POST without anything of the reader, and the message remembers it', async () => {
  const id = await arrive([`List-Unsubscribe: <mailto:out@list.test>, <${hook.url('/out?u=7')}>`, ONE_CLICK])
  const reply = data<Json>(await leave(id))
  assert.deepEqual(reply, { accepted: true, host: 'hooks.test', problem: null })
  const [request] = hook.requests.splice(0)
  assert.equal(request!.path, '/out?u=7')
  assert.equal(request!.body.toString(), 'List-Unsubscribe=One-Click')
  assert.equal(request!.headers['content-type'], 'application/x-www-form-urlencoded')
  for (const name of ['cookie', 'authorization', 'referer']) assert.equal(request!.headers[name], undefined)
  const message = data<MessageSummaryJson>(await appliance.get(`/mailbox/messages/${id}`, ana.key))
  assert.ok(message.keywords.includes('$unsubscribed'))
})

test('a server that refuses or redirects has accepted nothing', async () => {
  const id = await arrive([`List-Unsubscribe: <${hook.url('/out')}>`, ONE_CLICK])
  for (const [status, location] of [
    [500, undefined],
    [302, hook.url('/elsewhere')],
  ] as const) {
    hook.answer((_, response) => void response.writeHead(status, location === undefined ? {} : { location }).end())
    const reply = data<Json>(await leave(id))
    assert.deepEqual([reply.accepted, reply.problem], [false, `The server answered ${status}.`])
  }
  assert.equal(hook.requests.splice(0).length, 2)
  const { keywords } = data<MessageSummaryJson>(await appliance.get(`/mailbox/messages/${id}`, ana.key))
  assert.ok(!keywords.includes('$unsubscribed'))
})

test('no list, no one click, an unproven sender and another mailbox ask nobody', async () => {
  const plain = await arrive([])
  const two = await arrive([`List-Unsubscribe: <${hook.url('/out')}>`])
  const unproven = await arrive([`List-Unsubscribe: <${hook.url('/out')}>`, ONE_CLICK], 'news@else.test')
  for (const id of [plain, two, unproven]) failure(await leave(id), 409, 'conflict')
  failure(await leave(unproven, bob.key), 404, 'not_found')
  assert.deepEqual(hook.requests, [])
})
