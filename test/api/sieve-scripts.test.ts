// Sieve scripts over the API: create, validate, activate, deactivate, delete.

import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { SieveScriptDetail, SieveScriptJson } from '../../src/api/schemas/sieve-script.ts'
import { newId } from '../../src/base/ids.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, success, walk } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const carl = await team.mailbox('carl@shop.test')
let ana = carl
let count = 0
beforeEach(async () => {
  ana = await team.mailbox(`ana${++count}@shop.test`)
})

const call = (method: string, path: string, body?: object, headers?: Record<string, string>, key = ana.key) =>
  appliance.call(method, `/mailbox/sieve-scripts${path}`, key, body, headers)
const keep = async (name: string, content = 'keep;', more: object = {}) =>
  data<SieveScriptDetail>(await call('POST', '', { name, content, ...more }), 201)
const list = async () => data<SieveScriptJson[]>(await call('GET', ''))
const read = async (id: string) => data<SieveScriptDetail>(await call('GET', `/${id}`))

test('a script is created and shown, in the list without its text', async () => {
  const content = '# ü\r\nkeep;\n'
  const reply = await call('POST', '', { name: 'Lists', content })
  const made = data<SieveScriptDetail>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/mailbox/sieve-scripts/${made.id}`)
  assert.match(made.id, /^sve_[a-z0-9]{24}$/)
  const { id, created_at, updated_at, ...rest } = made
  assert.deepEqual(rest, {
    name: 'Lists',
    is_active: false,
    size_bytes: Buffer.byteLength(content),
    content,
    warnings: [],
  })
  assert.equal(created_at, updated_at)
  assert.deepEqual(await read(id), made)
  await keep('All')
  const envelope = success<SieveScriptJson[]>(await call('GET', ''))
  assert.deepEqual(
    envelope.data.map((script) => [script.name, 'content' in script]),
    [
      ['All', false],
      ['Lists', false],
    ],
  )
  assert.deepEqual(envelope.pagination, { has_more: false })
  const walked = await walk<SieveScriptJson>(appliance, '/mailbox/sieve-scripts?limit=1', ana.key)
  assert.deepEqual(
    walked.map(({ name }) => name),
    ['All', 'Lists'],
  )
})

test('commands without effect are named when a script is validated, stored and read', async () => {
  const content = 'require "editheader";\nkeep;\ndeleteheader "DKIM-Signature";'
  const message = 'Scripts cannot change the field "DKIM-Signature". The command has no effect; remove it.'
  const warnings = [{ line: 3, column: 14, message }]
  assert.deepEqual(data(await call('POST', '/validate', { content })), { valid: true, errors: [], warnings })
  const made = await keep('Edits', content)
  assert.deepEqual([made.warnings, (await read(made.id)).warnings], [warnings, warnings])
})

test('at most one script is active', async () => {
  const [one, two] = [await keep('One', 'keep;', { activate: true }), await keep('Two')]
  const active = async () => (await list()).filter((script) => script.is_active).map(({ name }) => name)
  assert.deepEqual([one.is_active, await active()], [true, ['One']])
  for (const _ of [1, 2]) {
    assert.equal(data<SieveScriptDetail>(await call('POST', `/${two.id}/activate`)).is_active, true)
    assert.deepEqual(await active(), ['Two'])
  }
  await keep('Three', 'keep;', { activate: true })
  assert.deepEqual(await active(), ['Three'])
  assert.equal(data<SieveScriptDetail>(await call('POST', `/${one.id}/deactivate`)).is_active, false)
  assert.deepEqual(await active(), ['Three'], 'it was not the active one')
})

test('an active script cannot be deleted', async () => {
  const { id } = await keep('One', 'keep;', { activate: true })
  failure(await call('DELETE', `/${id}`), 409, 'conflict')
  data(await call('POST', `/${id}/deactivate`))
  failure(await call('DELETE', `/${id}`, undefined, { 'if-match': 'W/"stale"' }), 409, 'conflict')
  assert.deepEqual(data(await call('DELETE', `/${id}`)), { deleted: true, id })
  failure(await call('GET', `/${id}`), 404, 'not_found')
  failure(await call('DELETE', `/${id}`), 404, 'not_found')
})

test('a script is replaced once for each version that was read', async () => {
  const { id, created_at } = await keep('One', 'keep;', { activate: true })
  await keep('Two')
  const tag = etagOf(await call('GET', `/${id}`))
  clock.advance(1000)
  const next = { name: 'Eins', content: 'stop;' }
  const reply = await call('PUT', `/${id}`, next, { 'if-match': tag })
  const replaced = data<SieveScriptDetail>(reply)
  assert.deepEqual(
    [replaced.name, replaced.content, replaced.is_active, replaced.size_bytes],
    ['Eins', 'stop;', true, 5],
  )
  assert.ok(replaced.created_at === created_at && replaced.updated_at > created_at)
  assert.equal(etagOf(reply), etagOf(await call('GET', `/${id}`)))
  failure(await call('PUT', `/${id}`, next, { 'if-match': tag }), 409, 'conflict')
  failure(await call('PUT', `/${id}`, { ...next, name: 'Two' }), 409, 'conflict')
  assert.deepEqual(data<SieveScriptDetail>(await call('PUT', `/${id}`, { ...next, content: '' })).content, '')
  const last = { 'if-match': etagOf(await call('GET', `/${id}`)) }
  const many = await Promise.all(
    Array.from({ length: 10 }, (_, n) => call('PUT', `/${id}`, { name: `n${n}`, content: 'keep;' }, last)),
  )
  assert.equal(many.filter(({ status }) => status === 200).length, 1)
})

test('errors are reported with their position, when a script is stored and when it is validated', async () => {
  const content = 'keep;\n  vacation "Away";\nif foo { stop; }'
  const wrong = [
    {
      line: 2,
      column: 3,
      message: '"vacation" needs require "vacation" at the start of the script.',
    },
    { line: 3, column: 4, message: 'There is no test "foo" here.' },
  ]
  assert.deepEqual(data(await call('POST', '/validate', { content })), { valid: false, errors: wrong, warnings: [] })
  assert.deepEqual(data(await call('POST', '/validate', { content: 'keep;' })), {
    valid: true,
    errors: [],
    warnings: [],
  })
  const { id } = await keep('One')
  for (const reply of [
    await call('POST', '', { name: 'x', content }),
    await call('PUT', `/${id}`, { name: 'x', content }),
  ]) {
    const error = failure(reply, 422, 'validation_error')
    assert.equal(error.param, 'content')
    const expected = wrong.map((one) => ({ field: 'content', code: 'invalid_format', ...one }))
    assert.deepEqual(error.errors as Json, expected)
  }
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    ['One'],
  )
})

test('a mailbox has ten scripts, with unique names', async () => {
  for (let n = 0; n < 10; n++) await keep(`s${n}`)
  failure(await call('POST', '', { name: 's10', content: '' }), 409, 'conflict')
  const [first] = await list()
  data(await call('DELETE', `/${first!.id}`))
  // The same letters in another form are the same name.
  await keep('Caf\u00e9')
  data(await call('DELETE', `/${(await list())[1]!.id}`))
  failure(await call('POST', '', { name: 'Cafe\u0301', content: '' }), 409, 'conflict')
  issues(await call('POST', '', { name: 'x'.repeat(129), content: '' }), 422, 'validation_error', ['name too_big'])
  for (const name of ['a\u0000', 'a\nb', '\u0085', 'a\u2028b']) {
    issues(await call('POST', '', { name, content: '' }), 422, 'validation_error', ['name invalid_format'])
  }
  issues(await call('POST', '', { name: 'x', content: '#'.repeat(65_537) }), 422, 'validation_error', [
    'content too_big',
  ])
  issues(await call('POST', '', { name: 'x', content: 'ü'.repeat(65_536) }), 422, 'validation_error', [
    'content invalid_format',
  ])
})

test('scripts of other mailboxes are not found', async () => {
  const { id } = await keep('One')
  const body = { name: 'x', content: 'keep;' }
  for (const [method, path, given] of [
    ['GET', '', undefined],
    ['PUT', '', body],
    ['POST', '/activate', undefined],
    ['POST', '/deactivate', undefined],
    ['DELETE', '', undefined],
  ] as const) {
    const [theirs, nobodys] = [
      await call(method, `/${id}${path}`, given, {}, carl.key),
      await call(method, `/${newId('sieveScript')}${path}`, given, {}, carl.key),
    ]
    assert.deepEqual(failure(theirs, 404, 'not_found'), failure(nobodys, 404, 'not_found'))
  }
  assert.deepEqual(data(await call('GET', '', undefined, {}, carl.key)), [])
  assert.equal((await read(id)).name, 'One')
})

test('a read-only credential can read and validate, changes nothing, and the session shows it', async () => {
  const { id } = await keep('One')
  const body = { name: 'read', permissions: ['mailbox.read', 'email.receive'] }
  const { key: secret } = data<Json>(await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, body), 201)
  const as = (method: string, path: string, given?: object) => call(method, path, given, {}, secret)
  data(await as('GET', ''))
  data(await as('GET', `/${id}`))
  data(await as('POST', '/validate', { content: '' }))
  for (const [method, path, given] of [
    ['POST', '', { name: 'x', content: '' }],
    ['PUT', `/${id}`, { name: 'x', content: '' }],
    ['POST', `/${id}/activate`, undefined],
    ['POST', `/${id}/deactivate`, undefined],
    ['DELETE', `/${id}`, undefined],
  ] as const) {
    failure(await as(method, path, given), 403, 'insufficient_permissions')
  }
  const gates = await Promise.all(
    [ana.key, secret].map(
      async (key) => data<Json>(await appliance.get('/mailbox/session', key)).gated.filter_script_writes,
    ),
  )
  assert.deepEqual(gates, [false, true])
})

describe('the team of a mailbox', () => {
  const ofTeam = (method: string, path: string, body?: object, key = team.key, headers: Record<string, string> = {}) =>
    appliance.call(method, `/mailboxes/${ana.id}/sieve-scripts${path}`, key, body, headers)

  test('reads and changes the scripts that the mailbox has, under the same tags', async () => {
    const reply = await ofTeam('POST', '', { name: 'Rules', content: 'keep;', activate: true })
    const made = data<SieveScriptDetail>(reply, 201)
    assert.equal(reply.headers.get('location'), `/api/v1/mailboxes/${ana.id}/sieve-scripts/${made.id}`)
    assert.deepEqual(await read(made.id), made)
    assert.deepEqual(
      data<SieveScriptJson[]>(await ofTeam('GET', '')).map(({ name }) => name),
      ['Rules'],
    )
    const tag = etagOf(await call('GET', `/${made.id}`))
    const next = { name: 'Rules', content: 'discard;' }
    data(await ofTeam('PUT', `/${made.id}`, next, team.key, { 'if-match': tag }))
    failure(await ofTeam('PUT', `/${made.id}`, next, team.key, { 'if-match': tag }), 409, 'conflict')
    assert.equal(data<Json>(await ofTeam('POST', '/validate', { content: 'nonsense' })).valid, false)
    data(await ofTeam('POST', `/${made.id}/deactivate`))
    data(await ofTeam('DELETE', `/${made.id}`))
    assert.deepEqual(await list(), [])
  })

  test('sends messages on with the permission of sending only', async () => {
    const admin = { name: 'Admin', permissions: ['mailbox.admin.read', 'mailbox.admin.manage'] }
    const { key } = data<Json>(await appliance.call('POST', '/api-keys', team.key, admin), 201)
    const sends = { name: 'Away', content: 'redirect "x@elsewhere.example";' }
    failure(await ofTeam('POST', '', sends, key), 403, 'insufficient_permissions')
    data(await ofTeam('POST', '', { name: 'Kept', content: 'keep;' }, key), 201)
    data(await ofTeam('POST', '', sends), 201)
  })

  test('is the only one that reaches them', async () => {
    const { id } = await keep('One')
    const other = await appliance.team('Other')
    const reader = { name: 'Reader', permissions: ['mailbox.admin.read'] }
    const { key } = data<Json>(await appliance.call('POST', '/api-keys', team.key, reader), 201)
    data(await ofTeam('GET', `/${id}`, undefined, key))
    for (const [method, path] of [
      ['PUT', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/activate`],
    ] as const) {
      const body = method === 'PUT' ? { name: 'Two', content: 'keep;' } : undefined
      failure(await ofTeam(method, path, body, key), 403, 'insufficient_permissions')
      failure(await ofTeam(method, path, body, ana.key), 403, 'insufficient_permissions')
      failure(await ofTeam(method, path, body, other.key), 404, 'not_found')
    }
    const beside = `/mailboxes/${carl.id}/sieve-scripts/${id}`
    failure(await appliance.get(beside, team.key), 404, 'not_found')
    assert.equal((await read(id)).name, 'One')
  })
})
