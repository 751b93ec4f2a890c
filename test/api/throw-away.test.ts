// Throw-away addresses: made for one correspondent, paused and ended, with what reaches them and who may use them.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { THROW_AWAY_PER_DAY } from '../../src/directory/mailboxes/aliases-throw-away.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { storedMessages } from '../support/stored.ts'
import { data, failure, issues, receive, success } from './expect.ts'

interface Made {
  id: string
  email: string
  made_for: string
  paused: boolean
  paused_at: string | null
}

const DAY_MS = 86_400_000
const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
const domain = await team.domain('shop.test')
const other = await appliance.team('Other')
const UNKNOWN = /550 5\.1\.1/
const OWN = '/mailbox/throw-away-addresses'

const make = async (key: string, madeFor = 'news.example'): Promise<Made> =>
  data<Made>(await appliance.call('POST', OWN, key, { made_for: madeFor }), 201)
const end = async (key: string, { id }: Made) => success(await appliance.call('DELETE', `${OWN}/${id}`, key))
const receivedAt = async (id: string) => (await storedMessages(appliance, id)).map(({ rcptTo }) => rcptTo)
const catchAll = (mailbox: { id: string }) =>
  appliance.call('PUT', `/domains/${domain}/addressing`, team.key, {
    ...{ separators: ['+', '-'], patterns: [{ pattern: '*', mailbox_id: mailbox.id }] },
  })

test('an address receives until it is paused or ended, also below a catch-all, and its message names it', async () => {
  const ana = await team.mailbox('ana@shop.test')
  data(await catchAll(ana))
  const made = await make(ana.key, 'https://www.News-Letter.example/join')
  assert.match(made.email, /^newsletter\.[a-z0-9]{7}@shop\.test$/)
  const written = `${made.email.split('@')[0]!.toUpperCase()}@shop.test`
  await receive(appliance, { to: written })
  assert.deepEqual(await receivedAt(ana.id), [written])
  const [message] = data<{ id: string }[]>(await appliance.get('/mailbox/messages', ana.key))
  const one = data<{ delivered_to: string; headers: { name: string; value: string }[] }>(
    await appliance.get(`/mailbox/messages/${message!.id}?include=headers`, ana.key),
  )
  assert.equal(one.delivered_to, written)
  const named = one.headers.filter(({ name }) => name === 'Delivered-To').map(({ value }) => value)
  assert.deepEqual(named, [written])

  const paused = data<Made>(await appliance.call('PATCH', `${OWN}/${made.id}`, ana.key, { paused: true }))
  assert.ok(paused.paused && paused.paused_at !== null)
  await assert.rejects(receive(appliance, { to: made.email }), /550 5\.2\.1/)
  const [local] = made.email.split('@')
  await assert.rejects(receive(appliance, { to: `${local}-x@shop.test` }), UNKNOWN)
  data<Made>(await appliance.call('PATCH', `${OWN}/${made.id}`, ana.key, { paused: false, made_for: 'The news' }))
  await receive(appliance, { to: made.email })
  await end(ana.key, made)
  await assert.rejects(receive(appliance, { to: made.email }), UNKNOWN)
  await assert.rejects(receive(appliance, { to: `${local}+x@shop.test` }), UNKNOWN)
  failure(await appliance.get(`${OWN}/${made.id}`, ana.key), 404, 'not_found')
})

test('the log says which step led to the mailbox, and why a paused address refused', async () => {
  const bob = await team.mailbox('bob@shop.test')
  const made = await make(bob.key)
  await receive(appliance, { to: made.email })
  success(await appliance.call('PATCH', `${OWN}/${made.id}`, bob.key, { paused: true }))
  await assert.rejects(receive(appliance, { to: made.email }))
  const rows = data<{ id: string; status: string; reason: string | null }[]>(
    await appliance.get(`/inbound/logs?mailbox_id=${bob.id}`, team.key),
  )
  assert.deepEqual(
    rows.map(({ status, reason }) => [status, reason]),
    [
      ['refused', 'address_paused'],
      ['stored', null],
    ],
  )
  const stored = await appliance.get(`/inbound/logs/${rows[1]!.id}`, team.key)
  assert.equal(data<{ evidence: { address: string } }>(stored).evidence.address, 'throw_away')
  const query = new URLSearchParams({ address: made.email })
  const resolved = await appliance.get(`/domains/${domain}/addressing/resolve?${query}`, team.key)
  assert.deepEqual(data(resolved), {
    ...{ step: 'none', mailbox_id: bob.id, text: 'It is a throw-away address that is paused.' },
  })
})

test('the mailbox writes as it, it is no sign-in name, and it has no sub-addresses', async () => {
  const cleo = await team.mailbox('cleo@shop.test')
  const made = await make(cleo.key)
  const send = () =>
    appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send`, cleo.key, {
      ...{ from: { email: made.email, name: '' }, to: [{ email: 'cleo@shop.test', name: '' }] },
      ...{ subject: 'Hello', text_body: 'Hello.' },
    })
  success(await send(), 202)
  assert.equal(appliance.app.directory.mailboxes.byLogin(made.email), undefined)
  const alias = await appliance.call('POST', `/mailboxes/${cleo.id}/aliases`, team.key, { email: made.email })
  failure(alias, 409, 'conflict')
  await end(cleo.key, made)
  assert.ok((await send()).status >= 400)
})

test('a restored mailbox has its addresses again, and no alias is among them', async () => {
  const dora = await team.mailbox('dora@shop.test')
  const made = await make(dora.key)
  success(await appliance.call('POST', `/mailboxes/${dora.id}/aliases`, team.key, { email: 'dd@shop.test' }), 201)
  success(await appliance.call('DELETE', `/mailboxes/${dora.id}`, team.key))
  await assert.rejects(receive(appliance, { to: made.email }), UNKNOWN)
  success(await appliance.call('POST', `/mailboxes/${dora.id}/restore`, team.key, {}))
  await receive(appliance, { to: made.email })
  const listed = await appliance.get(`/mailboxes/${dora.id}/throw-away-addresses`, team.key)
  assert.deepEqual(
    data<Made[]>(listed).map(({ email }) => email),
    [made.email],
  )
  const aliases = data<{ email: string }[]>(await appliance.get(`/mailboxes/${dora.id}/aliases`, team.key))
  assert.deepEqual(
    aliases.map(({ email }) => email),
    ['dd@shop.test'],
  )
})

test('foreign mailboxes and keys that only read change nothing, and a name must be given', async () => {
  const emil = await team.mailbox('emil@shop.test')
  const made = await make(emil.key)
  const otherMailbox = await team.mailbox('fay@shop.test')
  failure(await appliance.call('DELETE', `${OWN}/${made.id}`, otherMailbox.key), 404, 'not_found')
  failure(await appliance.get(`/mailboxes/${emil.id}/throw-away-addresses`, other.key), 404, 'not_found')
  issues(await appliance.call('POST', OWN, emil.key, { made_for: ' \u202e ' }), 422, 'validation_error', [
    'made_for invalid_format',
  ])
  await receive(appliance, { to: made.email })
})

test('a mailbox makes a hundred a day, ended ones included, so that a key does not fill the list of retired addresses', async () => {
  const gus = await team.mailbox('gus@shop.test')
  for (let n = 0; n < THROW_AWAY_PER_DAY; n++) await end(gus.key, await make(gus.key))
  failure(await appliance.call('POST', OWN, gus.key, { made_for: 'one more' }), 429, 'rate_limit_exceeded')
  clock.advance(DAY_MS + 1)
  await make(gus.key)
})
