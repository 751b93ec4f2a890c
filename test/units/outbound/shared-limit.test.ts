// The daily share of Amazon SES: what is taken and counted, when the day turns, and the requests for more.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { SharedLimit } from '../../../src/outbound/providers/shared-limit.ts'
import { DAILY_MAX, NOTE_MAX } from '../../../src/outbound/providers/shared-limit-record.ts'
import { openAccounts } from '../../support/accounts.ts'
import { failure } from '../../support/directory.ts'

const appliance = await openAccounts({ SES_ACCESS_KEY_ID: 'AKIA', SES_SECRET_ACCESS_KEY: 'x' })
after(() => appliance[Symbol.asyncDispose]())
const { app, clock } = appliance
const { sharedLimit: shared, providers } = app.outbound.accounts
const DAY = 86_400_000
let team = ''

beforeEach(async () => {
  team = (await app.directory.teams.create({ name: 'Team' })).id
})

const take = (count: number) => app.db.write((tx) => shared.take(tx, team, count))
const settle = (taken: number, accepted: number) => app.db.write((tx) => shared.settle(tx, team, taken, accepted))
const ask = (requestedDailyLimit: number | null = null) => shared.create(team, { reason: null, requestedDailyLimit })

test('a team without SES has no limit, no account, and nothing to ask for', async () => {
  assert.deepEqual(shared.limitOf(team), {
    providerId: null,
    dailyLimit: null,
    sentToday: 0,
    thresholdUsage: null,
    usageRatio: null,
    isNearLimit: false,
    canRequestIncrease: false,
    pendingRequestId: null,
  })
  assert.equal(await take(1), false)
  await assert.rejects(ask(), failure('conflict'))
})

test('the limit and what is computed from it', async () => {
  await shared.setDaily(team, true, 7)
  const provider = providers.connections.sharedOf(team)
  assert.equal(provider!.status, 'active')
  const at = async (sent: number) => {
    await settle(0, sent)
    const { thresholdUsage, usageRatio, isNearLimit, sentToday } = shared.limitOf(team)
    return [sentToday, thresholdUsage, usageRatio, isNearLimit]
  }
  assert.equal(shared.limitOf(team).providerId, provider!.id)
  assert.deepEqual(await at(0), [0, 5, 0, false])
  assert.deepEqual(await at(4), [4, 5, 0.5714, false])
  assert.deepEqual(await at(1), [5, 5, 0.7143, true])
  assert.deepEqual(await at(2), [7, 5, 1, true])
})

test('a limit of nothing is always used up; no limit is never', async () => {
  const none = await shared.setDaily(team, true, 0)
  assert.deepEqual([none.usageRatio, none.isNearLimit, none.canRequestIncrease], [1, true, true])
  assert.equal(await take(1), false)
  const open = await shared.setDaily(team, true, null)
  assert.deepEqual([open.usageRatio, open.isNearLimit, open.canRequestIncrease], [null, false, false])
  assert.equal(await take(DAILY_MAX), true)
})

test('a reservation counts until it is settled; only accepted recipients count as sent', async () => {
  await shared.setDaily(team, true, 10)
  assert.equal(await take(6), true)
  assert.equal(await take(5), false)
  assert.equal(await take(4), true)
  assert.equal(shared.limitOf(team).sentToday, 0)
  await settle(6, 2)
  assert.equal(shared.limitOf(team).sentToday, 2)
  assert.equal(await take(5), false)
  assert.equal(await take(4), true)
})

test('fifty at once take no more than there is', async () => {
  await shared.setDaily(team, true, 20)
  const taken = await Promise.all(Array.from({ length: 50 }, () => take(1)))
  assert.equal(taken.filter(Boolean).length, 20)
})

test('the day turns at 00:00 UTC', async () => {
  await shared.setDaily(team, true, 10)
  const midnight = Math.ceil((clock.now() + 1) / DAY) * DAY
  clock.advance(midnight - clock.now() - 1)
  assert.equal(await take(10), true)
  await settle(4, 4)
  assert.equal(await take(1), false)
  clock.advance(1)
  assert.equal(shared.limitOf(team).sentToday, 0)
  assert.equal(await take(10), true)
  // What was handed over yesterday and accepted today counts for today, and gives nothing of today back.
  await settle(6, 6)
  assert.equal(shared.limitOf(team).sentToday, 6)
  clock.advance(DAY)
  assert.equal(shared.limitOf(team).sentToday, 0)
})

test('a request keeps how things stood, and there is one at a time', async () => {
  await shared.setDaily(team, true, 10)
  await settle(0, 9)
  const { request, limit } = await shared.create(team, { reason: 'A sale', requestedDailyLimit: 50 })
  assert.equal(request.status, 'pending')
  assert.deepEqual([request.currentDailyLimit, request.currentDailySent], [10, 9])
  assert.deepEqual([request.reason, request.requestedDailyLimit], ['A sale', 50])
  assert.deepEqual([limit.pendingRequestId, limit.canRequestIncrease], [request.id, false])
  await assert.rejects(ask(), failure('conflict'))
  assert.equal(shared.pendingOf(team)!.id, request.id)
})

test('of requests at the same moment one is made', async () => {
  await shared.setDaily(team, true, 10)
  const made = await Promise.allSettled([ask(), ask(), ask()])
  assert.deepEqual(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
})

test('a request is for more than there is', async () => {
  await shared.setDaily(team, true, 10)
  const small = failure('validation_error', { field: 'requested_daily_limit', code: 'too_small' })
  await assert.rejects(ask(10), small)
  await assert.rejects(ask(10.5), small)
  await assert.rejects(
    ask(DAILY_MAX + 1),
    failure('validation_error', { field: 'requested_daily_limit', code: 'too_big' }),
  )
  const long = { reason: 'x'.repeat(NOTE_MAX + 1), requestedDailyLimit: null }
  await assert.rejects(shared.create(team, long), failure('validation_error', { field: 'reason', code: 'too_big' }))
})

test('cancelled, approved and denied are final', async () => {
  await shared.setDaily(team, true, 10)
  const { id } = (await ask()).request
  const { request, limit } = await shared.cancel(team, id)
  assert.deepEqual([request.status, request.decidedAt], ['cancelled', clock.now()])
  assert.deepEqual([limit.pendingRequestId, limit.canRequestIncrease], [null, true])
  await assert.rejects(shared.cancel(team, id), failure('conflict'))
  await assert.rejects(shared.approve(id, { approvedDailyLimit: 20, note: null }), failure('conflict'))
  await assert.rejects(shared.deny(id, { note: null }), failure('conflict'))
})

test('an approval raises the limit at once', async () => {
  await shared.setDaily(team, true, 10)
  const { id } = (await ask(100)).request
  const small = failure('validation_error', { field: 'approved_daily_limit', code: 'too_small' })
  await assert.rejects(shared.approve(id, { approvedDailyLimit: 10, note: null }), small)
  assert.equal(shared.pendingOf(team)!.id, id, 'a decision that was refused decides nothing')
  const approved = await shared.approve(id, { approvedDailyLimit: 60, note: 'For the sale' })
  assert.deepEqual(
    [approved.status, approved.approvedDailyLimit, approved.decisionNote],
    ['approved', 60, 'For the sale'],
  )
  assert.equal(shared.limitOf(team).dailyLimit, 60)
  assert.equal(await take(60), true)
})

test('a denial ends asking for a day', async () => {
  await shared.setDaily(team, true, 10)
  const { id } = (await ask()).request
  assert.equal((await shared.deny(id, { note: 'Not yet' })).decisionNote, 'Not yet')
  assert.equal(shared.limitOf(team).canRequestIncrease, false)
  await assert.rejects(ask(), failure('conflict'))
  clock.advance(DAY)
  assert.equal(shared.limitOf(team).canRequestIncrease, true)
  await ask()
})

test('a request of somebody else is as missing as one of nobody', async () => {
  await shared.setDaily(team, true, 10)
  const { id } = (await ask()).request
  const stranger = (await app.directory.teams.create({ name: 'Other' })).id
  await assert.rejects(shared.cancel(stranger, id), failure('not_found'))
  await assert.rejects(shared.cancel(team, 'slir_none'), failure('not_found'))
  await assert.rejects(shared.deny('slir_none', { note: null }), failure('not_found'))
})

test('the operator sees the requests of all teams, a team its own', async () => {
  await shared.setDaily(team, true, 10)
  const { id } = (await ask()).request
  const all = shared.list({ status: 'pending', limit: 100, after: null })
  assert.ok(all.items.length > 1 && all.items[0]!.id === id)
  const own = shared.list({ teamId: team, limit: 1, after: null })
  assert.deepEqual(
    own.items.map((one) => one.id),
    [id],
  )
  const first = shared.list({ limit: 1, after: null })
  const second = shared.list({ limit: 1, after: first.next })
  assert.notEqual(second.items[0]!.id, first.items[0]!.id)
})

test('switching off ends the account of the team; another number does not switch it on again', async () => {
  await shared.setDaily(team, true, 10)
  const { id } = providers.connections.sharedOf(team)!
  await providers.deactivate(team, id)
  await shared.setDaily(team, true, 20)
  assert.equal(providers.get(team, id)!.status, 'inactive')
  await shared.setDaily(team, false, 20)
  assert.equal(shared.limitOf(team).providerId, null)
  assert.equal(await take(1), false)
  await shared.setDaily(team, true, 20)
  assert.equal(providers.get(team, id)!.status, 'active')
})

test('an approval for a team that lost its account, or has no limit any more, is a conflict', async () => {
  await shared.setDaily(team, true, 10)
  const { id } = (await ask()).request
  await shared.setDaily(team, true, null)
  await assert.rejects(shared.approve(id, { approvedDailyLimit: 20, note: null }), failure('conflict'))
  await shared.setDaily(team, false, 10)
  await assert.rejects(shared.approve(id, { approvedDailyLimit: 20, note: null }), failure('conflict'))
})

test('the operator names a team that is there, a number that can be meant, and an account', async () => {
  await assert.rejects(shared.setDaily('team_none', true, 10), failure('not_found'))
  const field = 'ses_daily_limit'
  await assert.rejects(shared.setDaily(team, true, -1), failure('validation_error', { field, code: 'too_small' }))
  await assert.rejects(shared.setDaily(team, true, 1.5), failure('validation_error', { field, code: 'too_small' }))
  await assert.rejects(
    shared.setDaily(team, true, DAILY_MAX + 1),
    failure('validation_error', { field, code: 'too_big' }),
  )
  const without = new SharedLimit({ ...app, providers, config: { ...app.config, SES_ACCESS_KEY_ID: '' } })
  await assert.rejects(without.setDaily(team, true, 10), failure('service_unavailable'))
  await without.setDaily(team, false, null)
})
