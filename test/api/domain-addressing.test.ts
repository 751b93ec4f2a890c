// Addresses of a domain beyond mailboxes and aliases: separators, patterns, retired addresses, and what an author may be.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AddressingJson } from '../../src/api/schemas/addressing.ts'
import { startAppliance } from '../support/appliance.ts'
import { SmtpClient } from '../support/smtp.ts'
import { storedMessages } from '../support/stored.ts'
import { data, failure, issues, receive, success } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')
const UNKNOWN = /550 5\.1\.1/

const put = (domain: string, body: object, headers?: Record<string, string>) =>
  appliance.call('PUT', `/domains/${domain}/addressing`, team.key, body, headers)
const lead = (pattern: string, mailbox: { id: string }) => ({ pattern, mailbox_id: mailbox.id })
const rules = (domain: string, patterns: object[], separators = ['+']) => put(domain, { separators, patterns })

async function resolved(
  domain: string,
  address: string,
): Promise<{ step: string; mailbox_id: string | null; text: string }> {
  const query = new URLSearchParams({ address })
  return data(await appliance.get(`/domains/${domain}/addressing/resolve?${query}`, team.key))
}

test('a catch-all receives what nothing else does, the longest pattern first, and shows the address that was written to', async () => {
  const domain = await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const bob = await team.mailbox('bob@shop.test')
  await assert.rejects(receive(appliance, { to: 'anyone@shop.test' }), UNKNOWN)
  data(await rules(domain, [lead('*', ana), lead('shop-*', bob), lead('shop-*-vip', ana)]))
  for (const to of ['Anyone@shop.test', 'shop-7@shop.test', 'shop-8-vip@shop.test']) await receive(appliance, { to })
  const toOf = async (id: string) => (await storedMessages(appliance, id)).map(({ rcptTo }) => rcptTo)
  assert.deepEqual(await toOf(ana.id), ['Anyone@shop.test', 'shop-8-vip@shop.test'])
  assert.deepEqual(await toOf(bob.id), ['shop-7@shop.test'])

  assert.equal((await resolved(domain, 'shop-9@shop.test')).mailbox_id, bob.id)
  assert.equal((await resolved(domain, 'bob+x@shop.test')).step, 'sub_address')
  assert.equal((await resolved(domain, 'bob@shop.test')).step, 'address')
  assert.equal((await resolved(domain, 'postmaster@shop.test')).step, 'role')
  for (const name of ['admin', 'webmaster', 'hostmaster+x', 'administrator', '"a b"']) {
    assert.equal((await resolved(domain, `${name}@shop.test`)).step, 'none', name)
  }
  success(await appliance.call('POST', `/mailboxes/${bob.id}/suspend`, team.key, {}))
  const suspended = await resolved(domain, 'shop-9@shop.test')
  assert.deepEqual(suspended, { step: 'none', mailbox_id: bob.id, text: 'Its mailbox is suspended.' })
  data(await rules(domain, []))
  await assert.rejects(receive(appliance, { to: 'anyone@shop.test' }), UNKNOWN)
})

test('an address that ended is refused in spite of a catch-all, until it is taken again', async () => {
  const domain = await team.domain('ended.test')
  const ana = await team.mailbox('ana@ended.test')
  const old = await team.mailbox('old@ended.test')
  const alias = data<{ id: string }>(
    await appliance.call('POST', `/mailboxes/${ana.id}/aliases`, team.key, { email: 'news@ended.test' }),
    201,
  )
  data(await rules(domain, [lead('*', ana)]))
  success(await appliance.call('DELETE', `/mailboxes/${ana.id}/aliases/${alias.id}`, team.key))
  success(await appliance.call('DELETE', `/mailboxes/${old.id}`, team.key))
  for (const to of ['old@ended.test', 'OLD+tag@ended.test', 'news@ended.test']) {
    await assert.rejects(receive(appliance, { to }), UNKNOWN, to)
  }
  const retired = data<{ email: string }[]>(await appliance.get(`/domains/${domain}/retired-addresses`, team.key))
  assert.deepEqual(
    retired.map(({ email }) => email),
    ['old@ended.test', 'news@ended.test'],
  )
  success(await appliance.call('POST', `/mailboxes/${old.id}/restore`, team.key, {}))
  await receive(appliance, { to: 'old@ended.test' })
  const left = data<{ email: string }[]>(await appliance.get(`/domains/${domain}/retired-addresses?limit=1`, team.key))
  assert.deepEqual(
    left.map(({ email }) => email),
    ['news@ended.test'],
  )
})

test('with another separator the longest base is reached, and no mailbox writes as another one', async () => {
  const domain = await team.domain('names.test')
  const jean = await team.mailbox('jean@names.test')
  const luc = await team.mailbox('jean-luc@names.test')
  data(await rules(domain, [], ['-', '+']))
  assert.deepEqual(await resolved(domain, 'jean-luc-x@names.test'), {
    ...{ step: 'sub_address', mailbox_id: luc.id, text: 'Without its tag it is an address of jean-luc@names.test.' },
  })
  assert.equal((await resolved(domain, 'jean-x@names.test')).mailbox_id, jean.id)
  const identity = (email: string) => appliance.call('POST', '/mailbox/identities', jean.key, { email })
  success(await identity('jean-x@names.test'), 201)
  issues(await identity('jean-luc@names.test'), 422, 'validation_error', ['email forbidden_value'])
  issues(await identity('jean-luc-x@names.test'), 422, 'validation_error', ['email forbidden_value'])
})

test('a mailbox writes as an address of its pattern once it was written to, or has an identity; both end with the pattern', async () => {
  const domain = await team.domain('write.test')
  const ana = await team.mailbox('ana@write.test')
  const { key } = ana
  data(await rules(domain, [lead('*', ana)]))
  const path = `${appliance.sendOrigin}/api/v1/emails/send`
  const send = (email: string) =>
    appliance.call('POST', path, key, {
      ...{ from: { email, name: 'Ana' }, to: [{ email: 'ana@write.test', name: '' }] },
      ...{ subject: 'Hello', text_body: 'Hello.' },
    })
  assert.ok((await send('fresh@write.test')).status >= 400)
  await receive(appliance, { to: 'known@write.test' })
  success(await send('known@write.test'), 202)
  success(await appliance.call('POST', '/mailbox/identities', key, { email: 'named@write.test' }), 201)
  success(await send('named@write.test'), 202)
  data(await rules(domain, []))
  assert.ok((await send('known@write.test')).status >= 400)
  const left = data<{ email: string }[]>(await appliance.get('/mailbox/identities', key))
  assert.deepEqual(
    left.map(({ email }) => email),
    ['ana@write.test'],
  )
})

test('guesses from one network leave twenty addresses in an hour; known ones have no limit', async () => {
  const domain = await team.domain('guess.test')
  const ana = await team.mailbox('ana@guess.test')
  data(await rules(domain, [lead('*', ana)]))
  await receive(appliance, { to: 'known@guess.test' })
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  let accepted = 0
  for (let n = 0; n < 60; n++) {
    await client.command('MAIL FROM:<eve@else.test>', 250)
    const reply = await client.command(`RCPT TO:<name${n}@guess.test>`)
    if (reply.code === 250) accepted++
    else assert.match(reply.text, /^451 4\.7\.1/)
    await client.command('RSET', 250)
  }
  // One of the twenty was the message above.
  assert.equal(accepted, 19)
  await client.command('MAIL FROM:<eve@else.test>', 250)
  await client.command('RCPT TO:<known@guess.test>', 250)
})

test('a mailbox names twenty addresses of a pattern in an hour, so that one key does not use up what the domain takes in a day', async () => {
  const domain = await team.domain('claim.test')
  const ana = await team.mailbox('ana@claim.test')
  data(await rules(domain, [lead('*', ana)]))
  for (let n = 0; n < 20; n++) {
    const made = await appliance.call('POST', '/mailbox/identities', ana.key, { email: `name${n}@claim.test` })
    const { id } = data<{ id: string }>(made, 201)
    success(await appliance.call('DELETE', `/mailbox/identities/${id}`, ana.key))
  }
  const more = await appliance.call('POST', '/mailbox/identities', ana.key, { email: 'more@claim.test' })
  failure(more, 429, 'rate_limit_exceeded')
  await receive(appliance, { to: 'stranger@claim.test' })
})

test('rules are checked, foreign mailboxes are unknown, and a stale ETag changes nothing', async () => {
  const domain = await team.domain('check.test')
  const ana = await team.mailbox('ana@check.test')
  await other.domain('foreign.test')
  const foreign = await other.mailbox('eve@foreign.test')
  issues(await rules(domain, [lead('a*b*c', ana)]), 422, 'validation_error', ['patterns.0.pattern invalid_format'])
  issues(await rules(domain, [lead('none', ana)]), 422, 'validation_error', ['patterns.0.pattern invalid_format'])
  issues(await rules(domain, [lead('*', ana), lead('*', ana)]), 422, 'validation_error', [
    'patterns.1.pattern forbidden_value',
  ])
  issues(await rules(domain, [lead('*', foreign)]), 422, 'validation_error', ['patterns.0.mailbox_id not_found'])
  failure(await appliance.get(`/domains/${domain}/addressing`, other.key), 404, 'not_found')
  const before = await appliance.get(`/domains/${domain}/addressing`, team.key)
  data(await rules(domain, [lead('*', ana)], ['-', '+']))
  const stale = { 'if-match': before.headers.get('etag')! }
  failure(await put(domain, { separators: ['+'], patterns: [] }, stale), 409, 'conflict')
  const now = data<AddressingJson>(await appliance.get(`/domains/${domain}/addressing`, team.key))
  assert.deepEqual(now, { separators: ['-', '+'], patterns: [lead('*', ana)] })
})
