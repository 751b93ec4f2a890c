// Through whom a mail goes: by scope, From address, quota and failures, on real rows.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { SendScope } from '../../../src/directory/mailbox-input.ts'
import type { Email } from '../../../src/outbound/records.ts'
import { QuotaCounts } from '../../../src/outbound/routing/quotas.ts'
import type { Provider as Shown } from '../../../src/surfaces/rest/schemas/provider.ts'
import { data } from '../../rest/expect.ts'
import { ManualClock } from '../../support/clock.ts'
import { startHouse } from '../../support/house.ts'

const MINUTE = 60_000
const clock = new ManualClock(Date.UTC(2030, 0, 2))
const house = await startHouse({ clock })
after(() => house.close())
const { router, providers, groups } = house.app.outbound

async function account(key: string, body: object = {}): Promise<string> {
  const base = { name: 'One', smtp_host: 'smtp.example.test', smtp_port: 587, smtp_protocol: 'starttls' }
  const whole = { ...base, smtp_username: 'u', smtp_password: 'p', ...body }
  const { id } = data<Shown>(await house.call('POST', '/providers', key, whole), 201)
  const provider = (await providers.byId(id))!
  // As if its check had gone well: there is no server behind these accounts.
  await house.app.db.write((tx) => providers.health.activate(tx, provider, () => 'active'))
  return id
}

function mail(teamId: string, from: string, scope: SendScope = { type: 'all' }): Email {
  return {
    ...{ n: 1, id: 'eml_0a1b2c3d4e5f6g7h8i9j0k1l', teamId, mailboxId: null, source: 'batch_api', scope },
    ...{ from: { email: from, name: '' }, returnPath: null, subject: 'Hello', internetMessageId: 'a@b' },
    ...{ hash: null, sizeBytes: 100, queuedAt: clock.now(), expiresAt: clock.now() + 48 * 60 * MINUTE, domain: null },
  } as Email
}

const decide = (email: Email, recipients = 1, exclude: string[] = []) =>
  router.decide(email, recipients, new Set(exclude))

test('an account carries mail of verified domains and of its own address; else mail goes straight, or nowhere', async () => {
  const team = await house.team()
  await team.domain('shop.test')
  assert.equal((await decide(mail(team.id, 'a@shop.test'))).kind, 'direct')
  const nowhere = await decide(mail(team.id, 'a@elsewhere.test'))
  assert.deepEqual([nowhere.kind, 'reason' in nowhere && nowhere.reason], ['reject', 'no_provider'])
  const id = await account(team.key, { from_email: 'me@mine.example' })
  for (const from of ['a@shop.test', 'ME@mine.example']) {
    const decision = await decide(mail(team.id, from))
    assert.ok(decision.kind === 'provider' && decision.provider.id === id, from)
  }
  const foreign = await decide(mail(team.id, 'other@mine.example'))
  assert.deepEqual([foreign.kind, 'reason' in foreign && foreign.reason], ['reject', 'unverified_domain'])
})

test('a scope is a restriction: it is not gone past', async () => {
  const team = await house.team()
  await team.domain('scope.test')
  const [a, b] = [await account(team.key), await account(team.key)]
  const only = await decide(mail(team.id, 'a@scope.test', { type: 'providers', providerIds: [b] }))
  assert.ok(only.kind === 'provider' && only.provider.id === b)
  await providers.deactivate(team.id, b)
  const none = await decide(mail(team.id, 'a@scope.test', { type: 'providers', providerIds: [b] }))
  assert.deepEqual([none.kind, 'reason' in none && none.reason], ['reject', 'no_provider'])
  const members = [{ providerId: a }]
  const group = await groups.create(team.id, { name: 'G', strategy: 'failover', members })
  const through = await decide(mail(team.id, 'a@scope.test', { type: 'group', groupIds: [group.id] }))
  assert.ok(through.kind === 'provider' && through.provider.id === a && through.reason.includes('G (failover)'))
})

test('failover takes the next account when one has failed; when all have, the mail waits', async () => {
  const team = await house.team()
  await team.domain('fail.test')
  const [a, b] = [await account(team.key), await account(team.key)]
  const members = [{ providerId: a }, { providerId: b }]
  const group = await groups.create(team.id, { name: 'F', strategy: 'failover', members })
  const email = mail(team.id, 'a@fail.test', { type: 'group', groupIds: [group.id] })
  const ids: string[] = []
  for (const exclude of [[], [a]]) {
    const decision = await decide(email, 1, exclude)
    if (decision.kind === 'provider') ids.push(decision.provider.id)
  }
  assert.deepEqual(ids, [a, b])
  assert.equal((await decide(email, 1, [a, b])).kind, 'wait')
})

test('a full account is passed over; when all are full the mail waits until the first window opens', async () => {
  const team = await house.team()
  await team.domain('full.test')
  await account(team.key, { name: 'Small', quotas: { per_minute: 2, per_day: 1000 } })
  const email = mail(team.id, 'a@full.test')
  clock.advance(MINUTE - (clock.now() % MINUTE) + 10_000)
  assert.equal((await decide(email, 2)).kind, 'provider')
  const full = await decide(email, 1)
  assert.ok(full.kind === 'wait' && full.until === clock.now() + 50_000 && full.reason.includes('Small'))
  clock.advance(50_000)
  assert.equal((await decide(email, 1)).kind, 'provider')
  // More people than a window ever takes: alone, into an empty one.
  clock.advance(MINUTE)
  assert.equal((await decide(email, 40)).kind, 'provider')
  assert.equal((await decide(email, 1)).kind, 'wait')
})

test('takes at the same time never exceed a cap', async () => {
  const team = await house.team()
  await team.domain('race.test')
  await account(team.key, { quotas: { per_hour: 20 } })
  const email = mail(team.id, 'a@race.test')
  const decisions = await Promise.all(Array.from({ length: 60 }, () => decide(email)))
  assert.equal(decisions.filter(({ kind }) => kind === 'provider').length, 20)
})

test('the cap of a range is drawn for each window, stays for the whole of it, and keeps to the range', () => {
  const quotas = new QuotaCounts(house.app)
  const caps = Array.from({ length: 2000 }, (_, hour) => quotas.capOf('dprov_x', { min: 3, max: 7 }, 'hour', hour))
  assert.deepEqual([...new Set(caps)].sort(), [3, 4, 5, 6, 7])
  assert.deepEqual(
    caps,
    caps.map((_, hour) => quotas.capOf('dprov_x', { min: 3, max: 7 }, 'hour', hour)),
  )
})

test('five failures in a row take an account out of the routing; a success in between starts anew', async () => {
  const team = await house.team()
  const id = await account(team.key)
  const provider = (await providers.byId(id))!
  const fail = () => providers.health.noteFailure(provider, 'connect', 'No route to the host.')
  for (let i = 0; i < 4; i++) await fail()
  await providers.health.noteSuccess(provider)
  for (let i = 0; i < 4; i++) await fail()
  assert.equal((await providers.byId(id))!.status, 'active')
  await providers.health.noteFailure(provider, 'recipient', 'No such user.')
  assert.equal((await providers.byId(id))!.status, 'active')
  await fail()
  const failed = (await providers.byId(id))!
  assert.deepEqual([failed.status, failed.statusReason], ['error', 'connect: No route to the host.'])
})
