// The Operator API: its own listener and keys, teams, and the queue.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, failure, walk } from './expect.ts'

const appliance = await startAppliance({
  // The name server of the domain is broken: mail to it waits.
  zone: { 'nowhere.test': { error: 'servfail' } },
  env: { SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' },
})
after(() => appliance.close())
const team = await appliance.team('Shop')
const { secret: key } = await appliance.app.directory.operatorKeys.issue('test')
const base = `http://127.0.0.1:${appliance.ports.operator}/operator/v1`
const ask = (method: string, path: string, body?: unknown, credential: string | null = key) =>
  appliance.call(method, base + path, credential, body)

interface OperatorTeam {
  id: string
  name: string
  status: string
  ses_enabled: boolean
  ses_daily_limit: number | null
}

test('an operator key is accepted by this listener, and no other credential is', async () => {
  data(await ask('GET', '/teams'))
  for (const credential of [team.key, null, `${key}x`, 'sok_nothing']) {
    const reply = await ask('GET', '/teams', undefined, credential)
    failure(reply, 401, 'authentication_required')
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/)
  }
  failure(await ask('GET', '/nothing', undefined, null), 401, 'authentication_required')
  failure(await ask('GET', '/nothing'), 404, 'not_found')
})

test('an operator key is rejected by the public listeners, which have no operator routes', async () => {
  failure(await appliance.get('/domains', key), 401, 'authentication_required')
  failure(
    await appliance.call('GET', `${appliance.sendOrigin}/api/v1/openapi.jsn`, key),
    401,
    'authentication_required',
  )
  const reply = await appliance.call('GET', `${appliance.origin}/operator/v1/teams`, key)
  failure(reply, 404, 'not_found')
  const document = (await appliance.get('/openapi.json')).body
  assert.ok(!Object.keys(document.paths).some((path) => path.includes('limit-requests/{') || path === '/queue'))
})

test('teams are created, renamed, suspended and given keys', async () => {
  const made = data<OperatorTeam>(await ask('POST', '/teams', { name: 'New' }), 201)
  const { key: root } = data<{ key: string }>(await ask('POST', `/teams/${made.id}/api-keys`, { name: 'first' }), 201)
  data(await appliance.get('/domains', root))
  const changed = data<OperatorTeam>(await ask('PATCH', `/teams/${made.id}`, { name: 'Newer', status: 'suspended' }))
  assert.deepEqual([changed.name, changed.status], ['Newer', 'suspended'])
  failure(await appliance.get('/domains', root), 403, 'insufficient_permissions')
  const all = data<OperatorTeam[]>(await ask('GET', '/teams'))
  assert.deepEqual(all.map(({ name }) => name).sort(), ['Newer', 'Shop'])
  failure(await ask('PATCH', `/teams/${newId('team')}`, { name: 'x' }), 404, 'not_found')
  for (const name of ['Locked: http://evil.example', 'ceo@bank.example', 'a\u202eb', 'a\u200bb']) {
    failure(await ask('POST', '/teams', { name }), 422, 'validation_error')
    failure(await ask('PATCH', `/teams/${made.id}`, { name }), 422, 'validation_error')
    // A name of an earlier version stays, also where a client sends it back.
    await appliance.app.db.write((tx) => tx.run('UPDATE teams SET name = ? WHERE id = ?', [name, made.id]))
    data(await ask('PATCH', `/teams/${made.id}`, { name }))
  }
  data(await ask('PATCH', `/teams/${made.id}`, { name: 'Newer' }))
})

test('a team and the invitation of its owner are created together, once, or not at all', async () => {
  const create = (name: string, again = '') =>
    appliance.call(
      'POST',
      `${base}/teams`,
      key,
      { name, owner_email: 'Ida@people.test' },
      again ? { 'idempotency-key': again } : {},
    )
  const made = data<OperatorTeam>(await create('First of Ida', 'once'), 201)
  assert.deepEqual([made.ses_enabled, made.ses_daily_limit], [false, null])
  assert.equal(data<OperatorTeam>(await create('First of Ida', 'once'), 201).id, made.id)
  const { people } = appliance.app
  const member = () => people.members.of('ida@people.test').map(({ teamId, role, status }) => [teamId, role, status])
  assert.deepEqual(member(), [[made.id, 'owner', 'invited']])
  data(await create('Second'), 201)
  data(await create('Third'), 201)
  // Repeated invitations would fill the mailbox of a person.
  assert.equal(failure(await create('Fourth'), 429, 'rate_limit_exceeded').retryable, true)
  assert.equal(member().length, 3)
  const names = data<OperatorTeam[]>(await ask('GET', '/teams')).map(({ name }) => name)
  assert.deepEqual([names.includes('Third'), names.includes('Fourth')], [true, false])
  failure(await ask('POST', '/teams', { name: 'Fifth', owner_email: 'no address' }), 422, 'validation_error')
})

test('a team is updated as a whole or not at all', async () => {
  // This appliance has no shared account that could be opened.
  await using bare = await startAppliance()
  const { id } = await bare.team('Before')
  const { secret } = await bare.app.directory.operatorKeys.issue('test')
  const change = { name: 'After', status: 'suspended', ses_enabled: true }
  const path = `http://127.0.0.1:${bare.ports.operator}/operator/v1/teams/${id}`
  failure(await bare.call('PATCH', path, secret, change), 503, 'service_unavailable')
  const { name, status } = bare.app.directory.teams.get(id)!
  assert.deepEqual([name, status], ['Before', 'active'])
})

test('a key of a team has the requested permissions and expiry', async () => {
  const path = `/teams/${team.id}/api-keys`
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const request = { name: 'narrow', permissions: ['domain.read', 'webhook.*'], expires_at }
  const made = data<{
    id: string
    key: string
    role: null
    permissions: string[]
    expires_at: string
    created_by: string
  }>(await ask('POST', path, request), 201)
  assert.deepEqual([made.role, made.permissions, made.expires_at], [null, request.permissions, expires_at])
  assert.equal(made.created_by, 'operator')
  data(await appliance.get('/domains', made.key))
  failure(await appliance.get('/mailboxes', made.key), 403, 'insufficient_permissions')
  failure(await ask('POST', path, { ...request, role: 'root:full' }), 422, 'validation_error')
  failure(await ask('POST', path, { name: 'x', permissions: ['nothing.read'] }), 422, 'validation_error')
  failure(await ask('POST', path, { name: 'x', expires_at: '2020-01-01T00:00:00Z' }), 422, 'validation_error')
})

test('the shared account is enabled for a team, and its limit request is approved', async () => {
  const opened = data<OperatorTeam>(
    await ask('PATCH', `/teams/${team.id}`, { ses_enabled: true, ses_daily_limit: 100 }),
  )
  assert.deepEqual([opened.ses_enabled, opened.ses_daily_limit], [true, 100])
  const [provider] = await walk<{ type: string; is_shared: boolean; status: string }>(appliance, '/providers', team.key)
  assert.deepEqual([provider!.type, provider!.is_shared, provider!.status], ['amazon_ses', true, 'active'])
  const asked = data<{ request: { id: string } }>(
    await appliance.call('POST', '/providers/shared-amazon-ses-limit-request', team.key, {
      requested_daily_limit: 500,
    }),
    201,
  )
  const { id } = asked.request
  const listed = await ask('GET', '/limit-requests?status=pending')
  assert.deepEqual(
    data<{ id: string }[]>(listed).map((request) => request.id),
    [id],
  )
  failure(await ask('POST', `/limit-requests/${id}/approve`, { approved_daily_limit: 50 }), 422, 'validation_error')
  data(await ask('POST', `/limit-requests/${id}/approve`, { approved_daily_limit: 400, decision_note: 'Fine.' }))
  failure(await ask('POST', `/limit-requests/${id}/deny`), 409, 'conflict')
  const shown = data<{ limit: { daily_limit: number } }>(
    await appliance.get('/providers/shared-amazon-ses-limit-request', team.key),
  )
  assert.equal(shown.limit.daily_limit, 400)
})

test('the queue is listed, and its messages are retried and dropped', async () => {
  await team.domain('shop.test')
  const request = {
    from: { email: 'a@shop.test' },
    to: { email: 'b@nowhere.test' },
    subject: 'Hello',
    text_body: 'Hello.',
  }
  const batch = await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send/batch`, team.key, {
    messages: [request],
  })
  const [{ message_id: id }] = data<{ results: { message_id: string }[] }>(batch).results as [{ message_id: string }]
  await appliance.settle()
  const waiting = () => walkQueue(`?team_id=${team.id}&domain=Nowhere.test`)
  const [entry] = await waiting()
  assert.deepEqual([entry!.message_id, entry!.from_email, entry!.domain], [id, 'a@shop.test', 'nowhere.test'])
  assert.ok(Date.parse(entry!.due_at) > Date.now())
  assert.deepEqual([entry!.to_email, entry!.attempts], ['b@nowhere.test', 1])
  assert.match(entry!.reason!, /nowhere\.test/, 'why it waits')
  assert.deepEqual(data(await ask('POST', `/queue/${id}/retry`)), { message_id: id, deliveries: 1 })
  await appliance.settle()
  const logs = () =>
    walk<{ status: string; status_reason: string; attempts: number }>(appliance, '/emails/logs', team.key)
  assert.equal((await logs())[0]!.attempts, 2)
  assert.deepEqual(data(await ask('DELETE', `/queue/${id}`)), { message_id: id, deliveries: 1 })
  assert.deepEqual(await waiting(), [])
  const [row] = await logs()
  assert.deepEqual([row!.status, row!.status_reason], ['failed', 'cancelled'])
})

interface Entry {
  message_id: string
  from_email: string
  to_email: string
  domain: string
  attempts: number
  reason: string | null
  due_at: string
}

async function walkQueue(query: string): Promise<Entry[]> {
  return data<Entry[]>(await ask('GET', `/queue${query}`))
}

test('the machine is described: versions, memory, threads and disk', async () => {
  const machine = data<Record<string, string | number>>(await ask('GET', '/machine'))
  assert.deepEqual([machine.node, machine.platform], [process.version, `${process.platform} ${process.arch}`])
  assert.ok(Date.parse(String(machine.started_at)) <= Date.now())
  for (const name of ['resident_bytes', 'heap_bytes', 'threads', 'disk_free_bytes', 'mail_bytes', 'blobs_bytes'])
    assert.ok(Number(machine[name]) > 0, name)
  assert.ok(Number(machine.disk_free_bytes) <= Number(machine.disk_bytes))
})

test('settings say where their value is from', async () => {
  const settings = data<{ name: string; source: string; is_secret: boolean }[]>(await ask('GET', '/settings'))
  const one = (name: string) => settings.find((setting) => setting.name === name)!
  assert.equal(one('DATA_DIR').source, 'environment')
  assert.equal(one('SPAM_JUNK_SCORE').source, 'default')
  assert.deepEqual([one('APP_SECRET').is_secret, one('SMTP_PORT').is_secret], [true, false])
  assert.equal(one('GOOGLE_TOKEN_BASE').is_secret, false, 'the address of an endpoint')
})

test('an idle appliance has an empty queue', async () => {
  assert.deepEqual(data(await ask('GET', '/queue')), [])
  failure(await ask('POST', `/queue/${newId('email')}/retry`), 404, 'not_found')
  failure(await ask('DELETE', `/queue/${newId('email')}`), 404, 'not_found')
})
