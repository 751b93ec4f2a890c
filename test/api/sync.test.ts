// Changes of one type and of several at once, equal to the list of each type.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Json, startAppliance } from '../support/appliance.ts'
import { data, failure, issues, receive } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ask = (query: string) => appliance.get(`/mailbox/sync/changes?${query}`, ana.key)
const session = async () => data<Json>(await appliance.get('/mailbox/session', ana.key))

test('changes of several types equal those of each type, and the session lists the types', async () => {
  const before = await session()
  const { types } = before.capabilities.sync
  assert.deepEqual([before.capabilities.sync.typed_changes, types.length], [true, 6])
  await receive(appliance, { to: ana.email })
  const pairs = types.map((type: string) => `since=${type}:${before.states[type]}`)
  const { changes } = data<Json>(await ask(pairs.join('&')))
  assert.deepEqual(Object.keys(changes).sort(), [...types].sort())
  assert.equal(changes.messages.created.length, 1)
  for (const type of types) {
    const since = `since_state=${before.states[type]}`
    assert.deepEqual(changes[type], data(await appliance.get(`/mailbox/${type}/changes?${since}`, ana.key)), type)
    assert.deepEqual(changes[type], data(await ask(`type=${type}&${since}`)), type)
  }
})

test('both forms together, neither, an unknown type or a repeated one are rejected; an unknown state is reported', async () => {
  const { messages } = (await session()).states
  for (const [query, status, code, wrong] of [
    ['', 400, 'missing_parameter', 'type required'],
    ['type=messages', 400, 'missing_parameter', 'since_state required'],
    [`type=messages&since=messages:${messages}`, 422, 'validation_error', 'since forbidden_value'],
    [`since=messages:${messages},messages:${messages}`, 400, 'invalid_parameter', 'since duplicate'],
    [`since=contacts:${messages}`, 400, 'invalid_parameter', 'since invalid_format'],
    ['since=messages', 400, 'invalid_parameter', 'since invalid_format'],
  ] as const) {
    issues(await ask(query), status, code, [wrong])
  }
  failure(await ask('since=messages:zzzz'), 409, 'conflict')
})
