// People, agents, credits and own records, for the operator.

import assert from 'node:assert/strict'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { signInMember } from '../support/person.ts'
import { data, failure, walk } from './expect.ts'

const appliance = await startAppliance({ env: { ...EASY_WORK, AGENT_SEND_HOURLY: '7', AGENT_SEND_DAILY: '9' } })
after(() => appliance.close())
const team = await appliance.team('Shop')
const other = await appliance.team('Yard')
const { secret: key } = await appliance.app.directory.operatorKeys.issue('test')
const base = `http://127.0.0.1:${appliance.ports.operator}/operator/v1`
const ask = (method: string, path: string, body?: unknown) => appliance.call(method, base + path, key, body)
const at = (email: string, path: string) => `/people/${encodeURIComponent(email)}${path}`

test('people are listed by address, found, and signed out everywhere', async () => {
  const ana = await signInMember(appliance, team.id, 'owner', 'ana@people.example')
  const { people, db } = appliance.app
  await db.write((tx) => people.members.add(tx, other.id, { email: 'ana@people.example', role: 'viewer' }))
  await db.write((tx) => people.members.add(tx, other.id, { email: 'zoe@people.example', role: 'owner' }))
  const all = await walk<Json>({ ...appliance, get: (path) => ask('GET', path) }, '/people?limit=1', key)
  assert.deepEqual(
    all.map(({ email, teams, sessions }) => [
      email,
      (teams as Json[]).map(({ name, role }) => `${name} ${role}`),
      sessions,
    ]),
    [
      ['ana@people.example', ['Shop owner', 'Yard viewer'], 1],
      ['zoe@people.example', ['Yard owner'], 0],
    ],
  )
  assert.deepEqual(
    data<Json[]>(await ask('GET', '/people?q=ZOE')).map(({ email }) => email),
    ['zoe@people.example'],
  )
  assert.equal(data<Json>(await ask('DELETE', at('Ana@people.example', '/sessions'))).sessions, 0)
  assert.equal((await ana.get('/me/v1/self')).status, 401)
  failure(await ask('DELETE', at('nobody@people.example', '/sessions')), 404, 'not_found')
})

test('an operator is made and withdrawn', async () => {
  const set = (email: string, is_operator: boolean) => ask('PUT', at(email, '/operator'), { is_operator })
  assert.equal(data<Json>(await set('New@people.example', true)).is_operator, true)
  assert.deepEqual(
    data<Json[]>(await ask('GET', '/people?is_operator=true')).map(({ email }) => email),
    ['new@people.example'],
  )
  assert.equal(data<Json>(await set('new@people.example', false)).is_operator, false)
  failure(await set('not an address', true), 404, 'not_found')
  failure(await set('nobody@people.example', false), 404, 'not_found')
})

test('a link is shown for one team, and works for a person who has a passkey too', async () => {
  const { people, db } = appliance.app
  const link = (email: string, team_id: string) => ask('POST', at(email, '/sign-in-link'), { team_id })
  const shown = data<Json>(await link('zoe@people.example', other.id), 201)
  const session = await people.signIn((shown.url as string).split('/').at(-1)!)
  assert.deepEqual([session?.email, session?.teamId], ['zoe@people.example', other.id])
  failure(await link('zoe@people.example', team.id), 404, 'not_found')
  const own = { email: 'zoe@people.example', teamId: other.id, credentialId: 'z', publicKey: new Uint8Array([1]) }
  await db.write((tx) =>
    people.passkeys.add(tx, { ...own, counter: 0, transports: [], isBackedUp: false, name: 'Phone' }),
  )
  const again = data<Json>(await link('zoe@people.example', other.id), 201)
  assert.equal((await people.signIn((again.url as string).split('/').at(-1)!))?.email, 'zoe@people.example')
})

test('an agent gets sending limits of its own, which apply at once', async () => {
  const client = new AgentClient(appliance)
  const { registration_id: id } = await client.register()
  const [before] = data<Json[]>(await ask('GET', '/agents'))
  assert.deepEqual(
    [before!.recipients_per_hour, before!.recipients_per_day, before!.has_own_limits, before!.sent_last_24h],
    [7, 9, false, 0],
  )
  const limits = { recipients_per_hour: 2, recipients_per_day: null }
  const set = data<Json>(await ask('PUT', `/agents/${id}/send-limits`, limits))
  assert.deepEqual([set.recipients_per_hour, set.recipients_per_day, set.has_own_limits], [2, 9, true])
  const { agents, db } = appliance.app
  const take = (recipients: number) => db.write((tx) => agents.allowance.take(tx, set.mailbox_id as string, recipients))
  assert.equal(await take(2), null)
  assert.equal((await take(1))?.code, 'rate_limit_exceeded')
  assert.equal(data<Json[]>(await ask('GET', '/agents?q=no-such-agent')).length, 0)
  assert.equal(data<Json[]>(await ask('GET', `/agents?q=${(set.email as string).slice(0, 6)}`))[0]!.sent_last_24h, 2)
  assert.deepEqual(data(await ask('GET', '/agents/registration')), { enabled: true })
})

test('the credits of a team are shown with their balance', async () => {
  data(await ask('POST', `/teams/${team.id}/credits`, { amount: '25.00', description: 'Invoice 1' }), 201)
  const billing = data<Json>(await ask('GET', `/teams/${team.id}/billing`))
  assert.deepEqual([billing.balance, billing.summary.total_purchased], ['25.000000', '25.000000'])
  const [entry] = data<Json[]>(await ask('GET', `/teams/${team.id}/transactions`))
  assert.deepEqual([entry!.amount, entry!.description], ['25.000000', 'Invoice 1'])
  assert.deepEqual(data(await ask('GET', `/teams/${other.id}/transactions`)), [])
  failure(await ask('GET', '/teams/team_00000000000000000000000x/billing'), 404, 'not_found')
})

test('own records of a trial cannot be checked, and say so', async () => {
  const checks = data<Json>(await ask('GET', '/own-records/checks'))
  assert.deepEqual(new Set((checks.hosts as Json[]).map(({ status }) => status)), new Set(['not_checked']))
  assert.deepEqual(
    (checks.domains as Json[]).map(({ is_reserved }) => is_reserved),
    [true, true],
  )
})

test('a folder of backups that cannot be read is an error, not an empty list', async () => {
  const { folder } = appliance.app.maintenance.backups
  assert.deepEqual(data(await ask('GET', '/backups')), [], 'no folder yet')
  // A file in its place cannot be listed, whatever the rights of the user.
  await writeFile(folder, '')
  const reply = await ask('GET', '/backups')
  assert.match(failure(reply, 503, 'service_unavailable').message, /folder of backups .* cannot be read/)
  await rm(folder)
  await mkdir(folder)
  await chmod(folder, 0o700)
  assert.deepEqual(data(await ask('GET', '/backups')), [])
})
