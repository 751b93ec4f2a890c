// Delivery groups over the API: create, update, delete; and mailboxes that use them.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryGroupJson } from '../../src/api/schemas/delivery-group.ts'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, issues, walk } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')
await team.domain('shop.test')

async function account(key = team.key): Promise<string> {
  const server = { smtp_host: 'smtp.example.test', smtp_port: 587, smtp_protocol: 'starttls' }
  const body = { name: 'Relay', ...server, smtp_username: 'u', smtp_password: 'p' }
  return data<ProviderJson>(await appliance.call('POST', '/providers', key, body), 201).id
}

const [a, b, theirs] = [await account(), await account(), await account(other.key)]
const post = (body: object, key = team.key) => appliance.call('POST', '/delivery-groups', key, body)
const make = async (name: string, members: object[] = [{ provider_id: a }], more: object = {}) =>
  data<DeliveryGroupJson>(await post({ name, members, ...more }), 201)
const patch = (id: string, body: object, headers?: Record<string, string>) =>
  appliance.call('PATCH', `/delivery-groups/${id}`, team.key, body, headers)
const missing = `dprov_${'0'.repeat(24)}`

test('a group shows its members with their positions', async () => {
  const members = [{ provider_id: b, weight: 30 }, { provider_id: a }]
  const reply = await post({ name: 'News', members })
  const made = data<DeliveryGroupJson>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/delivery-groups/${made.id}`)
  assert.deepEqual(Object.keys(made), ['id', 'name', 'strategy', 'members', 'created_at', 'updated_at'])
  assert.deepEqual([made.name, made.strategy], ['News', 'weighted'])
  assert.deepEqual(made.members, [
    { provider_id: b, weight: 30, position: 0 },
    { provider_id: a, weight: null, position: 1 },
  ])
  assert.deepEqual(data(await appliance.get(`/delivery-groups/${made.id}`, team.key)), made)
  failure(await appliance.get(`/delivery-groups/${made.id}`, other.key), 404, 'not_found')
})

test('members are shown in the order of their positions', async () => {
  const members = [
    { provider_id: a, position: 7 },
    { provider_id: b, position: 2 },
  ]
  const made = await make('Ordered', members, { strategy: 'failover' })
  assert.deepEqual(
    made.members.map(({ provider_id }) => provider_id),
    [b, a],
  )
})

test('a name is unique in a team', async () => {
  await make('Once')
  const again = await post({ name: 'Once', members: [{ provider_id: a }] })
  assert.equal(failure(again, 409, 'conflict').param, 'name')
  data(await post({ name: 'Once', members: [{ provider_id: theirs }] }, other.key), 201)
  const second = await make('Twice')
  failure(await patch(second.id, { name: 'Once' }), 409, 'conflict')
  assert.equal(data<DeliveryGroupJson>(await patch(second.id, { name: 'Twice' })).name, 'Twice')
})

test('members are accounts of the team, each once', async () => {
  const wrong = async (members: object[], expected: string[]) =>
    issues(await post({ name: 'Wrong', members }), 422, 'validation_error', expected)
  for (const foreign of [theirs, missing]) {
    await wrong([{ provider_id: a }, { provider_id: foreign }], ['members.1.provider_id not_found'])
  }
  await wrong([{ provider_id: a }, { provider_id: a }], ['members.1.provider_id duplicate'])
  await wrong([], ['members too_small'])
  await wrong(Array(51).fill({ provider_id: a }), ['members too_big'])
  await wrong([{ provider_id: a, weight: 101 }], ['members.0.weight too_big'])
  await wrong([{ provider_id: a, share: 1 }], ['members.0.share unknown_field'])
  assert.equal(
    (await walk<DeliveryGroupJson>(appliance, '/delivery-groups', team.key)).some(({ name }) => name === 'Wrong'),
    false,
  )
})

test('an update replaces the members and keeps members left out; a rejected one changes nothing', async () => {
  const made = await make('Changing')
  const etag = etagOf(await appliance.get(`/delivery-groups/${made.id}`, team.key))
  const turned = data<DeliveryGroupJson>(await patch(made.id, { strategy: 'round_robin' }, { 'if-match': etag }))
  assert.deepEqual([turned.strategy, turned.name, turned.members], ['round_robin', 'Changing', made.members])
  failure(await patch(made.id, { name: 'Late' }, { 'if-match': etag }), 409, 'conflict')
  const members = [{ provider_id: b, weight: 0, position: 3 }]
  assert.deepEqual(data<DeliveryGroupJson>(await patch(made.id, { members })).members, members)
  issues(await patch(made.id, { name: 'Half', members: [{ provider_id: theirs }] }), 422, 'validation_error', [
    'members.0.provider_id not_found',
  ])
  const kept = data<DeliveryGroupJson>(await appliance.get(`/delivery-groups/${made.id}`, team.key))
  assert.deepEqual([kept.name, kept.members], ['Changing', members])
})

test('a group that a mailbox uses cannot be deleted', async () => {
  const { id } = await make('Bound')
  const send_scope = { type: 'group', group_public_ids: [id] }
  const box = await appliance.call('POST', '/mailboxes', team.key, { email: 'ana@shop.test', send_scope })
  const mailbox = data<{ id: string; send_scope: object }>(box, 201)
  assert.deepEqual(mailbox.send_scope, send_scope)
  const remove = () => appliance.call('DELETE', `/delivery-groups/${id}`, team.key)
  issues(await remove(), 409, 'conflict', ['send_scope in_use'])
  await appliance.app.administration.mailboxes.update(team.id, mailbox.id, { sendScope: { type: 'all' } }, 0)
  assert.deepEqual(data(await remove()), { deleted: true, id })
  failure(await remove(), 404, 'not_found')
})

test('a send scope names accounts or groups of its team, a limited number, of one type', async () => {
  const mine = await make('Mine')
  const foreign = data<DeliveryGroupJson>(
    await post({ name: 'Theirs', members: [{ provider_id: theirs }] }, other.key),
    201,
  )
  const wrong = async (send_scope: object, expected: string[]) => {
    const body = { email: 'bob@shop.test', send_scope }
    issues(await appliance.call('POST', '/mailboxes', team.key, body), 422, 'validation_error', expected)
  }
  const ids = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(24, '0')}`)
  await wrong({ type: 'providers', provider_public_ids: [a, theirs] }, ['send_scope.provider_public_ids.1 not_found'])
  await wrong({ type: 'group', group_public_ids: [foreign.id] }, ['send_scope.group_public_ids.0 not_found'])
  await wrong({ type: 'providers', provider_public_ids: ids('dprov_', 51) }, ['send_scope.provider_public_ids too_big'])
  await wrong({ type: 'group', group_public_ids: ids('dgrp_', 11) }, ['send_scope.group_public_ids too_big'])
  await wrong({ type: 'providers', provider_public_ids: [] }, ['send_scope.provider_public_ids too_small'])
  await wrong({ type: 'providers', provider_public_ids: [a, a] }, ['send_scope.provider_public_ids duplicate'])
  await wrong({ type: 'group', group_public_ids: [mine.id], provider_public_ids: [a] }, [
    'send_scope.provider_public_ids forbidden_value',
  ])
  await wrong({ type: 'all', group_public_ids: [mine.id] }, ['send_scope.group_public_ids forbidden_value'])
  await wrong({ type: 'providers' }, ['send_scope.provider_public_ids required'])
  const send_scope = { type: 'providers', provider_public_ids: [a, b] }
  data(await appliance.call('POST', '/mailboxes', team.key, { email: 'bob@shop.test', send_scope }), 201)
})

test('lists are paged, newest first', async () => {
  const all = await walk<DeliveryGroupJson>(appliance, '/delivery-groups', team.key)
  const paged = await walk<DeliveryGroupJson>(appliance, '/delivery-groups?limit=2', team.key)
  assert.ok(all.length > 4)
  assert.deepEqual(paged, all)
  assert.deepEqual(
    all.map(({ created_at }) => created_at),
    all
      .map(({ created_at }) => created_at)
      .sort()
      .reverse(),
  )
})
