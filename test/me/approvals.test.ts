// What agents and teams wait for is decided by the person it is for, and by nobody else.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AgentClient, CLAIM, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { PersonClient, signInMember } from '../support/person.ts'

const clock = new ManualClock()
let at: TestAppliance
let team: TestTeam
let ana: PersonClient
let stranger: PersonClient

before(async () => {
  const ses = { SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' }
  at = await startAppliance({ clock, env: { ...EASY_WORK, ...ses } })
  team = await at.team('Shop')
  ana = await signInMember(at, team.id, 'viewer', 'ana@people.example')
  stranger = await signInMember(at, team.id, 'owner', 'eve@people.example')
})
after(() => at.close())

async function invited(email: string) {
  const agent = new AgentClient(at)
  const registered = await agent.register()
  await agent.invite(await agent.readToken(registered.identity_assertion), email)
  return { agent, registered }
}

const pending = async (person: PersonClient): Promise<Json[]> => (await person.get('/me/v1/approvals')).body.data
const decide = (person: PersonClient, id: string, how: string, body?: unknown) =>
  person.call('POST', `/me/v1/approvals/${id}/${how}`, body)

test('an agent names a person as owner, asks to send, and gets both by their decision', async () => {
  const { agent, registered } = await invited('ana@people.example')
  const [asked] = await pending(ana)
  assert.deepEqual([asked.kind, asked.subject, asked.team_id], ['agent_owner', registered.mailbox.email, null])
  assert.deepEqual(await pending(stranger), [])
  assert.equal((await decide(stranger, asked.id, 'approve')).status, 404)
  assert.equal((await decide(stranger, asked.id, 'deny')).status, 404)
  const owned = await decide(ana, asked.id, 'approve')
  assert.deepEqual([owned.status, owned.body.data.decision, owned.body.data.left], [200, 'approved', 0])
  assert.equal((await decide(ana, asked.id, 'approve')).status, 404, 'it waits no longer')
  assert.deepEqual(await pending(ana), [], 'the agent has not asked for more')
  assert.equal((await agent.token({ grant_type: CLAIM, claim_token: registered.claim_token })).status, 503)
  const [sending] = await pending(ana)
  assert.deepEqual([sending.kind, sending.registration_id], ['agent_sending', registered.registration_id])
  assert.equal((await decide(stranger, sending.id, 'approve')).status, 404)
  assert.equal((await decide(ana, sending.id, 'deny')).body.data.decision, 'denied')
  assert.equal((await agent.token({ grant_type: CLAIM, claim_token: registered.claim_token })).status, 503)
  assert.deepEqual(await pending(ana), [], 'a refusal is not asked again')
  const path = `/me/v1/agents/${registered.registration_id}`
  assert.equal((await ana.call('POST', `${path}/approve-sending`)).body.data.state, 'approved')
  const teamId = owned.body.data.team_id
  const entries = (await ana.get(`/as/${teamId}/api/v1/team/audit`)).body.data as Json[]
  assert.deepEqual(entries.map(({ action }) => action).sort(), [
    'approveAgentSending',
    'approveApproval',
    'denyApproval',
  ])
})

test('an invitation is refused for good, and accepted with sending at once', async () => {
  const first = await invited('ana@people.example')
  const [no] = await pending(ana)
  assert.equal((await decide(ana, no.id, 'deny', { opt_out: true })).status, 200)
  const refused = await first.agent.token({ grant_type: CLAIM, claim_token: first.registered.claim_token })
  assert.equal(refused.body.error, 'access_denied')
  const bob = await signInMember(at, team.id, 'viewer', 'bob@people.example')
  const { agent, registered } = await invited('bob@people.example')
  const [yes] = await pending(bob)
  assert.equal((await decide(bob, yes.id, 'approve', { allow_sending: true })).status, 200)
  assert.equal((await agent.token({ grant_type: CLAIM, claim_token: registered.claim_token })).status, 200)
})

test('a decision needs a fresh proof, and a session that proves the address', async () => {
  // Registrations of one address are limited by the day.
  clock.leap(24 * 3_600_000)
  const dan = await signInMember(at, team.id, 'viewer', 'dan@people.example')
  const { app } = at
  const bound = await app.db.write((tx) =>
    app.people.signInAs(tx, { email: 'dan@people.example', teamId: team.id, mailboxId: null, shownBy: null }),
  )
  await invited('dan@people.example')
  const [asked] = await pending(dan)
  const shown = new PersonClient(at, bound)
  assert.deepEqual(await pending(shown), [], 'a shown link does not prove the address')
  assert.equal((await decide(shown, asked.id, 'approve')).status, 404)
  clock.leap(16 * 60_000)
  const stale = await decide(dan, asked.id, 'approve')
  assert.deepEqual([stale.status, stale.body.error.param], [403, 'confirm'])
  assert.equal((await decide(dan, asked.id, 'deny')).status, 200)
})

test('an operator decides on limit requests of teams, and only with a fresh proof', async () => {
  const { app } = at
  await app.outbound.accounts.sharedLimit.setDaily(team.id, true, 100)
  await app.outbound.accounts.sharedLimit.create(team.id, { reason: 'A sale', requestedDailyLimit: 500 })
  const ops = await signInMember(at, team.id, 'owner', 'ops@people.example')
  assert.deepEqual(await pending(ops), [])
  await app.db.write((tx) => app.people.persons.setOperator(tx, 'ops@people.example', true))
  const [asked] = await pending(ops)
  assert.deepEqual([asked.kind, asked.team_id, asked.subject], ['limit_request', team.id, 'Shop'])
  assert.deepEqual(
    (asked.facts as Json[]).filter(({ untrusted }) => untrusted).map(({ value }) => value),
    ['A sale'],
  )
  const other = await signInMember(at, (await at.team('Other')).id, 'owner', 'pat@people.example')
  assert.equal((await decide(other, asked.id, 'approve')).status, 404)
  clock.leap(16 * 60_000)
  assert.equal((await decide(ops, asked.id, 'deny')).body.error.param, 'confirm')
  const { id } = app.people.sessions.list('ops@people.example')[0]!
  await app.db.write((tx) => app.people.sessions.confirm(tx, id))
  assert.equal((await decide(ops, asked.id, 'approve')).status, 200)
  assert.equal(app.outbound.accounts.sharedLimit.limitOf(team.id).dailyLimit, 500)
})
