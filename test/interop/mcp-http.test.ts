// The official MCP clients with `/mcp`: both generations, credentials, and what a foreign or hostile request gets.

import assert from 'node:assert/strict'
import { request as send } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { TOOLS } from '../../src/mcp/server.ts'
import { data, receive } from '../api/expect.ts'
import { AgentClient, EASY_WORK, JWT_BEARER } from '../support/agents.ts'
import { type Json, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { eventually } from '../support/eventually.ts'
import { PersonClient, signInMember } from '../support/person.ts'

let appliance: TestAppliance
let team: Awaited<ReturnType<TestAppliance['team']>>
let ana: { id: string; email: string; key: string }
let url: string
const clients: Client[] = []
const PATIENCE = { timeout: 120_000 }

before(async () => {
  appliance = await startAppliance({ env: { ...EASY_WORK, SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' } })
  team = await appliance.team()
  await team.domain('shop.test')
  ana = await team.mailbox('ana@shop.test')
  await team.mailbox('bob@shop.test')
  url = `${appliance.origin}/mcp`
})
after(async () => {
  for (const client of clients) await client.close()
  await appliance.close()
})

async function connect(key: string, mode: 'legacy' | { pin: string } = { pin: '2026-07-28' }): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }), PATIENCE)
  clients.push(client)
  return client
}

const result = (client: Client, name: string, given: object = {}): Promise<Json> =>
  client.callTool({ name, arguments: given as Record<string, unknown> }, PATIENCE)
async function call(client: Client, name: string, given: object = {}): Promise<Json> {
  const answer = await result(client, name, given)
  assert.notEqual(answer.isError, true, JSON.stringify(answer))
  return answer.structuredContent ?? answer.content[0].text
}
const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
async function keyWith(...permissions: string[]): Promise<{ id: string; key: string }> {
  const body = { name: 'assistant', permissions }
  return data<{ id: string; key: string }>(
    await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, body),
    201,
  )
}

/** One message without a client of the protocol. */
function post(key: string | null, body: string, headers: Record<string, string> = {}, method = 'POST') {
  const credential = key === null ? {} : { authorization: `Bearer ${key}` }
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...credential }
  return fetch(url, { method, headers: { ...all, ...headers }, ...(method === 'POST' ? { body } : {}) })
}
/** Every message of programs waits. */
const ALL_WAIT = {
  ...{ allowTo: [], blockTo: [], repliesOnly: false, hourlyRecipients: null, dailyRecipients: null },
  approval: 'always' as const,
}
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

describe('the tools of a mailbox over HTTP', () => {
  it('are served to both generations of clients, without sessions, as far as the key may use them', async () => {
    const [present, earlier] = [await connect(ana.key), await connect(ana.key, 'legacy')]
    assert.equal(present.getNegotiatedProtocolVersion(), '2026-07-28')
    assert.equal(earlier.getNegotiatedProtocolVersion(), '2025-11-25')
    for (const client of [present, earlier]) {
      assert.deepEqual(
        await names(client),
        TOOLS.map(({ name }) => name),
      )
      assert.equal((await call(client, 'account')).email, ana.email)
    }
    const reader = await connect((await keyWith('mailbox.read')).key)
    assert.ok(!(await names(reader)).includes('send'))
    const refused = await result(reader, 'send', { to: ['bob@shop.test'], text: 'x' })
    assert.match(refused.content[0].text, /insufficient_permissions/)
  })

  it('read, wait for a code, send once for equal calls, and take back', async () => {
    for (const client of [await connect(ana.key), await connect(ana.key, 'legacy')]) {
      const { state } = await call(client, 'account')
      const waiting = call(client, 'wait', { kind: 'code', state, seconds: 50 })
      const text = 'Your verification code is 482913. It expires in 10 minutes.'
      await receive(appliance, { from: 'noreply@app.test', to: ana.email, subject: 'Sign in', text })
      const { matches } = await waiting
      assert.equal(matches[0].found[0].value, '482913')
      const thread: string = await call(client, 'read_thread', { thread_id: matches[0].thread_id })
      assert.match(thread, /untrusted[\s\S]*482913/)
      const message = {
        to: ['bob@shop.test'],
        subject: `Report of ${client.getNegotiatedProtocolVersion()}`,
        text: 'x',
      }
      const [first, again] = [await call(client, 'send', message), await call(client, 'send', message)]
      assert.equal(first.submission_id, again.submission_id)
      assert.equal((await call(client, 'undo', { submission_id: first.submission_id })).status, 'canceled')
    }
  })

  it('learn that a message is held, and what a person decided', async () => {
    const box = await team.mailbox('robot@shop.test')
    data(await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, { send_approval: 'always' }))
    const client = await connect(box.key)
    const sent = await call(client, 'send', { to: ['bob@shop.test'], subject: 'Offer', text: 'x' })
    assert.equal(sent.status, 'held')
    const statusOf = async () =>
      (await call(client, 'sent_status', { submission_id: sent.submission_id })).submissions[0].approval
    const { state, reason } = await statusOf()
    assert.deepEqual([state, reason], ['held', 'always'])
    const owner = await signInMember(appliance, team.id, 'owner')
    const [held] = data<Json[]>(await owner.get('/me/v1/held-messages'))
    data(await owner.call('POST', `/me/v1/held-messages/${held.id}/reject`, { hash: held.hash, note: 'Not now.' }))
    const decided = await statusOf()
    assert.deepEqual([decided.state, decided.note], ['rejected', 'Not now.'])
  })

  it('end with the key, also a wait that is under way', async () => {
    const { id, key } = await keyWith('mailbox.read')
    const client = await connect(key)
    const { state } = await call(client, 'account')
    const waiting = result(client, 'wait', { kind: 'message', state, seconds: 50 })
    data(await appliance.call('DELETE', `/mailboxes/${ana.id}/api-keys/${id}`, team.key))
    assert.equal((await waiting).isError, true)
    assert.equal((await post(key, LIST)).status, 401)
  })

  it('wait at most four at a time for one key', async () => {
    const { key } = await keyWith('mailbox.read')
    const client = await connect(key)
    const { state } = await call(client, 'account')
    const leaving = new AbortController()
    const wait = () =>
      client.callTool(
        { name: 'wait', arguments: { kind: 'message', from: 'nobody@else.test', state, seconds: 50 } },
        { ...PATIENCE, signal: leaving.signal },
      )
    const waits = Array.from({ length: 5 }, wait)
    const first: Json = await Promise.race(waits)
    assert.match(first.content[0].text, /rate_limit_exceeded/)
    leaving.abort()
    await Promise.allSettled(waits)
  })

  it('name what they need to whom has no credential, and refuse those of others', async () => {
    const cold = await post(null, LIST)
    assert.equal(cold.status, 401)
    const [, metadata] = /resource_metadata="([^"]+)"/.exec(cold.headers.get('www-authenticate')!)!
    const resource = (await (await fetch(metadata!)).json()) as Json
    assert.deepEqual([resource.resource, resource.scopes_supported.length], [url, 3])
    assert.equal((await post(team.key, LIST)).status, 403)
    assert.equal((await post(ana.key, LIST, { origin: 'https://evil.example' })).status, 403)
    const byName = await new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        host: 'rebound.example',
        authorization: `Bearer ${ana.key}`,
        'content-type': 'application/json',
      }
      send(url, { method: 'POST', headers }, (reply) => resolve(reply.resume().statusCode))
        .on('error', reject)
        .end(LIST)
    })
    assert.equal(byName, 403)
  })

  it('answer what is no message of the protocol in its form', async () => {
    for (const method of ['GET', 'DELETE']) assert.equal((await post(ana.key, '', {}, method)).status, 405)
    for (const [body, status, code] of [
      ['{', 400, -32_700],
      [`[${LIST}]`, 400, -32_700],
      [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' }), 404, -32_601],
      [JSON.stringify({ padding: 'x'.repeat(600_000) }), 413, -32_000],
    ] as const) {
      const reply = await post(ana.key, body)
      assert.deepEqual([reply.status, ((await reply.json()) as Json).error.code], [status, code], body.slice(0, 80))
    }
  })

  it('serve an agent with a token for them, which sends once its owner allows it', async () => {
    const agent = new AgentClient(appliance)
    const registered = await agent.register()
    const tokenFor = async (assertion: string, resource: string) =>
      (await agent.token({ grant_type: JWT_BEARER, assertion, resource })).body as Json
    const { access_token: token, scope } = await tokenFor(registered.identity_assertion, url)
    assert.equal(scope, 'mailbox.read email.receive')
    const client = await connect(token)
    assert.equal((await call(client, 'account')).email, registered.mailbox.email)
    assert.ok(!(await names(client)).includes('send'))
    assert.equal((await appliance.get('/mailbox/me', token)).status, 403, 'a token for the tools is none for the API')
    const reading = await agent.readToken(registered.identity_assertion)
    assert.equal((await post(reading, LIST)).status, 403, 'and the reverse')
  })

  it('lead an agent from its registration to an answer that its owner has approved', async () => {
    const agent = new AgentClient(appliance)
    const registered = await agent.register()
    const { app } = appliance
    const { registrations, ownership } = app.agents
    const registration = registrations.byId(app.db.read, registered.registration_id)!
    const scope = { email: 'owner@people.example', teamId: null, mailboxId: null, shownBy: null }
    const owner = await app.db.write((tx) => {
      ownership.accept(tx, registration, scope.email)
      ownership.approveSending(tx, registration.id)
      app.outbound.held.policies.put(tx, { id: registration.mailboxId, teamId: registration.teamId }, ALL_WAIT)
      return app.people.signInAs(tx, scope)
    })
    const claimed = (await agent.claim(registered.claim_token, { resource: url })).body as Json
    assert.equal(claimed.scope, 'mailbox.read email.receive email.send')
    const client = await connect(claimed.access_token)
    const waiting = call(client, 'wait', { kind: 'message', seconds: 50 })
    const question = { to: [{ email: registered.mailbox.email }], subject: 'Question', text_body: 'When?' }
    data(await appliance.call('POST', '/mailbox/messages/send', ana.key, question), 202)
    await appliance.settle()
    const [{ message_id, thread_id }] = (await waiting).matches
    assert.match(await call(client, 'read_thread', { thread_id }), /When\?/)
    const answer = await call(client, 'reply', { message_id, text: 'Tomorrow.' })
    assert.equal(answer.status, 'held')
    const person = new PersonClient(appliance, owner)
    const [held] = data<Json[]>(await person.get('/me/v1/held-messages'))
    data(await person.call('POST', `/me/v1/held-messages/${held.id}/approve`, { hash: held.hash }))
    // It leaves ten seconds after it was written, so that the agent can take it back.
    const account = app.store.accounts.byMailbox(ana.id)!.n
    const received = await eventually(async () => {
      await appliance.settle()
      const sql = 'SELECT subject FROM messages WHERE account = ? AND from_email = ?'
      return app.db.read.get<{ subject: string }>(sql, [account, registered.mailbox.email])
    })
    assert.equal(received!.subject, 'Re: Question')
    await app.db.write((tx) => ownership.revokeSending(tx, registration.id))
    assert.equal((await post(claimed.access_token, LIST)).status, 401, 'taking sending back ends the token')
  })
})
