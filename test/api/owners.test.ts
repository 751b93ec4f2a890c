// The authority of owners: no admin, and no key of an admin, makes or removes an owner, however many keys are in between.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type PersonClient, signInMember } from '../support/person.ts'
import { data, failure } from './expect.ts'

let at: TestAppliance
let team: TestTeam
let owner: PersonClient & { memberId: string }
let admin: PersonClient & { memberId: string }

before(async () => {
  at = await startAppliance()
  team = await at.team('Shop')
  await team.domain('shop.test')
  owner = await signInMember(at, team.id, 'owner', 'olga@shop.test')
  await signInMember(at, team.id, 'owner', 'second@people.example')
  admin = await signInMember(at, team.id, 'admin', 'adam@people.example')
})
after(() => at.close())

const as = (person: PersonClient, method: string, path: string, body?: unknown) =>
  person.call(method, `/as/${team.id}/api/v1${path}`, body)
const keyOf = async (person: PersonClient, body: object = { role: 'root:full' }) =>
  data<Json>(await as(person, 'POST', '/api-keys', { name: 'x', ...body }), 201)
const promote = (key: string) => at.call('PATCH', `/team/members/${admin.memberId}`, key, { role: 'owner' })

test('a key of an admin makes no owner, nor does a key that it issued', async () => {
  const { key } = await keyOf(admin)
  failure(await promote(key), 403, 'insufficient_permissions')
  const invited = { email: 'new@people.example', role: 'owner' }
  failure(await at.call('POST', '/team/members', key, invited), 403, 'insufficient_permissions')
  failure(await at.call('DELETE', `/team/members/${owner.memberId}`, key), 403, 'insufficient_permissions')
  failure(
    await at.call('PATCH', `/team/members/${owner.memberId}`, key, { role: 'viewer' }),
    403,
    'insufficient_permissions',
  )
  let last = key
  for (let step = 0; step < 3; step++) {
    last = data<Json>(await at.call('POST', '/api-keys', last, { name: 'next', role: 'root:full' }), 201).key
  }
  failure(await promote(last), 403, 'insufficient_permissions')
  const other = await at.call('POST', '/team/members', last, { email: 'v@people.example', role: 'viewer' })
  assert.equal(other.status, 202, 'what an admin may do, the key may do')
})

test('a key of the operator or of an owner makes owners, as long as its issuer is one', async () => {
  const extra = await signInMember(at, team.id, 'owner', 'extra@people.example')
  const { key } = await keyOf(extra)
  data(await at.call('PATCH', `/team/members/${admin.memberId}`, key, { role: 'owner' }))
  data(await at.call('PATCH', `/team/members/${admin.memberId}`, team.key, { role: 'admin' }))
  data(await as(owner, 'PATCH', `/team/members/${extra.memberId}`, { role: 'admin' }))
  failure(await promote(key), 403, 'insufficient_permissions')
  data(await as(owner, 'DELETE', `/team/members/${extra.memberId}`))
  failure(await promote(key), 403, 'insufficient_permissions')
})

test('an admin does not get the secret of such a key by rotating it', async () => {
  const { items } = at.app.directory.keys.list(team.id, { limit: 100, after: null })
  const operators = items.find(({ createdBy, role }) => createdBy === 'operator' && role === 'root:full')!
  failure(await as(admin, 'POST', `/api-keys/${operators.id}/rotate`, {}), 403, 'insufficient_permissions')
  const mine = await keyOf(admin)
  failure(await at.call('POST', `/api-keys/${operators.id}/rotate`, mine.key, {}), 403, 'insufficient_permissions')
  const rotated = data<Json>(await as(admin, 'POST', `/api-keys/${mine.id}/rotate`, {}))
  failure(await promote(rotated.key), 403, 'insufficient_permissions')
  const weak = await keyOf(owner, { permissions: ['domain.*', 'apikey.*'] })
  assert.equal((await as(admin, 'POST', `/api-keys/${weak.id}/rotate`, {})).status, 200)
  const strong = await keyOf(owner)
  assert.equal((await as(owner, 'POST', `/api-keys/${strong.id}/rotate`, {})).status, 200)
})

test('the mailbox an owner signs in with is deleted by owners only', async () => {
  const box = await team.mailbox('olga@shop.test')
  const mine = await keyOf(admin)
  failure(await as(admin, 'DELETE', `/mailboxes/${box.id}`), 403, 'insufficient_permissions')
  failure(await at.call('DELETE', `/mailboxes/${box.id}`, mine.key), 403, 'insufficient_permissions')
  assert.equal(at.app.people.members.get(team.id, owner.memberId)?.role, 'owner')
  const other = await team.mailbox('info@shop.test')
  assert.equal((await as(admin, 'DELETE', `/mailboxes/${other.id}`)).status, 200)
  assert.equal((await at.call('DELETE', `/mailboxes/${box.id}`, team.key)).status, 200)
})
