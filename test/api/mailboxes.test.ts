// Mailboxes over the management API: create, list, filter.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { MailboxAdmin, NewMailbox } from '../../src/api/schemas/mailbox.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, issues, receive, walk } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
const domainId = await team.domain('shop.test')

function create(body: unknown, headers?: Record<string, string>) {
  return appliance.call('POST', '/mailboxes', team.key, body, headers)
}

test('a new mailbox is active, empty, and receives immediately', async () => {
  const reply = await create({ email: 'Ana@Shop.TEST', display_name: 'Ana' })
  const mailbox = data<NewMailbox>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/mailboxes/${mailbox.id}`)
  assert.ok(!('api_key' in mailbox))
  const { email, display_name, quota_bytes, quota_used_bytes, message_count, api_key_count, status } = mailbox
  assert.deepEqual(
    { email, display_name, quota_bytes, quota_used_bytes, message_count, api_key_count, status },
    {
      email: 'ana@shop.test',
      display_name: 'Ana',
      quota_bytes: 5_368_709_120,
      quota_used_bytes: 0,
      message_count: 0,
      api_key_count: 0,
      status: 'active',
    },
  )
  assert.deepEqual(mailbox.send_scope, { type: 'all' })
  assert.equal(mailbox.domain_id, domainId)

  await receive(appliance, { to: 'ana+news@shop.test' })
  const filled = data<MailboxAdmin>(await appliance.get(`/mailboxes/${mailbox.id}`, team.key))
  assert.equal(filled.message_count, 1)
  assert.ok(filled.quota_used_bytes! > 0)
  assert.match(filled.last_activity_at ?? '', /Z$/)
})

test('with create_api_key the response has a valid key, also when it is replayed', async () => {
  const send = () => create({ email: 'key@shop.test', create_api_key: true }, { 'idempotency-key': 'with-key' })
  const made = data<NewMailbox>(await send(), 201)
  assert.equal(made.api_key_count, 1)
  assert.match(made.api_key!.key, /^smk_/)
  assert.equal(data<MailboxAdmin>(await appliance.get('/mailbox/me', made.api_key!.key)).id, made.id)
  const again = await send()
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal(data<NewMailbox>(again, 201).api_key?.key, made.api_key?.key)
})

test('deleting a mailbox cancels all its queued messages', async () => {
  const { id, api_key } = data<NewMailbox>(await create({ email: 'later@shop.test', create_api_key: true }), 201)
  const mail = { to: [{ email: 'x@far.test' }, { email: 'y@far.test' }], subject: 'Later', text_body: 'x' }
  const send_at = new Date(Date.now() + 86_400_000).toISOString()
  data(await appliance.call('POST', '/mailbox/messages/send', api_key!.key, { ...mail, send_at }), 202)
  data(await appliance.call('DELETE', `/mailboxes/${id}`, team.key))
  const rows = data<{ status: string; status_reason: string }[]>(
    await appliance.get(`/emails/logs?mailbox_id=${id}`, team.key),
  )
  assert.deepEqual(
    rows.map(({ status, status_reason }) => `${status} ${status_reason}`),
    ['failed cancelled', 'failed cancelled'],
  )
})

test('an invalid mailbox is rejected with its member', async () => {
  await team.mailbox('taken@shop.test')
  failure(await create({ email: 'taken@shop.test' }), 409, 'conflict')
  const foreign = await appliance.team('Other')
  await foreign.domain('foreign.test')
  await team.domain('unproven.example.net')
  const cases: [unknown, string][] = [
    [{ email: 'a@nowhere.test' }, 'email not_found'],
    [{ email: 'a@foreign.test' }, 'email not_found'],
    [{ email: 'a@unproven.example.net' }, 'email unverified_domain'],
    [{ email: 'a+b@shop.test' }, 'email invalid_format'],
    [{ email: 'a..b@shop.test' }, 'email invalid_format'],
    [{ email: '"a b"@shop.test' }, 'email invalid_format'],
    [{ email: 'a\r\nb@shop.test' }, 'email invalid_format'],
    [{ email: `${'a'.repeat(65)}@shop.test` }, 'email too_big'],
    [{ email: 'a@shop.test', quota_bytes: 1 }, 'quota_bytes too_small'],
    [{ email: 'a@shop.test', quota_bytes: 2 ** 41 }, 'quota_bytes too_big'],
    [{ email: 'a@shop.test', quota_bytes: 10_485_760.5 }, 'quota_bytes invalid_type'],
    [{ email: 'a@shop.test', display_name: '' }, 'display_name too_small'],
    [{ email: 'a@shop.test', display_name: 'x'.repeat(256) }, 'display_name too_big'],
    [{ email: 'a@shop.test', surprise: 1 }, 'surprise unknown_field'],
    [{ email: 'a@shop.test', send_scope: { type: 'providers' } }, 'send_scope.provider_public_ids required'],
    [
      { email: 'a@shop.test', send_scope: { type: 'all', group_public_ids: ['dgrp_0a1b2c3d4e5f6g7h8i9j0k1l'] } },
      'send_scope.group_public_ids forbidden_value',
    ],
    [
      { email: 'a@shop.test', send_scope: { type: 'group', group_public_ids: ['dgrp_0a1b2c3d4e5f6g7h8i9j0k1l'] } },
      'send_scope.group_public_ids.0 not_found',
    ],
  ]
  for (const [body, issue] of cases) issues(await create(body), 422, 'validation_error', [issue])
  issues(await create({}), 400, 'missing_parameter', ['email required'])
})

test('two concurrent requests for one address create one mailbox', async () => {
  const replies = await Promise.all([create({ email: 'twin@shop.test' }), create({ email: 'twin@shop.test' })])
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [201, 409])
})

test('the list is filtered, and pages do not overlap', async () => {
  const other = await appliance.team('Lists')
  const one = await other.domain('one.test')
  await other.domain('two.test')
  for (const email of ['a@one.test', 'b@one.test', 'c@two.test']) await other.mailbox(email)
  const all = await walk<MailboxAdmin>(appliance, '/mailboxes?limit=2', other.key)
  assert.deepEqual(emailsOf(all), ['c@two.test', 'b@one.test', 'a@one.test'])
  assert.deepEqual(emailsOf(await walk<MailboxAdmin>(appliance, `/mailboxes?domain_id=${one}`, other.key)), [
    'b@one.test',
    'a@one.test',
  ])
  assert.deepEqual(emailsOf(await walk<MailboxAdmin>(appliance, '/mailboxes?search=B%40ONE', other.key)), [
    'b@one.test',
  ])
  assert.deepEqual(await walk<MailboxAdmin>(appliance, '/mailboxes?is_agent=true', other.key), [])
  failure(await appliance.get(`/mailboxes?domain_id=${newId('domain')}`, other.key), 404, 'not_found')

  const [first] = await walk<MailboxAdmin>(appliance, '/mailboxes?search=a@one', other.key)
  await appliance.app.directory.mailboxes.suspend(other.id, first!.id, 'unpaid')
  const [suspended] = await walk<MailboxAdmin>(appliance, '/mailboxes?status=suspended', other.key)
  assert.equal(suspended!.status_reason, 'unpaid')
  assert.match(suspended!.suspended_at ?? '', /Z$/)
  await appliance.app.administration.mailboxes.delete(other.id, first!.id)
  assert.equal((await walk<MailboxAdmin>(appliance, '/mailboxes', other.key)).length, 2)
  assert.deepEqual(emailsOf(await walk<MailboxAdmin>(appliance, '/mailboxes?status=deleted', other.key)), [
    'a@one.test',
  ])
})

test('the ETag of a mailbox changes with its content', async () => {
  const { id, email } = await team.mailbox('tag@shop.test')
  const path = `/mailboxes/${id}`
  const before = etagOf(await appliance.get(path, team.key))
  assert.equal((await appliance.get(path, team.key, { 'if-none-match': before })).status, 304)
  await receive(appliance, { to: email })
  const after = await appliance.get(path, team.key, { 'if-none-match': before })
  assert.equal(after.status, 200)
  assert.notEqual(after.headers.get('etag'), before)
})

test('the filter of a mailbox rejects senders', async () => {
  const { id, email } = await team.mailbox('picky@shop.test')
  const path = `/mailboxes/${id}/filters`
  assert.deepEqual(data(await appliance.get(path, team.key)), { mode: 'off', rules: [] })
  const body = { mode: 'denylist', rules: [{ type: 'deny', pattern: 'else.test' }] }
  const put = await appliance.call('PUT', path, team.key, body)
  assert.deepEqual(data(put), body)
  await assert.rejects(receive(appliance, { from: 'bob@else.test', to: email }), /550 5\.7\.1/)
  await receive(appliance, { from: 'eve@fine.test', to: email })
  failure(await appliance.call('PUT', path, team.key, body, { 'if-match': 'W/"stale"' }), 409, 'conflict')
  data(await appliance.call('PUT', path, team.key, body, { 'if-match': '*' }))
})

test('the filter of a mailbox is also changed by its own key, which has to be one that writes', async () => {
  const { id, email, key } = await team.mailbox('choosy@shop.test')
  const path = '/mailbox/sender-filter'
  const body = { mode: 'allowlist', rules: [{ type: 'allow', pattern: '@fine.test' }] }
  const before = await appliance.get(path, key)
  assert.deepEqual(data(before), { mode: 'off', rules: [] })
  assert.deepEqual(data(await appliance.call('PUT', path, key, body)), body)
  assert.deepEqual(data(await appliance.get(`/mailboxes/${id}/filters`, team.key)), body)
  await assert.rejects(receive(appliance, { from: 'bob@else.test', to: email }), /550 5\.7\.1/)
  const stale = { 'if-match': before.headers.get('etag')! }
  failure(await appliance.call('PUT', path, key, { mode: 'off', rules: [] }, stale), 409, 'conflict')
  const issued = await appliance.call('POST', `/mailboxes/${id}/api-keys`, team.key, {
    name: 'Reader',
    permissions: ['mailbox.read'],
  })
  const reader = data<{ key: string }>(issued, 201).key
  assert.deepEqual(data(await appliance.get(path, reader)), body)
  failure(await appliance.call('PUT', path, reader, body), 403, 'insufficient_permissions')
  await appliance.app.db.write((tx) => tx.run('UPDATE mailboxes SET is_agent = 1 WHERE id = ?', [id]))
  failure(await appliance.call('PUT', path, key, body), 403, 'insufficient_permissions')
})

function emailsOf(mailboxes: MailboxAdmin[]): string[] {
  return mailboxes.map((mailbox) => mailbox.email)
}
