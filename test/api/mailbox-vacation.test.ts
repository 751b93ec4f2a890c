// The vacation response of a mailbox, as its team reads and replaces it.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Json, startAppliance } from '../support/appliance.ts'
import { data, failure } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team('Shop')
await team.domain('shop.test')
const box = await team.mailbox('ana@shop.test')
const path = `/mailboxes/${box.id}/vacation-response`

test('the team and the mailbox see and replace the same response; a tag of the one is a tag of the other', async () => {
  const before = await appliance.get(path, team.key)
  assert.equal(data<Json>(before).is_enabled, false)
  const tag = before.headers.get('etag')!
  const body = { is_enabled: true, text_body: 'Away until Monday.', to_date: '2030-01-14' }
  data<Json>(await appliance.call('PUT', path, team.key, body, { 'If-Match': tag }))
  const own = await appliance.get('/mailbox/vacation-response', box.key)
  assert.deepEqual([data<Json>(own).text_body, data<Json>(own).is_enabled], ['Away until Monday.', true])
  failure(await appliance.call('PUT', path, team.key, body, { 'If-Match': tag }), 409, 'conflict')
  failure(await appliance.call('PUT', path, team.key, { is_enabled: true }), 422, 'validation_error')
})

test('other teams, mailboxes and readers do not change it', async () => {
  const other = await appliance.team('Other')
  const body = { is_enabled: false }
  failure(await appliance.call('PUT', path, other.key, body), 404, 'not_found')
  failure(await appliance.get(path, other.key), 404, 'not_found')
  failure(await appliance.call('PUT', path, box.key, body), 403, 'insufficient_permissions')
  assert.equal(data<Json>(await appliance.get(path, team.key)).is_enabled, true)
})

test('an outside account is answered for by its provider, and a deleted mailbox by nobody', async () => {
  const account = { email: 'ana@elsewhere.example', password: 'p', imap_host: 'imap.elsewhere.example' }
  const { mailbox_id: id } = data<Json>(await appliance.call('POST', '/remote-accounts', team.key, account), 201)
  failure(await appliance.get(`/mailboxes/${id}/vacation-response`, team.key), 409, 'conflict')
  const gone = await team.mailbox('gone@shop.test')
  await appliance.call('DELETE', `/mailboxes/${gone.id}`, team.key)
  failure(await appliance.get(`/mailboxes/${gone.id}/vacation-response`, team.key), 409, 'conflict')
})
