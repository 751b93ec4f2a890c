// A signed-in person reaches the API by /as, under the origin rule, as their role allows, and no other way.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { Browser } from '../support/browser.ts'
import { ManualClock } from '../support/clock.ts'
import { type PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'

const clock = new ManualClock()
let appliance: TestAppliance
let team: TestTeam
let other: TestTeam
let owner: PersonClient & { memberId: string }
let viewer: PersonClient

before(async () => {
  appliance = await startAppliance({ clock })
  team = await appliance.team('Shop')
  other = await appliance.team('Other')
  owner = await signInMember(appliance, team.id, 'owner')
  viewer = await signInMember(appliance, team.id, 'viewer')
})
after(() => appliance.close())

const as = (path: string, id = team.id) => `/as/${id}/api/v1${path}`

test('a person sees themselves and acts for their team with the permissions of their role', async () => {
  const self = await owner.get('/me/v1/self')
  assert.equal(self.status, 200)
  assert.equal(self.body.data.email, owner.email)
  assert.deepEqual(
    self.body.data.teams.map(({ id, name, role }: Record<string, string>) => [id, name, role]),
    [[team.id, 'Shop', 'owner']],
  )
  assert.deepEqual([self.body.data.mailboxes, self.body.data.is_operator], [[], false])
  const made = await owner.call('POST', as('/api-keys'), { name: 'made in the console', role: 'root:readonly' })
  assert.equal(made.status, 201)
  assert.equal(made.body.data.created_by ?? owner.memberId, owner.memberId)
  const keys = await viewer.get(as('/api-keys'))
  assert.ok(keys.body.data.some(({ name }: { name: string }) => name === 'made in the console'))
  const refused = await viewer.call('POST', as('/domains'), { domain: 'shop.test' })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_permissions'])
  assert.match(refused.body.error.message, /Your role in this team lacks domain\.create/)
})

test('answers, tags and cursors are those of the route', async () => {
  for (const name of ['one', 'two']) await owner.call('POST', as('/api-keys'), { name, role: 'root:readonly' })
  const byKey = await appliance.get('/api-keys?limit=1', team.key)
  const first = await owner.get(as('/api-keys?limit=1'))
  assert.deepEqual(first.body.data, byKey.body.data)
  const next = await owner.get(as(`/api-keys?limit=1&cursor=${byKey.body.pagination.next_cursor}`))
  assert.equal(next.status, 200)
  const read = await owner.get(as('/team'))
  const again = await owner.get(as('/team'), { 'if-none-match': read.headers.get('etag')! })
  assert.equal(again.status, 304)
})

test('no actor that is not theirs, and nothing behind another prefix', async () => {
  for (const path of [
    as('/team', other.id),
    as('/team', 'team_000000000000000000000000'),
    '/as/operator/teams',
    '/as/operator/v1/teams',
    `/as/${team.id}/me/v1/self`,
    `/as/${team.id}/operator/v1/teams`,
    `/as/${team.id}/as/${team.id}/api/v1/team`,
    `/as/${team.id}/healthz`,
    `/as/${team.id}/api/v1/openapi.json`,
    '/as',
    '/as/',
  ]) {
    const { status, body } = await owner.get(path)
    assert.deepEqual([path, status, body.error?.code], [path, 404, 'not_found'])
  }
})

test('without a session nothing is open, whatever key comes along', async () => {
  const anonymous = (path: string, headers: Record<string, string>) =>
    appliance.call('GET', appliance.origin + path, null, undefined, headers)
  for (const path of ['/me/v1/self', as('/team'), '/as/operator/teams', '/me/v1/unknown']) {
    const extras: Record<string, string>[] = [{}, { authorization: `Bearer ${team.key}` }, { cookie: 'mailstead=x' }]
    for (const extra of extras) {
      const reply = await anonymous(path, { ...SAME_ORIGIN, ...extra })
      assert.deepEqual([path, reply.status, reply.body.error.code], [path, 401, 'authentication_required'])
      assert.equal(reply.headers.get('www-authenticate'), null)
    }
  }
  const byCookie = await appliance.call('GET', '/team', null, undefined, { ...SAME_ORIGIN, cookie: owner.cookie })
  assert.equal(byCookie.status, 401)
})

test('a cookie whose name only looks like that of the session is none', async () => {
  const name = owner.cookie.split('=')[0]!
  const self = (cookie: string) =>
    appliance.call('GET', `${appliance.origin}/me/v1/self`, null, undefined, { ...SAME_ORIGIN, cookie })
  // A sibling host can set these; browsers send them before that of the session.
  for (const planted of [`\u00a0${name}=x`, `${name}\u00a0=x`, `=${name}=x`, `${name.toUpperCase()}=x`]) {
    assert.equal((await self(`${planted}; ${owner.cookie}`)).status, 200, JSON.stringify(planted))
    assert.equal((await self(`${planted.replace('=x', owner.cookie.slice(name.length))}`)).status, 401)
  }
})

test('the origin rule: other sites, other subdomains and forms are refused', async () => {
  const raw = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    appliance.call(method, appliance.origin + path, null, body, { cookie: owner.cookie, ...headers })
  for (const site of ['cross-site', 'same-site', '']) {
    const sent: Record<string, string> = site === '' ? {} : { 'sec-fetch-site': site }
    assert.equal((await raw('GET', as('/team'), sent)).status, 403)
    assert.equal((await raw('GET', '/me/v1/self', sent)).status, 403)
    assert.equal((await raw('PATCH', as('/team'), { ...sent, 'x-mailstead': '1' }, { name: 'Stolen' })).status, 403)
  }
  assert.equal((await raw('GET', as('/team'), { 'sec-fetch-site': 'none' })).status, 200)
  assert.equal((await raw('PATCH', as('/team'), { 'sec-fetch-site': 'same-origin' }, { name: 'Stolen' })).status, 403)
  const typed = { 'sec-fetch-site': 'none', 'x-mailstead': '1' }
  assert.equal((await raw('PATCH', as('/team'), typed, { name: 'Stolen' })).status, 403)
  assert.equal((await raw('DELETE', '/me/v1/session', { 'sec-fetch-site': 'same-origin' })).status, 403)
  assert.equal((await owner.get(as('/team'))).body.data.name, 'Shop')
})

test('CORS is never granted below /as and /me', async () => {
  await using open = await startAppliance({ env: { CORS_ORIGINS: 'https://app.example' } })
  const headers = { ...SAME_ORIGIN, origin: 'https://app.example' }
  const [known, hidden, mine] = await Promise.all(
    ['/api/v1/team', `/as/${team.id}/api/v1/team`, '/me/v1/self'].map((path) =>
      open.call('GET', open.origin + path, null, undefined, headers),
    ),
  )
  assert.equal(known!.headers.get('access-control-allow-origin'), 'https://app.example')
  assert.deepEqual(
    [hidden!, mine!].map((one) => one.headers.get('access-control-allow-origin')),
    [null, null],
  )
})

test('a suspended team answers 403, and signing out ends the session', async () => {
  const paused = await appliance.team('Paused')
  const person = await signInMember(appliance, paused.id, 'owner', 'pia@people.example')
  await appliance.app.directory.teams.setStatus(paused.id, 'suspended')
  assert.equal((await person.get(as('/team', paused.id))).status, 403)
  const out = await person.call('DELETE', '/me/v1/session')
  assert.equal(out.status, 200)
  assert.equal(out.headers.get('clear-site-data'), '"cache", "storage"')
  assert.match(out.headers.get('set-cookie')!, /^mailstead=; Max-Age=0; /)
  assert.equal((await person.get('/me/v1/self')).status, 401)
})

test('a session has a rate limit of its own', async () => {
  const { headers } = await viewer.get('/me/v1/self')
  assert.equal(headers.get('x-ratelimit-limit'), '1200')
})

test('an admin makes, changes and removes no owner; an owner does', async () => {
  const admin = await signInMember(appliance, team.id, 'admin')
  const second = await signInMember(appliance, team.id, 'owner', 'second@people.example')
  const member = (id: string) => as(`/team/members/${id}`)
  const refused = await admin.call('PATCH', member(admin.memberId), { role: 'owner' })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_permissions'])
  const invitation = { email: 'friend@people.example', role: 'owner' }
  assert.equal((await admin.call('POST', as('/team/members'), invitation)).status, 403)
  assert.equal((await admin.call('PATCH', member(second.memberId), { role: 'viewer' })).status, 403)
  assert.equal((await admin.call('DELETE', member(second.memberId))).status, 403)
  assert.equal((await admin.call('POST', as('/team/members'), { ...invitation, role: 'admin' })).status, 202)
  assert.equal((await owner.call('PATCH', member(admin.memberId), { role: 'owner' })).status, 200)
  assert.equal((await owner.call('DELETE', member(second.memberId))).status, 200)
})

test('a form of the script-free pages is taken from this site alone', async () => {
  const { people, db } = appliance.app
  const token = people.links.newToken()
  const scope = { email: owner.email, teamId: null, mailboxId: null, shownBy: null }
  await db.write((tx) => people.links.make(tx, token, scope, 60_000))
  const csrf = people.sessions.formToken(token)
  for (const [site, status] of [
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin', 303],
  ] as const) {
    const response = await fetch(`${appliance.origin}/owner/session/${token}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'sec-fetch-site': site, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf }).toString(),
    })
    assert.deepEqual([site, response.status, response.headers.has('set-cookie')], [site, status, status === 303])
    await response.text()
  }
})

test('the script-free pages issue secrets only to a session that signed in lately', async () => {
  const browser = new Browser(appliance)
  const person = await signInMember(appliance, team.id, 'owner', 'stale@people.example')
  browser.cookie = person.cookie
  await team.domain('forms.test')
  const mailbox = await team.mailbox('ana@forms.test')
  const keys = `/owner/keys/${team.id}`
  const issue = async () => [
    (await browser.submit(await browser.get(keys), `${keys}/keys`, { name: 'x', role: 'root:full' })).status,
    (
      await browser.submit(
        await browser.get(`${keys}/mailboxes/${mailbox.id}`),
        `${keys}/mailboxes/${mailbox.id}/app-passwords`,
        { name: 'x', access: 'all' },
      )
    ).status,
    (await browser.submit(await browser.get(`${keys}/members`), `${keys}/members/${person.memberId}/link`)).status,
  ]
  assert.deepEqual(await issue(), [200, 200, 200])
  clock.advance(15 * 60_000)
  assert.deepEqual(await issue(), [403, 403, 403])
  const create = (email: string, withKey: boolean) =>
    person.call('POST', as('/mailboxes'), { email, create_api_key: withKey })
  const refused = await create('bob@forms.test', true)
  assert.deepEqual([refused.status, refused.body.error.param], [403, 'confirm'], 'a key that comes with a mailbox')
  assert.equal((await create('bob@forms.test', false)).status, 201)
})
