// Aliases of mailboxes: create, list, delete; receiving at them, and sending from them.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AliasJson } from '../../src/api/schemas/alias.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { ALIASES_MAX } from '../../src/directory/mailboxes/aliases.ts'
import { startAppliance } from '../support/appliance.ts'
import { storedMessages } from '../support/stored.ts'
import { data, failure, issues, receive, success, walk } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')
const shop = await team.domain('shop.test')
await other.domain('else.test')

const give = (id: string, email: string, headers?: Record<string, string>) =>
  appliance.call('POST', `/mailboxes/${id}/aliases`, team.key, { email }, headers)
const given = async (id: string, email: string) => data<AliasJson>(await give(id, email), 201)
const refusal = /550 5\.1\.1/

test('mail to an alias is stored in the mailbox, and the log shows the alias', async () => {
  const ana = await team.mailbox('ana@shop.test')
  const made = await give(ana.id, 'Orders@Shop.TEST', { 'idempotency-key': 'orders' })
  const alias = data<AliasJson>(made, 201)
  assert.match(alias.id, /^mals_[a-z0-9]{24}$/)
  assert.deepEqual([alias.email, alias.domain_id], ['orders@shop.test', shop])
  assert.equal(made.headers.get('location'), `/api/v1/mailboxes/${ana.id}/aliases/${alias.id}`)
  assert.deepEqual(data(await give(ana.id, 'Orders@Shop.TEST', { 'idempotency-key': 'orders' }), 201), alias)

  for (const to of ['orders@shop.test', 'ORDERS+new@shop.test', 'ana@shop.test'])
    await receive(appliance, { to, subject: to })
  const kept = await storedMessages(appliance, ana.id)
  assert.deepEqual(
    kept.map(({ rcptTo }) => rcptTo),
    ['orders@shop.test', 'ORDERS+new@shop.test', 'ana@shop.test'],
  )
  const rows = data<{ rcpt_to: string; mailbox_id: string }[]>(
    await appliance.get('/inbound/logs?search=new', team.key),
  )
  assert.deepEqual(
    rows.map(({ rcpt_to, mailbox_id }) => [rcpt_to, mailbox_id]),
    [['ORDERS+new@shop.test', ana.id]],
  )

  data(await appliance.call('DELETE', `/mailboxes/${ana.id}/aliases/${alias.id}`, team.key))
  failure(await appliance.call('DELETE', `/mailboxes/${ana.id}/aliases/${alias.id}`, team.key), 404, 'not_found')
  await assert.rejects(receive(appliance, { to: 'orders@shop.test' }), refusal)
})

test('the filters of its domain apply to an alias at another domain', async () => {
  const strict = await team.domain('strict.test')
  const box = await team.mailbox('far@shop.test')
  await given(box.id, 'far@strict.test')
  const rules = [{ type: 'deny', pattern: 'bob@else.test' }]
  data(await appliance.call('PUT', `/domains/${strict}/filters`, team.key, { mode: 'denylist', rules }))
  await assert.rejects(receive(appliance, { to: 'far@strict.test' }), /550 5\.7\.1/)
  await receive(appliance, { to: 'far@shop.test' })
  const eve = await other.mailbox('bob@else.test')
  const mail = { to: [{ email: 'far@strict.test' }], subject: 'Inside', text_body: 'x' }
  data(await appliance.call('POST', '/mailbox/messages/send', eve.key, mail), 202)
  await appliance.settle()
  assert.equal((await storedMessages(appliance, box.id)).length, 1, 'local messages pass the same filters')
})

test('an address is unique among mailboxes and aliases', async () => {
  const [one, two] = [await team.mailbox('one@shop.test'), await team.mailbox('two@shop.test')]
  await given(one.id, 'shared@shop.test')
  for (const taken of ['shared@shop.test', 'one@shop.test', 'two@shop.test']) {
    assert.equal(failure(await give(two.id, taken), 409, 'conflict').param, 'email')
  }
  failure(await appliance.call('POST', '/mailboxes', team.key, { email: 'shared@shop.test' }), 409, 'conflict')
  const asked = await Promise.all([
    ...[one, two, one].map(({ id }) => give(id, 'race@shop.test')),
    appliance.call('POST', '/mailboxes', team.key, { email: 'race@shop.test' }),
  ])
  assert.deepEqual(asked.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

test('an alias is validated like the address of a mailbox', async () => {
  const { id } = await team.mailbox('strict@shop.test')
  await team.domain('unproven.example.net')
  const cases: [string, string][] = [
    ['a@nowhere.test', 'email not_found'],
    ['a@else.test', 'email not_found'],
    ['a@unproven.example.net', 'email unverified_domain'],
    ['a+b@shop.test', 'email invalid_format'],
    ['"a b"@shop.test', 'email invalid_format'],
    [`${'a'.repeat(65)}@shop.test`, 'email too_big'],
  ]
  for (const [email, expected] of cases) issues(await give(id, email), 422, 'validation_error', [expected])
})

test('a mailbox has at most fifty aliases, listed in pages', async () => {
  const box = await team.mailbox('many@shop.test')
  for (let i = 0; i < ALIASES_MAX; i++)
    await appliance.app.administration.mailboxes.addAlias(team.id, box.id, `many${i}@shop.test`)
  failure(await give(box.id, 'onemore@shop.test'), 409, 'conflict')
  const all = await walk<AliasJson>(appliance, `/mailboxes/${box.id}/aliases?limit=20`, team.key)
  assert.deepEqual(
    all.map(({ email }) => email),
    Array.from({ length: ALIASES_MAX }, (_, i) => `many${ALIASES_MAX - 1 - i}@shop.test`),
  )
})

test('a mailbox sends as itself, as its aliases, and with a tag of either, and from no other address', async () => {
  const box = await team.mailbox('writer@shop.test')
  const reader = await team.mailbox('reader@shop.test')
  const alias = await given(box.id, 'sales@shop.test')
  await given(reader.id, 'readers@shop.test')
  const send = (from: string) => {
    const mail = { to: [{ email: 'readers+x@shop.test' }], subject: from, text_body: 'x', from: { email: from } }
    return appliance.call('POST', '/mailbox/messages/send', box.key, mail)
  }
  const own = ['writer@shop.test', 'sales@shop.test', 'Sales+spring@shop.test']
  const identify = (email: string) => appliance.call('POST', '/mailbox/identities', box.key, { email })
  issues(await identify('readers@shop.test'), 422, 'validation_error', ['email forbidden_value'])
  for (const from of own) data(await send(from), 202)
  for (const from of ['readers@shop.test', 'reader@shop.test', 'nobody@shop.test', 'sales@else.test']) {
    issues(await send(from), 422, 'validation_error', ['from.email forbidden_value'])
  }
  const message = {
    from: { email: 'sales@shop.test' },
    to: { email: 'reader@shop.test' },
    subject: 'batch',
    text_body: 'x',
  }
  const path = `${appliance.sendOrigin}/api/v1/emails/send/batch`
  const batch = data<{ summary: { queued: number } }>(
    await appliance.call('POST', path, box.key, { messages: [message] }),
  )
  assert.equal(batch.summary.queued, 1)
  await appliance.settle()
  const arrived = await walk<MessageSummaryJson>(appliance, '/mailbox/messages', reader.key)
  assert.deepEqual(arrived.map(({ from }) => from.email).sort(), [
    'sales+spring@shop.test',
    'sales@shop.test',
    'sales@shop.test',
    'writer@shop.test',
  ])
  data(await appliance.call('DELETE', `/mailboxes/${box.id}/aliases/${alias.id}`, team.key))
  issues(await send('sales@shop.test'), 422, 'validation_error', ['from.email forbidden_value'])
})

test('mail to a role address reaches the mailbox with that alias', async () => {
  await team.domain('roles.test')
  await team.mailbox('first@roles.test')
  const box = await team.mailbox('second@roles.test')
  await given(box.id, 'postmaster@roles.test')
  for (const to of ['postmaster@roles.test', 'abuse@roles.test']) await receive(appliance, { to })
  assert.deepEqual(
    (await storedMessages(appliance, box.id)).map(({ rcptTo }) => rcptTo),
    ['postmaster@roles.test'],
  )
})

test('a deleted mailbox frees its aliases; a domain with aliases cannot be deleted', async () => {
  const domain = await team.domain('leaving.test')
  const box = await team.mailbox('stays@shop.test')
  await given(box.id, 'info@leaving.test')
  failure(await appliance.call('DELETE', `/domains/${domain}`, team.key), 409, 'conflict')
  data(await appliance.call('DELETE', `/mailboxes/${box.id}`, team.key))
  failure(await give(box.id, 'late@leaving.test'), 409, 'conflict')
  assert.deepEqual(success(await appliance.get(`/mailboxes/${box.id}/aliases`, team.key)).data, [])
  await assert.rejects(receive(appliance, { to: 'info@leaving.test' }), refusal)
  const next = await team.mailbox('next@shop.test')
  const again = await given(next.id, 'info@leaving.test')
  data(await appliance.call('DELETE', `/mailboxes/${next.id}/aliases/${again.id}`, team.key))
  data(await appliance.call('DELETE', `/domains/${domain}`, team.key))
})
