// App passwords, sign-ins and client settings over the API: what each credential may do with them, and what they may not do.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { groupedAppSecret, readAppSecret } from '../../src/base/app-secret.ts'
import { APP_PASSWORDS_MAX } from '../../src/directory/mailboxes/app-passwords.ts'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { finished, signIn } from '../support/mail-program.ts'
import { data, failure, walk } from './expect.ts'

const DAY_MS = 86_400_000
const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  env: { ...EASY_WORK, CLIENT_PROTOCOLS: 'imaps, imap', CLIENT_HOST: 'mail.in.test', MAILBOX_GATED: 'submission' },
})
after(() => appliance.close())
const { app } = appliance
const team = await appliance.team()
await team.domain('in.test')
let boxes = 0
const newMailbox = () => team.mailbox(`box${++boxes}@in.test`)
const iso = (ms: number) => new Date(ms).toISOString()
const SCOPES = ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send']

/** Creates an app password as the team. */
async function create(mailboxId: string, body: object = {}): Promise<Json> {
  const input = { name: 'Telephone', ...body }
  return data<Json>(await appliance.call('POST', `/mailboxes/${mailboxId}/app-passwords`, team.key, input), 201)
}

test('a team creates, lists, changes and revokes the app passwords of a mailbox', async () => {
  const { id, email } = await newMailbox()
  const path = `/mailboxes/${id}/app-passwords`
  const before = data<Json>(await appliance.get(`/mailboxes/${id}`, team.key))
  const made = await create(id, { expires_at: iso(clock.now() + 30 * DAY_MS) })
  assert.equal(readAppSecret(made.password), made.password)
  assert.equal(made.password_grouped, groupedAppSecret(made.password))
  assert.deepEqual(
    [made.permissions, made.protocols, made.saves_sent],
    [SCOPES, ['imap', 'submission', 'managesieve'], false],
  )
  assert.equal(made.last4, made.password.slice(-4))
  assert.equal(made.created_by.slice(0, 4), 'key_')
  const counted = data<Json>(await appliance.get(`/mailboxes/${id}`, team.key))
  assert.deepEqual([before.app_password_count, counted.app_password_count], [0, 1])
  const { password: _, password_grouped: __, ...shown } = made
  assert.deepEqual(data(await appliance.get(path, team.key)), [shown])
  assert.equal((await signIn(appliance, email, made.password_grouped, { client: 'Mail 1' })).accepted, true)
  const change = { name: 'Old telephone', saves_sent: true, expires_at: iso(clock.now() + DAY_MS) }
  const changed = data<Json>(await appliance.call('PATCH', `${path}/${made.id}`, team.key, change))
  assert.deepEqual(
    { ...changed, last_used_at: null, last_used_from: null, last_used_client: null },
    { ...shown, ...change },
  )
  assert.deepEqual([changed.last_used_from, changed.last_used_client], ['192.0.2.1', 'Mail 1'])
  const later = { expires_at: iso(clock.now() + 2 * DAY_MS) }
  failure(await appliance.call('PATCH', `${path}/${made.id}`, team.key, later), 422, 'validation_error')
  data(await appliance.call('DELETE', `${path}/${made.id}`, team.key))
  data(await appliance.call('DELETE', `${path}/${made.id}`, team.key))
  failure(await appliance.call('PATCH', `${path}/${made.id}`, team.key, { name: 'x' }), 409, 'conflict')
  const again = signIn(appliance, email, made.password, { source: '203.0.113.1' })
  assert.equal((await finished(clock, again)).accepted, false)
  const status = (name: string) => walk<Json>(appliance, `${path}?status=${name}`, team.key)
  assert.deepEqual([(await status('active')).length, (await status('revoked')).length], [0, 1])
  const ended = await create(id, { expires_at: iso(clock.now() + 1000) })
  clock.advance(1000)
  assert.deepEqual(
    (await status('expired')).map((one) => one.id),
    [ended.id],
  )
})

test('at most 25 are active; a deleted mailbox gets none', async () => {
  const { id } = await newMailbox()
  const made: Json[] = []
  for (let n = 0; n < APP_PASSWORDS_MAX; n++) made.push(await create(id))
  const more = () => appliance.call('POST', `/mailboxes/${id}/app-passwords`, team.key, { name: 'x' })
  failure(await more(), 409, 'conflict')
  assert.equal((await walk(appliance, `/mailboxes/${id}/app-passwords?limit=7`, team.key)).length, APP_PASSWORDS_MAX)
  data(await appliance.call('DELETE', `/mailboxes/${id}/app-passwords/${made[3].id}`, team.key))
  data(await more(), 201)
  data(await appliance.call('DELETE', `/mailboxes/${id}`, team.key))
  failure(await more(), 409, 'conflict')
  const { status, revoked_at } = data<Json[]>(await appliance.get(`/mailboxes/${id}/app-passwords`, team.key))[0]
  assert.deepEqual([status, revoked_at !== null], ['revoked', true])
})

test('wrong input is refused, each with its field', async () => {
  const { id, key } = await newMailbox()
  const cases: [body: object, field: string][] = [
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'x', permissions: [] }, 'permissions'],
    [{ name: 'x', permissions: ['root'] }, 'permissions.0'],
    [{ name: 'x', permissions: ['mailbox.read', 'mailbox.read'] }, 'permissions'],
    [{ name: 'x', protocols: [] }, 'protocols'],
    [{ name: 'x', protocols: ['pop3'] }, 'protocols.0'],
    [{ name: 'x', expires_at: iso(clock.now()) }, 'expires_at'],
    [{ name: 'x', expires_at: '2099-01-01' }, 'expires_at'],
  ]
  for (const [body, field] of cases) {
    for (const [path, by] of [
      [`/mailboxes/${id}/app-passwords`, team.key],
      ['/mailbox/app-passwords', key],
    ] as const) {
      const error = failure(await appliance.call('POST', path, by, body), 422, 'validation_error')
      assert.equal(error.param, field, JSON.stringify(body))
    }
  }
})

test('a mailbox key creates app passwords within its scopes and its time, and manages those of its mailbox alone', async () => {
  const [mailbox, other] = [await newMailbox(), await newMailbox()]
  const issueKey = async (body: object) => {
    const reply = await appliance.call('POST', `/mailboxes/${mailbox.id}/api-keys`, team.key, { name: 'x', ...body })
    return data<Json>(reply, 201)
  }
  const post = (key: string, body: object) =>
    appliance.call('POST', '/mailbox/app-passwords', key, { name: 'x', ...body })
  const ends = iso(clock.now() + DAY_MS)
  const narrow = await issueKey({ permissions: ['mailbox.write', 'mailbox.read'], expires_at: ends })
  const made = data<Json>(await post(narrow.key, {}), 201)
  assert.deepEqual(
    [made.permissions, made.expires_at, made.created_by],
    [['mailbox.read', 'mailbox.write'], ends, narrow.id],
  )
  assert.equal(
    failure(await post(narrow.key, { permissions: ['email.send'] }), 422, 'validation_error').param,
    'permissions',
  )
  const late = { expires_at: iso(clock.now() + DAY_MS + 1) }
  assert.equal(failure(await post(narrow.key, late), 422, 'validation_error').param, 'expires_at')
  const reader = await issueKey({ permissions: ['mailbox.read'] })
  failure(await post(reader.key, {}), 403, 'insufficient_permissions')
  assert.equal(data<Json[]>(await appliance.get('/mailbox/app-passwords', reader.key)).length, 1)
  const blind = await issueKey({ permissions: ['email.send', 'email.receive'] })
  for (const path of ['app-passwords', 'sign-ins', 'client-settings']) {
    failure(await appliance.get(`/mailbox/${path}`, blind.key), 403, 'insufficient_permissions')
  }
  for (const [method, body] of [
    ['PATCH', { name: 'y' }],
    ['DELETE', undefined],
  ] as const) {
    failure(
      await appliance.call(method, `/mailbox/app-passwords/${made.id}`, reader.key, body),
      403,
      'insufficient_permissions',
    )
    failure(await appliance.call(method, `/mailbox/app-passwords/${made.id}`, other.key, body), 404, 'not_found')
    failure(
      await appliance.call(method, `/mailboxes/${other.id}/app-passwords/${made.id}`, team.key, body),
      404,
      'not_found',
    )
    data(await appliance.call(method, `/mailbox/app-passwords/${made.id}`, mailbox.key, body))
  }
  await app.directory.mailboxes.suspend(team.id, mailbox.id)
  failure(await post(mailbox.key, {}), 409, 'conflict')
})

test('an app password is no credential of the API: 401 everywhere, in each spelling', async () => {
  const { id } = await newMailbox()
  const { password, password_grouped } = await create(id)
  const send = `${appliance.sendOrigin}/api/v1/emails/send`
  const operator = `http://127.0.0.1:${appliance.ports.operator}/operator/v1/teams`
  for (const secret of [password, password_grouped, `smk_${password}`]) {
    for (const path of ['/mailbox/session', '/mailbox/app-passwords', '/mailboxes', '/webhooks']) {
      failure(await appliance.get(path, secret), 401, 'authentication_required')
    }
    failure(await appliance.call('POST', send, secret, {}), 401, 'authentication_required')
    assert.equal((await appliance.get(operator, secret)).status, 401)
  }
})

test('the secret is shown once: not in lists, nor in the log or a stored replay', async () => {
  const { id } = await newMailbox()
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const path = `/mailboxes/${id}/app-passwords`
  const [one, two] = [
    await appliance.call('POST', path, team.key, { name: 'x' }, headers),
    await appliance.call('POST', path, team.key, { name: 'x' }, headers),
  ]
  const { password } = data<Json>(one, 201)
  assert.equal(data<Json>(two, 201).password, password, 'a repeated request gets the stored response')
  assert.ok(!JSON.stringify((await appliance.get(path, team.key)).body).includes(password))
  for (const { name } of app.db.read.all<{ name: string }>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`,
  )) {
    for (const row of app.db.read.all<Record<string, unknown>>(`SELECT * FROM ${name}`)) {
      for (const [column, value] of Object.entries(row)) {
        const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
        assert.ok(!text.includes(password), `${name}.${column}`)
      }
    }
  }
})

test('sign-ins are listed newest first, for the team and the mailbox alike', async () => {
  const { id, email, key } = await newMailbox()
  const { id: passwordId, password } = await create(id)
  await signIn(appliance, email, password, { client: 'Mail 1.0' })
  await signIn(appliance, email, key, { source: '2001:db8::7' })
  await signIn(appliance, email, password, { protocol: 'submission' })
  await finished(clock, signIn(appliance, email, 'wrong', { source: '203.0.113.5' }))
  const rows = data<Json[]>(await appliance.get('/mailbox/sign-ins', key))
  assert.deepEqual(
    rows.map((row) => [
      row.protocol,
      row.outcome,
      row.source,
      row.credential_id?.slice(0, 4) ?? null,
      row.client,
      row.times,
    ]),
    [
      ['imap', 'wrong_secret', '203.0.113.5', null, null, 1],
      ['submission', 'not_allowed', '192.0.2.1', 'apw_', null, 1],
      ['imap', 'ok', '2001:db8::7', 'key_', null, 1],
      ['imap', 'ok', '192.0.2.1', 'apw_', 'Mail 1.0', 1],
    ],
  )
  assert.equal(rows.at(-1).credential_id, passwordId)
  const path = `/mailboxes/${id}/sign-ins`
  assert.deepEqual(await walk(appliance, `${path}?limit=1`, team.key), rows)
  assert.deepEqual(await walk(appliance, `${path}?outcome=ok&limit=1`, team.key), rows.slice(2))
  assert.deepEqual(await walk(appliance, '/mailbox/sign-ins?protocol=submission', key), [rows[1]])
  const other = await newMailbox()
  assert.deepEqual(data(await appliance.get('/mailbox/sign-ins', other.key)), [])
})

test('client settings name what is served, and the session what this credential may use', async () => {
  const { id, email, key } = await newMailbox()
  const wanted = {
    username: email,
    imap: { host: 'mail.in.test', port: 993, security: 'tls' },
    ...{ submission: null, managesieve: null, setup_url: `${appliance.origin}/mail-setup` },
  }
  assert.deepEqual(data(await appliance.get('/mailbox/client-settings', key)), wanted)
  assert.deepEqual(data(await appliance.get(`/mailboxes/${id}/client-settings`, team.key)), wanted)
  const gated = async (by: string) => data<Json>(await appliance.get('/mailbox/session', by)).gated
  const { imap, submission, managesieve, app_passwords } = await gated(key)
  assert.deepEqual([imap, submission, managesieve, app_passwords], [false, true, true, false])
})

test('agents have no app passwords, whichever key is used; their sign-ins and settings can be read', async () => {
  const agent = new AgentClient(appliance)
  const { identity_assertion, mailbox } = await agent.register({})
  const token = await agent.readToken(identity_assertion)
  const box = app.directory.mailboxes.byEmail(mailbox.email)!
  const { keys } = app.directory
  const issued = await keys.issue({
    ...{ teamId: box.teamId, kind: 'mailbox', mailboxId: box.id, name: 'x', createdBy: 'operator' },
  })
  failure(await appliance.call('POST', '/mailbox/app-passwords', token, { name: 'x' }), 403, 'insufficient_permissions')
  for (const key of [token, issued.secret]) {
    failure(await appliance.get('/mailbox/app-passwords', key), 403, 'insufficient_permissions')
    data(await appliance.get('/mailbox/sign-ins', key))
    const { gated, endpoints } = data<Json>(await appliance.get('/mailbox/session', key))
    assert.deepEqual([gated.imap, gated.submission, gated.app_passwords], [false, true, true])
    assert.ok(!endpoints.mailbox.some((one: string) => one.includes('app-passwords')))
  }
  failure(
    await appliance.call('POST', '/mailbox/app-passwords', issued.secret, { name: 'x' }),
    403,
    'insufficient_permissions',
  )
})

test('an operator can disable app passwords for mailboxes; teams still create them', async () => {
  await using gated = await startAppliance({ env: { MAILBOX_GATED: 'app_passwords, imap', CLIENT_PROTOCOLS: ',' } })
  const own = await gated.team()
  await own.domain('in.test')
  const ana = await own.mailbox('ana@in.test')
  failure(await gated.get('/mailbox/app-passwords', ana.key), 403, 'insufficient_permissions')
  const made = data<Json>(await gated.call('POST', `/mailboxes/${ana.id}/app-passwords`, own.key, { name: 'x' }), 201)
  assert.deepEqual(await signIn(gated, ana.email, made.password), { accepted: false, reason: 'not_allowed' })
  assert.deepEqual(data(await gated.get('/mailbox/client-settings', ana.key)), {
    ...{ username: 'ana@in.test', imap: null, submission: null, managesieve: null, setup_url: null },
  })
  const { gated: session } = data<Json>(await gated.get('/mailbox/session', ana.key))
  assert.deepEqual([session.app_passwords, session.imap], [true, true])
})
