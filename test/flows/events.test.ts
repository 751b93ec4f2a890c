// Event streams while another thread sends messages, and across a restart of the appliance.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { data, receive } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { EventClient } from '../support/event-client.ts'

test('outcomes from the sending thread reach the stream of the sender, and received messages that of the recipient', async () => {
  await using appliance = await startAppliance({ workers: 'threads' })
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const bob = await team.mailbox('bob@shop.test')
  const { client: sender } = await EventClient.follow(appliance, ana.key)
  const { client: receiver } = await EventClient.follow(appliance, bob.key, 'types=messages')
  const mail = { to: [{ email: bob.email }], subject: 'Hello Bob', text_body: 'Hello.' }
  const { submission_id } = data<Json>(await appliance.call('POST', '/mailbox/messages/send', ana.key, mail), 202)
  let reported: Json
  do reported = (await sender.until('submission.updated')).data
  while (reported.status !== 'sent')
  assert.deepEqual(reported, { id: submission_id, status: 'sent' })
  const state = await sender.until('state')
  const { states } = data<Json>(await appliance.get('/mailbox/session', ana.key))
  assert.equal(state.data.changed.submissions, states.submissions)
  const received = (await receiver.next())!
  assert.deepEqual([received.event, received.data.subject], ['message.received', 'Hello Bob'])
  assert.equal(received.data.mailbox_id, bob.id)
  await sender[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

test('the appliance ends its streams when it closes, and a client that resumes later misses nothing', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-events-'))
  const clock = new ManualClock()
  const first = await startAppliance({ clock, dataDir })
  const team = await first.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const { client, id } = await EventClient.follow(first, ana.key)
  // Not yet dispatched when the appliance closes.
  await receive(first, { to: ana.email })
  const [rest] = await Promise.all([client.rest(), first.close()])
  assert.deepEqual(
    rest.map(({ event, data: reported }) => [event, reported]),
    [['end', { reason: 'shutdown' }]],
  )
  await using second = await startAppliance({ clock, dataDir })
  await using back = await EventClient.open(second, ana.key, 'close_after=state', { 'last-event-id': id })
  const [, state] = await back.rest()
  const { states } = data<Json>(await second.get('/mailbox/session', ana.key))
  const { messages, folders, threads, quotas } = states
  assert.deepEqual(state!.data.changed, { messages, folders, threads, quotas })
  await second.close()
  await rm(dataDir, { recursive: true })
})
