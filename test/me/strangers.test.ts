// Strangers keep no person out: links, invitations and passwords have shares per source, and counts of their own for browsers that are known.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { cookieName } from '../../src/http/session-cookie.ts'
import { COMPUTATIONS_EACH } from '../../src/people/passwords.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'

const PASSWORD = 'correct horse battery'
const clock = new ManualClock()
let appliance: TestAppliance
let team: TestTeam

before(async () => {
  appliance = await startAppliance({ clock, env: { SIGN_IN: 'passkey,link,password', TRUSTED_PROXIES: '127.0.0.1' } })
  team = await appliance.team('Shop')
})
after(() => appliance.close())

function post(path: string, body: unknown, headers: Record<string, string>) {
  return appliance.call('POST', appliance.origin + path, null, body, { ...SAME_ORIGIN, ...headers })
}

const from = (address: string) => ({ 'x-forwarded-for': address })

/** A person, and the cookie by which their browser is recognised at the next sign-in. */
async function person(name: string) {
  const email = `${name}@people.example`
  const { people, db } = appliance.app
  await signInMember(appliance, team.id, 'member', email)
  const [code] = await db.write((tx) => people.recoveryCodes.replace(tx, { email, teamId: null }))
  const signedIn = await post('/me/v1/sign-in/recovery', { email, code }, from('192.0.2.7'))
  const client = new PersonClient(appliance, { email, token: '' })
  client.cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const self = await client.get('/me/v1/self')
  const device = self.headers.get('set-cookie')!.split(';')[0]!
  assert.ok(device.startsWith(`${cookieName(appliance.app.config)}-device=`), device)
  assert.equal((await client.call('PUT', '/me/v1/password', { password: PASSWORD })).status, 200)
  return { email, client, browser: { cookie: device }, device: device.slice(device.indexOf('=') + 1) }
}

/** Asks for a link. @returns how many new links the person then has */
async function ask(email: string, headers: Record<string, string>): Promise<number> {
  const links = () =>
    appliance.app.db.read
      .all<{ link: string }>('SELECT hex(hash) AS link FROM sign_in_links WHERE email = ? AND expires_at > ?', [
        ...[email, clock.now()],
      ])
      .map(({ link }) => link)
  const before = new Set(links())
  assert.equal((await post('/me/v1/sign-in/link', { email }, headers)).status, 202)
  await appliance.settle()
  return links().filter((link) => !before.has(link)).length
}

test('requests of strangers use up neither the links of other sources, nor of a known browser, nor invitations', async () => {
  const { email, browser } = await person('ana')
  const stranger = from('203.0.113.1')
  assert.deepEqual([await ask(email, stranger), await ask(email, stranger), await ask(email, stranger)], [1, 1, 1])
  assert.equal(await ask(email, stranger), 0, 'the share of one source')
  assert.equal(await ask(email, from('203.0.113.2')), 1, 'another source has its own')
  assert.equal(await ask(email, from('2001:db8:1:2::1')), 1)
  assert.equal(await ask(email, from('2001:db8:1:3::1')), 1)
  assert.equal(await ask(email, from('203.0.113.3')), 0, 'all strangers together do not flood a mailbox')
  for (let n = 0; n < 3; n++) assert.equal(await ask(email, { ...stranger, ...browser }), 1, 'a known browser')
  assert.equal(await ask(email, { ...stranger, ...browser }), 0)
  const other = await appliance.team('Other')
  const invited = await appliance.call('POST', '/team/members', other.key, { email, role: 'viewer' })
  assert.deepEqual([invited.status, invited.body.meta?.link_mailed], [202, true], JSON.stringify(invited.body))
  clock.advance(3_600_000)
  assert.equal(await ask(email, stranger), 1, 'after an hour')
})

test('a browser that is known to one person is a stranger to others', async () => {
  const [bea, cai] = [await person('bea'), await person('cai')]
  const headers = { ...from('203.0.113.20'), ...cai.browser }
  for (let n = 0; n < 3; n++) assert.equal(await ask(bea.email, headers), 1)
  assert.equal(await ask(bea.email, headers), 0)
  assert.equal(await ask(bea.email, { ...from('203.0.113.20'), ...bea.browser }), 1)
})

test('a flood of passwords fills the places of its source alone, and what was not checked is no failure', async () => {
  const dan = await person('dan')
  const { authentication } = appliance.app.people
  const browserAt = (source: string, device: string | null = null) => ({
    ...{ source, userAgent: '', trusted: false, cookies: { session: null, device } },
  })
  const flood = Promise.allSettled(
    Array.from({ length: COMPUTATIONS_EACH }, (_, n) =>
      authentication.byPassword(`nobody${n}@people.example`, 'wrong', browserAt('203.0.113.30')),
    ),
  )
  const enter = (source: string, device: string | null = null) =>
    authentication.byPassword(dan.email, PASSWORD, browserAt(source, device))
  for (let n = 0; n < 6; n++) await assert.rejects(enter('203.0.113.30'), { code: 'service_unavailable' })
  const elsewhere = enter('203.0.113.31')
  const known = enter('203.0.113.30', dan.device)
  await known
  await elsewhere
  for (const { status } of await flood) assert.equal(status, 'rejected')
  await enter('203.0.113.30')
})

test('failures at the same source do not lock a known browser or an open session', async () => {
  const { email, client, browser } = await person('eve')
  const office = from('192.0.2.7')
  for (let n = 0; n < 5; n++) {
    const wrong = await post('/me/v1/sign-in/recovery', { email, code: 'aaaa-bbbb-cccc' }, office)
    assert.equal(wrong.status, 401)
  }
  assert.equal((await post('/me/v1/sign-in/password', { email, password: PASSWORD }, office)).status, 429)
  clock.advance(60_000)
  const entered = await post('/me/v1/sign-in/password', { email, password: PASSWORD }, { ...office, ...browser })
  assert.equal(entered.status, 200, JSON.stringify(entered.body))
  assert.equal((await client.call('POST', '/me/v1/confirm', { password: PASSWORD }, office)).status, 200)
  for (let n = 0; n < 5; n++) await client.call('POST', '/me/v1/confirm', { password: 'wrong' }, office)
  clock.advance(60_000)
  const locked = await client.call('POST', '/me/v1/confirm', { password: PASSWORD }, office)
  assert.equal(locked.status, 429, 'a session has its own five')
})
