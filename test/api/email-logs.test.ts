// The delivery log over the API: filters, search, timeline, and rows of other teams.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeliveryLogDetail, DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import { newId } from '../../src/base/ids.ts'
import { sha256 } from '../../src/base/secrets.ts'
import type { Outcome } from '../../src/outbound/model/records.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, success, walk } from './expect.ts'

const DAY = 86_400_000
const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')
const { emails, deliveries: log } = appliance.app.outbound.log
const { transitions } = appliance.app.outbound.queue
const ACCOUNT = { id: newId('provider'), name: 'Primary' }

/** Accepts a mail as the API does, and moves its deliveries. */
async function accept(
  recipients: string[],
  outcome: Outcome | null,
  subject = 'Your order',
  mailboxId: string | null = null,
): Promise<string> {
  const id = newId('email')
  await appliance.app.db.write((tx) => {
    const { deliveries } = emails.insert(tx, {
      ...{ id, teamId: team.id, mailboxId, source: 'batch_api', scope: { type: 'all' }, domainId: null },
      ...{ from: { email: 'news@shop.test', name: 'Shop' }, returnPath: null, subject, recipients },
      ...{ internetMessageId: `${id}@shop.test`, hash: sha256(id), sizeBytes: 4821, queuedAt: clock.now() },
      expiresAt: clock.now() + 2 * DAY,
    })
    for (const { n } of deliveries) {
      if (outcome) transitions.apply(tx, n, outcome, ACCOUNT)
    }
  })
  return id
}

const reply = (smtpCode: number, enhancedCode: string, text: string) => ({ smtpCode, enhancedCode, text })
const sent: Outcome = { kind: 'sent', reply: reply(250, '2.0.0', '250 2.0.0 Ok: queued'), confirmation: 'recipient_mx' }
const bounced: Outcome = {
  kind: 'bounced',
  reply: reply(550, '5.1.1', '550 5.1.1 user unknown'),
  ...{ type: 'permanent', subType: 'no_such_user', reportingMta: null, afterAccept: false, occurredAt: clock.now() },
}
const first = await accept(['ana@customer.test', 'ben@customer.test'], sent)
clock.advance(DAY)
await accept(['lost@elsewhere.test'], bounced, 'Größe & Preis')
const list = (query = '') => walk<DeliveryLogJson>(appliance, `/emails/logs${query}`, team.key)
const recipients = async (query: string) => (await list(query)).map((row) => row.to_email).sort()

test('a row for each recipient, newest first', async () => {
  const rows = await list()
  assert.equal(rows[0]!.to_email, 'lost@elsewhere.test')
  assert.deepEqual([rows[0]!.status, rows[0]!.status_reason], ['failed', 'bounced: 550 5.1.1 user unknown'])
  assert.deepEqual([rows[1]!.status, rows[1]!.message_id, rows[1]!.provider_name], ['sent', first, ACCOUNT.name])
  assert.equal(rows.length, 3)
})

test('filters and words narrow the list', async () => {
  const [ana, ben, absent] = ['ana@customer.test', 'ben@customer.test', 'lost@elsewhere.test']
  assert.deepEqual(await recipients('?status=failed'), [absent])
  assert.deepEqual(await recipients(`?message_id=${first}`), [ana, ben])
  assert.deepEqual(await recipients('?domain=Customer.test'), [ana, ben])
  assert.deepEqual(await recipients('?search=ANA+customer'), [ana])
  assert.deepEqual(await recipients('?q=gr%C3%B6sse'), [])
  assert.deepEqual(await recipients('?q=GR%C3%96%C3%9FE'), [absent])
  assert.deepEqual(await recipients('?search=%25'), [])
  assert.deepEqual(await recipients('?to_date=2030-01-02'), [ana, ben])
  assert.deepEqual(await recipients('?from_date=2030-01-03'), [absent])
  assert.deepEqual(await recipients('?limit=1&status=sent'), [ana, ben])
})

test('meta.filters repeats the filters; a range is bounded', async () => {
  const reply = await appliance.get('/emails/logs?q=ana&status=sent&limit=5', team.key)
  const { meta } = success(reply) as unknown as { meta: { filters: object } }
  assert.deepEqual(meta.filters, { search: 'ana', status: 'sent' })
  const wide = await appliance.get('/emails/logs?from_date=2028-01-01&to_date=2030-01-01', team.key)
  assert.equal(failure(wide, 400, 'invalid_parameter').param, 'to_date')
})

test('after, before and q are accepted under their former names', async () => {
  const [ana, ben, lost] = ['ana@customer.test', 'ben@customer.test', 'lost@elsewhere.test']
  assert.deepEqual(await recipients('?after=2030-01-03'), [lost])
  assert.deepEqual(await recipients('?before=2030-01-03'), [ana, ben])
  // A date alone is its first moment in `before`, and its end in `to_date`.
  assert.deepEqual(await recipients('?before=2030-01-02'), [])
  const both = await appliance.get('/emails/logs?q=ana&search=ben', team.key)
  issues(both, 400, 'invalid_parameter', ['search duplicate'])
  const times = await appliance.get('/emails/logs?after=2030-01-01&from_date=2030-01-01', team.key)
  issues(times, 400, 'invalid_parameter', ['from_date duplicate'])
  const wide = await appliance.get('/emails/logs?after=2028-01-01&before=2030-01-01', team.key)
  assert.equal(failure(wide, 400, 'invalid_parameter').param, 'before')
})

test('an unknown filter is rejected with the nearest known one', async () => {
  for (const [query, meant] of [
    ['from_dat=2030-01-01', '`after`'],
    ['provider=x', '`provider_id`'],
    ['serach=x', '`q`'],
    ['message_ids=x', '`message_id`'],
  ] as const) {
    const reply = await appliance.get(`/emails/logs?${query}`, team.key)
    const { message, param } = failure(reply, 422, 'validation_error')
    assert.deepEqual([param, message.split('Did you mean ')[1]], [query.replace(/=.*/, ''), `${meant}?`])
  }
  const { message } = failure(await appliance.get('/emails/logs?sender=ana', team.key), 422, 'validation_error')
  assert.match(message, /This path takes `limit`, `cursor`, `status`, `after`, `before`, /)
  const misspelt = failure(await appliance.get('/emails/logs?status=failled', team.key), 400, 'invalid_parameter')
  assert.equal(misspelt.message, 'status must be one of pending, sent, failed, rejected (did you mean `failed`?).')
  failure(await appliance.get('/providers/stats?status=active', team.key), 422, 'validation_error')
})

test('an invalid filter is reported by its name', async () => {
  for (const [query, issue] of [
    ['status=bounced', 'status invalid_enum'],
    ['from_date=2030-02-30', 'from_date invalid_format'],
    ['to_date=tomorrow', 'to_date invalid_format'],
    ['provider_id=dprov_1', 'provider_id invalid_format'],
    ['message_id=msg_0a1b2c3d4e5f6g7h8i9j0k1l', 'message_id invalid_format'],
    ['search=', 'search too_small'],
    [`q=${'x'.repeat(256)}`, 'q too_big'],
    ['limit=101', 'limit too_big'],
  ] as const) {
    issues(await appliance.get(`/emails/logs?${query}`, team.key), 400, 'invalid_parameter', [issue])
  }
})

test('a cursor of one list is not valid for another', async () => {
  const { pagination } = success(await appliance.get('/emails/logs?limit=1', team.key))
  const reply = await appliance.get(`/emails/logs?limit=1&status=sent&cursor=${pagination!.next_cursor}`, team.key)
  assert.equal(failure(reply, 400, 'invalid_parameter').param, 'cursor')
})

test('a deferral shows when it is retried', async () => {
  const nextAt = clock.now() + DAY
  const later: Outcome = { kind: 'deferred', reply: reply(451, '4.7.1', 'x'.repeat(400)), cause: 'greylisted', nextAt }
  const id = await accept(['slow@customer.test'], later, 'Later')
  const [row] = await list(`?message_id=${id}`)
  assert.equal(row!.status, 'pending')
  assert.match(row!.status_reason!, /^deferred: 451 4\.7\.1 x+…$/)
  const shown = data<DeliveryLogDetail>(await appliance.get(`/emails/logs/${row!.id}`, team.key))
  const step = shown.timeline.at(-1)!
  assert.match(step.detail, /^451 4\.7\.1 x+…; next attempt at 2030-01-04T03:04:05\.000Z$/)
  assert.equal(step.detail.length, 300)
  const email = emails.byId(id)!
  await appliance.app.db.write((tx) => {
    for (const { n } of emails.deliveriesOf(email.n)) transitions.apply(tx, n, { kind: 'cancelled' }, null)
    tx.run('DELETE FROM deliveries WHERE email = ?', [email.n])
  })
})

test('messages of one mailbox, and of one account', async () => {
  await team.domain('box.test')
  const box = await team.mailbox('ana@box.test')
  const id = await accept(['friend@customer.test'], { kind: 'rejected', reason: 'policy', detail: 'No.' }, 'Hi', box.id)
  assert.deepEqual(await recipients(`?mailbox_id=${box.id}`), ['friend@customer.test'])
  const [row] = await list(`?mailbox_id=${box.id}&provider_id=${ACCOUNT.id}`)
  assert.deepEqual([row!.message_id, row!.provider_id, row!.status_reason], [id, ACCOUNT.id, 'policy: No.'])
  assert.deepEqual(await recipients(`?provider_id=${newId('provider')}`), [])
  failure(await appliance.get('/emails/logs', box.key), 403, 'insufficient_permissions')
})

test('one row shows its events in order', async () => {
  const [row] = await list('?status=failed')
  const shown = data<DeliveryLogDetail>(await appliance.get(`/emails/logs/${row!.id}`, team.key))
  assert.deepEqual(
    shown.timeline.map(({ type, smtp_code }) => [type, smtp_code]),
    [
      ['accepted', null],
      ['bounced', 550],
    ],
  )
})

test('rows of another team are not found', async () => {
  const [row] = await list()
  failure(await appliance.get(`/emails/logs/${row!.id}`, other.key), 404, 'not_found')
  failure(await appliance.get(`/emails/logs?mailbox_id=${newId('mailbox')}`, team.key), 404, 'not_found')
  assert.equal((await walk(appliance, '/emails/logs', other.key)).length, 0)
})

test('rows are pruned after their retention, when their delivery has ended', async () => {
  const waiting = await accept(['late@customer.test'], null)
  assert.equal(await log.prune(clock.now() + 1), 4)
  assert.deepEqual(
    (await list()).map((row) => row.message_id),
    [waiting],
  )
  await appliance.app.db.write((tx) => {
    const email = emails.byId(waiting)!
    for (const { n } of emails.deliveriesOf(email.n)) transitions.apply(tx, n, { kind: 'cancelled' }, null)
  })
})
