// The event stream of a browser: what it says of mailboxes, teams and approvals, and when it stops.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { routes } from '../../src/api/routes.ts'
import { PROGRAM_VERSION } from '../../src/config/version.ts'
import { CHECK_EVERY_MS } from '../../src/http/sse-stream.ts'
import { STREAMS_MAX } from '../../src/me/events.ts'
import { changesOf, TEAM_POLL_MS } from '../../src/people/team-changes.ts'
import { COALESCE_MS } from '../../src/store/rows/change-feed.ts'
import { receive } from '../api/expect.ts'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { EventClient, type Frame } from '../support/event-client.ts'
import { type PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'

const clock = new ManualClock()
let at: TestAppliance
let team: TestTeam
let other: TestTeam
let box: { id: string; email: string; key: string }
let foreign: { id: string }
let ana: PersonClient & { memberId: string }

before(async () => {
  at = await startAppliance({ clock, zone: { 'hook.test': { A: ['93.184.215.14'] } } })
  team = await at.team('Shop')
  other = await at.team('Other')
  await team.domain('shop.test')
  await other.domain('other.test')
  box = await team.mailbox('info@shop.test')
  foreign = await other.mailbox('info@other.test')
  ana = await signInMember(at, team.id, 'member', 'ana@people.example')
  await grant(ana, box.id)
})
after(() => at.close())

const grant = ({ memberId }: { memberId: string }, mailboxId: string) =>
  at.app.db.write((tx) =>
    at.app.people.grants.put(tx, { mailboxId, memberId, access: 'reader', createdBy: 'operator' }),
  )

const open = (person: PersonClient, query = '', headers: Record<string, string> = {}) =>
  EventClient.at(`${at.origin}/me/v1/events?${query}`, { ...SAME_ORIGIN, cookie: person.cookie, ...headers })

/** Lets what was published arrive. */
async function pass(ms: number): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn()
  clock.advance(ms)
  for (let turns = 0; turns < 20; turns++) await turn()
}

const upTo = (client: EventClient, event: string): Promise<Frame> => client.until(event)

async function webhook(): Promise<void> {
  const hook = { url: 'https://hook.test/', event_types: ['message.received'], enabled: false }
  assert.equal((await at.call('POST', '/webhooks', team.key, hook)).status, 201)
}

test('one stream carries received messages and states of a mailbox, and kinds of changes of a team', async () => {
  await using client = await open(ana)
  assert.equal(client.response.status, 200)
  assert.equal(client.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal((await upTo(client, 'approvals')).data.count, 0)
  await receive(at, { to: box.email, subject: 'Hello' })
  await pass(COALESCE_MS)
  const message = await upTo(client, 'message.received')
  assert.deepEqual([message.data.actor, message.data.subject], [box.id, 'Hello'])
  const state = await upTo(client, 'state')
  assert.ok(state.id?.startsWith(`${PROGRAM_VERSION};${box.id}:`), state.id ?? '')
  assert.deepEqual([state.data.actor, 'messages' in state.data.changed], [box.id, true])
  await pass(TEAM_POLL_MS)
  assert.deepEqual((await upTo(client, 'team')).data, { actor: team.id, changed: ['inbound'] })
  await webhook()
  await pass(TEAM_POLL_MS)
  assert.deepEqual((await upTo(client, 'team')).data, { actor: team.id, changed: ['webhooks', 'audit'] })
})

test('each operation that changes something of a team is of a kind', () => {
  const changing = routes.filter(({ as, audited, method, surface = 'app' }) => {
    return as === 'team' && audited !== false && method !== 'GET' && surface === 'app'
  })
  const unknown = changing.filter(({ operation }) => changesOf(operation).length === 0)
  assert.ok(changing.length > 50)
  assert.deepEqual(
    unknown.map(({ operation }) => operation),
    [],
  )
})

test('a stream resumes with the difference, and names a new version', async () => {
  const client = await open(ana, `actors=${box.id}`)
  await client.next()
  const { id } = (await client.next())!
  await client[Symbol.asyncDispose]()
  await receive(at, { to: box.email, subject: 'Meanwhile' })
  await using resumed = await open(ana, '', { 'last-event-id': id! })
  const state = await upTo(resumed, 'state')
  assert.ok('messages' in state.data.changed)
  const { actor, changed } = (await upTo(resumed, 'team')).data
  assert.deepEqual([actor, changed.includes('delivery')], [team.id, true])
  for (const last of ['0.0.1;x:y', 'nonsense', ';;;:::', 'x'.repeat(9000)]) {
    await using upgraded = await open(ana, `actors=${box.id}`, { 'last-event-id': last })
    assert.equal((await upTo(upgraded, 'reload')).data.version, PROGRAM_VERSION)
    const { data } = await upTo(upgraded, 'state')
    assert.ok(Object.keys(data.changed).length > 5, 'unknown states are sent whole')
  }
})

test('actors that the person cannot open are not found', async () => {
  for (const id of [other.id, foreign.id, 'team_000000000000000000000000']) {
    const reply = await ana.get(`/me/v1/events?actors=${id}`)
    assert.deepEqual([id, reply.status, reply.body.error.code], [id, 404, 'not_found'])
  }
  assert.equal((await ana.get('/me/v1/events?actors=operator')).status, 400)
  const many = Array.from({ length: 21 }, () => team.id).join(',')
  assert.equal((await ana.get(`/me/v1/events?actors=${many}`)).status, 400)
})

test('what is taken back is followed no longer, at once', async () => {
  const bob = await signInMember(at, team.id, 'viewer', 'bob@people.example')
  await grant(bob, box.id)
  await using client = await open(bob)
  await upTo(client, 'approvals')
  await at.app.db.write((tx) => at.app.people.grants.delete(tx, box.id, bob.memberId))
  await receive(at, { to: box.email, subject: 'Not for Bob' })
  await pass(COALESCE_MS)
  assert.deepEqual(await client.next().then((frame) => [frame!.event, frame!.data]), ['left', { actor: box.id }])
})

test('a role hears of what it may read, and the stream ends with its session', async () => {
  const cem = await signInMember(at, team.id, 'user', 'cem@people.example')
  await using client = await open(cem)
  await upTo(client, 'approvals')
  await webhook()
  await pass(TEAM_POLL_MS)
  await at.app.db.write((tx) => at.app.people.sessions.closeOf(tx, cem.email))
  await pass(CHECK_EVERY_MS)
  const rest = await client.rest()
  assert.deepEqual(
    rest.filter(({ event }) => event !== 'ping').map(({ event, data }) => [event, (data as Json).reason]),
    [['end', 'credential_revoked']],
  )
})

test('a person has a bounded number of streams', async () => {
  const dan = await signInMember(at, team.id, 'viewer', 'dan@people.example')
  const clients = await Promise.all(Array.from({ length: STREAMS_MAX }, () => open(dan)))
  assert.equal((await dan.get('/me/v1/events')).status, 429)
  for (const client of clients) await client[Symbol.asyncDispose]()
})
