// The hour in which a program has no HTTPS yet: webhooks to this machine in a trial, events that are waited for, printed and forwarded.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LISTS_MAX } from '../../src/api/management/events.ts'
import { signature } from '../../src/events/webhooks/sign.ts'
import { data, issues } from '../api/expect.ts'
import { type Json, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { PROGRAM_ENV } from '../support/program-env.ts'

const CLI = fileURLToPath(new URL('../../src/cli/cli.ts', import.meta.url))
const appliance = await startAppliance({ env: { MAIL_HOSTS: '' } })
const team = await appliance.team('Shop')
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const receiver = await startReceiver()
after(async () => {
  receiver.server.close()
  await appliance.close()
})

interface Received {
  headers: IncomingMessage['headers']
  body: string
}

/** A program under development: plain HTTP on this machine. */
async function startReceiver() {
  const waiting: ((received: Received) => void)[] = []
  const arrived: Received[] = []
  let isDown = false
  const server = createServer(async (request, response) => {
    if (isDown) return void request.socket.destroy()
    const body = (await request.setEncoding('utf8').toArray()).join('')
    const received = { headers: request.headers, body }
    const next = waiting.shift()
    if (next === undefined) arrived.push(received)
    else next(received)
    response.end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const next = () => arrived.shift() ?? new Promise<Received>((resolve) => waiting.push(resolve))
  return {
    server,
    url: `http://localhost:${(server.address() as AddressInfo).port}/hook`,
    next,
    fail: () => (isDown = true),
    recover: () => (isDown = false),
  }
}

const send = (subject: string) =>
  appliance.call('POST', '/emails/send', team.key, { from: 'news@shop.test', to: ana.email, subject, text_body: 'x' })
const create = (on: TestAppliance, key: string, url: string) =>
  on.call('POST', '/webhooks', key, { url, event_types: ['message.received'] })

test('a trial posts webhooks to http://localhost, and to no other machine', async () => {
  const { id } = data<{ id: string }>(await create(appliance, team.key, receiver.url), 201)
  await send('To a program')
  await appliance.settle()
  assert.equal(JSON.parse((await receiver.next()).body).type, 'message.received')
  for (const url of ['http://10.0.0.1/hook', 'http://hooks.example.com/']) {
    issues(await create(appliance, team.key, url), 422, 'validation_error', ['url invalid_format'])
  }
  data(await appliance.call('DELETE', `/webhooks/${id}`, team.key))
})

test('a server with a name posts to https alone', async () => {
  await using named = await startAppliance()
  const { key } = await named.team()
  issues(await create(named, key, receiver.url), 422, 'validation_error', ['url invalid_format'])
})

test('a request waits for the next event', async () => {
  const { data: before } = (await appliance.get('/events?limit=100', team.key)).body
  const path = `/events?after_id=${before.at(-1).id}&wait=30`
  const waiting = appliance.get(path, team.key)
  await send('Waited for')
  const [event] = data<Json[]>(await waiting)
  assert.equal(event.team_id, team.id)
  await appliance.settle()
  const { data: all } = (await appliance.get('/events?limit=100', team.key)).body
  assert.deepEqual(data(await appliance.get(`/events?after_id=${all.at(-1).id}&wait=0`, team.key)), [])
})

const env = { DATA_DIR: appliance.dataDir, DNS_SERVERS: appliance.dns.address }

test('a key that was revoked while it waited gets nothing, and the waits of a key are bounded', async () => {
  const clock = new ManualClock(Date.now())
  await using waiting = await startAppliance({ clock })
  const { key: root } = await waiting.team()
  const wanted = { name: 'Waits', permissions: ['webhook.read'] }
  const { key, id } = data<Json>(await waiting.call('POST', '/api-keys', root, wanted), 201)
  const answers: number[] = []
  const waits = Array.from({ length: LISTS_MAX + 2 }, async () => {
    answers.push((await waiting.get('/events?wait=30', key)).status)
  })
  await eventually(() => answers.length === 2)
  assert.deepEqual(answers, [429, 429])
  assert.equal((await waiting.get('/events', root)).status, 200, 'other keys of the team are served')
  data(await waiting.call('DELETE', `/api-keys/${id}`, root))
  await eventually(() => {
    clock.advance(1000)
    return answers.length === waits.length
  })
  assert.deepEqual(
    answers.slice(2),
    Array.from({ length: LISTS_MAX }, () => 401),
  )
})

test('webhook listen prints events and posts them, signed', async () => {
  const child = spawn(
    process.execPath,
    [CLI, 'webhook', 'listen', '--forward', receiver.url, '--type', 'message.received', '--json'],
    {
      env: { ...PROGRAM_ENV, ...env },
    },
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const { signing_secret: secret } = JSON.parse((await lines.next()).value!)
  await send('Listened to')
  await appliance.settle()
  const { headers, body } = await receiver.next()
  assert.equal(headers['x-service-signature'], signature(secret, body))
  const printed = JSON.parse((await lines.next()).value!)
  assert.deepEqual(
    [printed.event.id, printed.answer],
    [JSON.parse(body).id, { status: 200, problem: null, text: null }],
  )
  receiver.fail()
  await send('Unheard')
  const { answer } = JSON.parse((await lines.next()).value!)
  assert.deepEqual([answer.status, answer.problem], [0, 'connection_reset'])
  assert.match(answer.text, /\w+ \w+/)
  receiver.recover()
  child.kill('SIGINT')
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
})

test('event tail shows the newest events of a type', async () => {
  const cli = new Commands(env)
  const { out } = await cli.run('event', 'tail', '--once', '--lines', '2', '--type', 'message.received')
  assert.equal(out.length, 2)
  for (const line of out) assert.match(line, /message\.received .* evt_\w+$/)
})

test('errors of commands are JSON for programs', async () => {
  const cli = new Commands(env)
  const { code, err } = await cli.run('webhook', 'show', 'whk_none', '--json')
  assert.equal(code, 1)
  const { ok, error } = JSON.parse(err.join(''))
  assert.equal(ok, false)
  assert.match(error.code, /^(?:not_found|invalid_parameter|validation_error)$/)
  assert.match((await cli.run('webhook', 'show', 'whk_none')).err.join(''), /^mailstead: /)
})
