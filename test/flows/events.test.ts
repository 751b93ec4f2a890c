// Following a mailbox while mail goes out of another thread, and over the end and the next start of the appliance.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { data, receive } from '../api/expect.ts'
import { ManualClock } from '../support/clock.ts'
import { EventClient } from '../support/event-client.ts'
import { type Json, startHouse } from '../support/house.ts'

test('what becomes of a mail in the thread that sends is told to its sender, and its coming to who receives it', async () => {
  await using house = await startHouse({ workers: 'threads' })
  const team = await house.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const bob = await team.mailbox('bob@shop.test')
  const { client: sender } = await EventClient.follow(house, ana.key)
  const { client: receiver } = await EventClient.follow(house, bob.key, 'types=messages')
  const mail = { to: [{ email: bob.email }], subject: 'Hello Bob', text_body: 'Hello.' }
  const { submission_id } = data<Json>(await house.call('POST', '/mailbox/messages/send', ana.key, mail), 202)
  let told: Json
  do told = (await sender.until('submission.updated')).data
  while (told.status !== 'sent')
  assert.deepEqual(told, { id: submission_id, status: 'sent' })
  const state = await sender.until('state')
  const { states } = data<Json>(await house.get('/mailbox/session', ana.key))
  assert.equal(state.data.changed.submissions, states.submissions)
  const received = (await receiver.next())!
  assert.deepEqual([received.event, received.data.subject], ['message.received', 'Hello Bob'])
  assert.equal(received.data.mailbox_id, bob.id)
  await sender[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

test('the appliance ends its streams when it closes, and who comes back later misses nothing', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-events-'))
  const clock = new ManualClock()
  const first = await startHouse({ clock, dataDir })
  const team = await first.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  const { client, id } = await EventClient.follow(first, ana.key)
  // Not yet told when the house closes.
  await receive(first, { to: ana.email })
  const [rest] = await Promise.all([client.rest(), first.close()])
  assert.deepEqual(
    rest.map(({ event, data: told }) => [event, told]),
    [['end', { reason: 'shutdown' }]],
  )
  await using second = await startHouse({ clock, dataDir })
  await using back = await EventClient.open(second, ana.key, 'close_after=state', { 'last-event-id': id })
  const [, state] = await back.rest()
  const { states } = data<Json>(await second.get('/mailbox/session', ana.key))
  const { messages, folders, threads, quotas } = states
  assert.deepEqual(state!.data.changed, { messages, folders, threads, quotas })
  await second.close()
  await rm(dataDir, { recursive: true })
})
