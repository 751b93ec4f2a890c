// Features the operator disables for all mailboxes: rejected, and shown in the session.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { routes } from '../../src/api/routes.ts'
import { GATED_ENDPOINTS, type Session } from '../../src/api/schemas/session.ts'
import { MAILBOX_GATES } from '../../src/config/config.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, failure } from './expect.ts'

const appliance = await startAppliance({ env: { MAILBOX_GATED: 'attachment_parsing, blob_lookup' } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const file = data<{ id: string; blob_id: string }>(
  await appliance.call('POST', '/mailbox/attachments', ana.key, { filename: 'a.txt', content: 'YQ==' }),
  201,
)

test('a disabled feature returns 403 for any key; all others work', async () => {
  const parsed = failure(
    await appliance.get(`/mailbox/attachments/${file.id}/parsed`, ana.key),
    403,
    'insufficient_permissions',
  )
  assert.match(parsed.message, /attachment_parsing/)
  const asked = { blob_ids: [file.blob_id] }
  failure(await appliance.call('POST', '/mailbox/blobs/lookup', ana.key, asked), 403, 'insufficient_permissions')
  data(await appliance.get(`/mailbox/attachments/${file.id}`, ana.key))
})

test('the raw protocol is always disabled, and its path is reserved', async () => {
  failure(await appliance.call('POST', '/mailbox/jmap', ana.key), 403, 'insufficient_permissions')
  failure(await appliance.get('/mailbox/jmap', ana.key), 405, 'method_not_allowed')
  assert.equal(data<Session>(await appliance.get('/mailbox/session', ana.key)).gated.raw_protocol, true)
})

test('the session shows disabled features in flags, gates and endpoints', async () => {
  const session = data<Session>(await appliance.get('/mailbox/session', ana.key))
  const { parsing, metadata, download } = session.capabilities.attachments
  assert.deepEqual([parsing, metadata, download], [false, true, true])
  assert.deepEqual(
    [session.gated.attachment_parsing, session.gated.blob_lookup, session.gated.blob_copy],
    [true, true, false],
  )
  const endpoints = Object.values(session.endpoints).flat()
  for (const gate of ['attachment_parsing', 'blob_lookup'] as const) {
    assert.ok(!endpoints.includes(GATED_ENDPOINTS[gate]), gate)
  }
  assert.ok(endpoints.includes(GATED_ENDPOINTS.blob_copy))
})

test('every route of a gate is disabled by it, and routes that only read scripts or identities are not', () => {
  for (const [gate, endpoint] of Object.entries(GATED_ENDPOINTS)) {
    const route = routes.find(({ method, path }) => `${method} ${path}` === endpoint)
    if (route !== undefined) assert.equal(route.gate, gate)
  }
  const gateOf = (name: string) => {
    const route = routes.find(({ method, path }) => `${method} ${path}` === name)
    assert.ok(route !== undefined, name)
    return route.gate
  }
  const table: [string, string | undefined][] = [
    ['GET /mailbox/identities', undefined],
    ['GET /mailbox/identities/changes', undefined],
    ['PATCH /mailbox/identities/{identity_id}', 'identity_mutation'],
    ['DELETE /mailbox/identities/{identity_id}', 'identity_mutation'],
    ['PATCH /mailbox/quotas/{quota_id}', 'quota_mutation'],
    ['GET /mailbox/quotas', undefined],
    ['GET /mailbox/vacation-response', 'vacation_response'],
    ['GET /mailbox/sieve-scripts', undefined],
    ['GET /mailbox/sieve-scripts/{script_id}', undefined],
    ['PUT /mailbox/sieve-scripts/{script_id}', 'filter_script_writes'],
    ['POST /mailbox/sieve-scripts/{script_id}/activate', 'filter_script_writes'],
    ['POST /mailbox/sieve-scripts/validate', undefined],
    ['POST /mailbox/jmap', 'raw_protocol'],
    ['POST /mailbox/messages/send', undefined],
  ]
  for (const [name, gate] of table) assert.equal(gateOf(name), gate, name)
})

test('the setting accepts the gate names of the session only', async () => {
  await assert.rejects(startAppliance({ env: { MAILBOX_GATED: 'events,parsing' } }), /MAILBOX_GATED/)
  const { gated } = data<Session>(await appliance.get('/mailbox/session', ana.key))
  assert.deepEqual([...MAILBOX_GATES].sort(), Object.keys(gated).sort())
})
