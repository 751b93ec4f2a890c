// The consent of a sending account is completed in the browser session that began it, by a person who may still connect accounts.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { startGoogle } from '../support/google.ts'
import { type PersonClient, signInMember } from '../support/person.ts'

let google: Awaited<ReturnType<typeof startGoogle>>
let at: TestAppliance
let team: TestTeam
let ana: PersonClient & { memberId: string }

before(async () => {
  google = await startGoogle()
  at = await startAppliance({ env: google.env })
  team = await at.team('Shop')
  ana = await signInMember(at, team.id, 'admin', 'ana@people.example')
})
after(async () => {
  await at.close()
  await google[Symbol.asyncDispose]()
})

async function begin(person: PersonClient): Promise<string> {
  const body = { type: 'gmail_api', name: 'Ana' }
  const begun = await person.call('POST', `/as/${team.id}/api/v1/providers/oauth/authorize`, body)
  assert.equal(begun.status, 201, JSON.stringify(begun.body))
  google.issuer.person = { email: 'ana@gmail.test' }
  const consent = await fetch(begun.body.data.authorization_url, { redirect: 'manual' })
  return consent.headers.get('location')!
}

/** The redirect arrives as a navigation from another site. */
const comesBack = (url: string, cookie?: string) =>
  at.call('GET', url, null, undefined, { 'sec-fetch-site': 'cross-site', ...(cookie === undefined ? {} : { cookie }) })

const providers = async (): Promise<Json[]> => (await at.get('/providers', team.key)).body.data

test('another browser, signed in or not, does not complete it, and does not use it up', async () => {
  const url = await begin(ana)
  const eve = await signInMember(at, team.id, 'owner', 'eve@people.example')
  const again = await signInMember(at, (await at.team('Other')).id, 'owner', 'ana@people.example')
  for (const cookie of [undefined, eve.cookie, again.cookie]) {
    const reply = await comesBack(url, cookie)
    assert.equal(reply.status, 403)
    assert.match(String(reply.body), /begun in another browser/)
  }
  assert.deepEqual(await providers(), [])
  assert.equal((await comesBack(url, ana.cookie)).status, 200)
  assert.equal((await providers()).length, 1)
  const { items } = await at.app.people.audit.list(team.id, { limit: 10, after: null })
  const entry = items.find(({ action }) => action === 'connectProvider')!
  assert.deepEqual([entry.actor.label, entry.target.label], ['ana@people.example', 'ana@gmail.test'])
  assert.equal((await comesBack(url, ana.cookie)).status, 410, 'it works once')
})

test('who lost the role meanwhile connects nothing', async () => {
  const bob = await signInMember(at, team.id, 'admin', 'bob@people.example')
  const url = await begin(bob)
  await at.app.people.changeRole(team.id, bob.memberId, 'viewer', () => {})
  const before = (await providers()).length
  assert.equal((await comesBack(url, bob.cookie)).status, 403)
  assert.equal((await providers()).length, before)
})
