// Sending by an agent with its owner's approval: identity, limits by hour and day, threads, and routing.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'
import { data, receiveRaw } from './expect.ts'

const HOUR_MS = 3_600_000
const clock = new ManualClock()
const remote = await startMailServer()
const zone = {
  'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }] },
  'mx.people.example': { A: ['127.0.0.1'] },
}
const env = {
  ...EASY_WORK,
  ...{ ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port), TRUSTED_PROXIES: '127.0.0.1' },
  ...{ AGENT_SEND_HOURLY: '3', AGENT_SEND_DAILY: '5' },
}
const appliance = await startAppliance({ clock, zone, env })
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
let sources = 0
const agent = new AgentClient({
  ...appliance,
  call: (method, path, key, body, headers) =>
    appliance.call(method, path, key, body, { ...headers, 'x-forwarded-for': `203.0.113.${++sources % 250}` }),
})

/** An agent that may send. */
async function approved(): Promise<{ registered: Json; token: string; reading: string }> {
  const registered = await agent.register()
  const { registrations, ownership } = appliance.app.agents
  const registration = registrations.byId(appliance.app.db.read, registered.registration_id)!
  await appliance.app.db.write((tx) => {
    ownership.accept(tx, registration, 'owner@people.example')
    ownership.approveSending(tx, registration.id)
  })
  const token = (await agent.claim(registered.claim_token)).body.access_token
  return { registered, token, reading: await agent.readToken(registered.identity_assertion) }
}

const mail = (more: object = {}) => ({
  to: { email: 'ana@people.example' },
  subject: 'Hello',
  text_body: 'Hi.',
  ...more,
})

/** Lets time pass when nothing is being sent: a message under way would take the leap for a server that does not answer. */
async function pass(ms: number): Promise<void> {
  await appliance.settle()
  clock.leap(ms)
}

test('an agent sends as itself, signed, with a copy in Sent, and the reply joins the thread', async () => {
  const { registered, token, reading } = await approved()
  const sent = data<Json>(await agent.send(token, mail())).results[0]
  assert.equal(sent.status, 'queued', JSON.stringify(sent))
  await appliance.settle()
  const got = remote.messages.at(-1)!.bytes.toString()
  assert.match(got, /^DKIM-Signature: .*d=agents\.mailstead\.test/s)
  assert.match(got, new RegExp(`^From: .*${registered.mailbox.email}`, 'm'))
  const folders = data<Json[]>(await appliance.get('/mailbox/folders', reading))
  const folder = folders.find(({ role }) => role === 'sent')
  const [copy] = data<Json[]>(await appliance.get(`/mailbox/messages?folder_id=${folder.id}`, reading))
  assert.equal(copy.subject, 'Hello')
  const [, id] = /^Message-ID: <(.+)>/im.exec(got)!
  const headers = { 'In-Reply-To': `<${id}>`, References: `<${id}>` }
  await agent.send(token, mail({ subject: 'Re: Hello', custom_headers: headers }))
  const [again] = data<Json[]>(await appliance.get('/mailbox/messages?q=in:sent', reading))
  assert.equal(again.thread_id, copy.thread_id)
})

test('an agent answers in a thread as auth.md says, and an error names a member that does not exist', async () => {
  const { registered, token, reading } = await approved()
  const text = await (await fetch(`${appliance.origin}/auth.md`)).text()
  assert.match(text, /at most 3 recipients an hour and 5 a day/)
  assert.match(text, /one scope `email\.send`[\s\S]*answers \*\*200 also when messages failed\*\*/)
  const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)![1]!)
  const content = [
    'From: Ana <ana@people.example>',
    `To: ${registered.mailbox.email}`,
    'Message-ID: <question@people.example>',
    'References: <first@people.example>',
    'Subject: Question',
    '',
    'When?',
  ].join('\r\n')
  await receiveRaw(appliance, { from: 'ana@people.example', to: registered.mailbox.email, content })
  const [arrived] = data<Json[]>(await appliance.get('/mailbox/messages', reading))
  const question = data<Json>(await appliance.get(`/mailbox/messages/${arrived!.id}`, reading))
  assert.deepEqual(Object.keys(example), ['to', 'subject', 'text_body', 'in_reply_to', 'references'])
  const body = {
    ...example,
    ...{ to: question.from.email, subject: `Re: ${question.subject}` },
    ...{ in_reply_to: question.internet_message_id, references: question.references },
  }
  const sendOne = (one: object) => appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send`, token, one)
  data(await sendOne(body), 202)
  const [copy] = data<Json[]>(await appliance.get('/mailbox/messages?q=in:sent', reading))
  assert.equal(copy!.thread_id, question.thread_id)
  const answer = data<Json>(await appliance.get(`/mailbox/messages/${copy!.id}`, reading))
  assert.deepEqual(answer.references, ['first@people.example', 'question@people.example'])
  const { results } = data<Json>(await agent.send(token, mail({ in_reply_to_message_id: question.id })))
  assert.match(
    JSON.stringify(results[0].error),
    /Unknown field `.*in_reply_to_message_id`\. Did you mean `in_reply_to`\?/,
  )
  assert.equal((await appliance.get('/mailbox/messages', token)).status, 403)
})

test('an agent cannot send from a tag, a colleague or another domain', async () => {
  const { registered, token } = await approved()
  const [local, domain] = registered.mailbox.email.split('@')
  for (const email of [`${local}+x@${domain}`, `postmaster@${domain}`, 'ana@people.example']) {
    const { results } = data<Json>(await agent.send(token, mail({ from: { email } })))
    assert.equal(results[0].error?.errors?.[0]?.code, 'forbidden_value', email)
  }
  const { results } = data<Json>(await agent.send(token, mail({ return_path: `x@${domain}` })))
  assert.equal(results[0].status, 'failed')
})

test('an agent cannot use a display name that looks like an address', async () => {
  const { registered, token } = await approved()
  const { email } = registered.mailbox
  for (const name of ['ceo@bank.example', 'ceo＠bank.example', 'c\u200beo @ bank.example', 'ceo (at) bank.example']) {
    const { results } = data<Json>(await agent.send(token, mail({ from: { email, name } })))
    assert.deepEqual(
      results[0].error?.errors?.map(({ field, code }: Json) => [field, code]),
      [['from.name', 'forbidden_value']],
      name,
    )
    const answers = data<Json>(
      await agent.send(token, mail({ custom_headers: { 'Reply-To': `"${name}" <${email}>` } })),
    )
    assert.equal(answers.results[0].error?.errors?.[0]?.field, 'custom_headers.Reply-To', name)
  }
  const named = data<Json>(await agent.send(token, mail({ from: { email, name: 'Scout @ work' } }))).results[0]
  assert.equal(named.error?.errors?.[0]?.field, 'from.name')
  assert.equal(
    data<Json>(await agent.send(token, mail({ from: { email, name: 'Scout (at work)' } }))).results[0].status,
    'queued',
  )
})

test('three recipients an hour and five a day; an error says when to retry', async () => {
  await pass(HOUR_MS - (clock.now() % HOUR_MS))
  const { token, registered } = await approved()
  const cc = [{ email: 'ben@people.example' }, { email: 'carl@people.example' }]
  assert.equal(data<Json>(await agent.send(token, mail({ cc }))).results[0].status, 'queued')
  const over = data<Json>(await agent.send(token, mail())).results[0]
  assert.deepEqual([over.error.code, over.error.retryable], ['rate_limit_exceeded', true])
  await pass(HOUR_MS)
  const again = (await agent.claim(registered.claim_token)).body.access_token
  assert.equal(data<Json>(await agent.send(again, mail({ cc: cc.slice(0, 1) }))).results[0].status, 'queued')
  assert.match(data<Json>(await agent.send(again, mail())).results[0].error.message, /5 recipients per day/)
  await pass(23 * HOUR_MS)
  const tomorrow = (await agent.claim(registered.claim_token)).body.access_token
  assert.equal(data<Json>(await agent.send(tomorrow, mail())).results[0].status, 'queued')
})

test('an agent sends through the team accounts the operator names, if there is one', async () => {
  const relay = await startMailServer()
  const folder = await appliance.team('Carrier')
  await using other = await startAppliance({
    clock,
    zone,
    env: { ...env, AGENT_ROUTE_TEAM: folder.id, AGENT_SEND_HOURLY: '100', AGENT_SEND_DAILY: '100' },
  })
  // The setting names an existing team: it is created here under the same id.
  await other.app.db.write((tx) =>
    tx.run('INSERT INTO teams (id, name, created_at) VALUES (?, ?, 0)', [folder.id, 'Carrier']),
  )
  const provider = {
    ...{ name: 'Relay', smtp_host: '127.0.0.1', smtp_port: relay.port, smtp_protocol: 'none' },
    ...{ smtp_username: 'u', smtp_password: 'p' },
  }
  const { secret } = await other.app.directory.keys.issue({
    ...{ teamId: folder.id, kind: 'root', name: 'x', role: 'root:full', createdBy: 'operator' },
  })
  data(await other.call('POST', '/providers', secret, provider), 201)
  await other.settle()
  const client = new AgentClient(other)
  const registered = await client.register()
  const { registrations, ownership } = other.app.agents
  await other.app.db.write((tx) => {
    ownership.accept(tx, registrations.byId(tx, registered.registration_id)!, 'o@people.example')
    ownership.approveSending(tx, registered.registration_id)
  })
  const token = (await client.claim(registered.claim_token)).body.access_token
  data(await client.send(token, mail()))
  await other.settle()
  assert.equal(relay.messages.length, 1)
  assert.match(relay.messages[0]!.bytes.toString(), /^DKIM-Signature: .*d=agents\.mailstead\.test/s)
  await relay[Symbol.asyncDispose]()
})
