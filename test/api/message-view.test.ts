// A message as it is read: the document in its frame, the facts about it, remote pictures that come from this server.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { MessageEvidence } from '../../src/api/schemas/message-evidence.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { MessageViewJson } from '../../src/api/schemas/message-view.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, failure, receiveRaw } from './expect.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Requests that arrived at the host of the pictures. */
const seen: { url: string; headers: NodeJS.Dict<string | string[]> }[] = []
const host = createServer((req, res) => {
  seen.push({ url: req.url!, headers: req.headers })
  if (req.url === '/moved') return void res.writeHead(302, { location: '/a.png' }).end()
  if (req.url === '/loop') return void res.writeHead(302, { location: '/loop' }).end()
  if (req.url === '/page.png') return void res.setHeader('content-type', 'image/png').end('<html><script>')
  res.setHeader('content-type', 'text/html').end(PNG)
})
await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
const pictures = `http://pictures.test:${(host.address() as AddressInfo).port}`

const appliance = await startAppliance({
  env: { SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' },
  fetchesPrivate: true,
  zone: { 'pictures.test': { A: ['127.0.0.1'] }, 'else.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] } },
})
after(async () => {
  await appliance.close()
  host.close()
})
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

async function receive(head: string[], body: string, type = 'text/html; charset=utf-8'): Promise<string> {
  const fields = [
    'From: Eve <eve@else.test>',
    'To: ana@shop.test',
    'Subject: Hello',
    'MIME-Version: 1.0',
    `Content-Type: ${type}`,
  ]
  const content = `${[...fields, ...head].join('\r\n')}\r\n\r\n${body}`
  await receiveRaw(appliance, { from: 'eve@else.test', to: ana.email, content: content.replace(/\r?\n/g, '\r\n') })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))
  return summary!.id
}

const facts = async (id: string, query = '') =>
  data<MessageViewJson>(await appliance.get(`/mailbox/messages/${id}/view${query}`, ana.key))

/** The document as bytes, or the picture. */
function read(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${appliance.origin}/api/v1/mailbox/messages/${path}`, {
    headers: { authorization: `Bearer ${ana.key}`, accept: 'text/html', ...headers },
  })
}

test('the document: its policy, its own pictures, no other ones unless asked for, in a frame only', async () => {
  const id = await receive(
    [],
    `<p>Hello</p><script>alert(1)</script><img src="${pictures}/a.png"><img src="${pictures}/t.gif" width=1>`,
  )
  const reply = await read(`${id}/view`, { 'sec-fetch-dest': 'iframe' })
  assert.equal(reply.status, 200)
  assert.match(reply.headers.get('content-type')!, /^text\/html/)
  const policy = reply.headers.get('content-security-policy')!
  assert.match(policy, /^sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox; default-src 'none';/)
  assert.doesNotMatch(policy, /allow-scripts|script-src/)
  assert.equal(reply.headers.get('referrer-policy'), 'no-referrer')
  const html = await reply.text()
  assert.match(html, /<p>Hello<\/p>/)
  assert.doesNotMatch(html, /script>|pictures\.test|images\//)
  assert.match(await (await read(`${id}/view?images=proxied`)).text(), /<img src="images\/0">/)
  const top = await read(`${id}/view`, { 'sec-fetch-dest': 'document' })
  assert.equal(top.status, 403)
  assert.equal((await read(`${id}/view`, { 'if-none-match': reply.headers.get('etag')! })).status, 304)
  assert.equal(seen.length, 0, 'nothing is fetched for a document')
})

test('a picture: fetched once, without a word about the reader; never a tracker, a page or a private address', async () => {
  const names = ['a.png', 'moved', 'loop', 'page.png']
  const id = await receive([], names.map((name) => `<img src="${pictures}/${name}">`).join(''))
  const picture = async (n: number | string) => read(`${id}/images/${n}`, { accept: 'image/*' })
  const reply = await picture(0)
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'image/png', 'by its bytes')
  assert.match(reply.headers.get('content-security-policy')!, /^sandbox;/)
  assert.match(reply.headers.get('cache-control')!, /^private, max-age=/)
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), PNG)
  assert.equal((await picture(0)).status, 200)
  const { headers } = seen[0]!
  assert.equal(seen.length, 1, 'the second time from memory')
  for (const name of ['cookie', 'referer', 'authorization', 'x-forwarded-for', 'accept-language'])
    assert.equal(headers[name], undefined, name)
  assert.equal((await picture(1)).status, 200, 'a redirect is followed')
  for (const n of [2, 3, 4, 'x', -1]) assert.equal((await picture(n)).status, 404, String(n))
})

test('pictures at private addresses are not fetched', async () => {
  const strict = await startAppliance({
    env: { SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' },
    zone: { 'pictures.test': { A: ['127.0.0.1'] } },
  })
  try {
    const owner = await strict.team()
    await owner.domain('shop.test')
    const box = await owner.mailbox('ana@shop.test')
    const count = seen.length
    for (const url of [
      `${pictures}/a.png`,
      `${pictures.replace('pictures.test', '127.0.0.1')}/a.png`,
      `${pictures.replace('pictures.test', '[::ffff:127.0.0.1]')}/a.png`,
    ]) {
      const content = `From: e@else.test\r\nTo: ana@shop.test\r\nContent-Type: text/html\r\n\r\n<img src="${url}">`
      await receiveRaw(strict, { from: 'e@else.test', to: box.email, content })
      const [summary] = data<MessageSummaryJson[]>(await strict.get('/mailbox/messages?limit=1', box.key))
      failure(
        await strict.get(`/mailbox/messages/${summary!.id}/images/0`, box.key, { accept: 'image/*' }),
        404,
        'not_found',
      )
    }
    assert.equal(seen.length, count)
  } finally {
    await strict.close()
  }
})

test('the facts: who it is from, what is hidden, trackers by name, links with their targets, the list', async () => {
  const id = await receive(
    [
      'List-Id: News <news.else.test>',
      'List-Unsubscribe: <mailto:off@else.test>, <https://else.test/off?x=1>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'Reply-To: other@elsewhere.test',
    ],
    '<a href="https://evil.test/">www.paypal.com</a><span style="display:none">hidden</span><img src="https://x.list-manage.com/o.gif">',
  )
  const view = await facts(id)
  assert.equal(view.kind, 'html')
  assert.equal(view.hidden_chars, 6)
  assert.deepEqual(view.remote, {
    images: 1,
    hosts: [],
    trackers: [{ host: 'x.list-manage.com', name: 'Mailchimp' }],
  })
  assert.deepEqual(view.links, [
    {
      n: 0,
      text: 'www.paypal.com',
      href: 'https://evil.test/',
      host: 'evil.test',
      registrable: 'evil.test',
      warning: 'mismatch',
    },
  ])
  assert.deepEqual(view.list, {
    id: 'news.else.test',
    one_click: true,
    mailto: 'mailto:off@else.test',
    https: 'https://else.test/off?x=1',
  })
  assert.deepEqual(view.tone, {
    code: 'aligned_spf',
    tone: 'good',
    params: { domain: 'else.test' },
    text: 'Really from else.test: sent by a server they name.',
  })
  assert.equal(view.sender.first_contact, false)
  assert.equal(view.sender.reply_elsewhere, 'other@elsewhere.test')
  assert.deepEqual(view.images, { mode: 'none', reason: 'unknown_sender' })
  assert.deepEqual(
    view.warnings.map(({ code, text }) => [code, text]),
    [['reply_elsewhere', 'Answers would go to other@elsewhere.test, not to the sender.']],
  )
  const text = await facts(await receive([], 'Hello', 'text/plain'))
  assert.deepEqual([text.kind, text.theme, text.list], ['text', 'plain', null])
})

test('a message of another mailbox does not exist, in any form', async () => {
  const id = await receive([], `<img src="${pictures}/a.png">`)
  for (const path of ['view', 'images/0', 'evidence']) {
    failure(await appliance.get(`/mailbox/messages/${id}/${path}`, bob.key, { accept: '*/*' }), 404, 'not_found')
  }
})

test('why a message is where it is, in sentences; forwards are hidden from those who may only read', async () => {
  const id = await receive([], '<p>Hello</p>')
  const read = async (key: string) =>
    data<MessageEvidence>(await appliance.get(`/mailbox/messages/${id}/evidence`, key))
  const evidence = await read(ana.key)
  assert.equal(evidence.outcome, 'stored')
  assert.deepEqual(
    evidence.sentences.slice(0, 2).map(({ code, text }) => [code, text]),
    [
      ['filed_to_inbox', 'Nothing spoke against it: it went to the Inbox.'],
      ['aligned_spf', 'Really from else.test: sent by a server they name.'],
    ],
  )
  assert.equal(evidence.evidence?.spf?.result, 'pass')
  for (const { points } of evidence.spam.evidence) assert.equal(typeof points, 'number')
  const { key } = data<{ key: string }>(
    await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, {
      name: 'reads',
      permissions: ['mailbox.read'],
    }),
    201,
  )
  assert.equal((await read(key)).evidence?.forwarding, null)
})
