// The first run: one address makes the first owner, once, for a day, and only while there is none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from '../../src/base/log.ts'
import { firstTeam } from '../../src/directory/first-team.ts'
import { type Reply, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Authenticator } from '../support/authenticator.ts'
import { ManualClock } from '../support/clock.ts'
import { PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'

const ORIGIN = 'https://mail.example'

async function start(env: Record<string, string> = {}, clock = new ManualClock()): Promise<TestAppliance> {
  const started = await startAppliance({ clock, env: { APP_ORIGIN: ORIGIN, ...env } })
  return { ...started, origin: `http://127.0.0.1:${started.ports.app}` }
}

const post = (at: TestAppliance, path: string, body: unknown): Promise<Reply> =>
  at.call('POST', `${at.origin}/me/v1${path}`, null, body, SAME_ORIGIN)

function tokenOf(at: TestAppliance): string {
  const url = new URL(at.app.people.firstRun.begin()!)
  assert.deepEqual([url.pathname, url.search], ['/first-run', ''], 'the token is in no path, which servers log')
  return url.hash.slice(1)
}

async function withPasskey(at: TestAppliance, token: string, device = new Authenticator(ORIGIN)): Promise<Reply> {
  const asked = await post(at, '/first-run/passkey/options', { token, email: 'Ana@shop.example' })
  if (asked.status !== 200) return asked
  const { flow_id, options } = asked.body.data
  const owner = { token, email: 'ana@shop.example', display_name: 'Ana', team_name: 'The shop' }
  return post(at, '/first-run', { ...owner, flow_id, response: device.create(options) })
}

test('the first owner adds a passkey, names the team, and is an operator; the address works once', async () => {
  await using at = await start()
  const first = (await firstTeam(at.app.directory))!
  const isOpen = async () =>
    (await at.call('GET', `${at.origin}/me/v1/first-run`, null, undefined, SAME_ORIGIN)).body.data
  assert.deepEqual(await isOpen(), { open: true, allowed: ['passkey', 'link'] })
  const token = tokenOf(at)
  assert.equal((await withPasskey(at, 'a'.repeat(43))).status, 401)
  const device = new Authenticator(ORIGIN)
  const done = await withPasskey(at, token, device)
  assert.equal(done.status, 200, JSON.stringify(done.body))
  const { email, display_name, teams, is_operator, sign_in } = done.body.data
  assert.deepEqual([email, display_name, is_operator, sign_in.passkeys], ['ana@shop.example', 'Ana', true, 1])
  assert.deepEqual([teams[0].id, teams[0].name, teams[0].role], [first.team.id, 'The shop', 'owner'])
  const person = new PersonClient(at, { email, token: '' })
  person.cookie = done.headers.get('set-cookie')!.split(';')[0]!
  assert.equal((await person.get('/as/operator/teams')).status, 200)
  const domain = await person.call('POST', `/as/${first.team.id}/api/v1/domains`, { domain: 'shop.test' })
  assert.equal(domain.status, 201)
  const box = await person.call('POST', `/as/${first.team.id}/api/v1/mailboxes`, { email: 'ana@shop.test' })
  assert.equal(box.status, 201)
  assert.deepEqual((await isOpen()).open, false)
  assert.equal((await withPasskey(at, token)).status, 409)
  assert.equal(at.app.people.firstRun.begin(), null)
  const { flow_id, options } = (await post(at, '/sign-in/passkey/options', {})).body.data
  assert.equal((await post(at, '/sign-in/passkey', { flow_id, response: device.get(options) })).status, 200)
})

test('the token expires, ends with the next one, and is worth nothing when somebody became owner otherwise', async () => {
  const clock = new ManualClock()
  await using at = await start({}, clock)
  const earlier = tokenOf(at)
  const token = tokenOf(at)
  assert.equal((await withPasskey(at, earlier)).status, 401)
  clock.advance(24 * 3_600_000)
  assert.equal((await withPasskey(at, token)).status, 401)
  const fresh = tokenOf(at)
  const team = await at.team('Made by the command line')
  await signInMember(at, team.id, 'owner')
  assert.equal((await withPasskey(at, fresh)).status, 409)
})

test('a password instead of a passkey, where the operator allows it; two browsers make one owner', async () => {
  const body = { email: 'bo@shop.example', team_name: 'Shop', password: 'correct horse battery' }
  await using strict = await start()
  assert.equal((await post(strict, '/first-run', { ...body, token: tokenOf(strict) })).status, 403)
  assert.equal((await post(strict, '/first-run', { ...body, password: undefined, token: tokenOf(strict) })).status, 400)
  assert.deepEqual(strict.app.directory.teams.list(), [], 'a refusal makes no team')
  await using lax = await start({ SIGN_IN: 'password' })
  const token = tokenOf(lax)
  const both = await Promise.all(
    ['bo', 'eve'].map((name) => post(lax, '/first-run', { ...body, email: `${name}@shop.example`, token })),
  )
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  const [team] = lax.app.directory.teams.list()
  assert.deepEqual([team!.name, lax.app.people.members.owners(team!.id).length], ['Shop', 1])
})

test('no token, cookie, password or code is in the log', async () => {
  const lines: string[] = []
  const log = openLog('trace', { write: (line: string) => lines.push(line) }, 'json')
  const env = { APP_ORIGIN: ORIGIN, SIGN_IN: 'passkey,password,link' }
  await using started = await startAppliance({ log, env })
  const at = { ...started, origin: `http://127.0.0.1:${started.ports.app}` }
  const token = tokenOf(at)
  const password = 'correct horse battery'
  const owner = { token, email: 'ana@shop.example', team_name: 'Shop', password }
  const done = await post(at, '/first-run', owner)
  assert.equal(done.status, 200, JSON.stringify(done.body))
  const cookie = done.headers.get('set-cookie')!.split(';')[0]!
  const person = new PersonClient(at, { email: owner.email, token: '' })
  person.cookie = cookie
  const { codes } = (await person.call('POST', '/me/v1/recovery-codes')).body.data
  await post(at, '/sign-in/recovery', { email: owner.email, code: codes[0] })
  await post(at, '/sign-in/password', { email: owner.email, password: `${password} wrong` })
  await at.call('GET', `${at.origin}/as/${done.body.data.teams[0].id}/api/v1/team`, null, undefined, {
    ...SAME_ORIGIN,
    cookie,
  })
  const text = lines.join('')
  assert.ok(text.includes('/me/v1/sign-in/password'), 'requests are logged at this level')
  for (const secret of [token, cookie.split('=')[1]!, password, ...codes]) assert.ok(!text.includes(secret), secret)
})
