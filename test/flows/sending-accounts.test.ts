// Accounts at servers that check sender ownership: messages leave with an owned address, and a rejection is an error of the account.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import { data, walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { ownershipOptions, startMailServer } from '../support/mail-server.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const owners = new Map([['ann', ['ann@shop.test', 'bounces@shop.test']]])
const strict = await startMailServer(ownershipOptions(owners))
const open = await startMailServer()
const appliance = await startAppliance({
  clock,
  zone: { 'relay.example': { A: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true' },
})
after(async () => {
  await appliance.close()
  await strict[Symbol.asyncDispose]()
  await open[Symbol.asyncDispose]()
})
const { checks } = appliance.app.outbound.accounts
let teams = 0

/** A team with a domain and accounts at these servers, each signed in as ann. */
async function teamWith(...accounts: { port: number; [field: string]: unknown }[]) {
  const team = await appliance.team()
  const domain = `shop${++teams}.test`
  await team.domain(domain)
  const ids: string[] = []
  for (const { port, ...fields } of accounts) {
    const body = {
      ...{ name: `Account ${ids.length + 1}`, smtp_host: 'relay.example', smtp_port: port, smtp_protocol: 'none' },
      ...{ smtp_username: 'ann', smtp_password: 'secret', from_email: 'ann@shop.test', ...fields },
    }
    ids.push(data<ProviderJson>(await appliance.call('POST', '/providers', team.key, body), 201).id)
    await checks.runDue()
  }
  const show = async (id: string) => data<ProviderJson>(await appliance.get(`/providers/${id}`, team.key))
  const send = async (to: string) => {
    const message = { from: { email: `me@${domain}` }, to: { email: to }, subject: 'Hello', text_body: 'Hello' }
    const messages = [message]
    data(await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send/batch`, team.key, { messages }))
    await appliance.settle()
  }
  const logOf = async (to: string) =>
    (await walk<DeliveryLogJson>(appliance, '/emails/logs', team.key)).find(({ to_email }) => to_email === to)!
  return { team, ids, show, send, logOf }
}

test('an account sends with its own address when the server accepts no other, and with one for each message when it does', async () => {
  const { ids, show, send, logOf } = await teamWith({ port: strict.port })
  const shown = await show(ids[0]!)
  assert.deepEqual([shown.status, shown.verp, shown.return_path], ['active', false, null])
  await send('bob@else.test')
  assert.equal((await logOf('bob@else.test')).status, 'sent')
  assert.equal(strict.messages.at(-1)!.from, 'ann@shop.test')

  const free = await teamWith({ port: open.port })
  assert.equal((await free.show(free.ids[0]!)).verp, true)
  await free.send('bob@else.test')
  assert.match(open.messages.at(-1)!.from, /^b\+[0-9a-z]{24}@bounce\.mx\.mailstead\.test$/)
})

test('a configured Return-Path is the envelope sender of all messages, and a change of it is checked', async () => {
  const { team, ids, show, send } = await teamWith({ port: open.port })
  const change = (body: object) => appliance.call('PATCH', `/providers/${ids[0]}`, team.key, body)
  data(await change({ return_path: 'Bounces@Shop.test' }))
  assert.equal((await show(ids[0]!)).status, 'pending')
  await checks.runDue()
  assert.deepEqual([(await show(ids[0]!)).status, (await show(ids[0]!)).return_path], ['active', 'Bounces@shop.test'])
  await send('bob@else.test')
  assert.equal(open.messages.at(-1)!.from, 'Bounces@shop.test')
  data(await change({ return_path: null }))
  await checks.runDue()
  await send('eve@else.test')
  assert.match(open.messages.at(-1)!.from, /^b\+/)
})

test('an account that does not own its sender fails its check with the reply of the server', async () => {
  const { ids, show } = await teamWith({ port: strict.port, from_email: 'boss@shop.test' })
  const { status, status_reason } = await show(ids[0]!)
  assert.equal(status, 'error')
  assert.equal(status_reason, 'sender: 553 5.7.1 <boss@shop.test>: Sender address rejected: not owned by user ann')
})

test('a rejected sender is an error of the account: the message is routed to another one, and no recipient is suppressed', async () => {
  const { ids, show, send, logOf, team } = await teamWith({ port: strict.port }, { port: open.port, percentage: 0 })
  const taken = owners.get('ann')!
  owners.set('ann', [])
  await send('bob@else.test')
  const first = await show(ids[0]!)
  assert.equal(first.status, 'error')
  assert.match(
    first.status_reason!,
    /^sender: 553 5\.7\.1 <ann@shop\.test>: Sender address rejected: not owned by user ann$/,
  )
  const row = await logOf('bob@else.test')
  assert.deepEqual([row.status, row.provider_id], ['sent', ids[1]])
  assert.deepEqual((await appliance.get('/suppressions', team.key)).body.data, [])
  // The check that follows finds it mended.
  owners.set('ann', taken)
  clock.advance(15 * 60_000)
  await checks.runDue()
  assert.equal((await show(ids[0]!)).status, 'active')
})

test('without another route the message waits until the account is repaired', async () => {
  const { team, ids, show, send, logOf } = await teamWith({ port: strict.port })
  const taken = owners.get('ann')!
  owners.set('ann', [])
  await send('bob@else.test')
  assert.deepEqual([(await show(ids[0]!)).status, (await logOf('bob@else.test')).status], ['error', 'pending'])
  owners.set('ann', taken)
  data(await appliance.call('POST', `/providers/${ids[0]}/test`, team.key, {}))
  assert.equal((await show(ids[0]!)).status, 'active')
  clock.advance(60 * 60_000)
  await appliance.settle()
  assert.equal((await logOf('bob@else.test')).status, 'sent')
})

test('a routing rule sends to its domain by its account, and the rest of the same message the ordinary way', async () => {
  const { team, ids, logOf } = await teamWith({ port: open.port }, { port: strict.port, percentage: 0 })
  const rule = { match: 'domain', domain: 'strict.test', via: 'provider', provider_id: ids[1] }
  data(await appliance.call('PUT', '/routing-rules', team.key, { rules: [rule] }))
  owners.set('ann', ['ann@shop.test'])
  const [before, ruled] = [open.messages.length, strict.messages.length]
  const [to, cc] = [{ email: 'bob@else.test' }, [{ email: 'eve@strict.test' }]]
  const from = { email: `me@shop${teams}.test` }
  const messages = [{ from, to, cc, subject: 'Hello', text_body: 'Hello' }]
  data(await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send/batch`, team.key, { messages }))
  await appliance.settle()
  assert.deepEqual([open.messages.length - before, strict.messages.length - ruled], [1, 1])
  assert.deepEqual(strict.messages.at(-1)!.to, ['eve@strict.test'])
  const { id, provider_name, status } = await logOf('eve@strict.test')
  assert.deepEqual([provider_name, status], ['Account 2', 'sent'])
  const { timeline } = data<{ timeline: { type: string; detail: string }[] }>(
    await appliance.get(`/emails/logs/${id}`, team.key),
  )
  const routed = timeline.find(({ type }) => type === 'routed')
  assert.match(routed!.detail, /^By the routing rule for strict\.test\. Account 2 is the only sending account/)
  assert.equal((await logOf('bob@else.test')).provider_name, 'Account 1')
})
