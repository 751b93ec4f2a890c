// The example agent against the appliance, with a person's clicks in a real browser; and oauth4webapi at the token endpoint.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as oauth from 'oauth4webapi'
import { MINUTE_MS } from '../../src/base/durations.ts'
import { receive } from '../api/expect.ts'
import { ACCESS_TOKEN, AgentClient, EASY_WORK, EXCHANGE, JWT_BEARER } from '../support/agents.ts'
import { type Json, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { chromiumMissing, launchChromium, PATIENCE_MS } from '../support/chromium.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'

const AGENT = new URL('../../scripts/agent.js', import.meta.url).href
const BROWSER_FLAGS = [
  ...['--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]
const remote = await startMailServer()
const zone = {
  'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }] },
  'mx.people.example': { A: ['127.0.0.1'] },
}
const env = { ...EASY_WORK, ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) }
after(() => remote[Symbol.asyncDispose]())

interface AgentOptions {
  origin: string
  owner: string
  stateFile: string
  rounds: number
  say(line: string): void
  rest(ms: number): Promise<void>
}

/** The invitation that came by mail. */
async function invitation(appliance: TestAppliance, to: string): Promise<string> {
  await appliance.settle()
  const mail = remote.messages.find((one) => one.to.includes(to))
  assert.ok(mail)
  const [link] =
    new RegExp(`${appliance.origin}/invites/[\\w-]{43}`).exec(mail.bytes.toString().replaceAll('=\r\n', '')) ?? []
  assert.ok(link)
  return link
}

test('the example agent gets an inbox, a person clicks, and it answers its mail', {
  skip: chromiumMissing(),
}, async () => {
  await using appliance = await startAppliance({ zone, env })
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-agent-'))
  const stateFile = join(folder, 'agent.json')
  const { runAgent } = (await import(AGENT)) as { runAgent(options: AgentOptions): Promise<void> }
  const said: string[] = []
  /** The agent rests while the world moves on. */
  const play = (rest: () => Promise<void>, rounds: number) =>
    runAgent({
      origin: appliance.origin,
      owner: 'olga@people.example',
      stateFile,
      say: (line) => said.push(line),
      rest,
      rounds,
    })
  await play(() => appliance.settle(), 1)
  const { mailbox } = JSON.parse(await readFile(stateFile, 'utf8'))
  await receive(appliance, { to: mailbox.email, from: 'bob@people.example', subject: 'A question' })
  await play(() => appliance.settle(), 1)
  assert.ok(said.some((line) => line.includes('wrote: A question')))
  assert.ok(!said.some((line) => line.startsWith('I have answered')))
  await click(await invitation(appliance, 'olga@people.example'), folder)
  await play(() => appliance.settle(), 1)
  assert.equal(said.at(-1), 'I have answered bob@people.example.')
  await appliance.settle()
  const answer = remote.messages.findLast((one) => one.to.includes('bob@people.example'))
  assert.match(answer!.bytes.toString(), /^Subject: Re: A question/m)
  await rm(folder, { recursive: true })
})

test('the example agent works with a durable token, and reports what it waits for', async () => {
  const clock = new ManualClock()
  await using appliance = await startAppliance({ clock, zone, env: { ...env, AGENT_VARIANT: 'durable_token' } })
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-agent-'))
  const stateFile = join(folder, 'agent.json')
  const { runAgent } = (await import(AGENT)) as { runAgent(options: AgentOptions): Promise<void> }
  const play = async () => {
    const said: string[] = []
    const say = (line: string) => said.push(line)
    // A client that polls too often gets slow_down.
    const rest = (ms: number) => {
      clock.advance(ms)
      return appliance.settle()
    }
    await runAgent({ origin: appliance.origin, owner: 'olga@people.example', stateFile, say, rest, rounds: 2 })
    return said
  }
  const first = await play()
  const { mailbox, registration_id: id } = JSON.parse(await readFile(stateFile, 'utf8'))
  assert.ok(first.includes('I have asked olga@people.example to be my owner.'))
  const waits =
    'I wait for olga@people.example to accept and to allow sending. Until then I read messages and answer none.'
  assert.equal(first.filter((line) => line === waits).length, 1, 'said once, not with every look')
  assert.ok(first.some((line) => line.includes('npx mailstead login-link olga@people.example')))
  assert.match(first.at(-1)!, new RegExp(`^I wait for messages to ${mailbox.email} and look every \\d+ seconds\\.`))
  await receive(appliance, { to: mailbox.email, from: 'carl@people.example', subject: 'Another question' })
  const second = await play()
  assert.equal(second.filter((line) => line === 'carl@people.example wrote: Another question').length, 1)
  assert.ok(!second.some((line) => line.startsWith('I have answered')))
  const { ownership, registrations } = appliance.app.agents
  await appliance.app.db.write((tx) => {
    ownership.accept(tx, registrations.byId(tx, id)!, 'olga@people.example')
    ownership.approveSending(tx, id)
  })
  const third = await play()
  assert.ok(third.includes('olga@people.example allows me to send.'))
  assert.equal(third.at(-1), 'I have answered carl@people.example.')
  const answer = await sentTo(appliance, clock, 'carl@people.example')
  assert.match(answer.bytes.toString(), /^Subject: Re: Another question/m)
  await appliance.close()
  await assert.rejects(play, { message: `${appliance.origin} does not answer (ECONNREFUSED). Is it running?` })
  await rm(folder, { recursive: true })
})

/** The newest message to an address: on a busy machine an attempt may be deferred, and the next one is minutes away. */
async function sentTo(appliance: TestAppliance, clock: ManualClock, email: string) {
  for (let attempt = 0; attempt < 5; attempt++) {
    await appliance.settle()
    const message = remote.messages.findLast(({ to }) => to.includes(email))
    if (message !== undefined) return message
    clock.advance(5 * MINUTE_MS)
  }
  throw new Error(`no message to ${email} left after five attempts`)
}

/** What a person does: opens the link on a phone, ticks the box, presses the button, looks at her list. */
async function click(link: string, folder: string): Promise<void> {
  const browser = await launchChromium({}, BROWSER_FLAGS)
  try {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    await page.goto(link)
    await page.screenshot({ path: join(folder, 'invite.png'), fullPage: true })
    assert.ok((await page.locator('main').boundingBox())!.width <= 390, 'fits a phone')
    await page.getByRole('checkbox').first().check()
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByText('You are the owner of this agent').waitFor()
    await page.getByRole('link', { name: 'Your agents' }).click()
    await page.getByText('May read and send').waitFor()
    assert.deepEqual(problems, [], 'the browser complains of nothing')
  } finally {
    await browser.close()
  }
}

test('oauth4webapi reads the metadata, exchanges an assertion, and revokes', async () => {
  await using appliance = await startAppliance({ zone, env })
  const agent = new AgentClient(appliance)
  const registered = await agent.register()
  const insecure = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(`${appliance.origin}/agent-auth`)
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, found)
  const resource = new URL(`${appliance.origin}/api/v1`)
  const metadata = await oauth.resourceDiscoveryRequest(resource, insecure)
  const named = await oauth.processResourceDiscoveryResponse(resource, metadata)
  assert.deepEqual(named.authorization_servers, [issuer.href])
  const client: oauth.Client = { client_id: registered.registration_id }
  const grant = { assertion: registered.identity_assertion, resource: resource.href }
  const ask = () => oauth.genericTokenEndpointRequest(server, client, oauth.None(), JWT_BEARER, grant, insecure)
  const token = await oauth.processGenericTokenEndpointResponse(server, client, await ask())
  assert.equal(token.scope, 'mailbox.read email.receive')
  assert.equal((await appliance.get('/mailbox/me', token.access_token)).status, 200)
  const revoked = await oauth.revocationRequest(server, client, oauth.None(), token.access_token, insecure)
  await oauth.processRevocationResponse(revoked)
  await assert.rejects(
    async () => oauth.processGenericTokenEndpointResponse(server, client, await ask()),
    (error: oauth.ResponseBodyError) => error.error === 'invalid_grant',
  )
  const invite = await fetch(`${appliance.origin}/agent-auth/agent/identity/invite`, { method: 'POST' })
  for (const cold of [await appliance.get('/mailbox/me'), invite]) {
    assert.equal(
      cold.headers.get('www-authenticate'),
      `Bearer resource_metadata="${appliance.origin}/.well-known/oauth-protected-resource/api/v1"`,
    )
  }
})

test('oauth4webapi exchanges a durable token after the owner allows it', async () => {
  await using appliance = await startAppliance({ zone, env: { ...env, AGENT_VARIANT: 'durable_token' } })
  const agent = new AgentClient(appliance)
  const { body } = await agent.post('/agent/identity', { type: 'anonymous' }, { key: randomUUID() })
  await appliance.settle()
  const insecure = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(`${appliance.origin}/agent-auth`)
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
  )
  assert.deepEqual(server.grant_types_supported, [EXCHANGE])
  assert.equal((server.agent_auth as Json).x_service_identity_challenge_endpoint, undefined)
  const client: oauth.Client = { client_id: body.registration_id }
  const wish = {
    ...{ subject_token: body.access_token, subject_token_type: ACCESS_TOKEN, scope: 'email.send' },
    resource: `${appliance.sendOrigin}/api/v1`,
  }
  const exchange = () => oauth.genericTokenEndpointRequest(server, client, oauth.None(), EXCHANGE, wish, insecure)
  assert.equal((await exchange()).status, 503)
  const { ownership, registrations } = appliance.app.agents
  await appliance.app.db.write((tx) => {
    ownership.accept(tx, registrations.byId(tx, body.registration_id)!, 'olga@people.example')
    ownership.approveSending(tx, body.registration_id)
  })
  const token = await oauth.processGenericTokenEndpointResponse(server, client, await exchange())
  assert.deepEqual([token.scope, token.issued_token_type], ['email.send', ACCESS_TOKEN])
})
