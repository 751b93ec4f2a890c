// What the mail pages complete with: labels in use, people written to, and the keywords of threads.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

const send = async (to: Json[], key = ana.key, more: object = {}) =>
  data<Json>(
    await appliance.call('POST', '/mailbox/messages/send', key, {
      ...{ to, subject: 'Hello', text_body: 'Hello', ...more },
    }),
    202,
  )
const list = async (path: string, key = ana.key) => data<Json[]>(await appliance.get(`/mailbox/${path}`, key))

test('contacts are people written to, most and latest first, under their latest name', async () => {
  assert.deepEqual(await list('contacts'), [])
  await send([{ email: 'bob@shop.test', name: 'Bob' }])
  clock.advance(60_000)
  await send([{ email: 'BOB@shop.test', name: 'Bob Berg' }], ana.key, { cc: [{ email: 'office@shop.test' }] })
  const found = await list('contacts')
  assert.deepEqual(
    found.map(({ email, name, messages }) => [email.toLowerCase(), name, messages]),
    [
      ['bob@shop.test', 'Bob Berg', 2],
      ['office@shop.test', '', 1],
    ],
  )
  assert.equal((await list('contacts?limit=1')).length, 1)
  assert.deepEqual(await list('contacts', bob.key), [], 'those who only wrote are none')
})

test('a thread has the keywords of its messages, and labels are those of people', async () => {
  await appliance.settle()
  const [thread] = await list('threads', bob.key)
  assert.deepEqual([thread!.keywords, thread!.is_flagged], [[], false])
  const change = { ids: [thread!.id], add_keywords: ['Suppliers', '$forwarded', 'NonJunk'], flags: { flagged: true } }
  data(await appliance.call('POST', '/mailbox/threads/batch-update', bob.key, change))
  const [changed] = await list('threads', bob.key)
  assert.deepEqual(changed!.keywords, ['$flagged', '$forwarded', 'nonjunk', 'suppliers'])
  assert.equal(changed!.is_flagged, true)
  assert.deepEqual(await list('labels', bob.key), [{ keyword: 'suppliers' }])
  assert.deepEqual(await list('labels'), [])
})
