// Waiting for messages, codes and links over the API: what ends a wait, and that nothing is missed or returned twice.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { WAITS_MAX } from '../../src/api/mailbox/messages/message-wait.ts'
import { LOOK_BACK_MS } from '../../src/api/mailbox/messages/waiting.ts'
import type { NewApiKey } from '../../src/api/schemas/api-key.ts'
import type { CleanContentJson } from '../../src/api/schemas/clean-content.ts'
import { COALESCE_MS } from '../../src/store/rows/change-feed.ts'
import { amount } from '../support/amount.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { data, failure, receive, receiveRaw } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
let boxes = 0
const newBox = () => team.mailbox(`wait${++boxes}@shop.test`)

interface Wait {
  matches: { message: { id: string; subject: string }; sender: Json; extracted: Json[]; is_spam: boolean }[]
  state: string
  timed_out: boolean
}

const path = (query: string) => `/mailbox/messages/wait?${query}`
const look = async (key: string, query: string) => data<Wait>(await appliance.get(path(`timeout=0&${query}`), key))
const subjects = ({ matches }: Wait) => matches.map(({ message }) => message.subject)

const { following } = appliance.app
const subscribe = following.subscribe.bind(following)
let subscribed = () => {}
following.subscribe = (...given) => {
  subscribed()
  return subscribe(...given)
}

/** Begins a wait, and returns when the request has subscribed. */
async function begin(key: string, query: string) {
  const begun = new Promise<void>((resolve) => {
    subscribed = resolve
  })
  const answer = appliance.get(path(query), key)
  await begun
  return { answer }
}

/** Moves the clock in small steps until the answer is there. */
async function answered<T>(answer: Promise<T>): Promise<T> {
  let isThere = false
  const done = answer.finally(() => {
    isThere = true
  })
  while (!isThere) {
    clock.advance(COALESCE_MS / 5)
    await pause(5)
  }
  return done
}

test('a code is returned as it arrives, with what is known of its sender', async () => {
  const ana = await newBox()
  const { answer } = await begin(ana.key, 'kind=code&from=Noreply@app.test&sentences=true&timeout=60')
  await receive(appliance, { from: 'eve@else.test', to: ana.email, subject: 'Your verification code is 111111' })
  await receive(appliance, { from: 'noreply@app.test', to: ana.email, subject: 'News', text: 'Order number 5551234' })
  await receive(appliance, {
    from: 'noreply@app.test',
    to: ana.email,
    subject: 'Sign in',
    text: 'Your verification code is 482913. It expires in 10 minutes.',
  })
  const { matches, timed_out } = data<Wait>(await answered(answer))
  assert.equal(timed_out, false)
  assert.equal(matches.length, 1)
  const [{ sender, extracted }] = matches as [Wait['matches'][0]]
  assert.deepEqual(sender, { email: 'noreply@app.test', domain: 'app.test', authenticated: false, first_seen: false })
  assert.deepEqual(extracted, [
    {
      ...{ kind: 'code', value: '482913', confidence: 'high', ambiguous: false, part: 'text', line: 1 },
      sentence: 'Your verification code is 482913.',
      ...{ host: null, host_differs: false, aligned: false },
    },
  ])
})

test('clean content has the same extractions, and none of hidden or quoted text', async () => {
  const ana = await newBox()
  const html =
    '<p>Your login code: <b>771204</b>. It expires in 5 minutes.</p><p style="display:none">Your login code: 999111</p>' +
    '<p>On 2 May 2031 at 10:00, Bob wrote:</p><blockquote type="cite">Your login code: 888222</blockquote>'
  const head =
    'From: App <noreply@app.test>\r\nTo: a@shop.test\r\nSubject: Login\r\nMIME-Version: 1.0\r\nContent-Type: text/html'
  await receiveRaw(appliance, { from: 'noreply@app.test', to: ana.email, content: `${head}\r\n\r\n${html}\r\n` })
  const { matches } = await look(ana.key, 'kind=code')
  assert.deepEqual(
    matches.map(({ extracted }) => extracted.map(({ value }) => value)),
    [['771204']],
  )
  const { id } = matches[0]!.message
  const clean = data<CleanContentJson>(
    await appliance.get(`/mailbox/messages/${id}/clean-content?body_chars=0`, ana.key),
  )
  assert.deepEqual(
    clean.extracted.map(({ value, sentence }) => [value, sentence]),
    [['771204', 'Your login code: 771204.']],
  )
  assert.deepEqual(clean.sender.first_seen, true)
})

test('without a state the last two minutes match, and a timeout is no error', async () => {
  const ana = await newBox()
  await receive(appliance, { to: ana.email, subject: 'Before' })
  clock.advance(LOOK_BACK_MS + 1)
  const nothing = await look(ana.key, 'kind=message')
  assert.deepEqual([nothing.matches, nothing.timed_out], [[], true])
  await receive(appliance, { to: ana.email, subject: 'Now' })
  const first = await look(ana.key, '')
  assert.deepEqual(subjects(first), ['Now'])
  assert.deepEqual(subjects(await look(ana.key, `since_state=${first.state}`)), [])
  assert.deepEqual(subjects(await look(ana.key, `since_state=${nothing.state}`)), ['Now'])
  failure(await appliance.get(path('timeout=0&since_state=mzzzzz'), ana.key), 409, 'conflict')
  failure(await appliance.get(path('timeout=61'), ana.key), 400, 'invalid_parameter')
})

test('messages that race a chain of waits are returned once, in order', async () => {
  const ana = await newBox()
  const count = amount(12, 60)
  let { state } = await look(ana.key, '')
  const seen: string[] = []
  const sending = (async () => {
    await using client = await SmtpClient.greet(appliance.ports.smtp)
    for (let n = 0; n < count; n++) {
      const content = plainMail({ from: 'bob@else.test', to: ana.email, subject: `Race ${n}` })
      assert.equal((await client.mail({ from: 'bob@else.test', to: ana.email, content })).code, 250)
    }
  })()
  while (seen.length < count) {
    const end = data<Wait>(await answered(appliance.get(path(`since_state=${state}&timeout=5`), ana.key)))
    state = end.state
    seen.push(...subjects(end))
  }
  await sending
  assert.deepEqual(
    seen,
    Array.from({ length: count }, (_, n) => `Race ${n}`),
  )
})

test('other mailboxes, drafts and sent messages do not end a wait; its filters do not either', async () => {
  const [ana, bob] = [await newBox(), await newBox()]
  const { state } = await look(ana.key, '')
  await receive(appliance, { to: bob.email, subject: 'For Bob' })
  const draft = { to: [{ email: bob.email }], subject: 'Draft', text_body: 'x' }
  data(await appliance.call('POST', '/mailbox/drafts', ana.key, draft), 201)
  await receive(appliance, { from: 'carl@mail.else.test', to: ana.email, subject: 'From Carl' })
  const since = `since_state=${state}`
  assert.deepEqual(subjects(await look(ana.key, since)), ['From Carl'])
  for (const [query, expected] of [
    ['from=carl@mail.else.test', 1],
    ['from=carl', 0],
    ['from=arl@mail.else.test', 0],
    ['domain=else.test', 1],
    ['domain=lse.test', 0],
    [`to=${ana.email}`, 1],
    [`to=${bob.email}`, 0],
    ['authenticated=true', 0],
    ['authenticated=false', 1],
    ['kind=link', 0],
  ] as const) {
    const { matches } = await look(ana.key, `${since}&${query}`)
    assert.equal(matches.length, expected, query)
  }
})

test('a revoked key gets nothing of what came while it waited, and a credential has four waits', async () => {
  const ana = await newBox()
  const body = { name: 'agent', permissions: ['mailbox.read'] }
  const made = data<NewApiKey>(await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, body), 201)
  const waits = []
  for (let n = 0; n < WAITS_MAX; n++) waits.push((await begin(made.key, 'timeout=60')).answer)
  failure(await appliance.get(path('timeout=0'), made.key), 429, 'rate_limit_exceeded')
  assert.equal((await look(ana.key, '')).timed_out, true)
  await appliance.call('DELETE', `/mailboxes/${ana.id}/api-keys/${made.id}`, team.key)
  await receive(appliance, { to: ana.email, subject: 'Secret' })
  for (const reply of await answered(Promise.all(waits))) failure(reply, 401, 'authentication_required')
})
