// Submissions of a mailbox: list, status, cancellation.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, walk } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const ben = await team.mailbox('ben@shop.test')
const get = (path: string) => appliance.get(`/mailbox/submissions${path}`, ana.key)
const cancel = (id: string) => appliance.call('POST', `/mailbox/submissions/${id}/cancel`, ana.key)

async function send(more: object = {}): Promise<Json> {
  const body = { to: [{ email: ben.email }], subject: 'Hello', text_body: 'Hi.', ...more }
  return data<Json>(await appliance.call('POST', '/mailbox/messages/send', ana.key, body), 202)
}

test('a queued message is cancelled: it is not delivered, its copy becomes a draft, its log shows it', async () => {
  const since = data<Json>(await appliance.get('/mailbox/session', ana.key)).states
  const sent = await send({ undo_seconds: 60 })
  const shown = data<Json>(await get(`/${sent.submission_id}`))
  assert.deepEqual([shown.status, shown.undo_status, shown.recipients[0].delivered], ['scheduled', 'pending', 'queued'])
  await appliance.settle()
  const taken = data<Json>(await cancel(sent.submission_id))
  assert.deepEqual([taken.status, taken.undo_status, taken.recipients[0].delivered], ['canceled', 'canceled', 'no'])
  failure(await cancel(sent.submission_id), 409, 'conflict')
  clock.advance(120_000)
  await appliance.settle()
  assert.equal(data<Json[]>(await appliance.get('/mailbox/messages', ben.key)).length, 0)
  const [draft] = data<Json[]>(await appliance.get('/mailbox/messages?q=in:drafts', ana.key))
  assert.deepEqual([draft.id, draft.flags.draft], [sent.stored_message_id, true])
  const [log] = data<Json[]>(await appliance.get(`/emails/logs?message_id=${sent.message_id}`, team.key))
  assert.deepEqual([log.status, log.status_reason], ['failed', 'cancelled'])
  const reported = data<Json>(await get(`/changes?since_state=${since.submissions}`))
  assert.deepEqual(reported.created, [sent.submission_id])
})

test('a sent message cannot be cancelled', async () => {
  const sent = await send()
  await appliance.settle()
  const shown = data<Json>(await get(`/${sent.submission_id}`))
  assert.deepEqual([shown.status, shown.undo_status, shown.recipients[0].delivered], ['sent', 'final', 'yes'])
  failure(await cancel(sent.submission_id), 409, 'conflict')
  failure(await cancel(`sub_${'a'.repeat(24)}`), 404, 'not_found')
})

test('of a concurrent cancellation and delivery exactly one happens', async () => {
  for (let round = 0; round < 10; round++) {
    const sent = await send({ undo_seconds: 5, subject: `race ${round}` })
    clock.advance(round % 2 === 0 ? 4_999 : 5_000)
    const [reply] = await Promise.all([cancel(sent.submission_id), appliance.settle()])
    await appliance.settle()
    const { status } = data<Json>(await get(`/${sent.submission_id}`))
    const arrived = data<Json[]>(await appliance.get(`/mailbox/messages?subject=race ${round}`, ben.key)).length
    if (reply.status === 200) assert.deepEqual([status, arrived], ['canceled', 0])
    else {
      clock.advance(5_000)
      await appliance.settle()
      assert.equal(data<Json>(await get(`/${sent.submission_id}`)).status, 'sent')
    }
  }
})

test('lists are filtered by status, time and thread, and paged', async () => {
  const all = await walk<Json>(appliance, '/mailbox/submissions?limit=3', ana.key)
  assert.ok(all.length >= 12)
  assert.deepEqual(
    all.map(({ created_at }) => created_at),
    all
      .map(({ created_at }) => created_at)
      .toSorted()
      .toReversed(),
  )
  const canceled = await walk<Json>(appliance, '/mailbox/submissions?limit=2&status=canceled', ana.key)
  assert.deepEqual(
    canceled.map(({ id }) => id),
    all.filter(({ status }) => status === 'canceled').map(({ id }) => id),
  )
  const [last] = all
  assert.deepEqual(
    data<Json[]>(await get(`?thread_id=${last.thread_id}`)).map(({ id }) => id),
    [last.id],
  )
  assert.equal(data<Json[]>(await get(`?before=${all.at(-1)!.created_at}`)).length, 0)
  failure(await get(`?thread_id=thr_${'a'.repeat(24)}`), 404, 'not_found')
  const reader = data<Json>(
    await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, {
      name: 'x',
      permissions: ['mailbox.read'],
    }),
    201,
  ).key
  failure(
    await appliance.call('POST', `/mailbox/submissions/${last.id}/cancel`, reader),
    403,
    'insufficient_permissions',
  )
})

test('a rare status is searched in several requests', async () => {
  const account = appliance.app.store.accounts.byMailbox(ben.id)!
  const envelope = { mailFrom: '', rcptTo: ['ana@shop.test'] }
  const rare = newId('email')
  // Old ones, of which the delivery log knows nothing any more: they count as sent.
  await appliance.app.db.write((tx) => {
    for (let n = 0; n < 1000; n++) {
      appliance.app.store.sending.submissions.create(tx, {
        ...{
          account: account.n,
          emailId: n === 7 ? rare : newId('email'),
          internetMessageId: 'old@shop.test',
          messageId: null,
          keepsCopy: false,
          threadId: null,
          identityId: null,
        },
        ...{ envelope, subject: 'Old', sendAt: 0 },
      })
    }
    tx.run('UPDATE submissions SET canceled_at = 1, created_at = 0 WHERE email_id = ?', [rare])
  })
  const first = await appliance.get('/mailbox/submissions?status=canceled', ben.key)
  assert.deepEqual([first.body.data, first.body.pagination.has_more], [[], true])
  const found = await walk<Json>(appliance, '/mailbox/submissions?status=canceled', ben.key)
  assert.deepEqual(
    found.map(({ message_id }) => message_id),
    [rare],
  )
})
