// The event stream of a mailbox, as a client reads it.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { EventStream } from '../../src/api/mailbox/sending/event-stream.ts'
import { STREAMS_MAX } from '../../src/api/mailbox/sending/events.ts'
import { CHECK_EVERY_MS, LONGEST_MS, STREAM_BUFFER_MAX, STUCK_MS } from '../../src/http/sse-stream.ts'
import { COALESCE_MS, POLL_INTERVAL_MS, RECEIVED_MAX } from '../../src/store/rows/change-feed.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { EventClient } from '../support/event-client.ts'
import { data, failure, receive } from './expect.ts'

const clock = new ManualClock()
// A message that claims this domain is not authenticated and is filed in Junk.
const zone = { 'prize.test': { TXT: ['v=spf1 -all'] }, '_dmarc.prize.test': { TXT: ['v=DMARC1; p=quarantine'] } }
const appliance = await startAppliance({ clock, zone })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
let boxes = 0
const newBox = () => team.mailbox(`box${++boxes}@shop.test`)
const statesOf = async (key: string) => data<Json>(await appliance.get('/mailbox/session', key)).states
const idOf = ({ messages, folders, threads, submissions, identities, quotas }: Json) =>
  [messages, folders, threads, submissions, identities, quotas].join('.')
const newFolder = async (key: string, name: string) =>
  data<Json>(await appliance.call('POST', '/mailbox/folders', key, { name }), 201)

test('a stream begins with its reconnection time and its id', async () => {
  const ana = await newBox()
  await using client = await EventClient.open(appliance, ana.key)
  const { status, headers } = client.response
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.deepEqual([headers.get('x-accel-buffering'), headers.get('cache-control')], ['no', 'no-store'])
  assert.deepEqual(await client.next(), { event: '', id: null, data: null, retry: 5000 })
  assert.equal((await client.next())!.id, idOf(await statesOf(ana.key)))
})

test('a received message is sent to the streams of its mailbox only', async () => {
  const [ana, bob] = [await newBox(), await newBox()]
  const { client } = await EventClient.follow(appliance, ana.key)
  const { client: other } = await EventClient.follow(appliance, bob.key)
  await receive(appliance, { from: 'carl@else.test', to: ana.email, subject: 'Offer', text: 'Good day' })
  await newFolder(bob.key, 'Own')
  clock.advance(COALESCE_MS)
  const received = (await client.next())!
  const [message] = data<Json>(await appliance.get('/mailbox/messages', ana.key))
  assert.deepEqual([received.event, received.id], ['message.received', null])
  assert.deepEqual(received.data, {
    mailbox_id: ana.id,
    message_id: message.id,
    thread_id: message.thread_id,
    folder_ids: message.folder_ids,
    from: message.from,
    subject: 'Offer',
    preview: message.preview,
    is_spam: false,
    untrusted_content: true,
  })
  const states = await statesOf(ana.key)
  const { messages, folders, threads, quotas } = states
  assert.deepEqual(await client.next(), {
    event: 'state',
    id: idOf(states),
    data: { mailbox_id: ana.id, changed: { messages, folders, threads, quotas } },
    retry: null,
  })
  assert.deepEqual((await other.next())!.data, {
    mailbox_id: bob.id,
    changed: { folders: (await statesOf(bob.key)).folders },
  })
  await client[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})

test('a message in Junk is reported as spam, and an imported message is not reported as received', async () => {
  const ana = await newBox()
  const { client } = await EventClient.follow(appliance, ana.key)
  await receive(appliance, { from: 'win@prize.test', to: ana.email })
  clock.advance(COALESCE_MS)
  assert.deepEqual([(await client.next())!.data.is_spam, (await client.next())!.event], [true, 'state'])
  const raw = Buffer.from('From: a@b.test\r\nSubject: Old\r\n\r\nOld.\r\n').toString('base64')
  data(await appliance.call('POST', '/mailbox/messages/import', ana.key, { raw }), 201)
  clock.advance(COALESCE_MS)
  assert.equal((await client.next())!.event, 'state')
  await client[Symbol.asyncDispose]()
})

test('a hundred changes at once are one event', async () => {
  const ana = await newBox()
  const { client } = await EventClient.follow(appliance, ana.key, 'types=folders')
  for (let i = 0; i < 100; i++) await newFolder(ana.key, `Folder ${i}`)
  clock.advance(COALESCE_MS)
  const { folders } = await statesOf(ana.key)
  assert.deepEqual((await client.next())!.data.changed, { folders })
  await newFolder(ana.key, 'Last')
  clock.advance(COALESCE_MS)
  assert.deepEqual((await client.next())!.data.changed, { folders: (await statesOf(ana.key)).folders })
  await client[Symbol.asyncDispose]()
})

test('only the requested types are sent', async () => {
  const ana = await newBox()
  const { client } = await EventClient.follow(appliance, ana.key, 'types=threads,submissions')
  await newFolder(ana.key, 'Own')
  clock.advance(COALESCE_MS)
  await receive(appliance, { to: ana.email })
  clock.advance(COALESCE_MS)
  const frame = (await client.next())!
  assert.deepEqual([frame.event, Object.keys(frame.data.changed)], ['state', ['threads']])
  assert.equal(frame.id, idOf(await statesOf(ana.key)))
  await client[Symbol.asyncDispose]()
})

test('a client that resumes with the last id gets the difference, and with an unknown id all states', async () => {
  const ana = await newBox()
  const before = idOf(await statesOf(ana.key))
  await newFolder(ana.key, 'Own')
  const states = await statesOf(ana.key)
  const come = async (last: string) => {
    const client = await EventClient.open(appliance, ana.key, 'close_after=state&ping=15', { 'last-event-id': last })
    await client.next()
    return client
  }
  const back = await (await come(before)).rest()
  assert.deepEqual(
    back.map(({ event, id, data }) => [event, id, data.changed]),
    [['state', idOf(states), { folders: states.folders }]],
  )
  const [messages, ...others] = before.split('.')
  for (const unknown of ['x', 'm0.f0', [`${messages}zzz`, ...others].join('.'), [...others, messages].join('.')]) {
    const [all, end] = await (await come(unknown)).rest()
    assert.deepEqual([all!.data.changed, end], [states, undefined], unknown)
  }
  await using current = await come(idOf(states))
  clock.advance(15_000)
  assert.equal((await current.next())!.event, 'ping', 'nothing has changed')
})

test('an idle stream sends pings', async () => {
  const ana = await newBox()
  for (const [asked, interval] of [
    ['', 30],
    ['ping=0', 30],
    ['ping=1', 15],
    ['ping=9999', 300],
  ] as const) {
    const { client } = await EventClient.follow(appliance, ana.key, asked)
    clock.advance(interval * 1000)
    assert.deepEqual(await client.next(), { event: 'ping', id: null, data: { interval }, retry: null })
    await client[Symbol.asyncDispose]()
  }
})

test('a stream ends when its key does, when its mailbox is suspended, and after an hour', async () => {
  const [ana, bob, carl] = [await newBox(), await newBox(), await newBox()]
  const clients = []
  for (const { key } of [ana, bob, carl]) clients.push((await EventClient.follow(appliance, key)).client)
  const [key] = data<Json>(await appliance.get(`/mailboxes/${ana.id}/api-keys`, team.key))
  data(await appliance.call('DELETE', `/mailboxes/${ana.id}/api-keys/${key.id}`, team.key))
  await appliance.app.directory.mailboxes.suspend(team.id, bob.id)
  clock.advance(CHECK_EVERY_MS)
  const reasons = async (client: EventClient) =>
    (await client.rest()).filter(({ event }) => event === 'end').map(({ data }) => data.reason)
  assert.deepEqual(await reasons(clients[0]!), ['credential_revoked'])
  assert.deepEqual(await reasons(clients[1]!), ['mailbox_suspended'])
  clock.advance(LONGEST_MS)
  assert.deepEqual(await reasons(clients[2]!), ['max_duration'])
  await using late = await EventClient.open(appliance, bob.key)
  assert.deepEqual(
    (await late.rest()).map(({ event }) => event),
    ['', 'end'],
  )
})

test('a key has at most five streams, and leaves others of the mailbox theirs', async () => {
  const ana = await newBox()
  const clients = []
  for (let i = 0; i < STREAMS_MAX; i++) clients.push((await EventClient.follow(appliance, ana.key)).client)
  const refused = await appliance.get('/mailbox/events', ana.key)
  failure(refused, 429, 'rate_limit_exceeded')
  assert.equal(refused.headers.get('retry-after'), '1')
  const other = await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, { name: 'other' })
  clients.push((await EventClient.follow(appliance, other.body.data.key)).client)
  await clients.shift()![Symbol.asyncDispose]()
  // The server notices the disconnect a moment later.
  while ((await appliance.call('HEAD', '/mailbox/events', ana.key)).status === 429) await turn()
  await using again = await EventClient.open(appliance, ana.key)
  assert.equal(again.response.status, 200)
  for (const client of clients) await client[Symbol.asyncDispose]()
})

test('opening a stream is one request; HEAD returns the headers only, and another Accept gets 406', async () => {
  const ana = await newBox()
  const head = await appliance.call('HEAD', '/mailbox/events', ana.key)
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8'])
  await using client = await EventClient.open(appliance, ana.key)
  const left = (headers: Headers) => Number(headers.get('x-ratelimit-remaining'))
  assert.equal(left(client.response.headers), left(head.headers) - 1)
  failure(await appliance.get('/mailbox/events', ana.key, { accept: 'application/json' }), 406, 'not_acceptable')
  failure(await appliance.get('/mailbox/events?types=mails', ana.key), 400, 'invalid_parameter')
  failure(await appliance.get('/mailbox/events', team.key), 403, 'insufficient_permissions')
  const session = data<Json>(await appliance.get('/mailbox/session', ana.key))
  assert.equal(session.gated.events, false)
  assert.ok(session.endpoints.mailbox.includes('GET /mailbox/events'))
})

test('a change without a notification is found by polling', async (t) => {
  const ana = await newBox()
  const { client } = await EventClient.follow(appliance, ana.key)
  clock.advance(COALESCE_MS)
  t.mock.method(appliance.app.notifier, 'notify', () => {})
  await receive(appliance, { to: ana.email })
  clock.advance(POLL_INTERVAL_MS)
  appliance.app.db.read.get('SELECT 1')
  for (let i = 0; i < 20; i++) await turn()
  clock.advance(COALESCE_MS)
  assert.deepEqual([(await client.next())!.event, (await client.next())!.event], ['message.received', 'state'])
  await client[Symbol.asyncDispose]()
})

test('the buffer for a slow client is bounded: it gets the state when it reads again, or is disconnected', async () => {
  const ana = await newBox()
  const account = () => appliance.app.store.accounts.byMailbox(ana.id)!
  const asked = {
    types: new Set(['messages', 'folders'] as const),
    pingSeconds: 30,
    closeAfterState: false,
    refused: async () => null,
    reading: async () => {},
  }
  const mail = {
    ...{ mailboxId: ana.id, messageId: 'msg', threadId: 'thr', folderIds: [], from: { email: 'a@b.test', name: '' } },
    ...{ subject: 'x'.repeat(500), preview: '', isSpam: false },
  }
  const fill = async (stream: EventStream) => {
    for (let i = 0; i < 10; i++) stream.accountChanged(account(), Array(RECEIVED_MAX).fill(mail))
    for (let i = 0; i < 50; i++) await turn()
    assert.ok(stream.readableLength >= STREAM_BUFFER_MAX && stream.readableLength < STREAM_BUFFER_MAX + 2000)
  }
  const slow = await EventStream.open(appliance.app, account(), asked, null)
  await fill(slow)
  await newFolder(ana.key, 'Own')
  clock.advance(COALESCE_MS)
  for (let i = 0; i < 50; i++) await turn()
  assert.ok(slow.readableLength < STREAM_BUFFER_MAX + 2000)
  let text = ''
  for (let piece = slow.read(); piece !== null; piece = slow.read()) text += piece
  for (let i = 0; i < 50; i++) await turn()
  text += slow.read()
  assert.ok(text.endsWith(`"changed":{"folders":"${(await statesOf(ana.key)).folders}"}}\n\n`), text.slice(-300))
  await fill(slow)
  clock.advance(STUCK_MS + CHECK_EVERY_MS)
  for (let i = 0; i < 50; i++) await turn()
  assert.ok(slow.destroyed)
})
