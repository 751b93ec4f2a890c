// The suppression list over the API: add, find, list, delete (docs/design/sending.md §8).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { SuppressionJson } from '../../src/api/schemas/suppression.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, success, walk } from './expect.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()

function add(body: unknown, key = team.key, headers: Record<string, string> = {}) {
  return appliance.call('POST', '/suppressions', key, body, headers)
}

test('an address is added manually, once', async () => {
  const first = data<SuppressionJson>(await add({ email: 'Gone@Customer.test', note: 'asked by phone' }), 201)
  assert.match(first.id, /^sup_[a-z0-9]{24}$/)
  assert.deepEqual(first, {
    id: first.id,
    email: 'gone@customer.test',
    reason: 'manual',
    note: 'asked by phone',
    source_message_id: null,
    created_at: '2030-01-02T03:04:05.000Z',
  })
  clock.advance(1000)
  assert.deepEqual(data<SuppressionJson>(await add({ email: 'gone@customer.TEST', note: 'other' })), first)
  assert.equal(data<SuppressionJson>(await add({ email: 'no-note@customer.test' }), 201).note, null)
  assert.equal(data<SuppressionJson>(await add({ email: 'null-note@customer.test', note: null }), 201).note, null)
})

test('the same Idempotency-Key returns the same response', async () => {
  const send = () => add({ email: 'once@customer.test' }, team.key, { 'idempotency-key': 'sup-1' })
  const first = await send()
  const second = await send()
  assert.deepEqual(data(second, 201), data(first, 201))
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
})

test('an invalid address is rejected', async () => {
  const wrong: [unknown, number, string, string[]][] = [
    [{}, 400, 'missing_parameter', ['email required']],
    [{ email: 7 }, 422, 'validation_error', ['email invalid_type']],
    [{ email: 'no address' }, 422, 'validation_error', ['email invalid_format']],
    [{ email: 'a@b.test\r\nx' }, 422, 'validation_error', ['email invalid_format']],
    [{ email: 'a@b.test, c@d.test' }, 422, 'validation_error', ['email invalid_format']],
    [{ email: 'a@' }, 422, 'validation_error', ['email too_small']],
    [{ email: `${'x'.repeat(320)}@b.test` }, 422, 'validation_error', ['email too_big']],
    [{ email: 'a@b.test', note: 'x'.repeat(501) }, 422, 'validation_error', ['note too_big']],
    [{ email: 'a@b.test', reason: 'bounce' }, 422, 'validation_error', ['reason unknown_field']],
  ]
  for (const [body, status, code, expected] of wrong) issues(await add(body), status, code, expected)
})

test('the list: newest first, paged, filtered', async () => {
  const other = await appliance.team()
  for (const [email, reason] of [
    ['one@a.test', 'bounce'],
    ['two@a.test', 'complaint'],
    ['three@b.test', 'bounce'],
  ] as const) {
    clock.advance(1000)
    await appliance.app.db.write((tx) =>
      appliance.app.outbound.queue.suppressions.add(tx, {
        teamId: other.id,
        email,
        reason,
        sourceMessageId: newId('email'),
        note: null,
      }),
    )
  }
  const emails = async (query: string) =>
    (await walk<SuppressionJson>(appliance, `/suppressions?${query}`, other.key)).map(({ email }) => email)
  assert.deepEqual(await emails('limit=1'), ['three@b.test', 'two@a.test', 'one@a.test'])
  assert.deepEqual(await emails('reason=bounce'), ['three@b.test', 'one@a.test'])
  assert.deepEqual(await emails('search=%40A.TEST&limit=1'), ['two@a.test', 'one@a.test'])
  assert.deepEqual(await emails('reason=complaint&search=one'), [])
  const [bounce] = success<SuppressionJson[]>(await appliance.get('/suppressions?limit=1', other.key)).data
  assert.match(bounce!.source_message_id!, /^eml_/)
  for (const query of ['reason=spam', 'limit=0', 'limit=101', 'search=', 'cursor=x']) {
    failure(await appliance.get(`/suppressions?${query}`, other.key), 400, 'invalid_parameter')
  }
})

test('a deletion is permanent, and limited to the team', async () => {
  const { id } = data<SuppressionJson>(await add({ email: 'back@customer.test' }), 201)
  const stranger = await appliance.team()
  failure(await appliance.call('DELETE', `/suppressions/${id}`, stranger.key), 404, 'not_found')
  assert.deepEqual(data(await appliance.call('DELETE', `/suppressions/${id}`, team.key)), { deleted: true, id })
  failure(await appliance.call('DELETE', `/suppressions/${id}`, team.key), 404, 'not_found')
  failure(await appliance.call('DELETE', '/suppressions/sup_x', team.key), 404, 'not_found')
  const { suppressions } = appliance.app.outbound.queue
  assert.deepEqual(suppressions.of(appliance.app.db.read, team.id, ['back@customer.test']), new Set())
})

test('reading and managing are two permissions', async () => {
  const { keys } = appliance.app.directory
  const keyOf = async (permissions: string[]) =>
    (await keys.issue({ teamId: team.id, kind: 'root', name: 'k', permissions, createdBy: 'operator' })).secret
  const [reader, manager] = [await keyOf(['suppression.read']), await keyOf(['suppression.manage'])]
  success(await appliance.get('/suppressions', reader))
  failure(await add({ email: 'x@y.test' }, reader), 403, 'insufficient_permissions')
  failure(await appliance.get('/suppressions', manager), 403, 'insufficient_permissions')
  const { id } = data<SuppressionJson>(await add({ email: 'x@y.test' }, manager), 201)
  failure(await appliance.call('DELETE', `/suppressions/${id}`, reader), 403, 'insufficient_permissions')
  success(await appliance.call('DELETE', `/suppressions/${id}`, manager))
  failure(await appliance.get('/suppressions'), 401, 'authentication_required')
})

test('a list is imported: each address once, what is no address is named', async () => {
  const addresses = [
    { email: 'First@Import.test', note: 'former system' },
    { email: 'no address' },
    { email: 'first@import.test' },
    { email: 'second@import.test', note: null },
  ]
  const post = (body: unknown, key = team.key) => appliance.call('POST', '/suppressions/import', key, body)
  assert.deepEqual(data(await post({ addresses })), { added: 2, known: 1, invalid: [1] })
  const found = await walk<SuppressionJson>(appliance, '/suppressions?q=import.test', team.key)
  assert.deepEqual(
    found.map(({ email, reason, note }) => [email, reason, note]),
    [
      ['second@import.test', 'manual', null],
      ['first@import.test', 'manual', 'former system'],
    ],
  )
  issues(await post({ addresses: [] }), 422, 'validation_error', ['addresses too_small'])
  const many = Array.from({ length: 1001 }, (_, index) => ({ email: `a${index}@many.test` }))
  issues(await post({ addresses: many }), 422, 'validation_error', ['addresses too_big'])
})
