// Credits of teams: added by the operator, consumed by sent messages, exact to the millionth (docs/design/sending.md §9).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TransactionJson } from '../../src/api/schemas/billing.ts'
import type { NewMail, Sender } from '../../src/outbound/model/new-message.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'
import { data, failure, issues, walk } from './expect.ts'

const HOUR = 3_600_000
const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const remote = await startMailServer({
  onRcptTo({ address }, _session, done) {
    done(address.startsWith('gone') ? Object.assign(new Error('5.1.1 unknown'), { responseCode: 550 }) : null)
  },
})
const zone = {
  'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
  'mx.customer.example': { A: ['127.0.0.1'] },
}
const env = {
  ...{ ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
  ...{ BILLING_CURRENCY: 'EUR', BILLING_UNIT_PRICE: '0.25', BILLING_ENFORCE: 'true' },
}
const appliance = await startAppliance({ clock, zone, env })
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const {
  billing: { ledger, meter },
  submit: { submitter },
} = appliance.app.outbound
const { secret: operatorKey } = await appliance.app.directory.operatorKeys.issue('test')
const team = await appliance.team()
await team.domain('shop.test')
const sender: Sender = { kind: 'team', teamId: team.id, source: 'batch_api' }

function credit(body: unknown, id = team.id, headers: Record<string, string> = {}) {
  const url = `http://127.0.0.1:${appliance.ports.operator}/operator/v1/teams/${id}/credits`
  return appliance.call('POST', url, operatorKey, body, headers)
}

function mail(to: string): NewMail {
  return {
    ...{ from: { email: 'news@shop.test', name: 'Shop' }, cc: [], bcc: [], replyTo: [] },
    to: [{ email: to, name: '' }],
    ...{ subject: 'Your order', textBody: 'It is on its way.', htmlBody: null, headers: {}, attachments: [] },
    ...{ returnPath: null, inReplyTo: null, sendAt: null, undoSeconds: 0, saveToSent: true },
  }
}

/** `accepted`, or the error code, in the order of the messages. */
async function send(...to: string[]): Promise<string[]> {
  const submitted = await submitter.submit(
    sender,
    to.map((one) => mail(one)),
  )
  return submitted.map((one) => (one.kind === 'accepted' ? one.kind : one.error.code))
}

const never = new AbortController().signal
const balance = (teamId = team.id) => ledger.balance(appliance.app.db.read, teamId)
const list = (query = '', key = team.key) => walk<TransactionJson>(appliance, `/billing/transactions${query}`, key)

test('without credit nothing is sent, with credit as many messages as it pays for', async () => {
  assert.deepEqual(await send('a@customer.example'), ['conflict'])
  const made = data<TransactionJson>(await credit({ amount: '1.0', description: 'invoice 7' }), 201)
  assert.deepEqual(made, {
    ...{ id: made.id, type: 'purchase', amount: '1.000000', balance_after: '1.000000', currency: 'EUR' },
    ...{ quantity: null, unit_price: null, description: 'invoice 7', reference: null },
    created_at: '2030-01-02T03:04:05.000Z',
  })
  // Five in one call: what the first four hold is not there for the fifth.
  const five = ['a', 'b', 'gone', 'd', 'e'].map((name) => `${name}@customer.example`)
  assert.deepEqual(await send(...five), ['accepted', 'accepted', 'accepted', 'accepted', 'conflict'])
  await appliance.settle()
  // The reservation of the failed one is released.
  assert.deepEqual(await send('f@customer.example', 'g@customer.example'), ['accepted', 'conflict'])
  await appliance.settle()
})

test('an hour is entered once, after its end', async () => {
  assert.equal(await meter.enter(never), 0)
  // 04:04:05: sending that began before four may still be in progress.
  clock.leap(HOUR)
  assert.equal(await meter.enter(never), 0)
  clock.leap(60_000)
  // Two at once, as after a start while the clock of before still runs.
  await Promise.all([meter.enter(never), meter.enter(never)])
  assert.equal(await meter.enter(never), 0)
  const [row, ...rest] = await list('?type=consumption')
  assert.deepEqual(rest, [])
  assert.equal(row!.amount, '-1.000000')
  assert.equal(row!.balance_after, '0.000000')
  assert.equal(row!.quantity, 4)
  assert.equal(row!.unit_price, '0.250000')
  assert.match(row!.description, /in the hour from 2030-01-02T03:00:00.000Z$/)
  assert.deepEqual(data(await appliance.get(`/billing/transactions/${row!.id}`, team.key)), row)
  assert.deepEqual(await send('h@customer.example'), ['conflict'])
})

test('balances are correct under concurrent entries', async () => {
  const other = await appliance.team('Other')
  const amounts = Array.from({ length: 60 }, (_, index) => `${index % 3 === 0 ? '-' : ''}${index}.000001`)
  await Promise.all(
    amounts.map(async (amount) => data(await credit({ amount, type: 'adjustment', description: 'x' }, other.id), 201)),
  )
  const rows = (await list('?limit=7', other.key)).reverse()
  assert.equal(rows.length, 60)
  let micro = 0n
  for (const row of rows) {
    micro += BigInt(row.amount.replace('.', ''))
    assert.equal(BigInt(row.balance_after.replace('.', '')), micro)
  }
  assert.equal(BigInt(balance(other.id)), micro)
})

test('the summary of a range', async () => {
  const span = await appliance.team('Span')
  const enter = async (type: string, amount: string) =>
    data<TransactionJson>(await credit({ type, amount, description: 'x' }, span.id), 201)
  await enter('purchase', '10')
  clock.leap(8 * 24 * HOUR)
  // The sweep erases the content of what was refused.
  await appliance.settle()
  await enter('purchase', '999999999.999999')
  await enter('adjustment', '2')
  await enter('adjustment', '-3')
  assert.equal((await enter('refund', '0.5')).amount, '-0.500000')
  const sum = async (query: string) => data(await appliance.get(`/billing/summary${query}`, span.key))
  const week = { period_days: 7, total_purchased: '1000000001.499999', total_consumed: '0.000000' }
  assert.deepEqual(await sum('?period_days=7'), { ...week, transaction_count: 4, currency: 'EUR' })
  assert.deepEqual(await sum('?days=7'), await sum('?period_days=7'))
  const month = { period_days: 30, total_purchased: '1000000011.499999', total_consumed: '0.000000' }
  assert.deepEqual(await sum(''), { ...month, transaction_count: 5, currency: 'EUR' })
  failure(await appliance.get('/billing/summary?period_days=8', span.key), 400, 'invalid_parameter')
  assert.equal((await list('?from_date=2030-01-05', span.key)).length, 4)
  assert.equal((await list('?to_date=2030-01-05', span.key)).length, 1)
})

test('invalid entries', async () => {
  const wrong: [object, string[]][] = [
    [{ amount: '0', description: 'x' }, ['amount too_small']],
    [{ amount: '-1', description: 'x' }, ['amount too_small']],
    [{ amount: '-1', type: 'refund', description: 'x' }, ['amount too_small']],
    [{ amount: '1e3', description: 'x' }, ['amount invalid_format']],
    [{ amount: '1.0000001', description: 'x' }, ['amount invalid_format']],
    [{ amount: '1', type: 'consumption', description: 'x' }, ['type invalid_enum']],
  ]
  const before = await list()
  for (const [body, expected] of wrong) issues(await credit(body), 422, 'validation_error', expected)
  failure(await credit({ amount: '1', description: 'x' }, `team_${'x'.repeat(24)}`), 404, 'not_found')
  assert.deepEqual(await list(), before)
})

test('the same Idempotency-Key enters once', async () => {
  const once = () => credit({ amount: '1', description: 'x' }, team.id, { 'idempotency-key': 'credit-1' })
  const before = balance()
  const [first] = await Promise.all([once(), once(), once()])
  assert.deepEqual(data(await once(), 201), data(first!, 201))
  assert.equal(balance(), before + 1_000_000)
})
