// Outside accounts over the API: their mailboxes and sending accounts, what is closed to them, and how they end.

import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { MailboxAdmin } from '../../src/api/schemas/mailbox.ts'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import type { RemoteAccountJson } from '../../src/api/schemas/remote-account.ts'
import type { SqlValue } from '../../src/db/db.ts'
import { type Json, type Reply, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { EventClient } from '../support/event-client.ts'
import { connectImap } from '../support/imap.ts'
import { data, etagOf, failure, issues as issuesOf } from './expect.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const { app, call, get } = appliance
const team = await appliance.team()
const other = await appliance.team('Other')
await team.domain('shop.test')

let count = 0
const nextEmail = () => `ana${++count}@mail.example`
const IMAP = { imap_host: 'imap.mail.test' }
const SMTP = { smtp_host: 'smtp.mail.test', smtp_protocol: 'ssl', smtp_port: 465 }
const SECRET = 'very secret words'

const create = (body: object, key = team.key) =>
  call('POST', '/remote-accounts', key, { email: nextEmail(), password: SECRET, ...IMAP, ...body })
/** The first sign-in has been tried: the worker does not change the account soon. */
const mirror = async (body: object = {}) => {
  const made = data<RemoteAccountJson>(await create(body), 201)
  await appliance.settle()
  return made
}
const read = async (id: string) => data<RemoteAccountJson>(await get(`/remote-accounts/${id}`, team.key))
const mailboxOf = async (id: string) => data<MailboxAdmin>(await get(`/mailboxes/${id}`, team.key))
const act = (id: string, action: string, headers?: Record<string, string>) =>
  call('POST', `/remote-accounts/${id}/${action}`, team.key, undefined, headers)
const keyOf = async (mailboxId: string) => {
  const key = { teamId: team.id, kind: 'mailbox', mailboxId, name: 'test', createdBy: 'operator' } as const
  return (await app.directory.keys.issue(key)).secret
}
const issues = (reply: Reply, expected: string[]) => issuesOf(reply, 422, 'validation_error', expected)
/** What the worker writes. */
const become = (id: string, columns: Record<string, SqlValue>) =>
  app.db.write((tx) =>
    tx.run(
      `UPDATE remote_accounts SET ${Object.keys(columns)
        .map((name) => `${name} = ?`)
        .join(', ')} WHERE id = ?`,
      [...Object.values(columns), id],
    ),
  )

describe('a mirror', () => {
  it('is a record without secrets, and a mailbox without a domain', async () => {
    const email = nextEmail()
    const reply = await create({ email: email.toUpperCase(), name: 'Ana', display_name: 'Ana A.', ...SMTP })
    const made = data<RemoteAccountJson>(reply, 201)
    assert.equal(reply.headers.get('location'), `/api/v1/remote-accounts/${made.id}`)
    assert.ok(!JSON.stringify(reply.body).includes(SECRET))
    assert.deepEqual([made.mode, made.status, made.auth, made.email], ['mirror', 'pending', 'password', email])
    assert.deepEqual(
      [made.imap_host, made.imap_port, made.imap_protocol, made.imap_username, made.has_password],
      ['imap.mail.test', 993, 'ssl', email, true],
    )
    const box = await mailboxOf(made.mailbox_id)
    assert.deepEqual([box.email, box.domain_id, box.remote_account_id], [email, null, made.id])
    assert.deepEqual([box.quota_bytes, box.display_name], [50 * 1024 ** 3, 'Ana A.'])
    assert.deepEqual(box.send_scope, { type: 'providers', provider_public_ids: [made.provider_id] })
    assert.equal(
      app.directory.mailboxes.receiver(email.slice(0, email.indexOf('@')), 'mail.example').reason,
      'unknown_domain',
    )
    failure(await get(`/remote-accounts/${made.id}`, other.key), 404, 'not_found')
    assert.deepEqual(data<Json[]>(await get('/remote-accounts', other.key)), [])
    const listed = data<RemoteAccountJson[]>(await get(`/remote-accounts?mailbox_id=${made.mailbox_id}`, team.key))
    assert.deepEqual(
      listed.map(({ id }) => id),
      [made.id],
    )
  })

  it('has a sending account that only it edits', async () => {
    const made = await mirror(SMTP)
    const path = `/providers/${made.provider_id}`
    const provider = data<ProviderJson>(await get(path, team.key))
    assert.deepEqual([provider.from_email, provider.return_path], [made.email, made.email])
    assert.deepEqual([provider.smtp_username, provider.is_editable], [made.email, false])
    failure(await call('PATCH', path, team.key, { name: 'Mine' }), 409, 'conflict')
    failure(await call('DELETE', path, team.key), 409, 'conflict')
    failure(
      await call('PATCH', `/mailboxes/${made.mailbox_id}`, team.key, { send_scope: { type: 'all' } }),
      409,
      'conflict',
    )
    const secrets = () => app.outbound.accounts.providers.connections.secretsOf({ id: made.provider_id! }).smtpPassword
    data(await call('PATCH', `/remote-accounts/${made.id}`, team.key, { password: 'another one' }))
    assert.equal(secrets(), 'another one', 'both were equal')
    data(await call('PATCH', `/remote-accounts/${made.id}`, team.key, { smtp_password: 'its own' }))
    data(await call('PATCH', `/remote-accounts/${made.id}`, team.key, { password: 'a third one' }))
    assert.equal(secrets(), 'its own')
  })

  it('sends a stored password to no other host', async () => {
    const { id } = await mirror({ ...SMTP, smtp_password: 'its own' })
    const patch = (body: object) => call('PATCH', `/remote-accounts/${id}`, team.key, body)
    for (const other of [{ imap_host: 'imap.evil.test' }, { imap_port: 1993 }, { imap_username: 'ben' }])
      issues(await patch(other), ['password required'])
    for (const other of [{ smtp_host: 'smtp.evil.test' }, { smtp_port: 1465 }, { smtp_username: 'ben' }])
      issues(await patch(other), ['smtp_password required'])
    issues(await patch({ smtp_host: 'smtp.evil.test', password: 'a guess' }), ['smtp_password required'])
    data(await patch({ imap_host: 'IMAP.mail.test.', smtp_host: SMTP.smtp_host, smtp_port: SMTP.smtp_port }))
    const moved = { imap_host: 'imap.new.test', password: 'new', smtp_host: 'smtp.new.test', smtp_password: 'new' }
    assert.equal(data<RemoteAccountJson>(await patch(moved)).imap_host, 'imap.new.test')
  })

  it('gets a sending account later', async () => {
    const made = await mirror()
    assert.equal(made.provider_id, null)
    assert.deepEqual((await mailboxOf(made.mailbox_id)).send_scope, { type: 'all' })
    const path = `/remote-accounts/${made.id}`
    issues(await call('PATCH', path, team.key, SMTP), ['smtp_host required'])
    const changed = data<RemoteAccountJson>(await call('PATCH', path, team.key, { ...SMTP, smtp_password: 'send' }))
    const scope = { type: 'providers', provider_public_ids: [changed.provider_id] }
    assert.deepEqual((await mailboxOf(made.mailbox_id)).send_scope, scope)
  })

  it('is attached once in a team, and may be in another', async () => {
    const email = nextEmail()
    await mirror({ email })
    failure(await create({ email: email.toUpperCase() }), 409, 'conflict')
    data(await create({ email }, other.key), 201)
    const { email: hosted } = await team.mailbox('ana@shop.test')
    failure(await create({ email: hosted }), 409, 'conflict')
    await mirror({ email: 'bea@shop.test' })
    failure(await call('POST', '/mailboxes', team.key, { email: 'bea@shop.test' }), 409, 'conflict')
  })

  it('needs a server that may be connected to', async () => {
    issues(await create({ imap_host: '127.0.0.1' }), ['imap_host forbidden_value'])
    issues(await create({ imap_host: 'localhost' }), ['imap_host forbidden_value'])
    issues(await create({ imap_protocol: 'none' }), ['imap_protocol forbidden_value'])
    issues(await create({ smtp_host: '10.0.0.1' }), ['smtp_host forbidden_value'])
    issues(await create({ imap_username: 'ana\r\nA1 LOGOUT' }), ['imap_username invalid_format'])
    issues(await create({ imap_host: undefined }), ['imap_host missing'])
    issues(await create({ mailbox_id: 'mbx_0a1b2c3d4e5f6g7h8i9j0k1l' }), ['mailbox_id forbidden_value'])
    issues(await create({ since: '2029-01-01' }), ['since forbidden_value'])
  })

  it('has servers that are found by a known provider, by SRV records, and by where its domain receives', async () => {
    const discover = async (email: string) =>
      data<Json>(await call('POST', '/remote-accounts/discover', team.key, { email }))
    assert.deepEqual(await discover('ana@mail.example'), { imap: null, smtp: null, auth: 'password', source: 'none' })
    const gmail = await discover('Ana@GMail.com')
    assert.deepEqual([gmail.imap.host, gmail.auth, gmail.source], ['imap.gmail.com', 'password', 'known'])
    const srv = (name: string, port: number) => [{ priority: 0, weight: 1, port, target: name }]
    Object.assign(appliance.dns.zone, {
      '_imaps._tcp.srv.test': { SRV: srv('.', 0) },
      '_imap._tcp.srv.test': { SRV: srv('imap.srv.test', 1143) },
      '_submissions._tcp.srv.test': { SRV: srv('smtp.srv.test', 465) },
      'company.test': { MX: [{ priority: 1, exchange: 'company-test.mail.protection.outlook.com' }] },
    })
    assert.deepEqual(await discover('ana@srv.test'), {
      imap: { host: 'imap.srv.test', port: 1143, protocol: 'starttls' },
      smtp: { host: 'smtp.srv.test', port: 465, protocol: 'ssl' },
      ...{ auth: 'password', source: 'srv' },
    })
    assert.equal((await discover('ana@company.test')).auth, 'microsoft')
    const made = await mirror({ email: 'ana@srv.test', imap_host: undefined })
    assert.deepEqual([made.imap_host, made.imap_port, made.imap_protocol], ['imap.srv.test', 1143, 'starttls'])
    assert.notEqual(made.provider_id, null)
    // What is given is not combined with the port or the user name of another server.
    const given = { imap_host: undefined, smtp_host: 'relay.other.test', smtp_username: 'relay' }
    const other = await mirror({ email: 'ben@srv.test', ...given })
    const { smtp_host, smtp_port, smtp_protocol } = data<ProviderJson>(
      await get(`/providers/${other.provider_id}`, team.key),
    )
    assert.deepEqual([smtp_host, smtp_port, smtp_protocol], ['relay.other.test', 587, 'starttls'])
    const tls = await mirror({ email: 'carl@srv.test', imap_host: undefined, imap_port: 993 })
    assert.deepEqual([tls.imap_host, tls.imap_port, tls.imap_protocol], ['imap.srv.test', 993, 'ssl'])
  })

  it('is one of a limited number in its team, and not made faster than servers may be looked for', async () => {
    const full = await appliance.team('Full')
    const one = data<RemoteAccountJson>(await create({}, full.key), 201)
    const { n: _, ...row } = app.db.read.get('SELECT * FROM remote_accounts WHERE id = ?', [one.id])!
    await app.db.write((tx) => {
      for (let at = 1; at < 200; at++) {
        const copy = { id: `racc_${String(at).padStart(24, '0')}`, mode: 'collect', email: `c${at}@mail.example` }
        tx.insert('remote_accounts', { ...row, ...copy, status: 'paused' })
      }
    })
    failure(await create({}, full.key), 409, 'conflict')
    const usage = data<{ limits: Json[] }>(await get('/team/usage', full.key)).limits
    assert.deepEqual(
      usage.find(({ resource }) => resource === 'remote_accounts'),
      { resource: 'remote_accounts', used: 200, most: 200 },
    )
    await app.db.write((tx) => tx.run('DELETE FROM remote_accounts WHERE team_id = ?', [full.id]))
    const statuses = async (body: object, path = '') => {
      const replies = []
      for (let at = 0; at < 5; at++) {
        const email = nextEmail()
        replies.push((await call('POST', `/remote-accounts${path}`, full.key, { email, ...body })).status)
      }
      return replies
    }
    // Each look-up counts, whatever asks for it; an account whose server is given asks for none.
    assert.deepEqual(await statuses({ password: 'x' }), [422, 422, 422, 422, 422])
    assert.deepEqual(await statuses({}, '/discover'), [200, 200, 200, 200, 200])
    assert.deepEqual(await statuses({ password: 'x' }), [429, 429, 429, 429, 429])
    assert.deepEqual(await statuses({ password: 'x', ...IMAP }), [201, 201, 201, 201, 201])
    clock.advance(60_000)
  })

  it('leaves filters, scripts, replies, forwards and aliases to its provider', async () => {
    const { mailbox_id: id } = await mirror()
    const key = await keyOf(id)
    const closed: [string, string, string, object?][] = [
      ['GET', `/mailboxes/${id}/filters`, team.key],
      ['PUT', `/mailboxes/${id}/filters`, team.key, { mode: 'off', rules: [] }],
      ['POST', `/mailboxes/${id}/aliases`, team.key, { email: 'sales@shop.test' }],
      ['POST', `/mailboxes/${id}/forwards`, team.key, { to: 'else@else.example' }],
      ['GET', '/mailbox/sender-filter', key],
      ['PUT', '/mailbox/sender-filter', key, { mode: 'off', rules: [] }],
      ['GET', '/mailbox/sieve-scripts', key],
      ['POST', '/mailbox/sieve-scripts', key, { name: 'a', content: 'keep;' }],
      ['POST', '/mailbox/sieve-scripts/validate', key, { content: 'keep;' }],
      ['GET', '/mailbox/vacation-response', key],
      ['PUT', '/mailbox/vacation-response', key, { is_enabled: false }],
    ]
    for (const [method, path, credential, body] of closed) {
      const reply = await call(method, path, credential, body)
      assert.deepEqual([path, reply.status, reply.body.error?.code], [path, 409, 'conflict'])
      assert.match(reply.body.error.message, /outside account/)
    }
    failure(await get(`/mailboxes/${id}/filters`, other.key), 404, 'not_found')
    const session = data<Json>(await get('/mailbox/session', key))
    assert.ok(session.gated.filter_script_writes && session.gated.managesieve && session.gated.vacation_response)
    assert.ok(session.endpoints.mailbox.includes('GET /mailbox/remote-account'))
    const offered = new Set(Object.values(session.endpoints as Record<string, string[]>).flat())
    const wrong = closed.filter(([method, path]) => offered.has(`${method} ${path}`))
    assert.deepEqual(wrong, [], 'what is refused is not offered')
  })

  it('never receives for a domain of ours', async () => {
    const late = await appliance.team('Late')
    const made = data<RemoteAccountJson>(await create({}, late.key), 201)
    await late.domain('late.test')
    // Its role names reach the oldest mailbox of the team that receives here.
    assert.equal(app.directory.mailboxes.receiver('postmaster', 'late.test').reason, 'unknown_recipient')
    assert.equal(app.directory.mailboxes.oldest({ teamId: late.id }), undefined)
    assert.equal(made.email, app.directory.mailboxes.byId(made.mailbox_id)?.email)
  })
})

describe('a key with one permission', () => {
  it('remote.delete alone erases no mailbox; resuming is no way to try passwords again and again', async () => {
    const one = await mirror()
    const { secret } = await app.directory.keys.issue({
      ...{ teamId: team.id, kind: 'root', name: 'Ends', permissions: ['remote.delete'], createdBy: 'operator' },
    })
    const path = `/remote-accounts/${one.id}`
    failure(await call('DELETE', `${path}?on_messages=erase`, secret), 403, 'insufficient_permissions')
    assert.equal((await mailboxOf(one.mailbox_id)).status, 'active')
    for (let at = 0; at < 10; at++) {
      await act(one.id, 'pause')
      data(await act(one.id, 'resume'))
    }
    await act(one.id, 'pause')
    failure(await act(one.id, 'resume'), 429, 'rate_limit_exceeded')
    data(await call('DELETE', path, secret))
    assert.equal((await mailboxOf(one.mailbox_id)).status, 'suspended')
  })
})

describe('an account that collects', () => {
  it('needs a hosted mailbox of the team', async () => {
    const box = await team.mailbox('eve@shop.test')
    const collect = (body: object = {}) => create({ mode: 'collect', mailbox_id: box.id, ...body })
    const [inbox] = data<Json[]>(await get('/mailbox/folders', box.key))
    const made = data<RemoteAccountJson>(await collect({ folder_id: inbox!.id, since: '2029-06-01' }), 201)
    assert.deepEqual([made.folder_id, made.since, made.provider_id], [inbox!.id, '2029-06-01T00:00:00.000Z', null])
    assert.equal((await mailboxOf(box.id)).remote_account_id, null)
    issues(await create({ mode: 'collect' }), ['mailbox_id required'])
    issues(await collect({ ...SMTP }), ['smtp_host forbidden_value'])
    issues(await collect({ folder_id: 'fld_0a1b2c3d4e5f6g7h8i9j0k1l' }), ['folder_id not_found'])
    const theirs = data<RemoteAccountJson>(await create({}, other.key), 201)
    issues(await collect({ mailbox_id: theirs.mailbox_id }), ['mailbox_id not_found'])
    failure(await collect({ mailbox_id: (await mirror()).mailbox_id }), 409, 'conflict')
    for (let more = 0; more < 4; more++) data(await collect(), 201)
    failure(await collect(), 409, 'conflict')
    issues(await call('DELETE', `/remote-accounts/${made.id}?on_messages=erase`, team.key), [
      'on_messages forbidden_value',
    ])
    data(await call('DELETE', `/remote-accounts/${made.id}`, team.key))
    assert.equal((await mailboxOf(box.id)).status, 'active')
  })
})

describe('actions', () => {
  it('follow the state of the account', async () => {
    const { id } = await mirror()
    failure(await act(id, 'resume'), 409, 'conflict')
    failure(await act(id, 'confirm-removal'), 409, 'conflict')
    const paused = data<RemoteAccountJson>(await act(id, 'pause'))
    assert.equal(paused.status, 'paused')
    assert.deepEqual(paused.allowed_actions, {
      ...{ update: true, delete: true, pause: false, resume: true, sync: false, confirm_removal: false },
      undo_removal: false,
    })
    failure(await act(id, 'sync'), 409, 'conflict')
    clock.advance(10_000)
    failure(await act(id, 'resume', { 'if-match': '"old"' }), 409, 'conflict')
    assert.equal(data<RemoteAccountJson>(await act(id, 'resume')).status, 'pending')
    data(await act(id, 'sync'))
    failure(await act(id, 'sync'), 429, 'rate_limit_exceeded')
  })

  it('a change of the connection tries it again, and ends an error', async () => {
    const { id } = await mirror()
    await become(id, { status: 'error', error_kind: 'credentials', status_reason: 'The password is wrong.' })
    const named = data<RemoteAccountJson>(await call('PATCH', `/remote-accounts/${id}`, team.key, { name: 'New' }))
    assert.deepEqual([named.name, named.status, named.status_reason], ['New', 'error', 'The password is wrong.'])
    const changed = data<RemoteAccountJson>(
      await call('PATCH', `/remote-accounts/${id}`, team.key, { imap_port: 1993, password: 'new' }),
    )
    assert.deepEqual([changed.status, changed.status_reason, changed.imap_port], ['pending', null, 1993])
    issues(await call('PATCH', `/remote-accounts/${id}`, team.key, { imap_host: '192.168.0.1' }), [
      'imap_host forbidden_value',
    ])
    const reply = await get(`/remote-accounts/${id}`, team.key)
    const stale = { 'if-match': '"old"' }
    failure(await call('PATCH', `/remote-accounts/${id}`, team.key, { name: 'Newer' }, stale), 409, 'conflict')
    data(await call('PATCH', `/remote-accounts/${id}`, team.key, { name: 'Newer' }, { 'if-match': etagOf(reply) }))
  })

  it('a held removal is confirmed once', async () => {
    const { id } = await mirror()
    const removal = { folders: ['INBOX'], messages: 5000, since: clock.now(), isConfirmed: false }
    await become(id, { removal: JSON.stringify(removal) })
    assert.equal((await read(id)).allowed_actions.confirm_removal, true)
    assert.equal(data<RemoteAccountJson>(await act(id, 'confirm-removal')).allowed_actions.confirm_removal, false)
    failure(await act(id, 'confirm-removal'), 409, 'conflict')
  })

  it('a held removal is undone once, and not confirmed afterwards', async () => {
    const { id } = await mirror()
    failure(await act(id, 'undo-removal'), 409, 'conflict')
    const removal = { folders: ['INBOX'], messages: 5000, since: clock.now(), isConfirmed: false }
    await become(id, { removal_there: JSON.stringify(removal) })
    assert.equal((await read(id)).allowed_actions.undo_removal, true)
    failure(await call('POST', `/remote-accounts/${id}/undo-removal`, team.key, { at: 'here' }), 409, 'conflict')
    const undone = data<RemoteAccountJson>(await act(id, 'undo-removal'))
    assert.deepEqual([undone.held_removals, undone.allowed_actions.undo_removal], [[], false])
    failure(await act(id, 'undo-removal'), 409, 'conflict')
    failure(await act(id, 'confirm-removal'), 409, 'conflict')
  })

  it('of removals that are held on both sides, one is named', async () => {
    const { id } = await mirror()
    const removal = JSON.stringify({ folders: ['INBOX'], messages: 5000, since: clock.now(), isConfirmed: false })
    await become(id, { removal, removal_there: removal })
    const sides = (account: RemoteAccountJson) => account.held_removals.map(({ at }) => at)
    assert.deepEqual(sides(await read(id)), ['here', 'server'])
    const path = `/remote-accounts/${id}/confirm-removal`
    failure(await call('POST', path, team.key), 409, 'conflict')
    const confirmed = await call('POST', path, team.key, { at: 'server' })
    assert.deepEqual(sides(data<RemoteAccountJson>(confirmed)), ['here'])
    assert.deepEqual(sides(data<RemoteAccountJson>(await call('POST', path, team.key))), [])
  })

  it('its owners are mailed once while it is in error', async () => {
    await app.people.invite({ id: team.id, name: 'Team' }, { email: 'olga@owners.example', role: 'owner' })
    const { id } = await mirror()
    await become(id, { status: 'error', status_reason: 'The password is wrong.', status_since: clock.now() })
    const notices = () => app.db.read.all(`SELECT fact FROM noticed_facts WHERE fact LIKE 'remote ${id} %'`).length
    for (let minute = 0; minute < 3; minute++) {
      clock.advance(60_000)
      await appliance.settle()
    }
    assert.equal(notices(), 1)
  })
})

describe('during the import', () => {
  const progress = { status: 'importing', import_state: 'running', import_total: 400, import_done: 100 }

  it('its progress is news to If-None-Match, and nothing to If-Match', async () => {
    const { id } = await mirror()
    data(await act(id, 'pause'))
    const path = `/remote-accounts/${id}`
    const before = etagOf(await get(path, team.key))
    await become(id, { import_done: 100, synced_at: clock.now(), updated_at: clock.now() + 1 })
    assert.equal((await get(path, team.key, { 'if-none-match': before })).status, 200)
    const patch = (name: string) => call('PATCH', path, team.key, { name }, { 'if-match': before })
    data(await patch('Mine'))
    failure(await patch('Yours'), 409, 'conflict')
    const named = etagOf(await get(path, team.key))
    data(await call('PATCH', path, team.key, { password: 'another' }))
    failure(await call('DELETE', path, team.key, undefined, { 'if-match': named }), 409, 'conflict')
  })

  it('a change of its sending account is news to If-Match', async () => {
    const { id } = await mirror(SMTP)
    const path = `/remote-accounts/${id}`
    const before = etagOf(await get(path, team.key))
    const patch = (words: string) => call('PATCH', path, team.key, { smtp_password: words }, { 'if-match': before })
    data(await patch('mine'))
    failure(await patch('yours'), 409, 'conflict')
  })

  it('the state is read with a key of the mailbox, and streamed', async () => {
    const made = await mirror()
    const key = await keyOf(made.mailbox_id)
    const box = await team.mailbox('plain@shop.test')
    failure(await get('/mailbox/remote-account', box.key), 404, 'not_found')
    data(await act(made.id, 'pause'))
    const { client } = await EventClient.follow(appliance, key)
    await become(made.id, { ...progress, import_started_at: clock.now(), updated_at: clock.now() + 60_000 })
    clock.advance(1000)
    const { event, data: sent } = (await client.next())!
    assert.equal(event, 'remote.progress')
    const shown = { remote_account_id: made.id, status: 'importing', messages_total: 400, messages_done: 100 }
    assert.deepEqual(sent, shown)
    await client[Symbol.asyncDispose]()
    const state = data<Json>(await get('/mailbox/remote-account', key))
    assert.deepEqual([state.status, state.import.messages_done], ['importing', 100])
    assert.equal(state.import.estimated_finish_at, new Date(Date.parse(state.updated_at) + 180_000).toISOString())
    assert.ok(!('imap_host' in state) && !('provider_id' in state))
  })

  it('an account that is attached later is streamed, too', async () => {
    const box = await team.mailbox('later@shop.test')
    const { client } = await EventClient.follow(appliance, box.key)
    const made = data<RemoteAccountJson>(await create({ mode: 'collect', mailbox_id: box.id }), 201)
    await appliance.settle()
    clock.advance(1000)
    const { event, data: sent } = (await client.next())!
    assert.deepEqual([event, sent.remote_account_id], ['remote.progress', made.id])
    await client[Symbol.asyncDispose]()
  })

  it('IMAP says how far it is, and opens when it is done', async () => {
    const made = await mirror()
    const key = await keyOf(made.mailbox_id)
    data(await act(made.id, 'pause'))
    await become(made.id, { ...progress, status: 'paused' })
    const client = await connectImap(appliance)
    const { tagged } = await client.run(`LOGIN ${made.email} ${key}`)
    assert.match(tagged, /^NO \[UNAVAILABLE\] .*100 of 400/)
    await become(made.id, { import_state: 'done' })
    assert.equal((await client.run(`LOGIN ${made.email} ${key}`)).status, 'OK')
    client.close()
  })

  it('the credential decides between the mailboxes of two teams with one address', async () => {
    const email = nextEmail()
    const ours = await mirror({ email })
    const theirs = data<RemoteAccountJson>(await create({ email }, other.key), 201)
    for (const { id } of [ours, theirs]) await become(id, { import_state: 'done' })
    const password = await call('POST', `/mailboxes/${theirs.mailbox_id}/app-passwords`, other.key, { name: 'Phone' })
    const client = await connectImap(appliance)
    assert.equal((await client.run(`LOGIN ${email} ${data<Json>(password, 201).password}`)).status, 'OK')
    assert.equal((await client.run('SELECT INBOX')).status, 'OK')
    client.close()
  })
})

describe('the end', () => {
  it('keeps the mailbox readable, and sends nothing any more', async () => {
    const made = await mirror(SMTP)
    const key = await keyOf(made.mailbox_id)
    data(await call('DELETE', `/remote-accounts/${made.id}`, team.key))
    failure(await get(`/remote-accounts/${made.id}`, team.key), 404, 'not_found')
    failure(await get(`/providers/${made.provider_id}`, team.key), 404, 'not_found')
    const box = await mailboxOf(made.mailbox_id)
    assert.deepEqual(
      [box.status, box.status_reason, box.remote_account_id],
      ['suspended', 'Its outside account was removed.', null],
    )
    data(await get('/mailbox/messages', key))
    failure(await call('POST', `/mailboxes/${made.mailbox_id}/reactivate`, team.key), 409, 'conflict')
  })

  it('erases the mailbox when asked, and ends with the mailbox', async () => {
    const [one, two] = [await mirror(SMTP), await mirror(SMTP)]
    data(await call('DELETE', `/remote-accounts/${one.id}?on_messages=erase`, team.key))
    assert.equal((await mailboxOf(one.mailbox_id)).status, 'deleted')
    data(await call('DELETE', `/mailboxes/${two.mailbox_id}`, team.key))
    failure(await get(`/remote-accounts/${two.id}`, team.key), 404, 'not_found')
    failure(await get(`/providers/${two.provider_id}`, team.key), 404, 'not_found')
    // The address is free.
    await mirror({ email: two.email })
  })

  it('leaves the person with the address alone', async () => {
    const email = nextEmail()
    const member = await app.people.invite({ id: other.id, name: 'Other' }, { email, role: 'member' })
    const { mailbox_id: id } = await mirror({ email })
    data(await call('DELETE', `/mailboxes/${id}`, team.key))
    assert.ok(app.people.members.get(other.id, member.id), 'the address was never given by this appliance')
  })
})
