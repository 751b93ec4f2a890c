// Search snippets over the API: their messages, and that no content becomes markup.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, receive, receiveRaw } from './expect.ts'

interface Snippet {
  message_id: string
  subject: string | null
  preview: string | null
}

const clock = new ManualClock()
// A message with hidden text would be filed into Junk, which lists leave out.
const appliance = await startAppliance({ clock, env: { SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')
let ids: string[]

before(async () => {
  const html =
    '<p>Dear <b>Ana</b>,<script>needle</script><span style="display:none">needle</span> the needle &lt;mark&gt; is here</p>'
  const hostile = `From: eve@else.test\r\nSubject: A <mark>needle</mark> & more\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html}\r\n`
  await receiveRaw(appliance, { from: 'eve@else.test', to: ana.email, content: hostile })
  clock.advance(1000)
  await receive(appliance, { to: ana.email, subject: 'Plan', text: 'Where is the Needle?' })
  clock.advance(1000)
  await receive(appliance, { to: ana.email, subject: 'Other', text: 'Nothing.' })
  ids = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?sort_direction=asc', ana.key)).map(
    ({ id }) => id,
  )
})

const ask = (query: string, key = ana.key) => appliance.get(`/mailbox/messages/search-snippets?${query}`, key)

test('snippets of the messages a list with the same filters shows, newest first', async () => {
  const snippets = data<Snippet[]>(await ask('q=needle'))
  assert.deepEqual(snippets, [
    { message_id: ids[1], subject: null, preview: 'Where is the <mark>Needle</mark>?' },
    {
      message_id: ids[0],
      subject: 'A &lt;mark&gt;<mark>needle</mark>&lt;/mark&gt; &amp; more',
      preview: 'Dear Ana, the <mark>needle</mark> &lt;mark&gt; is here',
    },
  ])
  assert.deepEqual(data<Snippet[]>(await ask('q=needle&limit=1')), snippets.slice(0, 1))
  assert.deepEqual(data<Snippet[]>(await ask('q=needle&before=2000-01-01')), [])
  const [plan] = data<Snippet[]>(await ask('q=needle&subject=plan'))
  assert.equal(plan!.subject, '<mark>Plan</mark>')
})

test('snippets of the messages in ids, matching or not, in order; none of another mailbox', async () => {
  const named = [ids[2], ids[1], newId('message'), ids[2]].join(',')
  assert.deepEqual(data<Snippet[]>(await ask(`q=needle&ids=${named}`)), [
    { message_id: ids[2], subject: null, preview: null },
    { message_id: ids[1], subject: null, preview: 'Where is the <mark>Needle</mark>?' },
  ])
  assert.deepEqual(data<Snippet[]>(await ask(`q=needle&ids=${named}`, bob.key)), [])
  assert.deepEqual(data<Snippet[]>(await ask('q=needle', bob.key)), [])
})

test('invalid queries are reported by parameter', async () => {
  assert.equal(failure(await ask('limit=1'), 400, 'missing_parameter').param, 'q')
  assert.equal(failure(await ask(`q=x&ids=${ids[0]}&is_unread=true`), 400, 'invalid_parameter').param, 'ids')
  assert.equal(failure(await ask(`q=${'a'.repeat(600)}`), 400, 'invalid_parameter').param, 'q')
  assert.equal(failure(await ask(`q=${encodeURIComponent('((((((x))))))')}`), 400, 'invalid_parameter').param, 'q')
  failure(await ask(`q=x&folder_id=${newId('folder')}`), 404, 'not_found')
})
