// The owner of an agent decides about it in the app, and no other person does.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { startAppliance } from '../support/appliance.ts'
import { PersonClient, signInMember } from '../support/person.ts'

test('an owner lets an agent send, takes it back, and ends it with its address', async () => {
  await using at = await startAppliance({ env: EASY_WORK })
  const { agents } = at.app
  const agent = new AgentClient(at)
  const registered = await agent.register()
  await agent.invite(await agent.readToken(registered.identity_assertion), 'ana@people.example')
  const [open] = await agents.invites.openFor('ana@people.example')
  const token = (await agents.invites.showLink(open!.invite)).split('/').at(-1)!
  const { session } = await agents.owners.answer(token, { accept: true, approveSending: false, optOut: false })
  const ana = new PersonClient(at, session!)
  const team = await at.team()
  const stranger = await signInMember(at, team.id, 'owner')
  const path = `/me/v1/agents/${registered.registration_id}`
  const [own] = (await ana.get('/me/v1/agents')).body.data
  assert.deepEqual([own.id, own.email, own.state], [registered.registration_id, registered.mailbox.email, 'accepted'])
  assert.deepEqual((await stranger.get('/me/v1/agents')).body.data, [])
  assert.equal((await stranger.call('POST', `${path}/approve-sending`)).status, 404)
  assert.equal((await ana.call('POST', `${path}/approve-sending`)).body.data.state, 'approved')
  assert.equal((await ana.call('POST', `${path}/revoke-sending`)).body.data.state, 'accepted')
  assert.equal((await ana.call('POST', `${path}/revoke`, { email: 'other@agents.test' })).status, 409)
  const ended = await ana.call('POST', `${path}/revoke`, { email: own.email })
  assert.deepEqual([ended.status, ended.body.data.state], [200, 'revoked'])
})
