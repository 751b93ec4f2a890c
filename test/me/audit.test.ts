// The audit log: who changed what, for the team and for the operator, without secrets.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AUDIT_ENTRIES_MAX, TRIM_ACTION, TRIMMED_AT_ONCE } from '../../src/people/audit.ts'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { Browser } from '../support/browser.ts'
import { ManualClock } from '../support/clock.ts'
import { type PersonClient, signInMember } from '../support/person.ts'

const clock = new ManualClock()
let appliance: TestAppliance
let team: TestTeam
let owner: PersonClient & { memberId: string }

before(async () => {
  appliance = await startAppliance({ clock })
  team = await appliance.team('Shop')
  owner = await signInMember(appliance, team.id, 'owner')
})
after(() => appliance.close())

const entries = async (query = ''): Promise<Json[]> =>
  (await owner.get(`/as/${team.id}/api/v1/team/audit${query}`)).body.data

test('a change is listed with the person or key, the target, the source and the request', async () => {
  const path = `/as/${team.id}/api/v1/api-keys`
  const made = await owner.call('POST', path, { name: 'shop', role: 'root:readonly' })
  const byKey = await appliance.call('POST', '/domains', team.key, { domain: 'shop.test' })
  assert.equal(byKey.status, 201, JSON.stringify(byKey.body))
  const [domain, key] = await entries()
  assert.deepEqual([domain.action, domain.actor.kind, domain.actor.label], ['createDomain', 'key', 'test'])
  assert.deepEqual([domain.target.type, domain.target.id], ['domain', byKey.body.data.id])
  assert.deepEqual(
    [key.action, key.actor, key.target, key.request_id],
    [
      'createApiKey',
      { kind: 'person', id: owner.memberId, label: owner.email },
      { type: 'key', id: made.body.data.id, label: 'shop' },
      made.body.meta.request_id,
    ],
  )
  assert.equal(key.source, '127.0.0.1')
  assert.ok(!JSON.stringify(await entries()).includes(made.body.data.key ?? made.body.data.secret))
})

test('reads, refusals and repeated requests leave no entry; a form leaves one', async () => {
  const before = (await entries()).length
  await owner.get(`/as/${team.id}/api/v1/domains`)
  await owner.call('POST', `/as/${team.id}/api/v1/domains`, { domain: 'not a domain' })
  const create = () => {
    const body = { name: 'again', role: 'root:readonly' }
    return owner.call('POST', `/as/${team.id}/api/v1/api-keys`, body, { 'idempotency-key': 'once' })
  }
  const [one, two] = [await create(), await create()]
  assert.equal(one.body.data.id, two.body.data.id)
  assert.equal((await entries()).length, before + 1)
  const browser = new Browser(appliance)
  browser.cookie = owner.cookie
  const page = await browser.get(`/owner/keys/${team.id}`)
  await browser.submit(page, `/owner/keys/${team.id}/keys`, { name: 'by form', role: 'root:readonly' })
  const [newest] = await entries()
  assert.deepEqual([newest.action, newest.actor.label], ['createConsoleKey', owner.email])
  assert.equal(newest.actor.id, owner.memberId, 'people without an id would be one actor of the bound')
})

test('entries are found by actor, text and time, page by page, and only by their team', async () => {
  const found = await entries(`?actor=${owner.email}&q=createapikey`)
  assert.ok(found.length > 0 && found.every(({ action }) => action === 'createApiKey'))
  const { body } = await owner.get(`/as/${team.id}/api/v1/team/audit?limit=1`)
  assert.equal(body.pagination.has_more, true)
  assert.deepEqual(await entries(`?after=${new Date(clock.now() + 1000).toISOString()}`), [])
  const other = await appliance.team('Other')
  const stranger = await signInMember(appliance, other.id, 'viewer', 'vic@people.example')
  assert.deepEqual((await stranger.get(`/as/${other.id}/api/v1/team/audit`)).body.data, [])
  const limited = await appliance.app.directory.keys.issue({
    ...{ teamId: team.id, kind: 'root', name: 'x', role: 'root:webhook_admin', createdBy: 'operator' },
  })
  assert.equal((await appliance.get('/team/audit', limited.secret)).status, 403)
})

test('the operator sees every entry, and they expire with the logs', async () => {
  const { app } = appliance
  await app.db.write((tx) => app.people.persons.setOperator(tx, owner.email, true))
  await owner.call('PATCH', '/me/v1/self', { display_name: 'Olga' })
  const all: Json[] = (await owner.get('/as/operator/audit')).body.data
  assert.deepEqual([all[0].action, all[0].actor.label], ['updateSelf', owner.email])
  clock.leap(app.config.LOG_RETENTION_DAYS * 24 * 3_600_000 + 1)
  assert.ok((await app.people.audit.prune(clock.now() - app.config.LOG_RETENTION_DAYS * 86_400_000)) > 0)
})

test('beyond the bound the oldest entries of the busiest actor go, and an entry says so', async () => {
  const { app } = appliance
  const flooded = await appliance.team('Flooded')
  const entry = (label: string, id: string) => ({
    ...{ teamId: flooded.id, actor: { kind: 'key' as const, id, label }, action: 'updateTeam' },
    ...{ target: { type: null, id: null, label: null }, source: '', requestId: '' },
  })
  await app.people.audit.record(entry('quiet', 'key_quiet'))
  await app.db.write((tx) => {
    tx.run(
      `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?)
       INSERT INTO audit_entries (id, team_id, at, actor_kind, actor_id, actor_label, action, source, request_id)
       SELECT 'aud_flood' || i, ?, ?, 'key', 'key_busy', 'busy', 'updateTeam', '', '' FROM numbers`,
      [AUDIT_ENTRIES_MAX, flooded.id, clock.now()],
    )
    for (let i = 0; i < 100; i++) app.people.audit.recordIn(tx, entry('busy', 'key_busy'))
  })
  const count = (actor: string) => {
    const sql = 'SELECT count(*) AS count FROM audit_entries WHERE team_id = ? AND actor_id = ?'
    return app.db.read.get<{ count: number }>(sql, [flooded.id, actor])!.count
  }
  assert.deepEqual([count('key_quiet'), count('key_busy')], [1, AUDIT_ENTRIES_MAX + 100 - TRIMMED_AT_ONCE])
  const { items } = await app.people.audit.list(flooded.id, { search: TRIM_ACTION, limit: 10, after: null })
  assert.deepEqual(
    items.map(({ actor, target }) => [actor.id, target]),
    [['appliance', { type: 'auditEntry', id: 'key_busy', label: `the ${TRIMMED_AT_ONCE} oldest of busy` }]],
  )
})

test('one person is one actor, however often they sign in', async () => {
  const { app } = appliance
  const entry = (label: string, id: string) => ({
    ...{ teamId: null, actor: { kind: 'person' as const, id, label }, action: 'updateMe' },
    ...{ target: { type: null, id: null, label: null }, source: '', requestId: '' },
  })
  const count = (label: string) => {
    const sql = 'SELECT count(*) AS count FROM audit_entries WHERE team_id IS NULL AND actor_label = ?'
    return app.db.read.get<{ count: number }>(sql, [label])!.count
  }
  await app.db.write((tx) => {
    tx.run(
      `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?)
       INSERT INTO audit_entries (id, team_id, at, actor_kind, actor_id, actor_label, action, source, request_id)
       SELECT 'aud_often' || i, NULL, ?, 'person', 'ses_' || i, 'often@people.example', 'updateMe', '', '' FROM numbers`,
      [AUDIT_ENTRIES_MAX, clock.now()],
    )
    for (let i = 0; i < 100; i++) app.people.audit.recordIn(tx, entry('calm@people.example', 'ses_calm'))
  })
  const left = [count('calm@people.example'), count('often@people.example')]
  assert.deepEqual(left, [100, AUDIT_ENTRIES_MAX - TRIMMED_AT_ONCE])
})

test('an app password that a person makes in a mailbox leaves an entry; reading and filing do not', async () => {
  await team.domain('audit.test')
  const box = await team.mailbox('ana@audit.test')
  const ana = await signInMember(appliance, team.id, 'user', box.email)
  const at = (path: string) => `/as/${box.id}/api/v1/mailbox${path}`
  assert.equal((await ana.call('POST', at('/folders'), { name: 'Bills' })).status, 201)
  const made = await ana.call('POST', at('/app-passwords'), { name: 'Phone' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const path = `/team/audit?actor=${encodeURIComponent(box.email)}`
  const found: Json[] = (await appliance.call('GET', path, team.key)).body.data
  assert.deepEqual(
    found.map(({ actor, target }) => [actor.id, target.id]),
    [[ana.memberId, made.body.data.id]],
  )
})
