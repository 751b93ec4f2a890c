// Forwarding of mailboxes and aliases: nothing leaves before the receiver confirms, and nothing after they have ended it.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import {
  FORWARDS_MAX,
  REQUESTS_PER_ADDRESS,
  UNCONFIRMED_PER_MAILBOX,
  UNCONFIRMED_PER_TEAM,
} from '../../src/directory/mailboxes/forwards.ts'
import { data, failure, receiveRaw } from '../api/expect.ts'
import { AgentClient } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { Browser } from '../support/browser.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'

const DAY_MS = 86_400_000
const clock = new ManualClock()
const remote = await startMailServer()
const appliance = await startAppliance({
  clock,
  zone: {
    'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
    'mx.customer.example': { A: ['127.0.0.1'] },
  },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const { app } = appliance
const team = await appliance.team()
await team.domain('shop.test')

type Box = Awaited<ReturnType<typeof team.mailbox>>
let count = 0
beforeEach(async () => {
  // Confirmations that the test before has asked for, and did not read.
  await appliance.settle()
  remote.messages.length = 0
})

const newBox = () => team.mailbox(`m${count++}@shop.test`)
test('requests are counted when their forwards are removed, and by person; confirmed ones make room', async () => {
  const box = await newBox()
  const ask = (to: string, from = box) => appliance.call('POST', '/mailbox/forwards', from.key, { to })
  const addAndRemove = async (to: string, from = box) => {
    const { id } = data<Json>(await ask(to, from), 201)
    data(await appliance.call('DELETE', `/mailbox/forwards/${id}`, from.key))
  }
  clock.advance(DAY_MS)
  for (const to of ['c.a.r.l@customer.example', 'carl+1@customer.example', 'CARL+2@customer.example'])
    await addAndRemove(to)
  failure(await ask('ca.rl+3@customer.example'), 429, 'rate_limit_exceeded')
  for (let n = REQUESTS_PER_ADDRESS; n < UNCONFIRMED_PER_MAILBOX; n++) await addAndRemove(newAddress())
  failure(await ask(newAddress()), 429, 'rate_limit_exceeded')
  const second = await newBox()
  for (let n = UNCONFIRMED_PER_MAILBOX; n < UNCONFIRMED_PER_TEAM; n++) await addAndRemove(newAddress(), second)
  const third = await newBox()
  failure(await ask(newAddress(), third), 429, 'rate_limit_exceeded')
  clock.advance(DAY_MS)
  await appliance.settle()
  for (let n = 0; n <= UNCONFIRMED_PER_MAILBOX; n++) {
    const to = newAddress()
    const { id } = await active(third, to)
    data(await appliance.call('DELETE', `/mailbox/forwards/${id}`, third.key))
  }
  clock.advance(DAY_MS)
})

const newAddress = () => `ann${count++}@customer.example`

async function request(box: Box, to: string, more: object = {}): Promise<Json> {
  const made = await appliance.call('POST', '/mailbox/forwards', box.key, { to, ...more })
  return data<Json>(made, 201)
}

/** The path of the link in the last message to an address; the message is taken out. */
async function linkTo(address: string): Promise<string> {
  await appliance.settle()
  const index = remote.messages.findLastIndex(({ to }) => to.includes(address))
  assert.ok(index >= 0, `no message to ${address}`)
  const [message] = remote.messages.splice(index, 1)
  return /\/forwards\/[\w-]{43}/.exec(message!.bytes.toString().replaceAll('=\r\n', ''))![0]
}

async function answer(path: string, answers: 'confirm' | 'refuse') {
  const browser = new Browser(appliance)
  const page = await browser.get(path)
  const index = [...page.text.matchAll(/name="answer" value="(\w+)"/g)].findIndex(([, one]) => one === answers)
  return browser.submit(page, path, {}, index)
}

async function active(box: Box, to: string, more: object = {}): Promise<Json> {
  const forward = await request(box, to, more)
  await answer(await linkTo(to), 'confirm')
  return forward
}

async function arrives(box: Box, to = box.email, more = ''): Promise<void> {
  const id = `<m${count++}@out.test>`
  const content = `From: <bob@out.test>\r\nTo: <${to}>\r\nSubject: Hello\r\nMessage-ID: ${id}\r\nDate: ${new Date(clock.now()).toUTCString()}\r\n${more}\r\nBody\r\n`
  await receiveRaw(appliance, { from: 'bob@out.test', to, content })
  await appliance.settle()
}

const receivers = () => remote.messages.flatMap(({ to }) => to).sort()

async function kept(box: Box): Promise<number> {
  return data<Json[]>(await appliance.get('/mailbox/messages', box.key)).length
}

async function statusOf(box: Box, id: string): Promise<string> {
  return data<Json>(await appliance.get(`/mailbox/forwards/${id}`, box.key)).status
}

test('a message leaves only after the receiver has confirmed by the button, and no longer after they have ended it', async () => {
  const box = await newBox()
  const to = newAddress()
  const made = await request(box, to)
  assert.deepEqual(made, {
    ...{ id: made.id, mailbox_id: box.id, to, alias: null, keep_copy: true, status: 'pending', suppressed: false },
    ...{ created_by: made.created_by, created_at: made.created_at, confirmed_at: null, ended_at: null },
    expires_at: new Date(clock.now() + 7 * DAY_MS).toISOString(),
  })
  assert.match(made.created_by, /^key_/)
  const link = await linkTo(to)
  await arrives(box)
  assert.deepEqual(receivers(), [])
  const page = await new Browser(appliance).get(link)
  assert.equal(page.status, 200)
  assert.doesNotMatch(page.text, /<script/)
  assert.equal(await statusOf(box, made.id), 'pending', 'looking at the page changes nothing')
  assert.equal((await new Browser(appliance).post(link, { csrf: 'x', answer: 'confirm' })).status, 403)
  assert.match((await answer(link, 'confirm')).text, /Mail is forwarded to you/)
  assert.equal(await statusOf(box, made.id), 'active')
  await arrives(box)
  assert.deepEqual([receivers(), await kept(box)], [[to], 2])
  const [message] = remote.messages
  assert.match(message!.from, /^b\+\w+@bounce\./)
  assert.match((await answer(link, 'refuse')).text, /ended the forwarding/)
  assert.equal(await statusOf(box, made.id), 'ended')
  await arrives(box)
  assert.deepEqual([receivers(), await kept(box)], [[to], 3])
  failure(await appliance.call('POST', '/mailbox/forwards', box.key, { to }), 409, 'conflict')
  await answer(link, 'confirm')
  await arrives(box)
  assert.equal(receivers().length, 2, 'a later confirmation takes the refusal back')
})

test('without a copy the mailbox keeps none, unless an address wants one or the message may not leave', async () => {
  const box = await newBox()
  const [one, two] = [newAddress(), newAddress()]
  await active(box, one, { keep_copy: false })
  await arrives(box)
  assert.deepEqual([receivers(), await kept(box)], [[one], 0])
  const second = await active(box, two)
  await arrives(box)
  assert.deepEqual([receivers(), await kept(box)], [[one, one, two].sort(), 1])
  data(await appliance.call('PATCH', `/mailbox/forwards/${second.id}`, box.key, { keep_copy: false }))
  await arrives(box)
  assert.equal(await kept(box), 1)
  data(await appliance.call('POST', '/suppressions', team.key, { email: one }), 201)
  assert.deepEqual(
    data<Json[]>(await appliance.get('/mailbox/forwards', box.key)).map(({ to, suppressed }) => [to, suppressed]),
    [
      [two, false],
      [one, true],
    ],
  )
  await arrives(box)
  assert.equal(await kept(box), 2, 'what does not reach every address stays')
})

test('an alias forwards what comes to it, with any tag; removing it ends that', async () => {
  const box = await newBox()
  const alias = `orders${count++}@shop.test`
  const { id: aliasId } = data<Json>(
    await appliance.call('POST', `/mailboxes/${box.id}/aliases`, team.key, { email: alias }),
    201,
  )
  const to = newAddress()
  const made = await active(box, to, { alias: alias.toUpperCase() })
  assert.equal(made.alias, alias)
  await arrives(box)
  assert.deepEqual(receivers(), [])
  await arrives(box, alias)
  await arrives(box, alias.replace('@', '+Tag@'))
  assert.deepEqual(receivers(), [to, to])
  failure(
    await appliance.call('POST', '/mailbox/forwards', box.key, { to, alias: 'other@shop.test' }),
    422,
    'validation_error',
  )
  data(await appliance.call('DELETE', `/mailboxes/${box.id}/aliases/${aliasId}`, team.key))
  assert.deepEqual(data(await appliance.get('/mailbox/forwards', box.key)), [])
})

test('a script that keeps nothing decides; what it files and redirects stays as it says', async () => {
  const box = await newBox()
  const to = newAddress()
  await active(box, to, { keep_copy: false })
  const activate = async (content: string) =>
    data(
      await appliance.call('POST', '/mailbox/sieve-scripts', box.key, { name: `s${count++}`, content, activate: true }),
      201,
    )
  await activate('discard;')
  await arrives(box)
  assert.deepEqual(receivers(), [])
  await activate('require "fileinto"; fileinto "Archive";')
  await arrives(box)
  assert.deepEqual([receivers(), await kept(box)], [[to], 1])
})

test('a declined or late request forwards nothing; a team is not to ask again, and cannot flood an address', async () => {
  const box = await newBox()
  const [declined, late] = [newAddress(), newAddress()]
  const first = await request(box, declined)
  const link = await linkTo(declined)
  assert.match((await answer(link, 'refuse')).text, /You have declined/)
  assert.equal(await statusOf(box, first.id), 'declined')
  const other = await newBox()
  failure(await appliance.call('POST', '/mailbox/forwards', other.key, { to: declined }), 409, 'conflict')
  failure(await appliance.call('POST', `/mailbox/forwards/${first.id}/resend`, box.key), 409, 'conflict')

  const second = await request(box, late)
  const old = await linkTo(late)
  failure(await appliance.call('POST', '/mailbox/forwards', box.key, { to: late.toUpperCase() }), 409, 'conflict')
  clock.advance(7 * DAY_MS)
  await appliance.settle()
  assert.equal(await statusOf(box, second.id), 'expired')
  assert.equal((await new Browser(appliance).get(old)).status, 410)
  for (let times = 0; times < REQUESTS_PER_ADDRESS; times++) {
    data(await appliance.call('POST', `/mailbox/forwards/${second.id}/resend`, box.key))
    await appliance.settle()
  }
  const flood = await appliance.call('POST', `/mailbox/forwards/${second.id}/resend`, box.key)
  failure(flood, 429, 'rate_limit_exceeded')
  assert.equal(Number(flood.headers.get('retry-after')), DAY_MS / 1000)
  assert.equal((await new Browser(appliance).get(old)).status, 404, 'a newer link replaces it')
  await answer(await linkTo(late), 'confirm')
  assert.equal(await statusOf(box, second.id), 'active')
  assert.equal((await new Browser(appliance).get(`/forwards/${'A'.repeat(43)}`)).status, 404)
})

test('ten addresses are the most; the mailbox itself, the appliance and suppressed addresses are refused', async () => {
  const box = await newBox()
  for (let n = 0; n < FORWARDS_MAX; n++) await request(box, newAddress())
  failure(await appliance.call('POST', '/mailbox/forwards', box.key, { to: newAddress() }), 409, 'conflict')
  const [{ id }] = data<Json[]>(await appliance.get('/mailbox/forwards', box.key)) as [Json]
  data(await appliance.call('DELETE', `/mailbox/forwards/${id}`, box.key))
  const own = [box.email, box.email.replace('@', '+x@'), 'a@mx.mailstead.test', 'b@bounce.mx.mailstead.test']
  for (const to of [...own, 'no address', 'a@b@c.example', 'a@[192.0.2.1]', 'a\r\nBcc: x@y.example'])
    failure(await appliance.call('POST', '/mailbox/forwards', box.key, { to }), 422, 'validation_error')
  const suppressed = newAddress()
  data(await appliance.call('POST', '/suppressions', team.key, { email: suppressed }), 201)
  failure(await appliance.call('POST', '/mailbox/forwards', box.key, { to: suppressed }), 409, 'conflict')
  assert.deepEqual(
    receivers().filter((to) => to === suppressed),
    [],
  )
})

test('weak credentials set up nothing: read-only keys, keys that cannot send, agents, other teams', async () => {
  const box = await newBox()
  const keyWith = async (permissions: string[]) =>
    data<Json>(
      await appliance.call('POST', `/mailboxes/${box.id}/api-keys`, team.key, { name: 'weak', permissions }),
      201,
    ).key
  const made = await request(box, newAddress())
  const path = `/mailbox/forwards/${made.id}`
  const [reader, writer] = [await keyWith(['mailbox.read']), await keyWith(['mailbox.read', 'mailbox.write'])]
  for (const key of [reader, writer]) {
    const denied = (method: string, at: string, body?: object) => appliance.call(method, at, key, body)
    failure(await denied('POST', '/mailbox/forwards', { to: newAddress() }), 403, 'insufficient_permissions')
    failure(await denied('PATCH', path, { keep_copy: false }), 403, 'insufficient_permissions')
    failure(await denied('POST', `${path}/resend`), 403, 'insufficient_permissions')
    data(await appliance.get(path, key))
    const { gated, endpoints } = data<Json>(await appliance.get('/mailbox/session', key))
    assert.ok(!endpoints.mailbox.includes('POST /mailbox/forwards'))
    assert.equal(gated.forwarding, true)
  }
  failure(await appliance.call('DELETE', path, reader), 403, 'insufficient_permissions')
  // Ending it sends nothing.
  data(await appliance.call('DELETE', path, writer))

  const agent = new AgentClient(appliance)
  const { identity_assertion, mailbox } = await agent.register({})
  const token = await agent.readToken(identity_assertion)
  const agentBox = app.directory.mailboxes.byEmail(mailbox.email)!
  const issued = await app.directory.keys.issue({
    ...{ teamId: agentBox.teamId, kind: 'mailbox', mailboxId: agentBox.id, name: 'x', createdBy: 'operator' },
  })
  for (const key of [token, issued.secret]) {
    failure(await appliance.get('/mailbox/forwards', key), 403, 'insufficient_permissions')
    failure(
      await appliance.call('POST', '/mailbox/forwards', key, { to: newAddress() }),
      403,
      'insufficient_permissions',
    )
  }

  const stranger = await appliance.team('Other')
  const theirs = await request(box, newAddress())
  for (const [method, at] of [
    ['GET', `/mailboxes/${box.id}/forwards`],
    ['GET', `/mailboxes/${box.id}/forwards/${theirs.id}`],
    ['DELETE', `/mailboxes/${box.id}/forwards/${theirs.id}`],
  ] as const)
    failure(await appliance.call(method, at, stranger.key), 404, 'not_found')
  const second = await newBox()
  failure(await appliance.get(`/mailbox/forwards/${theirs.id}`, second.key), 404, 'not_found')
})

test('an operator can disable forwarding for mailboxes; teams still manage it', async () => {
  await using gated = await startAppliance({ env: { MAILBOX_GATED: 'forwarding' } })
  const own = await gated.team()
  await own.domain('in.test')
  const ana = await own.mailbox('ana@in.test')
  failure(await gated.get('/mailbox/forwards', ana.key), 403, 'insufficient_permissions')
  data(await gated.call('POST', `/mailboxes/${ana.id}/forwards`, own.key, { to: 'x@customer.example' }), 201)
})

test('teams manage forwards, and deleting the mailbox ends them', async () => {
  const box = await newBox()
  const to = newAddress()
  const path = `/mailboxes/${box.id}/forwards`
  const made = data<Json>(await appliance.call('POST', path, team.key, { to, keep_copy: false }), 201)
  const link = await linkTo(to)
  const browser = new Browser(appliance)
  const page = await browser.get(link)
  for (let times = 0; times < 2; times++) await browser.submit(page, link)
  assert.equal(data<Json>(await appliance.get(`${path}/${made.id}`, team.key)).status, 'active')
  data(await appliance.call('PATCH', `${path}/${made.id}`, team.key, { keep_copy: true }))
  await answer(link, 'refuse')
  const again = data<Json>(await appliance.call('POST', path, team.key, { to: newAddress() }), 201)
  data(await appliance.call('DELETE', `${path}/${again.id}`, team.key))
  assert.deepEqual(
    data<Json[]>(await appliance.get(path, team.key)).map(({ id, status }) => [id, status]),
    [[made.id, 'ended']],
  )
  data(await appliance.call('DELETE', `/mailboxes/${box.id}`, team.key))
  assert.equal((await new Browser(appliance).get(link)).status, 404)
})

test('what a script decides by an id holds for the setting too: neither is a discarded message forwarded, nor a kept one left', async () => {
  for (const [test, seen] of [
    ['duplicate', [1, 1]],
    ['not duplicate', [0, 1]],
  ] as const) {
    const box = await newBox()
    const to = newAddress()
    await active(box, to)
    const content = `require "duplicate"; if ${test} :header "X-Case" { discard; }`
    data(await appliance.call('POST', '/mailbox/sieve-scripts', box.key, { name: 'ids', content, activate: true }), 201)
    const counts: number[] = []
    for (let n = 0; n < 2; n++) {
      await arrives(box, box.email, 'X-Case: 7\r\n')
      counts.push(receivers().filter((one) => one === to).length)
    }
    assert.deepEqual(counts, seen, test)
    assert.equal(await kept(box), 1)
  }
})
