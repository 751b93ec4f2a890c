// Every route at /me/v1 × no session, a key, another site, a stale session, and ids of another person.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import type { Route } from '../../src/http/route.ts'
import { meRoutes } from '../../src/me/routes.ts'
import { sample } from '../api/samples.ts'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { type PersonClient, SAME_ORIGIN, signInMember } from '../support/person.ts'

const clock = new ManualClock()
let at: TestAppliance
let team: TestTeam
let ana: PersonClient
let eve: PersonClient
/** Ids of what belongs to Ana. */
const owned = new Map<string, string>()

before(async () => {
  at = await startAppliance({ clock, env: { ...EASY_WORK, SIGN_IN: 'passkey,link,password' } })
  team = await at.team()
  ana = await signInMember(at, team.id, 'owner', 'ana@people.example')
  eve = await signInMember(at, team.id, 'owner', 'eve@people.example')
  const agent = new AgentClient(at)
  const registered = await agent.register()
  await agent.invite(await agent.readToken(registered.identity_assertion), ana.email)
  owned.set('approval_id', (await ana.get('/me/v1/approvals')).body.data[0].id)
  owned.set('registration_id', registered.registration_id)
  owned.set('session_id', at.app.people.sessions.list(ana.email)[0]!.id)
  const { people, db } = at.app
  const passkey = { email: ana.email, teamId: null, credentialId: 'x', publicKey: new Uint8Array([1]), counter: 0 }
  const added = await db.write((tx) =>
    people.passkeys.add(tx, { ...passkey, transports: [], isBackedUp: false, name: 'Phone' }),
  )
  owned.set('passkey_id', added!.id)
})
after(() => at.close())

const personal = meRoutes.filter(({ as }) => as === 'person')

function pathOf(route: Route, ids: ReadonlyMap<string, string>): string {
  const fields = (route.params?.properties ?? {}) as Record<string, { 'x-id'?: Parameters<typeof newId>[0] }>
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => ids.get(name) ?? newId(fields[name]!['x-id']!))
  return `/me/v1${path}`
}

function call(route: Route, headers: Record<string, string>, ids: ReadonlyMap<string, string> = new Map()) {
  clock.advance(10_000)
  const body = route.body === undefined ? undefined : sample(route.body)
  return at.call(route.method, at.origin + pathOf(route, ids), null, body, headers)
}

test('nothing of a person without their session: neither without a credential, nor with a key', async () => {
  for (const route of personal) {
    const ways: Record<string, string>[] = [{}, { authorization: `Bearer ${team.key}` }, { cookie: 'mailstead=x' }]
    for (const headers of ways) {
      const { status } = await call(route, { ...SAME_ORIGIN, ...headers })
      assert.deepEqual([route.operation, status], [route.operation, 401])
    }
  }
})

test('no other site makes a browser call them', async () => {
  for (const route of meRoutes) {
    for (const site of ['cross-site', 'same-site', undefined]) {
      const from: Record<string, string> = site === undefined ? {} : { 'sec-fetch-site': site }
      const { status } = await call(route, { ...from, 'x-mailstead': '1', cookie: eve.cookie })
      assert.deepEqual([route.operation, site, status], [route.operation, site, 403])
    }
    if (route.method === 'GET') continue
    const { status } = await call(route, { 'sec-fetch-site': 'same-origin', cookie: eve.cookie })
    assert.deepEqual([route.operation, status], [route.operation, 403], 'without the header of the pages')
  }
})

test('ids of another person are as unknown as those of nobody', async () => {
  const { people, db } = at.app
  for (const route of personal.filter(({ params }) => params !== undefined)) {
    const { id } = people.sessions.list(eve.email)[0]!
    await db.write((tx) => people.sessions.confirm(tx, id))
    const headers = { ...SAME_ORIGIN, cookie: eve.cookie }
    const [theirs, nobodys] = [await call(route, headers, owned), await call(route, headers)]
    const shown = ({ status, body }: typeof theirs) => [status, body.error]
    assert.deepEqual([route.operation, ...shown(theirs)], [route.operation, ...shown(nobodys)])
    assert.equal(theirs.status, 404, route.operation)
  }
  assert.equal((await ana.get('/me/v1/passkeys')).body.data.length, 1)
  assert.equal((await ana.get('/me/v1/approvals')).body.data.length, 1)
})

test('what is dangerous needs a fresh proof', async () => {
  clock.leap(16 * 60_000)
  const dangerous = personal.filter(({ fresh }) => fresh === true)
  assert.ok(dangerous.some(({ operation }) => operation === 'approveApproval'))
  for (const route of dangerous) {
    const { status, body } = await call(route, { ...SAME_ORIGIN, cookie: ana.cookie }, owned)
    assert.deepEqual([route.operation, status, body.error?.param], [route.operation, 403, 'confirm'])
  }
})
