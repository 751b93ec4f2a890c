// What a team can take from a person and what it cannot: removal, the end of sessions, passkeys of other teams, and links that are handed over.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { Authenticator } from '../support/authenticator.ts'
import { ManualClock } from '../support/clock.ts'
import { PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'

const clock = new ManualClock()
let appliance: TestAppliance
let shop: TestTeam
let yard: TestTeam
let owner: PersonClient & { memberId: string }
let admin: PersonClient & { memberId: string }

before(async () => {
  const env = { SIGN_IN: 'passkey,link,password', TRUSTED_PROXIES: '127.0.0.1', APP_ORIGIN: 'https://mail.example' }
  const started = await startAppliance({ clock, env })
  appliance = { ...started, origin: `http://127.0.0.1:${started.ports.app}` }
  shop = await appliance.team('Shop')
  yard = await appliance.team('Yard')
  await shop.domain('shop.test')
  owner = await signInMember(appliance, shop.id, 'owner')
  admin = await signInMember(appliance, shop.id, 'admin')
})
after(() => appliance.close())

const inShop = (path: string) => `/as/${shop.id}/api/v1${path}`
const member = (id: string, path = '') => inShop(`/team/members/${id}${path}`)

/** A session that opens one team, as a shown link makes it. */
async function bound(email: string, teamId: string): Promise<PersonClient> {
  const { people, db } = appliance.app
  const scope = { email, teamId, mailboxId: null, shownBy: null }
  return new PersonClient(appliance, await db.write((tx) => people.signInAs(tx, scope)))
}

async function addPasskey(client: PersonClient): Promise<Json> {
  const { flow_id, options } = (await client.call('POST', '/me/v1/passkeys/options')).body.data
  const device = new Authenticator('https://mail.example')
  const body = { flow_id, response: device.create(options), name: 'Phone' }
  assert.equal((await client.call('POST', '/me/v1/passkeys', body)).status, 201)
  return options
}

/** Proves that it is still the person: the clock of these tests has moved on. */
async function confirm(client: PersonClient): Promise<void> {
  const { people, db } = appliance.app
  await db.write((tx) => {
    for (const { id } of people.sessions.list(client.email, tx)) people.sessions.confirm(tx, id)
  })
}

test('who invites and removes a stranger takes only what belongs to their team', async () => {
  const { people, db } = appliance.app
  const eva = await signInMember(appliance, yard.id, 'owner', 'eva@people.example')
  await addPasskey(eva)
  const pending = (await people.showLink(yard.id, eva.email, null))!
  const { id } = await db.write((tx) => people.members.add(tx, shop.id, { email: eva.email, role: 'viewer' }))
  const guest = await bound(eva.email, shop.id)
  await addPasskey(guest)
  assert.equal((await guest.call('POST', '/me/v1/recovery-codes')).status, 201)
  const unused = (await people.showLink(shop.id, eva.email, null))!
  assert.equal((await admin.call('DELETE', member(id))).status, 200)
  assert.equal((await guest.get('/me/v1/self')).status, 401, 'a session of that team')
  assert.equal(await people.signIn(unused.split('/').at(-1)!), undefined, 'a link of that team')
  const self = await eva.get('/me/v1/self')
  assert.equal(self.status, 200, 'her own session')
  assert.deepEqual(
    (self.body.data.teams as Json[]).map(({ name }) => name),
    ['Yard'],
  )
  assert.deepEqual([self.body.data.sign_in.passkeys, self.body.data.sign_in.recovery_codes], [1, 0])
  assert.equal((await eva.get(inShop('/team'))).status, 404)
  assert.notEqual(await people.signIn(pending.split('/').at(-1)!), undefined, 'a link of her own team')
})

test('a person without another team is signed out by the removal; an operator stays signed in', async () => {
  const { people, db } = appliance.app
  const gus = await signInMember(appliance, shop.id, 'viewer', 'gus@people.example')
  const opa = await signInMember(appliance, shop.id, 'viewer', 'opa@people.example')
  await db.write((tx) => people.persons.setOperator(tx, opa.email, true))
  for (const { memberId } of [gus, opa]) await admin.call('DELETE', member(memberId))
  assert.deepEqual([(await gus.get('/me/v1/self')).status, (await opa.get('/me/v1/self')).status], [401, 200])
})

test('a removed person who is invited again is a new one: nothing of before opens anything', async () => {
  const { people, db } = appliance.app
  const email = 'ned@people.example'
  const origin = { 'x-forwarded-for': '203.0.113.77' }
  const { memberId, ...rest } = await signInMember(appliance, shop.id, 'member', email)
  const ned = new PersonClient(appliance, { email, token: '' })
  ned.cookie = rest.cookie
  const device = new Authenticator('https://mail.example')
  const asked = (await ned.call('POST', '/me/v1/passkeys/options')).body.data
  const created = { flow_id: asked.flow_id, response: device.create(asked.options), name: 'Phone' }
  assert.equal((await ned.call('POST', '/me/v1/passkeys', created)).status, 201)
  assert.equal((await ned.call('PUT', '/me/v1/password', { password: 'correct horse battery' })).status, 200)
  const { codes } = (await ned.call('POST', '/me/v1/recovery-codes')).body.data
  assert.equal((await ned.call('PATCH', '/me/v1/self', { display_name: 'Ned' })).status, 200)
  for (const name of ['http://evil.example', 'a\u202eb'])
    assert.equal((await ned.call('PATCH', '/me/v1/self', { display_name: name })).status, 422)
  const link = (await db.write((tx) => people.makeOperatorLink(tx, email))).split('/').at(-1)!
  const post = (path: string, body: unknown) =>
    appliance.call('POST', appliance.origin + path, null, body, { ...SAME_ORIGIN, ...origin })
  const byPasskey = async () => {
    const { flow_id, options } = (await post('/me/v1/sign-in/passkey/options', {})).body.data
    return (await post('/me/v1/sign-in/passkey', { flow_id, response: device.get(options) })).status
  }
  const signed = await post('/me/v1/sign-in/recovery', { email, code: codes[0] })
  const other = new PersonClient(appliance, { email, token: '' })
  other.cookie = signed.headers.get('set-cookie')!.split(';')[0]!
  const known = (await other.get('/me/v1/self')).headers.get('set-cookie')!.split(';')[0]!.split('=')[1]!
  assert.notEqual(people.devices.keyOf(email, known), null)
  assert.equal(await byPasskey(), 200)

  assert.equal((await owner.call('DELETE', member(memberId))).status, 200)
  await db.write((tx) => people.members.add(tx, shop.id, { email, role: 'admin' }))
  assert.equal(await byPasskey(), 401)
  assert.equal((await post('/me/v1/sign-in/password', { email, password: 'correct horse battery' })).status, 401)
  for (const code of codes.slice(1, 3)) {
    assert.equal((await post('/me/v1/sign-in/recovery', { email, code })).status, 401)
  }
  for (const session of [ned, other]) assert.equal((await session.get('/me/v1/self')).status, 401)
  assert.equal(await people.signIn(link), undefined)
  assert.equal(people.devices.keyOf(email, known), null, 'the browser is not known any more')
  assert.equal(people.persons.get(email), undefined, 'name, preferences and user handle are those of the new person')
})

const NOT_ACCEPTED = { code: 'authentication_required' }

test('a password, passkey or session that was under way at the removal is not left behind', async () => {
  const { people, db } = appliance.app
  const email = 'oda@people.example'
  const { memberId } = await signInMember(appliance, shop.id, 'member', email)
  const [session] = people.sessions.list(email)
  const { authentication } = people
  const setting = assert.rejects(authentication.setPassword(session!, 'correct horse battery'), NOT_ACCEPTED)
  const [code] = await db.write((tx) => people.recoveryCodes.replace(tx, { email, teamId: null }))
  const device = new Authenticator('https://mail.example')
  const { flowId, options } = await authentication.startPasskey(session!)
  const removing = people.remove(shop.id, memberId)
  const response = device.create(options as never) as never
  const adding = assert.rejects(authentication.addPasskey(session!, flowId, response, 'Phone'), NOT_ACCEPTED)
  await removing
  await setting
  await adding
  await assert.rejects(authentication.replaceRecoveryCodes(session!), NOT_ACCEPTED)
  const browser = { source: '203.0.113.78', userAgent: '', trusted: false }
  await assert.rejects(authentication.byRecoveryCode(email, code!, browser), NOT_ACCEPTED)
  assert.equal(people.persons.get(email)?.password ?? null, null)
  assert.deepEqual([people.passkeys.count(email), people.recoveryCodes.count(email)], [0, 0])
})

test('an operator without a team is forgotten when they are one no more', async () => {
  const { people, db } = appliance.app
  const email = 'pia@people.example'
  const { memberId } = await signInMember(appliance, shop.id, 'member', email)
  await db.write((tx) => people.persons.setOperator(tx, email, true))
  await db.write((tx) => people.recoveryCodes.replace(tx, { email, teamId: null }))
  await people.remove(shop.id, memberId)
  assert.equal(people.recoveryCodes.count(email), 10, 'what opens the appliance stays')
  await db.write((tx) => people.withdrawOperator(tx, email))
  assert.deepEqual([people.recoveryCodes.count(email), people.persons.get(email)], [0, undefined])
})

test('the end of the sessions of a member holds for the team, until they sign in again', async () => {
  const { people, db } = appliance.app
  const { memberId, ...ida } = await signInMember(appliance, shop.id, 'member', 'ida@people.example')
  const first = new PersonClient(appliance, { email: 'ida@people.example', token: '' })
  first.cookie = ida.cookie
  const box = await shop.mailbox('desk@shop.test')
  await owner.call('PUT', inShop(`/mailboxes/${box.id}/people/${memberId}`), { access: 'reader' })
  await db.write((tx) => people.members.add(tx, yard.id, { email: 'ida@people.example', role: 'viewer' }))
  const guest = await bound('ida@people.example', shop.id)
  clock.advance(1000)
  assert.equal((await first.call('DELETE', member(memberId, '/sessions'))).status, 403, 'a member may not')
  const ended = await admin.call('DELETE', member(memberId, '/sessions'))
  assert.deepEqual([ended.status, ended.body.data], [200, { signed_out: true, member_id: memberId }])
  assert.equal((await guest.get('/me/v1/self')).status, 401)
  assert.deepEqual(
    [(await first.get(inShop('/team'))).status, (await first.get(`/as/${box.id}/api/v1/mailbox/folders`)).status],
    [404, 404],
  )
  assert.equal((await first.get(`/as/${yard.id}/api/v1/team`)).status, 200, 'what else the session opens')
  clock.advance(1000)
  const again = await db.write((tx) =>
    people.signInAs(tx, { email: 'ida@people.example', teamId: null, mailboxId: null, shownBy: null }),
  )
  assert.equal((await new PersonClient(appliance, again).get(inShop('/team'))).status, 200)
  assert.equal((await admin.call('DELETE', member(owner.memberId, '/sessions'))).status, 403, 'those of an owner')
})

test('an end of sessions that a wrong clock dated ahead does not close the sessions of later sign-ins', async () => {
  const { people, db } = appliance.app
  const { memberId, email } = await signInMember(appliance, shop.id, 'member', 'jon@people.example')
  const right = clock.now()
  clock.set(right + 400 * 86_400_000)
  await people.endSessions(shop.id, memberId)
  clock.set(right)
  clock.advance(1000)
  const scope = { email, teamId: null, mailboxId: null, shownBy: null }
  const later = new PersonClient(appliance, await db.write((tx) => people.signInAs(tx, scope)))
  assert.equal((await later.get(inShop('/team'))).status, 200)
})

test('a session of one team learns of no passkey that opens more, and adds none in its place', async () => {
  const { people, db } = appliance.app
  const una = await signInMember(appliance, yard.id, 'owner', 'una@people.example')
  const whole = await addPasskey(una)
  await db.write((tx) => people.members.add(tx, shop.id, { email: una.email, role: 'viewer' }))
  const guest = await bound(una.email, shop.id)
  const { credentialId } = people.passkeys.list(una.email)[0]!
  const asked = await addPasskey(guest)
  const confirming = (await guest.call('POST', '/me/v1/confirm/options')).body.data
  for (const options of [asked, confirming]) assert.ok(!JSON.stringify(options).includes(credentialId))
  assert.equal(confirming.options.allowCredentials.length, 1, 'its own')
  assert.notEqual(asked.user.id, whole.user.id, 'a device keeps one passkey for each user handle')
  const own = (await una.call('POST', '/me/v1/confirm/options')).body.data
  assert.equal(own.options.allowCredentials.length, 2, 'the person sees all of theirs')
})

test('members are found by address, name and role; their mailboxes are listed', async () => {
  const names = async (query: string) =>
    ((await admin.get(inShop(`/team/members?${query}`))).body.data as Json[]).map(({ email }) => email)
  const kim = await signInMember(appliance, shop.id, 'user', 'k@people.example')
  assert.equal((await kim.call('PATCH', '/me/v1/self', { display_name: 'Kim Ångström' })).status, 200)
  assert.deepEqual(await names('q=kim'), ['k@people.example'])
  assert.deepEqual(await names('q=OWNER%40people'), ['owner@people.example'])
  assert.deepEqual(await names('role=user'), ['k@people.example'])
  assert.deepEqual(await names('role=user&q=owner'), [])
  const box = await shop.mailbox('kim@shop.test')
  await owner.call('PUT', inShop(`/mailboxes/${box.id}/people/${kim.memberId}`), { access: 'editor' })
  const listed = (await admin.get(member(kim.memberId, '/mailboxes'))).body.data as Json[]
  assert.deepEqual(
    listed.map(({ mailbox_id, email, access, created_by }) => [mailbox_id, email, access, created_by]),
    [[box.id, 'kim@shop.test', 'editor', owner.memberId]],
  )
  assert.equal((await kim.get(member(kim.memberId, '/mailboxes'))).status, 403)
})

test('an owner hands over a link that works once, and no one else gets one', async () => {
  const invited = await owner.call('POST', inShop('/team/members'), { email: 'lea@shop.test', role: 'user' })
  assert.deepEqual([invited.status, invited.body.meta.link_mailed], [202, false])
  const { id } = invited.body.data
  const ask = (client: PersonClient) => client.call('POST', member(id, '/sign-in-link'))
  assert.equal((await ask(admin)).status, 403, 'an admin')
  const byKey = await appliance.call('POST', `${appliance.origin}/api/v1/team/members/${id}/sign-in-link`, shop.key)
  assert.equal(byKey.status, 403, 'a key')
  await confirm(owner)
  const shown = await ask(owner)
  assert.equal(shown.status, 201, JSON.stringify(shown.body))
  const { people } = appliance.app
  const session = await people.signIn(shown.body.data.url.split('/').at(-1)!)
  assert.deepEqual([session?.email, session?.teamId, session?.shownBy], ['lea@shop.test', shop.id, owner.memberId])
  assert.equal(await people.signIn(shown.body.data.url.split('/').at(-1)!), undefined, 'once')
  const lea = new PersonClient(appliance, session!)
  await addPasskey(lea)
  const again = await ask(owner)
  assert.equal(again.status, 201, 'her passkey may be lost')
  assert.equal((await people.signIn(again.body.data.url.split('/').at(-1)!))?.email, 'lea@shop.test')
})

test('a key that comes with a new mailbox is reported to the member whose address it has', async () => {
  const rob = await signInMember(appliance, shop.id, 'user', 'rob@shop.test')
  await confirm(owner)
  const made = await owner.call('POST', inShop('/mailboxes'), { email: 'rob@shop.test', create_api_key: true })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  await appliance.settle()
  const { body } = await rob.get(`/as/${made.body.data.id}/api/v1/mailbox/messages`, SAME_ORIGIN)
  assert.deepEqual(
    (body.data as Json[]).map(({ subject }) => subject),
    ['Access to rob@shop.test'],
  )
  const plain = await owner.call('POST', inShop('/mailboxes'), { email: 'none@shop.test', create_api_key: true })
  assert.equal(plain.status, 201)
})

const ACCOUNT = {
  ...{ name: 'Relay', smtp_host: 'smtp.example.com', smtp_port: 587, smtp_protocol: 'starttls' },
  ...{ smtp_username: 'ann', smtp_password: 'secret', from_email: 'news@shop.test' },
}

/** The entries of the audit log of the shop, newest first. */
async function audited(): Promise<Json[]> {
  return (await owner.get(inShop('/team/audit'))).body.data
}

test('what opens messages needs a fresh proof, and the audit log names what it opens', async () => {
  for (const person of [owner, admin]) await confirm(person)
  const box = await shop.mailbox('open@shop.test')
  const mine = await signInMember(appliance, shop.id, 'user', box.email)
  const hook = { url: 'https://93.184.215.14/hook/secret', event_types: ['message.received'] }
  const made = await admin.call('POST', inShop('/webhooks'), hook)
  const { id } = made.body.data
  const changes: [client: PersonClient, method: string, path: string, body: object, opens: string][] = [
    [
      ...([admin, 'POST', inShop('/api-keys'), { name: 'Reader', role: 'root:readonly' }] as const),
      'the beginning of received messages of all mailboxes',
    ],
    [
      ...([admin, 'POST', inShop('/webhooks'), { ...hook, mailbox_ids: [box.id] }] as const),
      `the beginning of received messages of ${box.id}, to 93.184.215.14`,
    ],
    [
      ...([admin, 'PATCH', inShop(`/webhooks/${id}`), { url: 'https://93.184.215.15/hook' }] as const),
      'the beginning of received messages of all mailboxes, to 93.184.215.15',
    ],
    [
      ...([admin, 'POST', inShop(`/mailboxes/${box.id}/forwards`), { to: 'boss@elsewhere.example' }] as const),
      `the messages of ${box.email}, to boss@elsewhere.example`,
    ],
    [
      ...([mine, 'POST', `/as/${box.id}/api/v1/mailbox/forwards`, { to: 'home@elsewhere.example' }] as const),
      `the messages of ${box.email}, to home@elsewhere.example`,
    ],
    [
      ...([mine, 'POST', `/as/${box.id}/api/v1/mailbox/sieve-scripts`] as const),
      ...([{ name: 'Away', content: 'redirect "home@elsewhere.example";' }] as const),
      `the messages of ${box.email}, to the addresses that the script redirects to`,
    ],
    [
      ...([admin, 'POST', inShop('/providers'), ACCOUNT] as const),
      'the messages that the team sends through smtp.example.com',
    ],
  ]
  for (const [client, method, path, body, opens] of changes) {
    const { status, body: reply } = await client.call(method, path, body)
    assert.ok(status < 300, JSON.stringify(reply))
    assert.equal((await audited())[0]!.opens, opens, `${method} ${path}`)
  }
  assert.ok(!JSON.stringify(await audited()).includes('hook/secret'), 'a path may hold a secret')
  const plain = { name: 'Sender', permissions: ['email.send'] }
  assert.equal((await admin.call('POST', inShop('/api-keys'), plain)).status, 201)
  assert.equal((await audited())[0]!.opens, null)
  clock.advance(16 * 60_000)
  for (const [client, method, path, body] of changes) {
    const { status, body: reply } = await client.call(method, path, body)
    assert.deepEqual([status, reply.error?.param], [403, 'confirm'], `${method} ${path}`)
  }
  const patch = (body: object) => admin.call('PATCH', inShop(`/webhooks/${id}`), body)
  assert.equal((await patch({ description: 'The shop', enabled: false })).status, 200, 'it opens nothing more')
  assert.equal((await patch({ enabled: true })).status, 403)
})

test('a script that redirects needs a fresh proof also where another includes or activates it', async () => {
  await confirm(owner)
  const box = await shop.mailbox('scripts@shop.test')
  const mine = await signInMember(appliance, shop.id, 'user', box.email)
  const path = `/as/${box.id}/api/v1/mailbox/sieve-scripts`
  const away = await mine.call('POST', path, { name: 'Away', content: 'redirect "home@elsewhere.example";' })
  assert.equal(away.status, 201, JSON.stringify(away.body))
  clock.advance(16 * 60_000)
  const all = { name: 'All', content: 'require "include"; include :personal "Away";', activate: true }
  const activate = () => mine.call('POST', `${path}/${away.body.data.id}/activate`)
  for (const stale of [await mine.call('POST', path, all), await activate()])
    assert.deepEqual([stale.status, stale.body.error?.param], [403, 'confirm'], JSON.stringify(stale.body))
  assert.equal((await mine.call('POST', path, { name: 'Plain', content: 'keep;', activate: true })).status, 201)
  await confirm(mine)
  assert.equal((await activate()).status, 200)
  assert.equal(
    (await audited())[0]!.opens,
    `the messages of ${box.email}, to the addresses that the script redirects to`,
  )
  assert.equal((await mine.call('POST', path, all)).status, 201)
})

test('the server of a new outside account, and a send scope onto it, need a fresh proof', async () => {
  await confirm(admin)
  const box = await shop.mailbox('scoped@shop.test')
  const account = { email: 'own@smtp.example', password: 'words', imap_host: 'imap.mail.test' }
  const servers = { ...account, smtp_host: 'smtp.mail.test' }
  const twice = async (method: string, path: string, body: object, opens: string) => {
    clock.advance(16 * 60_000)
    const stale = await admin.call(method, path, body)
    assert.deepEqual([stale.status, stale.body.error?.param], [403, 'confirm'], JSON.stringify(stale.body))
    await confirm(admin)
    const { status, body: reply } = await admin.call(method, path, body)
    assert.ok(status < 300, JSON.stringify(reply))
    assert.equal((await audited())[0]!.opens, opens)
    return reply.data
  }
  const through = 'the messages that the team sends through smtp.mail.test'
  const outside = await twice('POST', inShop('/remote-accounts'), servers, through)
  const { provider_id: provider } = outside
  assert.ok(provider, JSON.stringify(outside))
  const scope = { send_scope: { type: 'providers', provider_public_ids: [provider] } }
  await twice('PATCH', inShop(`/mailboxes/${box.id}`), scope, through)
  clock.advance(16 * 60_000)
  assert.equal((await admin.call('PATCH', inShop(`/mailboxes/${box.id}`), scope)).status, 200, 'the same scope')
  const all = { send_scope: { type: 'all' } }
  assert.equal((await admin.call('PATCH', inShop(`/mailboxes/${box.id}`), all)).status, 200)
  await confirm(admin)
  const group = { name: 'Outside', strategy: 'failover', members: [{ provider_id: provider }] }
  const made = await admin.call('POST', inShop('/delivery-groups'), group)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const grouped = { send_scope: { type: 'group', group_public_ids: [made.body.data.id] } }
  await twice('PATCH', inShop(`/mailboxes/${box.id}`), grouped, through)
})

test('another server or user name of an account needs a fresh proof: who is there sees the messages', async () => {
  for (const person of [owner, admin]) await confirm(person)
  const account = { email: 'ana@mail.example', password: 'words', imap_host: 'imap.mail.test' }
  const outside = (await admin.call('POST', inShop('/remote-accounts'), account)).body.data
  const sending = (await admin.call('POST', inShop('/providers'), ACCOUNT)).body.data
  const remote = inShop(`/remote-accounts/${outside.id}`)
  const changes: [path: string, body: object, opens: string][] = [
    [
      remote,
      { imap_host: 'imap.other.test', password: 'more' },
      'the messages of ana@mail.example, to imap.other.test',
    ],
    [remote, { imap_username: 'eve', password: 'more' }, 'the messages of ana@mail.example, to imap.other.test'],
    [
      ...([remote, { smtp_host: 'smtp.other.test', smtp_password: 'more' }] as const),
      'the messages that the team sends through smtp.other.test',
    ],
    [
      ...([inShop(`/providers/${sending.id}`), { smtp_username: 'eve', smtp_password: 'more' }] as const),
      'the messages that the team sends through smtp.example.com',
    ],
  ]
  for (const [path, body, opens] of changes) {
    clock.advance(16 * 60_000)
    const stale = await admin.call('PATCH', path, body)
    assert.deepEqual([stale.status, stale.body.error?.param], [403, 'confirm'], JSON.stringify(stale.body))
    await confirm(admin)
    const { status, body: reply } = await admin.call('PATCH', path, body)
    assert.equal(status, 200, JSON.stringify(reply))
    assert.equal((await audited())[0]!.opens, opens)
  }
  clock.advance(16 * 60_000)
  const same = { imap_host: 'imap.other.test', imap_username: 'eve', password: 'newer' }
  assert.equal((await admin.call('PATCH', remote, same)).status, 200, 'a new password for the same account')
})

test('the list of keys names who made each: a member, or another key', async () => {
  await confirm(owner)
  const made = await owner.call('POST', inShop('/api-keys'), { name: 'Maker', role: 'root:full' })
  const { id, key } = made.body.data
  await appliance.call('POST', `${appliance.origin}/api/v1/api-keys`, key, { name: 'Made', role: 'root:full' })
  const { data: keys, meta } = (await owner.get(inShop('/api-keys?limit=2'))).body
  assert.deepEqual(
    (keys as Json[]).map(({ name, created_by }) => [name, created_by, meta.makers[created_by]]),
    [
      ['Made', id, 'Maker'],
      ['Maker', owner.memberId, owner.email],
    ],
  )
  const weak = await owner.call('POST', inShop('/api-keys'), { name: 'Weak', permissions: ['apikey.read'] })
  const listed = await appliance.call('GET', `${appliance.origin}/api/v1/api-keys?limit=3`, weak.body.data.key)
  assert.deepEqual(listed.body.meta.makers, { [id]: 'Maker' }, 'addresses are for those who may list the members')
})

test('a removal says what the member made that stays in use, and it is ended in one step', async () => {
  for (const person of [owner, admin]) await confirm(person)
  const max = await signInMember(appliance, shop.id, 'admin', 'max@people.example')
  const box = await shop.mailbox('max@shop.test')
  const make = async (path: string, body: object) => {
    const made = await max.call('POST', inShop(path), body)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    return made.body.data
  }
  const first = await make('/api-keys', { name: 'First', role: 'root:full' })
  await make('/webhooks', { url: 'https://93.184.215.14/max', event_types: ['*'] })
  await make(`/mailboxes/${box.id}/forwards`, { to: 'max@people.example' })
  await make(`/mailboxes/${box.id}/forwards`, { to: 'max@elsewhere.example' })
  const api = (path: string, key: string, body?: object) =>
    appliance.call(body === undefined ? 'GET' : 'POST', `${appliance.origin}/api/v1${path}`, key, body)
  const second = await api('/api-keys', first.key, { name: 'Second', role: 'root:full' })
  assert.equal(second.status, 201)
  const other = await shop.mailbox('other@shop.test')
  const byKey = await api(`/mailboxes/${other.id}/forwards`, second.body.data.key, { to: 'max@people.example' })
  assert.equal(byKey.status, 201, 'it ends with their access, as one that they made by hand')
  const remaining = { api_keys: 2, app_passwords: 0, forwards: 1, webhooks: 1 }
  const removed = await owner.call('DELETE', member(max.memberId))
  assert.deepEqual(removed.body.data, { deleted: true, id: max.memberId, remaining })
  const [former] = (await admin.get(inShop('/team/former-members'))).body.data as Json[]
  assert.deepEqual([former!.id, former!.email, former!.remaining], [max.memberId, max.email, remaining])
  const listed = (await admin.get(member(max.memberId, '/credentials'))).body.data as Json[]
  assert.deepEqual(
    listed.map(({ type, label, created_by }) => [type, label, created_by]),
    [
      ['api_key', 'Second', first.id],
      ['api_key', 'First', max.memberId],
      ['forward', 'max@elsewhere.example', max.memberId],
      ['webhook', '93.184.215.14', max.memberId],
    ],
  )
  assert.equal((await api('/domains', second.body.data.key)).status, 200)
  const { makers } = (await admin.get(inShop(`/mailboxes/${box.id}/forwards`))).body.meta
  assert.deepEqual(makers, { [max.memberId]: max.email }, 'who made a forward is shown, also when they have left')
  const reading = await api('/api-keys', shop.key, { name: 'Forwards', permissions: ['mailbox.admin.read'] })
  const unnamed = await api(`/mailboxes/${box.id}/forwards`, reading.body.data.key)
  assert.deepEqual(unnamed.body.meta.makers, {}, 'addresses are for those who may list the members')
  const made = await api(`/mailboxes/${other.id}/forwards`, shop.key, { to: 'key@elsewhere.example' })
  const named = await api(`/mailboxes/${other.id}/forwards`, reading.body.data.key)
  assert.deepEqual(Object.keys(named.body.meta.makers), [made.body.data.created_by], 'the names of keys are not')
  const weak = await api('/api-keys', shop.key, { name: 'People', permissions: ['team.manage'] })
  const byWeak = `${appliance.origin}/api/v1/team/members/${max.memberId}/credentials`
  assert.equal((await appliance.call('DELETE', byWeak, weak.body.data.key)).status, 403, 'a key that may do less')
  const revoked = await admin.call('DELETE', member(max.memberId, '/credentials'))
  assert.deepEqual([revoked.status, revoked.body.data], [200, { member_id: max.memberId, revoked: remaining }])
  assert.equal((await api('/domains', second.body.data.key)).status, 401)
  assert.deepEqual(appliance.app.directory.forwards.list(box.id), [])
  assert.deepEqual((await admin.get(inShop('/team/former-members'))).body.data, [])
  assert.equal((await admin.get(member(max.memberId, '/credentials'))).status, 404)
  assert.equal((await admin.call('DELETE', member(owner.memberId, '/credentials'))).status, 403, 'those of an owner')
  const stranger = await signInMember(appliance, yard.id, 'owner', 'zoe@people.example')
  assert.equal((await stranger.get(`/as/${yard.id}/api/v1/team/members/${owner.memberId}/credentials`)).status, 404)
})
