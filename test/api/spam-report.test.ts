// What the spam filter has caught for a team, and what people corrected.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, receive } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  env: { SPAM_JUNK_HAM_LOSS: '0.002' },
  zone: { 'friend.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] } },
})
after(() => appliance.close())
const team = await appliance.team()
await team.domain('in.test')
const ana = await team.mailbox('ana@in.test')
const { learning } = appliance.app.store.spam

interface Report {
  [name: string]: unknown
  reasons: { reason: string; sentence: string; messages: number }[]
}
const report = async (query = '', key = team.key) => data<Report>(await appliance.get(`/inbound/spam${query}`, key))

test('a report counts what was caught, why and from whom, what was corrected and what was learned', async () => {
  await receive(appliance, { from: 'ben@friend.test', to: ana.email, subject: 'Minutes' })
  // The appliance hosts this domain, and nothing proves that the message is from there.
  await receive(appliance, { from: 'boss@in.test', to: ana.email, subject: 'Gift cards' })
  const folders = data<{ id: string; role: string }[]>(await appliance.get('/mailbox/folders', ana.key))
  const newest = async (role: string) => {
    const { id } = folders.find((folder) => folder.role === role)!
    return data<MessageSummaryJson[]>(await appliance.get(`/mailbox/messages?folder_id=${id}`, ana.key))[0]!
  }
  const [inJunk, inInbox] = [await newest('junk'), await newest('inbox')]
  for (const [id, as] of [
    [inJunk.id, 'ham'],
    [inInbox.id, 'spam'],
  ]) {
    data(await appliance.call('POST', `/mailbox/messages/${id}/classify`, ana.key, { as }))
  }
  await learning.run((id) => appliance.app.directory.mailboxes.byId(id)?.teamId, new AbortController().signal)
  const { since, model, reasons, ...rest } = await report('?days=7')
  assert.equal(Date.parse(since as string), clock.now() - 7 * 86_400_000)
  assert.deepEqual(rest, {
    ...{ received: 2, junk: 1, refused: 0, missed: 1, mistaken: 1 },
    labels: [
      { source: 'api', label: 'ham', messages: 1, corrected: 1 },
      { source: 'api', label: 'spam', messages: 1, corrected: 1 },
    ],
    senders: [{ domain: 'in.test', messages: 1 }],
    ...{ junk_score: 5, ham_loss: 0.002 },
  })
  assert.deepEqual(model, { mailboxes: 1, spam: 1, ham: 1, trained_at: new Date(clock.now()).toISOString() })
  assert.ok(
    reasons.some(({ reason, sentence }) => reason === 'own_domain_unproven' && sentence.includes('nothing proves')),
  )
  clock.advance(8 * 86_400_000)
  assert.equal((await report('?days=7')).received, 0)
  assert.equal((await report()).received, 2)
})

test('another team sees nothing of it', async () => {
  const other = await appliance.team('Other')
  const { received, labels, model } = await report('', other.key)
  assert.deepEqual([received, labels, model], [0, [], null])
})
