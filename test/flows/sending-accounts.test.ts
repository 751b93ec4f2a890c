// Accounts at servers that check who owns a sender: mail leaves with an address that is owned, and a refusal is nobody's but the account's.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLog } from '../../src/api/schemas/delivery-log.ts'
import type { Provider } from '../../src/api/schemas/provider.ts'
import { data, walk } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse } from '../support/house.ts'
import { ownershipOptions, startMailServer } from '../support/mail-server.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const owners = new Map([['ann', ['ann@shop.test', 'bounces@shop.test']]])
const strict = await startMailServer(ownershipOptions(owners))
const open = await startMailServer()
const house = await startHouse({
  clock,
  zone: { 'relay.example': { A: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true' },
})
after(async () => {
  await house.close()
  await strict[Symbol.asyncDispose]()
  await open[Symbol.asyncDispose]()
})
const { health } = house.app.outbound.providers
let teams = 0

/** A team with a domain and accounts at these servers, each signed in as ann. */
async function teamWith(...accounts: { port: number; [field: string]: unknown }[]) {
  const team = await house.team()
  const domain = `shop${++teams}.test`
  await team.domain(domain)
  const ids: string[] = []
  for (const { port, ...fields } of accounts) {
    const body = {
      ...{ name: `Account ${ids.length + 1}`, smtp_host: 'relay.example', smtp_port: port, smtp_protocol: 'none' },
      ...{ smtp_username: 'ann', smtp_password: 'secret', from_email: 'ann@shop.test', ...fields },
    }
    ids.push(data<Provider>(await house.call('POST', '/providers', team.key, body), 201).id)
    await health.checkDue()
  }
  const show = async (id: string) => data<Provider>(await house.get(`/providers/${id}`, team.key))
  const send = async (to: string) => {
    const message = { from: { email: `me@${domain}` }, to: { email: to }, subject: 'Hello', text_body: 'Hello' }
    const messages = [message]
    data(await house.call('POST', `${house.sendOrigin}/api/v1/emails/send/batch`, team.key, { messages }))
    await house.settle()
  }
  const logOf = async (to: string) =>
    (await walk<DeliveryLog>(house, '/emails/logs', team.key)).find(({ to_email }) => to_email === to)!
  return { team, ids, show, send, logOf }
}

test('an account sends with its own address where the server takes no other, and with one for each message where it does', async () => {
  const { ids, show, send, logOf } = await teamWith({ port: strict.port })
  const shown = await show(ids[0]!)
  assert.deepEqual([shown.status, shown.verp, shown.return_path], ['active', false, null])
  await send('bob@else.test')
  assert.equal((await logOf('bob@else.test')).status, 'sent')
  assert.equal(strict.mails.at(-1)!.from, 'ann@shop.test')

  const free = await teamWith({ port: open.port })
  assert.equal((await free.show(free.ids[0]!)).verp, true)
  await free.send('bob@else.test')
  assert.match(open.mails.at(-1)!.from, /^b\+[0-9a-z]{24}@bounce\.mx\.mailstead\.test$/)
})

test('a Return-Path that is set is the sender of everything, and a change of it is checked', async () => {
  const { team, ids, show, send } = await teamWith({ port: open.port })
  const change = (body: object) => house.call('PATCH', `/providers/${ids[0]}`, team.key, body)
  data(await change({ return_path: 'Bounces@Shop.test' }))
  assert.equal((await show(ids[0]!)).status, 'pending')
  await health.checkDue()
  assert.deepEqual([(await show(ids[0]!)).status, (await show(ids[0]!)).return_path], ['active', 'Bounces@shop.test'])
  await send('bob@else.test')
  assert.equal(open.mails.at(-1)!.from, 'Bounces@shop.test')
  data(await change({ return_path: null }))
  await health.checkDue()
  await send('eve@else.test')
  assert.match(open.mails.at(-1)!.from, /^b\+/)
})

test('an account whose sender is not owned fails its check with the words of the server', async () => {
  const { ids, show } = await teamWith({ port: strict.port, from_email: 'boss@shop.test' })
  const { status, status_reason } = await show(ids[0]!)
  assert.equal(status, 'error')
  assert.equal(status_reason, 'sender: 553 5.7.1 <boss@shop.test>: Sender address rejected: not owned by user ann')
})

test('a refusal of the sender is the account’s: the message goes another way, and no recipient is held to blame', async () => {
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
  assert.deepEqual((await house.get('/suppressions', team.key)).body.data, [])
  // The check that follows finds it mended.
  owners.set('ann', taken)
  clock.advance(15 * 60_000)
  await health.checkDue()
  assert.equal((await show(ids[0]!)).status, 'active')
})

test('without another way the message waits until the account is mended', async () => {
  const { ids, show, send, logOf } = await teamWith({ port: strict.port })
  const taken = owners.get('ann')!
  owners.set('ann', [])
  await send('bob@else.test')
  assert.deepEqual([(await show(ids[0]!)).status, (await logOf('bob@else.test')).status], ['error', 'pending'])
  owners.set('ann', taken)
  clock.advance(15 * 60_000)
  await health.checkDue()
  await house.settle()
  clock.advance(60 * 60_000)
  await house.settle()
  assert.equal((await logOf('bob@else.test')).status, 'sent')
})
