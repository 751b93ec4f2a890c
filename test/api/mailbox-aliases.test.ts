// Aliases of mailboxes: given, listed, taken away; what comes to them, and what is written by them.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Alias } from '../../src/api/schemas/alias.ts'
import type { MessageSummary } from '../../src/api/schemas/message-summary.ts'
import { ALIASES_MAX } from '../../src/directory/aliases.ts'
import { startHouse } from '../support/house.ts'
import { keptIn } from '../support/kept.ts'
import { data, failure, issues, receive, success, walk } from './expect.ts'

const house = await startHouse()
after(() => house.close())
const team = await house.team()
const other = await house.team('Other')
const shop = await team.domain('shop.test')
await other.domain('else.test')

const give = (id: string, email: string, headers?: Record<string, string>) =>
  house.call('POST', `/mailboxes/${id}/aliases`, team.key, { email }, headers)
const given = async (id: string, email: string) => data<Alias>(await give(id, email), 201)
const refusal = /550 5\.1\.1/

test('mail to an alias comes to the mailbox, and the log tells where it was sent to', async () => {
  const ana = await team.mailbox('ana@shop.test')
  const made = await give(ana.id, 'Orders@Shop.TEST', { 'idempotency-key': 'orders' })
  const alias = data<Alias>(made, 201)
  assert.match(alias.id, /^mals_[a-z0-9]{24}$/)
  assert.deepEqual([alias.email, alias.domain_id], ['orders@shop.test', shop])
  assert.equal(made.headers.get('location'), `/api/v1/mailboxes/${ana.id}/aliases/${alias.id}`)
  assert.deepEqual(data(await give(ana.id, 'Orders@Shop.TEST', { 'idempotency-key': 'orders' }), 201), alias)

  for (const to of ['orders@shop.test', 'ORDERS+new@shop.test', 'ana@shop.test'])
    await receive(house, { to, subject: to })
  const kept = await keptIn(house, ana.id)
  assert.deepEqual(
    kept.map(({ rcptTo }) => rcptTo),
    ['orders@shop.test', 'ORDERS+new@shop.test', 'ana@shop.test'],
  )
  const rows = data<{ rcpt_to: string; mailbox_id: string }[]>(await house.get('/inbound/logs?search=new', team.key))
  assert.deepEqual(
    rows.map(({ rcpt_to, mailbox_id }) => [rcpt_to, mailbox_id]),
    [['ORDERS+new@shop.test', ana.id]],
  )

  data(await house.call('DELETE', `/mailboxes/${ana.id}/aliases/${alias.id}`, team.key))
  failure(await house.call('DELETE', `/mailboxes/${ana.id}/aliases/${alias.id}`, team.key), 404, 'not_found')
  await assert.rejects(receive(house, { to: 'orders@shop.test' }), refusal)
})

test('an alias at another domain of the team is judged by the filters of that domain', async () => {
  const strict = await team.domain('strict.test')
  const box = await team.mailbox('far@shop.test')
  await given(box.id, 'far@strict.test')
  const rules = [{ type: 'deny', pattern: 'bob@else.test' }]
  data(await house.call('PUT', `/domains/${strict}/filters`, team.key, { mode: 'denylist', rules }))
  await assert.rejects(receive(house, { to: 'far@strict.test' }), /550 5\.7\.1/)
  await receive(house, { to: 'far@shop.test' })
  const eve = await other.mailbox('bob@else.test')
  const mail = { to: [{ email: 'far@strict.test' }], subject: 'Inside', text_body: 'x' }
  data(await house.call('POST', '/mailbox/messages/send', eve.key, mail), 202)
  await house.settle()
  assert.equal((await keptIn(house, box.id)).length, 1, 'mail between mailboxes here is judged alike')
})

test('an address is had once, as a mailbox or as an alias', async () => {
  const [one, two] = [await team.mailbox('one@shop.test'), await team.mailbox('two@shop.test')]
  await given(one.id, 'shared@shop.test')
  for (const taken of ['shared@shop.test', 'one@shop.test', 'two@shop.test']) {
    assert.equal(failure(await give(two.id, taken), 409, 'conflict').param, 'email')
  }
  failure(await house.call('POST', '/mailboxes', team.key, { email: 'shared@shop.test' }), 409, 'conflict')
  const asked = await Promise.all([
    ...[one, two, one].map(({ id }) => give(id, 'race@shop.test')),
    house.call('POST', '/mailboxes', team.key, { email: 'race@shop.test' }),
  ])
  assert.deepEqual(asked.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

test('an alias is refused like the address of a mailbox', async () => {
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

test('a mailbox has fifty aliases at most, listed in pages', async () => {
  const box = await team.mailbox('many@shop.test')
  for (let i = 0; i < ALIASES_MAX; i++) await house.app.directory.aliases.add(team.id, box.id, `many${i}@shop.test`)
  failure(await give(box.id, 'onemore@shop.test'), 409, 'conflict')
  const all = await walk<Alias>(house, `/mailboxes/${box.id}/aliases?limit=20`, team.key)
  assert.deepEqual(
    all.map(({ email }) => email),
    Array.from({ length: ALIASES_MAX }, (_, i) => `many${ALIASES_MAX - 1 - i}@shop.test`),
  )
})

test('a mailbox writes as itself, as its aliases, with a tag of either, and as nobody else', async () => {
  const box = await team.mailbox('writer@shop.test')
  const reader = await team.mailbox('reader@shop.test')
  const alias = await given(box.id, 'sales@shop.test')
  await given(reader.id, 'readers@shop.test')
  const send = (from: string) => {
    const mail = { to: [{ email: 'readers+x@shop.test' }], subject: from, text_body: 'x', from: { email: from } }
    return house.call('POST', '/mailbox/messages/send', box.key, mail)
  }
  const own = ['writer@shop.test', 'sales@shop.test', 'Sales+spring@shop.test']
  const identify = (email: string) => house.call('POST', '/mailbox/identities', box.key, { email })
  for (const email of own.slice(1)) data(await identify(email), 201)
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
  const path = `${house.sendOrigin}/api/v1/emails/send/batch`
  const batch = data<{ summary: { queued: number } }>(await house.call('POST', path, box.key, { messages: [message] }))
  assert.equal(batch.summary.queued, 1)
  await house.settle()
  const arrived = await walk<MessageSummary>(house, '/mailbox/messages', reader.key)
  assert.deepEqual(arrived.map(({ from }) => from.email).sort(), [
    'sales+spring@shop.test',
    'sales@shop.test',
    'sales@shop.test',
    'writer@shop.test',
  ])
  data(await house.call('DELETE', `/mailboxes/${box.id}/aliases/${alias.id}`, team.key))
  issues(await send('sales@shop.test'), 422, 'validation_error', ['from.email forbidden_value'])
})

test('role names of a domain reach whoever takes them as an alias', async () => {
  await team.domain('roles.test')
  await team.mailbox('first@roles.test')
  const box = await team.mailbox('second@roles.test')
  await given(box.id, 'postmaster@roles.test')
  for (const to of ['postmaster@roles.test', 'abuse@roles.test']) await receive(house, { to })
  assert.deepEqual(
    (await keptIn(house, box.id)).map(({ rcptTo }) => rcptTo),
    ['postmaster@roles.test'],
  )
})

test('a deleted mailbox frees its aliases; a domain with aliases stays', async () => {
  const domain = await team.domain('leaving.test')
  const box = await team.mailbox('stays@shop.test')
  await given(box.id, 'info@leaving.test')
  failure(await house.call('DELETE', `/domains/${domain}`, team.key), 409, 'conflict')
  data(await house.call('DELETE', `/mailboxes/${box.id}`, team.key))
  failure(await give(box.id, 'late@leaving.test'), 409, 'conflict')
  assert.deepEqual(success(await house.get(`/mailboxes/${box.id}/aliases`, team.key)).data, [])
  await assert.rejects(receive(house, { to: 'info@leaving.test' }), refusal)
  const next = await team.mailbox('next@shop.test')
  const again = await given(next.id, 'info@leaving.test')
  data(await house.call('DELETE', `/mailboxes/${next.id}/aliases/${again.id}`, team.key))
  data(await house.call('DELETE', `/domains/${domain}`, team.key))
})
