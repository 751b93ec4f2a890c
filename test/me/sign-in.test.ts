// How people sign in: passkeys, passwords, recovery codes, links; the fresh proof, and the sessions.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { INVITATION_MS, SIGN_IN_MS } from '../../src/people/links.ts'
import { type Json, type Reply, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { Authenticator, type Behaviour } from '../support/authenticator.ts'
import { ManualClock } from '../support/clock.ts'
import { PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'

const clock = new ManualClock()
let appliance: TestAppliance
let team: TestTeam
let origin: string
let count = 0

before(async () => {
  const env = { SIGN_IN: 'passkey,link,password', TRUSTED_PROXIES: '127.0.0.1' }
  // A passkey belongs to a host name: 127.0.0.1 has none.
  appliance = await startAppliance({ clock, env: { ...env, APP_ORIGIN: 'https://mail.example' } })
  origin = `http://127.0.0.1:${appliance.ports.app}`
  appliance = { ...appliance, origin }
  team = await appliance.team('Shop')
})
after(() => appliance.close())

/** A source of its own for each caller: throttles count by source. */
const from = () => ({ 'x-forwarded-for': `203.0.113.${++count}` })

function post(path: string, body: unknown, headers: Record<string, string> = from()): Promise<Reply> {
  return appliance.call('POST', origin + path, null, body, { ...SAME_ORIGIN, ...headers })
}

async function person(name: string): Promise<PersonClient> {
  return signInMember(appliance, team.id, 'owner', `${name}@people.example`)
}

async function addPasskey(client: PersonClient, device: Authenticator, behaviour?: Behaviour): Promise<Reply> {
  const asked = await client.call('POST', '/me/v1/passkeys/options')
  assert.equal(asked.status, 200, JSON.stringify(asked.body))
  const { flow_id, options } = asked.body.data
  return client.call('POST', '/me/v1/passkeys', { flow_id, response: device.create(options, behaviour), name: 'Phone' })
}

async function usePasskey(device: Authenticator, behaviour?: Behaviour, trusted = false): Promise<Reply> {
  const headers = from()
  const { flow_id, options } = (await post('/me/v1/sign-in/passkey/options', {}, headers)).body.data
  return post('/me/v1/sign-in/passkey', { flow_id, response: device.get(options, behaviour), trusted }, headers)
}

const tokenOf = (reply: Reply) => reply.headers.get('set-cookie')!.split(';')[0]!

function clientOf(reply: Reply): PersonClient {
  const client = new PersonClient(appliance, { email: reply.body.data.email, token: '' })
  client.cookie = tokenOf(reply)
  return client
}

test('a passkey is added, signs in, counts, and is listed', async () => {
  const ana = await person('ana')
  const device = new Authenticator('https://mail.example')
  const asked = (await ana.call('POST', '/me/v1/passkeys/options')).body.data.options
  assert.equal(asked.rp.id, 'mail.example')
  assert.deepEqual(
    [asked.authenticatorSelection.residentKey, asked.authenticatorSelection.userVerification, asked.attestation],
    ['required', 'required', 'none'],
  )
  assert.ok(
    !Buffer.from(asked.user.id, 'base64url').toString().includes('ana'),
    'the handle says nothing of the person',
  )
  const added = await addPasskey(ana, device)
  assert.equal(added.status, 201, JSON.stringify(added.body))
  const signedIn = await usePasskey(device, {}, true)
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body))
  assert.equal(signedIn.body.data.email, ana.email)
  assert.match(
    signedIn.headers.get('set-cookie')!,
    /^__Host-mailstead=[\w-]{43}; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  )
  const phone = clientOf(signedIn)
  const listed = (await phone.get('/me/v1/passkeys')).body.data
  assert.deepEqual([listed.length, listed[0].name, listed[0].last_used_at !== null], [1, 'Phone', true])
  const renamed = await phone.call('PATCH', `/me/v1/passkeys/${listed[0].id}`, { name: 'Laptop' })
  assert.equal(renamed.body.data.name, 'Laptop')
})

test('passkeys of a wrong origin, host, without verification, replayed or copied are refused', async () => {
  const bea = await person('bea')
  const device = new Authenticator('https://mail.example')
  const wrong = [
    ...[{ verifies: false }, { origin: 'https://mail.example.evil' }, { rpId: 'evil.example' }],
    { crossOrigin: true },
  ]
  for (const behaviour of [...wrong, { isOffCurve: true }]) {
    assert.equal((await addPasskey(bea, new Authenticator('https://mail.example'), behaviour)).status, 401)
  }
  assert.equal((await addPasskey(bea, device)).status, 201)
  for (const behaviour of [...wrong, { userHandle: 'Zm9yZWlnbg' }, { userHandle: null }]) {
    assert.equal((await usePasskey(device, behaviour)).status, 401, JSON.stringify(behaviour))
  }
  const headers = from()
  const { flow_id, options } = (await post('/me/v1/sign-in/passkey/options', {}, headers)).body.data
  const response = device.get(options)
  assert.equal((await post('/me/v1/sign-in/passkey', { flow_id, response }, headers)).status, 200)
  assert.equal(
    (await post('/me/v1/sign-in/passkey', { flow_id, response }, headers)).status,
    401,
    'a challenge is used once',
  )
  device.counter = 0
  assert.equal((await usePasskey(device)).status, 401, 'a counter that goes back means a copy')
  const late = (await post('/me/v1/sign-in/passkey/options', {}, headers)).body.data
  clock.advance(5 * 60_000)
  const answer = { flow_id: late.flow_id, response: device.get(late.options) }
  assert.equal((await post('/me/v1/sign-in/passkey', answer, headers)).status, 401, 'a challenge expires')
})

test('the newest sign-in link ends the older ones, but no invitation and no link of another team', async () => {
  const { people, db } = appliance.app
  const guest = await person('guest')
  const tokenOfLink = (url: string) => url.split('/').at(-1)!
  const mailed = async (ms: number) => {
    const token = people.links.newToken()
    const scope = { email: guest.email, teamId: null, mailboxId: null, shownBy: null }
    await db.write((tx) => people.links.make(tx, token, scope, ms))
    return token
  }
  const invitation = await mailed(INVITATION_MS)
  const [first, second] = [await mailed(SIGN_IN_MS), await mailed(SIGN_IN_MS)]
  const shown = async () => tokenOfLink((await people.showLink(team.id, guest.email, null))!)
  const [third, fourth] = [await shown(), await shown()]
  const works = (token: string) => people.links.read(token) !== undefined
  assert.deepEqual([first, second, third, fourth, invitation].map(works), [false, true, false, true, true])
  await mailed(INVITATION_MS)
  assert.deepEqual([second, fourth, invitation].map(works), [false, true, false])
})

test('a flow is bound to what it was begun for, and to its person', async () => {
  const [cleo, dora] = [await person('cleo'), await person('dora')]
  const device = new Authenticator('https://mail.example')
  const asked = (await cleo.call('POST', '/me/v1/passkeys/options')).body.data
  const body = { flow_id: asked.flow_id, response: device.create(asked.options), name: 'Stolen' }
  assert.equal((await dora.call('POST', '/me/v1/passkeys', body)).status, 401)
  assert.equal((await addPasskey(cleo, device)).status, 201)
  const confirming = (await dora.call('POST', '/me/v1/confirm/options')).body.data
  const proof = { flow_id: confirming.flow_id, response: device.get(confirming.options, {}, 1) }
  assert.equal((await dora.call('POST', '/me/v1/confirm', proof)).status, 401, 'the passkey of another person')
  const own = (await cleo.call('POST', '/me/v1/confirm/options')).body.data
  const entering = { flow_id: own.flow_id, response: device.get(own.options, {}, 1) }
  assert.equal((await post('/me/v1/sign-in/passkey', entering)).status, 401, 'a confirmation signs nobody in')
})

test('requests of strangers for passkeys push out no request of another, and each is answered once', async () => {
  const client = await person('flo')
  const device = new Authenticator('https://mail.example')
  assert.equal((await addPasskey(client, device)).status, 201)
  const headers = from()
  const entering = (await post('/me/v1/sign-in/passkey/options', {}, headers)).body.data
  const confirming = (await client.call('POST', '/me/v1/confirm/options')).body.data
  const { webauthn } = appliance.app.people.authentication
  for (let n = 0; n < 10_001; n++) await webauthn.startUse('sign_in', null)
  const proof = { flow_id: confirming.flow_id, response: device.get(confirming.options) }
  assert.equal((await client.call('POST', '/me/v1/confirm', proof)).status, 200)
  const answer = { flow_id: entering.flow_id, response: device.get(entering.options) }
  const forged = { ...answer, flow_id: `A${entering.flow_id.slice(1)}` }
  assert.equal((await post('/me/v1/sign-in/passkey', forged, headers)).status, 401, 'a later end')
  const answers = await Promise.all([0, 1].map(() => post('/me/v1/sign-in/passkey', answer, headers)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401])
})

test('a password signs in; wrong ones lock the person for the source, with one answer for every address', async () => {
  const eva = await person('eva')
  const password = 'correct horse battery'
  assert.equal((await eva.call('PUT', '/me/v1/password', { password: 'eva@people.example' })).status, 422)
  assert.equal((await eva.call('PUT', '/me/v1/password', { password: 'short' })).status, 422)
  assert.equal((await eva.call('PUT', '/me/v1/password', { password })).status, 200)
  const signedIn = await post('/me/v1/sign-in/password', { email: 'Eva@people.example', password })
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body))
  assert.equal(signedIn.body.data.sign_in.password, true)
  const source = from()
  const wrong = { email: eva.email, password: 'wrong' }
  const first = await post('/me/v1/sign-in/password', wrong, source)
  const unknown = await post('/me/v1/sign-in/password', { ...wrong, email: 'nobody@people.example' }, source)
  const plain = ({ code, message }: Json) => ({ code, message })
  assert.deepEqual([first.status, plain(first.body.error)], [401, plain(unknown.body.error)])
  assert.equal(unknown.status, 401)
  for (let tries = 2; tries <= 5; tries++) await post('/me/v1/sign-in/password', wrong, source)
  clock.advance(60_000)
  const locked = await post('/me/v1/sign-in/password', { ...wrong, password }, source)
  assert.deepEqual([locked.status, locked.body.error.code], [429, 'rate_limit_exceeded'])
  assert.equal((await post('/me/v1/sign-in/password', { ...wrong, password })).status, 200, 'elsewhere it works')
  clock.advance(15 * 60_000)
  assert.equal((await post('/me/v1/sign-in/password', { ...wrong, password }, source)).status, 200)
})

test('a recovery code signs in once; new codes replace the earlier ones', async () => {
  const fay = await person('fay')
  const { codes } = (await fay.call('POST', '/me/v1/recovery-codes')).body.data
  assert.equal(new Set(codes).size, 10)
  const enter = (code: string, email = fay.email) => post('/me/v1/sign-in/recovery', { email, code })
  assert.equal((await enter(codes[0], 'gus@people.example')).status, 401)
  assert.equal((await enter(codes[0].toUpperCase().replaceAll('-', ' '))).status, 200)
  assert.equal((await enter(codes[0])).status, 401)
  await fay.call('POST', '/me/v1/recovery-codes')
  assert.equal((await enter(codes[1])).status, 401)
  assert.equal((await fay.get('/me/v1/self')).body.data.sign_in.recovery_codes, 10)
})

test('dangerous actions need a proof of the last 15 minutes', async () => {
  const hal = await person('hal')
  const device = new Authenticator('https://mail.example')
  await addPasskey(hal, device)
  const { codes } = (await hal.call('POST', '/me/v1/recovery-codes')).body.data
  clock.advance(15 * 60_000)
  const stale = await hal.call('POST', `/as/${team.id}/api/v1/api-keys`, { name: 'x', role: 'root:readonly' })
  assert.deepEqual([stale.status, stale.body.error.param], [403, 'confirm'])
  assert.equal((await hal.call('POST', '/me/v1/passkeys/options')).status, 403)
  assert.equal((await hal.get('/me/v1/passkeys')).status, 200, 'reading needs none')
  const { flow_id, options } = (await hal.call('POST', '/me/v1/confirm/options')).body.data
  const confirmed = await hal.call('POST', '/me/v1/confirm', { flow_id, response: device.get(options) })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  assert.equal(confirmed.body.data.confirmed_until, new Date(clock.now() + 15 * 60_000).toISOString())
  const made = await hal.call('POST', `/as/${team.id}/api/v1/api-keys`, { name: 'x', role: 'root:readonly' })
  assert.equal(made.status, 201)
  clock.advance(15 * 60_000)
  assert.equal((await hal.call('POST', '/me/v1/confirm', { code: 'aaaa-bbbb-cccc' })).status, 401)
  assert.equal((await hal.call('POST', '/me/v1/confirm', { code: codes[0] })).status, 200)
  assert.equal((await hal.call('POST', '/me/v1/confirm', {})).status, 400)
})

test('the last way to sign in stays', async () => {
  await using lax = await startAppliance({ env: { SIGN_IN: 'passkey', APP_ORIGIN: 'https://mail.example' } })
  const at = `http://127.0.0.1:${lax.ports.app}`
  const own = await lax.team()
  const ida = await signInMember({ ...lax, origin: at }, own.id, 'owner', 'ida@people.example')
  const device = new Authenticator('https://mail.example')
  const { id } = (await addPasskey(ida, device)).body.data
  assert.equal((await ida.call('DELETE', `/me/v1/passkeys/${id}`)).status, 409)
  const second = (await addPasskey(ida, new Authenticator('https://mail.example'))).body.data
  assert.equal((await ida.call('DELETE', `/me/v1/passkeys/${id}`)).status, 200)
  assert.equal((await ida.call('DELETE', `/me/v1/passkeys/${second.id}`)).status, 409)
  const disabled = [
    ['/me/v1/sign-in/link', { email: ida.email }],
    ['/me/v1/sign-in/password', { email: ida.email, password: 'x' }],
  ] as const
  for (const [path, body] of disabled) {
    assert.equal((await lax.call('POST', at + path, null, body, SAME_ORIGIN)).status, 403)
  }
})

test('sessions are listed and ended; a session that opens one team manages nothing of the others', async () => {
  const jan = await person('jan')
  const device = new Authenticator('https://mail.example')
  await addPasskey(jan, device)
  const phone = clientOf(await usePasskey(device))
  const listed: Json[] = (await jan.get('/me/v1/sessions')).body.data
  assert.deepEqual(listed.map(({ method, current }) => [method, current]).sort(), [
    ['link', true],
    ['passkey', false],
  ])
  const other = await appliance.team('Other')
  const { people, db } = appliance.app
  const bound = await db.write((tx) => {
    people.members.add(tx, other.id, { email: jan.email, role: 'viewer' })
    return people.signInAs(tx, { email: jan.email, teamId: other.id, mailboxId: null, shownBy: null })
  })
  const shown = new PersonClient(appliance, bound)
  assert.deepEqual((await shown.get('/me/v1/sessions')).body.data.length, 1)
  assert.deepEqual((await shown.get('/me/v1/passkeys')).body.data, [])
  assert.equal((await shown.call('DELETE', `/me/v1/sessions/${listed[0]!.id}`)).status, 404)
  const mine = new Authenticator('https://mail.example')
  assert.equal((await addPasskey(shown, mine)).status, 201)
  const again = clientOf(await usePasskey(mine))
  const teams: Json[] = (await again.get('/me/v1/self')).body.data.teams
  assert.deepEqual(
    teams.map(({ id }) => id),
    [other.id],
    'a passkey added by a shown link opens what the link opened',
  )
  const passkey = listed.find(({ method }) => method === 'passkey')!
  assert.equal((await jan.call('DELETE', `/me/v1/sessions/${passkey.id}`)).status, 200)
  assert.equal((await phone.get('/me/v1/self')).status, 401)
  assert.equal((await jan.call('DELETE', '/me/v1/sessions')).body.data.deleted, 2)
  assert.equal((await again.get('/me/v1/self')).status, 401)
  assert.equal((await jan.get('/me/v1/self')).status, 200)
})

test('a session is new with every sign-in, and lasts as long as its device is trusted and used', async () => {
  const kim = await person('kim')
  const device = new Authenticator('https://mail.example')
  await addPasskey(kim, device)
  const headers = { ...from(), cookie: kim.cookie }
  const { flow_id, options } = (await post('/me/v1/sign-in/passkey/options', {}, headers)).body.data
  const body = { flow_id, response: device.get(options), trusted: true }
  const signedIn = await post('/me/v1/sign-in/passkey', body, headers)
  assert.notEqual(tokenOf(signedIn), kim.cookie, 'a cookie that was set before is not signed in')
  const trusted = clientOf(signedIn)
  const day = 24 * 3_600_000
  for (let days = 0; days < 170; days += 17) {
    clock.leap(17 * day)
    assert.equal((await trusted.get('/me/v1/self')).status, 200, `day ${days + 17}`)
    await appliance.settle()
  }
  assert.equal((await kim.get('/me/v1/self')).status, 401, 'half a day without trust')
  clock.leap(10 * day)
  assert.equal((await trusted.get('/me/v1/self')).status, 401, 'after 180 days')
})

test('profile and preferences', async () => {
  const lea = await person('lea')
  const changed = await lea.call('PATCH', '/me/v1/self', { display_name: 'Lea', time_zone: 'Europe/Berlin' })
  assert.deepEqual([changed.body.data.display_name, changed.body.data.locale], ['Lea', null])
  const read = await lea.get('/me/v1/preferences')
  assert.deepEqual(read.body.data, {})
  const put = (etag: string, theme: string) => lea.call('PUT', '/me/v1/preferences', { theme }, { 'if-match': etag })
  assert.equal((await put(read.headers.get('etag')!, 'dark')).status, 200)
  assert.equal((await put(read.headers.get('etag')!, 'light')).status, 409)
  assert.deepEqual((await lea.get('/me/v1/preferences')).body.data, { theme: 'dark' })
  assert.equal((await lea.call('PUT', '/me/v1/preferences', { colour: 'red' })).status, 422)
})

test('strangers everywhere lock a person out of new places, and not out of where they are signed in', async () => {
  const lou = await person('lou')
  const password = 'correct horse battery'
  await lou.call('PUT', '/me/v1/password', { password })
  const home = from()
  assert.equal((await post('/me/v1/sign-in/password', { email: lou.email, password }, home)).status, 200)
  const code = 'aaaa-bbbb-cccc'
  for (let tries = 0; tries < 100; tries++) {
    const stranger = { 'x-forwarded-for': `198.51.100.${tries}` }
    assert.equal((await post('/me/v1/sign-in/recovery', { email: lou.email, code }, stranger)).status, 401)
  }
  assert.equal((await post('/me/v1/sign-in/password', { email: lou.email, password })).status, 429)
  assert.equal((await post('/me/v1/sign-in/password', { email: lou.email, password }, home)).status, 200)
  assert.equal((await lou.call('POST', '/me/v1/confirm', { password })).status, 200, 'an open session')
  for (let tries = 0; tries < 5; tries++)
    await post('/me/v1/sign-in/password', { email: lou.email, password: 'x' }, home)
  clock.advance(60_000)
  assert.equal((await post('/me/v1/sign-in/password', { email: lou.email, password }, home)).status, 429)
  clock.advance(15 * 60_000)
})

test('the password and the last passkey, removed at the same time, are not both gone', async () => {
  await using lax = await startAppliance({
    env: { SIGN_IN: 'passkey,password', APP_ORIGIN: 'https://mail.example' },
  })
  const at = { ...lax, origin: `http://127.0.0.1:${lax.ports.app}` }
  const max = await signInMember(at, (await lax.team()).id, 'owner', 'max@people.example')
  await max.call('PUT', '/me/v1/password', { password: 'correct horse battery' })
  const { id } = (await addPasskey(max, new Authenticator('https://mail.example'))).body.data
  const session = lax.app.people.sessions.list(max.email)[0]!
  const { authentication } = lax.app.people
  const done = await Promise.allSettled([
    authentication.deletePasskey(session, id),
    authentication.deletePassword(session),
  ])
  assert.deepEqual(
    done.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
})
