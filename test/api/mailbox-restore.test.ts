// Restoring and erasing deleted mailboxes: by owners of the team and by the operator, while the content is kept.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { mailboxPurge } from '../../src/jobs/mailbox-purge.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { type PersonClient, signInMember } from '../support/person.ts'
import { sweepContent } from '../support/stored.ts'
import { trace, tracesOf } from '../support/traces.ts'
import { data, failure, issues, receive } from './expect.ts'

const DAY_MS = 86_400_000

const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { DELETED_MAILBOX_RETENTION_DAYS: '5' } })
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const team = await appliance.team('Shop')
await team.domain('shop.test')
const { secret: operatorKey } = await appliance.app.directory.operatorKeys.issue('test')

const call = async (method: string, path: string, body?: object) =>
  data<Json>(await appliance.call(method, path, team.key, body), method === 'POST' ? 201 : 200)
const act = (id: string, what: 'restore' | 'erase', body?: object, key = team.key) =>
  appliance.call('POST', `/mailboxes/${id}/${what}`, key, body)
const remove = async (id: string) => data(await appliance.call('DELETE', `/mailboxes/${id}`, team.key))
const newKeyOf = async (id: string) =>
  data<Json>(await appliance.call('POST', `/mailboxes/${id}/api-keys`, team.key, { name: 'New' }), 201).key as string
const as = (person: PersonClient, method: string, path: string, body?: object) =>
  person.call(method, `/as/${team.id}/api/v1${path}`, body)
const operator = (method: string, path: string, body?: object) =>
  appliance.call(method, `http://127.0.0.1:${appliance.ports.operator}/operator/v1${path}`, operatorKey, body)
const purge = () =>
  mailboxPurge.run({ app: appliance.app, log: appliance.app.log, signal: new AbortController().signal })

test('a restored mailbox has its content, folders, ids, settings and aliases, and its credentials stay revoked', async () => {
  const ana = await team.mailbox('ana@shop.test')
  const path = `/mailboxes/${ana.id}`
  data(await appliance.call('PATCH', path, team.key, { display_name: 'Ana', quota_bytes: 20_000_000 }))
  data(await appliance.call('POST', `${path}/aliases`, team.key, { email: 'sales@shop.test' }), 201)
  const filters = { mode: 'denylist', rules: [{ type: 'deny', pattern: '@spam.test' }] }
  data(await appliance.call('PUT', `${path}/filters`, team.key, filters))
  data(await appliance.call('POST', '/mailbox/folders', ana.key, { name: 'Work' }), 201)
  const away = { is_enabled: true, text_body: 'Away.' }
  data(await appliance.call('PUT', '/mailbox/vacation-response', ana.key, away))
  await receive(appliance, { to: ana.email, subject: 'Order' })
  const shown = async (key: string) => {
    const get = async (of: string) => data<Json>(await appliance.get(of, key))
    return [
      await get('/mailbox/messages'),
      await get('/mailbox/folders'),
      await get('/mailbox/identities'),
      await get('/mailbox/vacation-response'),
    ]
  }
  const before = await shown(ana.key)
  const record = await call('GET', path)
  assert.equal(record.restorable_until, null)

  await remove(ana.id)
  const [listed] = await call('GET', '/mailboxes?status=deleted&q=ana')
  assert.equal(Date.parse(listed.restorable_until), Date.parse(listed.deleted_at) + 5 * DAY_MS)
  await assert.rejects(receive(appliance, { to: 'sales@shop.test', subject: 'Refused' }), /550 5\.1\.1/)
  clock.leap(5 * DAY_MS - 1)
  await purge()

  const restored = data<Json>(await act(ana.id, 'restore'))
  assert.deepEqual(
    [restored.id, restored.email, restored.status, restored.deleted_at, restored.lost_aliases],
    [ana.id, ana.email, 'active', null, []],
  )
  assert.deepEqual([restored.display_name, restored.quota_bytes], ['Ana', 20_000_000])
  assert.equal(restored.restorable_until, null)
  assert.equal(restored.api_key_count, 0)
  failure(await appliance.get('/mailbox/me', ana.key), 401, 'authentication_required')
  const key = await newKeyOf(ana.id)
  assert.deepEqual(await shown(key), before)
  assert.deepEqual(await call('GET', `${path}/filters`), filters)
  await receive(appliance, { to: 'sales@shop.test', subject: 'For the alias' })
  assert.equal(data<Json[]>(await appliance.get('/mailbox/messages', key)).length, 2)
  clock.leap(10 * DAY_MS)
  await purge()
  assert.equal(data<Json[]>(await appliance.get('/mailbox/messages', key)).length, 2, 'it is not erased later')
  failure(await act(ana.id, 'restore'), 409, 'conflict')
})

test('a mailbox whose address is in use is restored under another one, without the aliases that others have', async () => {
  const ben = await team.mailbox('ben@shop.test')
  for (const email of ['one@shop.test', 'two@shop.test']) {
    data(await appliance.call('POST', `/mailboxes/${ben.id}/aliases`, team.key, { email }), 201)
  }
  data(await appliance.call('POST', '/mailbox/identities', ben.key, { email: 'ben+x@shop.test' }), 201)
  await receive(appliance, { to: ben.email, subject: 'Old' })
  await remove(ben.id)
  const successor = await team.mailbox('ben@shop.test')
  data(await appliance.call('POST', `/mailboxes/${successor.id}/aliases`, team.key, { email: 'two@shop.test' }), 201)

  const refused = await act(ben.id, 'restore')
  failure(refused, 409, 'conflict')
  assert.equal(refused.body.error.param, 'email')
  issues(await act(ben.id, 'restore', { email: 'ben@else.test' }), 422, 'validation_error', ['email not_found'])
  const restored = data<Json>(await act(ben.id, 'restore', { email: 'Ben.Old@shop.test' }))
  assert.deepEqual([restored.email, restored.lost_aliases], ['ben.old@shop.test', ['two@shop.test']])
  const key = await newKeyOf(ben.id)
  const identities = data<Json[]>(await appliance.get('/mailbox/identities', key))
  const own = identities.map(({ email }) => email).filter((email) => email.startsWith('ben'))
  assert.deepEqual(own, ['ben.old@shop.test', 'ben.old+x@shop.test'])
  await receive(appliance, { to: ['ben.old@shop.test', 'one@shop.test'], subject: 'New' })
  assert.equal(data<Json[]>(await appliance.get('/mailbox/messages', key)).length, 2)
  assert.deepEqual(data<Json[]>(await appliance.get('/mailbox/messages', successor.key)), [])
})

test('a suspended mailbox stays suspended, and a send scope loses the accounts that are gone', async () => {
  const box = await team.mailbox('held@shop.test')
  const server = { smtp_host: 'smtp.example.test', smtp_port: 587, smtp_protocol: 'starttls' }
  const account = { name: 'Primary', ...server, smtp_username: 'shop', smtp_password: 'very secret words' }
  const provider = await call('POST', '/providers', account)
  data(await appliance.call('POST', `/mailboxes/${box.id}/suspend`, team.key, { reason: 'Left.' }))
  const scope = { type: 'providers', provider_public_ids: [provider.id] }
  data(await appliance.call('PATCH', `/mailboxes/${box.id}`, team.key, { send_scope: scope }))
  await remove(box.id)
  data(await appliance.call('DELETE', `/providers/${provider.id}`, team.key))
  const restored = data<Json>(await act(box.id, 'restore'))
  assert.deepEqual([restored.status, restored.status_reason], ['suspended', 'Left.'])
  assert.deepEqual(restored.send_scope, { type: 'all' })
})

test('only the authority of an owner restores and erases, with the permission to delete', async () => {
  const box = await team.mailbox('guarded@shop.test')
  await remove(box.id)
  const owner = await signInMember(appliance, team.id, 'owner', 'olga@people.example')
  const admin = await signInMember(appliance, team.id, 'admin', 'adam@people.example')
  const makers = ['mailbox.admin.create', 'mailbox.admin.read', 'mailbox.admin.manage']
  const maker = await call('POST', '/api-keys', { name: 'Maker', permissions: makers })
  const ofAdmin = data<Json>(await as(admin, 'POST', '/api-keys', { name: 'x', role: 'root:full' }), 201)
  const other = await appliance.team('Other')
  for (const what of ['restore', 'erase'] as const) {
    failure(await act(box.id, what, undefined, maker.key), 403, 'insufficient_permissions')
    failure(await act(box.id, what, undefined, ofAdmin.key), 403, 'insufficient_permissions')
    failure(await as(admin, 'POST', `/mailboxes/${box.id}/${what}`), 403, 'insufficient_permissions')
    failure(await act(box.id, what, undefined, other.key), 404, 'not_found')
  }
  data(await as(owner, 'POST', `/mailboxes/${box.id}/restore`))
  for (const what of ['erase', 'restore'] as const) failure(await act(box.id, what), 409, 'conflict')
  const entries = data<Json[]>(await appliance.get('/team/audit', team.key))
  const entry = entries.find(({ action }) => action === 'restoreMailbox')
  assert.deepEqual([entry.target.id, entry.actor.label], [box.id, 'olga@people.example'])
})

test('an erased mailbox is gone at once, and so is one whose days are over', async () => {
  const [now, later] = [await team.mailbox('now@shop.test'), await team.mailbox('later@shop.test')]
  for (const { id, email } of [now, later]) {
    data(await appliance.call('POST', `/mailboxes/${id}/aliases`, team.key, { email: `alias.${email}` }), 201)
    await receive(appliance, { to: email, subject: 'Kept' })
  }
  const traces = [trace(appliance, now.id), trace(appliance, later.id)]
  for (const { id } of [now, later]) await remove(id)
  data(await act(now.id, 'erase'))
  failure(await act(now.id, 'restore'), 404, 'not_found')
  failure(await act(now.id, 'erase'), 404, 'not_found')
  assert.deepEqual(await call('GET', '/mailboxes?status=deleted&q=now@'), [])
  clock.leap(5 * DAY_MS)
  failure(await act(later.id, 'restore'), 404, 'not_found')
  await purge()
  for (const traced of traces) {
    const rows = tracesOf(appliance, traced)
    const left = ['messages', 'folders', 'identities', 'deleted_aliases', 'mailbox_erasures'].map((name) =>
      rows.get(name),
    )
    assert.deepEqual(left, [0, 0, 0, 0, 0])
  }
})

test('the operator lists, restores and erases the deleted mailboxes of a team', async () => {
  const box = await team.mailbox('operated@shop.test')
  await remove(box.id)
  const base = `/teams/${team.id}`
  const listed = data<Json[]>(await operator('GET', `${base}/deleted-mailboxes`))
  assert.ok(listed.some(({ id }) => id === box.id))
  failure(await operator('GET', `/teams/${newId('team')}/deleted-mailboxes`), 404, 'not_found')
  const restored = data<Json>(
    await operator('POST', `${base}/mailboxes/${box.id}/restore`, { email: 'moved@shop.test' }),
  )
  assert.equal(restored.email, 'moved@shop.test')
  await remove(box.id)
  data(await operator('POST', `${base}/mailboxes/${box.id}/erase`))
  failure(await operator('POST', `${base}/mailboxes/${box.id}/restore`), 404, 'not_found')
})
