// Changes of one type and of several at once, the same as each type's own list tells.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Json, startHouse } from '../support/house.ts'
import { data, failure, issues, receive } from './expect.ts'

const house = await startHouse()
after(() => house.close())
const team = await house.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ask = (query: string) => house.get(`/mailbox/sync/changes?${query}`, ana.key)
const session = async () => data<Json>(await house.get('/mailbox/session', ana.key))

test('changes of several types are those each type tells of itself, and the session names the types', async () => {
  const before = await session()
  const { types } = before.capabilities.sync
  assert.deepEqual([before.capabilities.sync.typed_changes, types.length], [true, 6])
  await receive(house, { to: ana.email })
  const pairs = types.map((type: string) => `since=${type}:${before.states[type]}`)
  const { changes } = data<Json>(await ask(pairs.join('&')))
  assert.deepEqual(Object.keys(changes).sort(), [...types].sort())
  assert.equal(changes.messages.created.length, 1)
  for (const type of types) {
    const since = `since_state=${before.states[type]}`
    assert.deepEqual(changes[type], data(await house.get(`/mailbox/${type}/changes?${since}`, ana.key)), type)
    assert.deepEqual(changes[type], data(await ask(`type=${type}&${since}`)), type)
  }
})

test('what is asked for in both forms, in none, of no type or of one twice is refused; an unknown state is told', async () => {
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
