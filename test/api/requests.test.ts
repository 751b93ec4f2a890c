// The API requests of a team: who may read them, what they say and leave out, and what is kept.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { REQUESTS_KEPT, WAITING_MAX, WAITING_OF_TEAM_MAX } from '../../src/directory/names/request-log.ts'
import { openScheduler } from '../../src/jobs/scheduler.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { signInMember } from '../support/person.ts'
import { data } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock, env: { RATE_LIMIT_PER_MINUTE: '60' } })
after(() => appliance.close())
const team = await appliance.team('Shop')
const other = await appliance.team('Other')
const { id: domain } = { id: await team.domain('shop.test') }
const box = await team.mailbox('ana@shop.test')
const list = async (query = '', key = team.key) => data<Json[]>(await appliance.get(`/team/requests?${query}`, key))

test('requests with keys of the team and its mailboxes are listed, without ids, queries and bodies', async () => {
  await appliance.get(`/domains/${domain}?`, team.key)
  await appliance.call('POST', '/domains', team.key, { domain: 'not a domain' })
  await appliance.get('/mailbox/messages?q=secret-words', box.key)
  await appliance.get('/nothing/here', team.key)
  const own = await list('limit=100')
  const shown = own.map(({ method, route, operation, status, error_code }) => [
    method,
    route,
    operation,
    status,
    error_code,
  ])
  assert.deepEqual(shown.slice(0, 4), [
    ['GET', null, null, 404, 'not_found'],
    ['GET', '/api/v1/mailbox/messages', 'listMessages', 200, null],
    ['POST', '/api/v1/domains', 'createDomain', 422, 'validation_error'],
    ['GET', '/api/v1/domains/{domain_id}', 'getDomain', 200, null],
  ])
  assert.ok(own.every(({ id, ms, key_id }) => /^req_/.test(id) && ms >= 0 && /^key_/.test(key_id)))
  assert.ok(!JSON.stringify(own).includes('secret-words') && !JSON.stringify(own).includes(domain))
  assert.deepEqual(await list('', other.key), [], 'nothing of another team')
})

test('they are filtered by key, method, status, time and words', async () => {
  const [last] = await list('status=client_error')
  assert.equal(last!.status, 404)
  assert.deepEqual((await list('method=POST')).map(({ operation }) => operation).includes('createDomain'), true)
  assert.ok((await list('q=validation_error')).every(({ status }) => status === 422))
  const [mailbox] = await list('q=listMessages')
  const byKey = await list(`key_id=${mailbox!.key_id}`)
  assert.deepEqual(
    byKey.map(({ operation }) => operation),
    ['listMessages'],
  )
  assert.deepEqual(await list('before=2001-01-01'), [])
})

test('what people do in a browser, and what the rate limit refuses, is left out', async () => {
  const ana = await signInMember(appliance, team.id, 'viewer')
  const before = (await list('limit=100')).length
  assert.equal((await ana.get(`/as/${team.id}/api/v1/domains`)).status, 200)
  assert.equal((await ana.get(`/as/${team.id}/api/v1/team/requests`)).status, 200)
  clock.advance(60_000)
  const replies = await Promise.all(Array.from({ length: 70 }, () => appliance.get('/team', team.key)))
  const served = replies.filter(({ status }) => status === 200).length
  assert.equal(served, 60)
  clock.advance(60_000)
  const { requests } = appliance.app.directory
  const all = await requests.list(team.id, { limit: 1000, after: null })
  // The list itself was read twice.
  assert.equal(all.items.length, before + 1 + served)
})

test('three days are kept, and a bounded number of each team', async () => {
  const { requests } = appliance.app.directory
  const one = { ...{ teamId: other.id, at: clock.now(), method: 'GET', route: '/x', operation: 'x' } }
  const rest = { status: 200, ms: 1, keyId: 'key_x', errorCode: null }
  // One was made above.
  const count = async (teamId: string) => (await requests.list(teamId, { limit: 20_000, after: null })).items.length
  const ofTeam = await count(team.id)
  for (let group = 0; group < 24; group++) {
    for (let n = 0; n < WAITING_MAX + 10; n++) {
      requests.add({ ...one, ...rest, id: newId('request') }, (error) => assert.ifError(error))
    }
    if (group === 0) requests.add({ ...one, ...rest, teamId: team.id, id: newId('request') }, assert.ifError)
    await requests.flush()
    if (group > 0) continue
    assert.equal(await count(other.id), WAITING_OF_TEAM_MAX + 1, 'more of a team than wait at a time are left out')
    assert.equal(await count(team.id), ofTeam + 1, 'a request of another team is not')
  }
  assert.equal(await count(other.id), REQUESTS_KEPT, 'the newest')
  clock.leap(3 * 24 * 3_600_000 + 7_200_000)
  await openScheduler(appliance.app).settle()
  assert.deepEqual([await count(other.id), await count(team.id)], [0, 0])
})
