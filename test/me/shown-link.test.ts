// A session that a shown link opened for one team changes nothing that is the person's beyond that team.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { PersonClient, signInMember } from '../support/person.ts'

let at: TestAppliance
let first: string
let second: string

before(async () => {
  at = await startAppliance({ env: { SIGN_IN: 'passkey,link,password' } })
  first = (await at.team('First')).id
  second = (await at.team('Second')).id
})
after(() => at.close())

async function shown(email: string, teamId: string): Promise<PersonClient> {
  const { people, db } = at.app
  return new PersonClient(
    at,
    await db.write((tx) => people.signInAs(tx, { email, teamId, mailboxId: null, shownBy: null })),
  )
}

const CHANGES = [
  ['PATCH', '/self', { display_name: 'Somebody else' }],
  ['PUT', '/preferences', { theme: 'dark' }],
  ['PUT', '/password', { password: 'correct horse battery staple' }],
] as const

test('what a person has beyond the team stays as it is', async () => {
  const { people, db } = at.app
  const ana = await signInMember(at, first, 'viewer', 'ana@people.example')
  assert.equal((await ana.call('PATCH', '/me/v1/self', { display_name: 'Ana' })).status, 200)
  const bound = await shown('ana@people.example', first)
  for (const [method, path, body] of CHANGES) {
    const refused = await bound.call(method, `/me/v1${path}`, body)
    assert.deepEqual([path, refused.status], [path, 403], 'a session that opens more')
  }
  await db.write((tx) => people.sessions.closeOf(tx, ana.email, people.sessions.read(bound.cookie.split('=')[1]!)!.id))
  await db.write((tx) => people.members.add(tx, second, { email: ana.email, role: 'viewer' }))
  for (const [method, path, body] of CHANGES) {
    assert.equal((await bound.call(method, `/me/v1${path}`, body)).status, 403, 'another team')
  }
  const { displayName, password, preferences } = people.persons.get(ana.email)!
  assert.deepEqual([displayName, password, preferences], ['Ana', null, null])
})

test('a person who has nothing but the team makes themself at home with it', async () => {
  const { people, db } = at.app
  await db.write((tx) => people.members.add(tx, first, { email: 'new@people.example', role: 'viewer' }))
  const bound = await shown('new@people.example', first)
  for (const [method, path, body] of CHANGES) {
    const done = await bound.call(method, `/me/v1${path}`, body)
    assert.equal(done.status, 200, JSON.stringify(done.body))
  }
  await db.write((tx) => people.members.add(tx, second, { email: 'new@people.example', role: 'viewer' }))
  assert.equal((await bound.call('DELETE', '/me/v1/password')).status, 403)
})
