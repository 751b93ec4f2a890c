// API keys of a team and its members: permissions, changes, revocation; a team keeps an owner.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ROLES } from '../../src/directory/names/permissions.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team('Shop')
await team.domain('shop.test')
const call = (method: string, path: string, body?: object, key = team.key, headers?: Record<string, string>) =>
  appliance.call(method, path, key, body, headers)
const make = async (body: object, key = team.key) => data<Json>(await call('POST', '/api-keys', body, key), 201)

test('a key has a role or permissions, shows its secret once, and cannot create a key with more permissions', async () => {
  const reader = await make({ name: 'reader', role: 'root:readonly' })
  assert.match(reader.key, /^srk_\w{46}$/)
  assert.deepEqual(
    [reader.role, reader.kind, reader.status, reader.mailbox_id],
    ['root:readonly', 'root', 'active', null],
  )
  assert.equal((await call('GET', '/domains', undefined, reader.key)).status, 200)
  failure(await call('POST', '/domains', { domain: 'x.test' }, reader.key), 403, 'insufficient_permissions')
  const maker = await make({ name: 'maker', permissions: ['apikey.*', 'domain.read'] })
  assert.equal((await make({ name: 'less', permissions: ['domain.read', 'apikey.create'] }, maker.key)).role, null)
  for (const wanted of [{ permissions: ['domain.*'] }, { permissions: ['domain.verify'] }, { role: 'root:full' }]) {
    failure(await call('POST', '/api-keys', { name: 'more', ...wanted }, maker.key), 403, 'insufficient_permissions')
  }
  failure(await call('PATCH', `/api-keys/${reader.id}`, { name: 'x' }, maker.key), 403, 'insufficient_permissions')
  failure(await call('DELETE', `/api-keys/${reader.id}`, undefined, maker.key), 403, 'insufficient_permissions')
  issues(await call('POST', '/api-keys', { name: 'x' }), 422, 'validation_error', ['role invalid_union'])
  const both = { name: 'x', role: 'root:full', permissions: ['domain.read'] }
  issues(await call('POST', '/api-keys', both), 422, 'validation_error', ['role invalid_union'])
})

test('an unknown permission is reported, with the nearest one, also to a key with all permissions', async () => {
  const reader = await make({ name: 'reader', permissions: ['apikey.create', 'domain.read'] })
  const cases: [name: string, reported: RegExp][] = [
    ['domain.reed', /`domain\.reed` is not a permission of this kind of key\. Did you mean `domain\.read`\?/],
    ['domains.*', /Did you mean `domain\.\*`\?/],
    ['Webhook.Read', /Did you mean `webhook\.read`\?/],
    ['mailbox.read', /Did you mean/],
    ['*', /The role `root:full` holds every permission\./],
    ['x'.repeat(64), /Did you mean/],
  ]
  for (const [name, reported] of cases) {
    for (const key of [team.key, reader.key]) {
      const reply = await call('POST', '/api-keys', { name: 'x', permissions: ['domain.read', name] }, key)
      issues(reply, 422, 'validation_error', ['permissions.1 invalid_enum'])
      assert.match(reply.body.error.message, reported)
    }
  }
  const lacking = await call('POST', '/api-keys', { name: 'x', permissions: ['domain.verify'] }, reader.key)
  failure(lacking, 403, 'insufficient_permissions')
})

test('a root key gets the error that a mailbox key is needed', async () => {
  const { message } = failure(await call('GET', '/mailbox/messages'), 403, 'insufficient_permissions')
  assert.equal(message, 'This path needs a mailbox key; root keys cannot read messages.')
})

test('a key is renamed, expires earlier, never later; is rotated with a grace period; is revoked immediately', async () => {
  const made = await make({ name: 'one', role: 'root:readonly' })
  const path = `/api-keys/${made.id}`
  const shown = await call('GET', path)
  const tag = etagOf(shown)
  assert.ok(!('key' in data<Json>(shown)))
  const soon = new Date(clock.now() + 60_000).toISOString()
  assert.equal(
    data<Json>(await call('PATCH', path, { name: 'two', expires_at: soon }, team.key, { 'if-match': tag })).expires_at,
    soon,
  )
  failure(await call('PATCH', path, { name: 'three' }, team.key, { 'if-match': tag }), 409, 'conflict')
  const later = new Date(clock.now() + 120_000).toISOString()
  issues(await call('PATCH', path, { expires_at: later }), 422, 'validation_error', ['expires_at too_big'])
  const rotated = data<Json>(await call('POST', `${path}/rotate`, { grace_seconds: 10 }))
  for (const key of [made.key, rotated.key]) assert.equal((await call('GET', '/domains', undefined, key)).status, 200)
  clock.advance(10_000)
  assert.equal((await call('GET', '/domains', undefined, made.key)).status, 401)
  clock.advance(50_000)
  assert.equal((await call('GET', '/domains', undefined, rotated.key)).status, 401)
  failure(await call('PATCH', path, { name: 'x' }), 409, 'conflict')
  const other = await make({ name: 'other', role: 'root:readonly' })
  data(await call('DELETE', `/api-keys/${other.id}`))
  assert.equal((await call('GET', '/domains', undefined, other.key)).status, 401)
  const expired = data<Json[]>(await call('GET', '/api-keys?status=expired'))
  assert.deepEqual(
    expired.map(({ id }) => id),
    [made.id],
  )
})

test('keys of mailboxes are listed, and changed under their mailbox only', async () => {
  const ana = await team.mailbox('ana@shop.test')
  const [key] = data<Json[]>(await call('GET', '/api-keys?kind=mailbox'))
  assert.equal(key.mailbox_id, ana.id)
  failure(await call('DELETE', `/api-keys/${key.id}`), 409, 'conflict')
  failure(await call('POST', `/api-keys/${key.id}/rotate`), 409, 'conflict')
})

test('a replayed secret is returned to the same key only', async () => {
  const maker = await make({ name: 'maker', permissions: ['apikey.create'] })
  const wide = { name: 'wide', role: 'root:full' }
  const ask = (key: string) => call('POST', '/api-keys', wide, key, { 'idempotency-key': 'wide-1' })
  const made = data<Json>(await ask(team.key), 201)
  failure(await ask(maker.key), 409, 'idempotency_conflict')
  assert.equal(data<Json>(await ask(team.key), 201).key, made.key)
})

test('a key cannot create, change or remove a member with more permissions', async () => {
  const manager = await make({ name: 'manager', permissions: ['team.manage'] })
  const refused = async (method: string, path: string, body?: object) =>
    failure(await call(method, path, body, manager.key), 403, 'insufficient_permissions')
  const zoe = data<Json>(await call('POST', '/team/members', { email: 'zoe@people.test', role: 'owner' }), 202)
  const yan = data<Json>(await call('POST', '/team/members', { email: 'yan@people.test', role: 'viewer' }), 202)
  await refused('POST', '/team/members', { email: 'eve@people.test', role: 'owner' })
  await refused('PATCH', `/team/members/${yan.id}`, { role: 'owner' })
  await refused('PATCH', `/team/members/${zoe.id}`, { role: 'viewer' })
  await refused('DELETE', `/team/members/${zoe.id}`)
  const keeper = await make({ name: 'keeper', permissions: [...ROLES['root:readonly'], 'team.manage'] })
  data(await call('POST', '/team/members', { email: 'eve@people.test', role: 'viewer' }, keeper.key), 202)
  failure(
    await call('PATCH', `/team/members/${zoe.id}`, { role: 'viewer' }, keeper.key),
    403,
    'insufficient_permissions',
  )
  data(await call('DELETE', `/team/members/${yan.id}`, undefined, keeper.key))
  for (const { id, email } of data<Json[]>(await call('GET', '/team/members'))) {
    if (email !== 'zoe@people.test') data(await call('DELETE', `/team/members/${id}`))
  }
  // A team keeps an owner; the next test begins with none.
  await appliance.app.db.write((tx) => tx.run('DELETE FROM members'))
})

test('an object changed since it was read is neither changed nor removed', async () => {
  const shop = await call('GET', '/team')
  data(await call('PATCH', '/team', { name: 'Shop 2' }, team.key, { 'if-match': etagOf(shop) }))
  failure(await call('PATCH', '/team', { name: 'Shop 3' }, team.key, { 'if-match': etagOf(shop) }), 409, 'conflict')
  const key = await make({ name: 'first', role: 'root:readonly' })
  const domain = data<Json>(await call('POST', '/domains', { domain: 'gone.test' }), 201)
  for (const path of [`/api-keys/${key.id}`, `/domains/${domain.id}`]) {
    const tag = etagOf(await call('GET', path))
    failure(await call('DELETE', path, undefined, team.key, { 'if-match': 'W/"stale"' }), 409, 'conflict')
    const gone = await call('DELETE', path, undefined, team.key, { 'if-match': tag })
    data(gone)
    assert.equal(gone.headers.get('etag'), null)
  }
})

test('members are invited, promoted and removed; the last owner stays', async () => {
  assert.equal(data<Json>(await call('PATCH', '/team', { name: 'Shop & Co' })).name, 'Shop & Co')
  assert.equal(data<Json>(await call('GET', '/team')).name, 'Shop & Co')
  const invite = (email: string, role: string) => call('POST', '/team/members', { email, role })
  const ana = data<Json>(await invite('Ana@people.test', 'owner'), 202)
  assert.deepEqual([ana.email, ana.role, ana.status, ana.joined_at], ['ana@people.test', 'owner', 'invited', null])
  failure(await invite('ana@people.test', 'viewer'), 409, 'conflict')
  const ben = data<Json>(await invite('ben@people.test', 'viewer'), 202)
  failure(await call('PATCH', `/team/members/${ana.id}`, { role: 'admin' }), 409, 'conflict')
  failure(await call('DELETE', `/team/members/${ana.id}`), 409, 'conflict')
  assert.equal(data<Json>(await call('PATCH', `/team/members/${ben.id}`, { role: 'owner' })).role, 'owner')
  data(await call('DELETE', `/team/members/${ana.id}`))
  assert.deepEqual(
    data<Json[]>(await call('GET', '/team/members')).map(({ id }) => id),
    [ben.id],
  )
})

test('a mailbox is updated, suspended, reactivated, and deleted; its address is free immediately', async () => {
  const made = data<Json>(await call('POST', '/mailboxes', { email: 'carl@shop.test', create_api_key: true }), 201)
  const path = `/mailboxes/${made.id}`
  const tag = etagOf(await call('GET', path))
  const change = { display_name: 'Carl', quota_bytes: 20_000_000 }
  const changed = data<Json>(await call('PATCH', path, change, team.key, { 'if-match': tag }))
  assert.deepEqual([changed.display_name, changed.quota_bytes], ['Carl', 20_000_000])
  failure(await call('PATCH', path, { display_name: null }, team.key, { 'if-match': tag }), 409, 'conflict')
  issues(await call('PATCH', path, { email: 'x@shop.test' }), 422, 'validation_error', ['email unknown_field'])
  const stopped = data<Json>(await call('POST', `${path}/suspend`, { reason: 'unpaid' }))
  assert.deepEqual([stopped.status, stopped.status_reason], ['suspended', 'unpaid'])
  assert.equal(data<Json>(await call('POST', `${path}/reactivate`)).status, 'active')
  data(await call('DELETE', path))
  data(await call('DELETE', path))
  assert.equal((await call('GET', '/mailbox/me', undefined, made.api_key.key)).status, 401)
  failure(await call('POST', `${path}/reactivate`), 409, 'conflict')
  failure(await call('PATCH', path, { display_name: 'x' }), 409, 'conflict')
  assert.equal((await call('POST', '/mailboxes', { email: 'carl@shop.test' })).status, 201)
})
