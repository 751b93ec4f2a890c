// Messages lists leave out by default, messages that could not be parsed, and lists that grow during paging.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { Message, RawMessage } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { ThreadJson } from '../../src/api/schemas/thread.ts'
import { startAppliance } from '../support/appliance.ts'
import { plainMail } from '../support/smtp.ts'
import { data, receive, receiveRaw, success, walk } from './expect.ts'

const appliance = await startAppliance({
  zone: {
    'junk.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.junk.test': { TXT: ['v=DMARC1; p=quarantine'] },
  },
})
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')

test('messages in Junk are left out by default', async () => {
  const box = await team.mailbox('junk@shop.test')
  await receive(appliance, { from: 'ann@else.test', to: box.email, subject: 'Good' })
  await receive(appliance, { from: 'win@junk.test', to: box.email, subject: 'Bad' })
  const [junk] = data<FolderJson[]>(await appliance.get('/mailbox/folders?role=junk', box.key))
  assert.equal(junk!.total_messages, 1)
  const messages = async (query: string) =>
    (await walk<MessageSummaryJson>(appliance, `/mailbox/messages?${query}`, box.key))
      .map(({ subject }) => subject)
      .sort()
  const threads = async (query: string) =>
    (await walk<ThreadJson>(appliance, `/mailbox/threads?${query}`, box.key)).map(({ subject }) => subject).sort()

  for (const list of [messages, threads]) {
    assert.deepEqual(await list(''), ['Good'])
    assert.deepEqual(await list(`folder_id=${junk!.id}`), ['Bad'])
    assert.deepEqual(await list('q=in:junk'), ['Bad'])
    assert.deepEqual(await list('q=in:anywhere'), ['Bad', 'Good'])
    assert.deepEqual(await list('q=bad'), [])
  }
  assert.deepEqual(await messages('in_trash_or_junk=true'), ['Bad', 'Good'])

  const [bad] = await walk<MessageSummaryJson>(appliance, '/mailbox/messages?q=in:junk', box.key)
  assert.ok(bad!.keywords.includes('$junk'))
  const detail = data<Message>(await appliance.get(`/mailbox/messages/${bad!.id}`, box.key))
  assert.equal(detail.spam.is_spam, true)
  assert.ok(detail.spam.reasons.length > 0)
  assert.equal(detail.authentication?.dmarc, 'fail')
})

test('a message above the parser limits is stored, marked as not parsed, and available raw', async () => {
  const box = await team.mailbox('odd@shop.test')
  const more = Array.from({ length: 1200 }, (_, index) => `X-Field-${index}: 1`)
  const content = plainMail({ from: 'ann@else.test', to: box.email, subject: 'Many lines', more })
  await receiveRaw(appliance, { from: 'ann@else.test', to: box.email, content })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?in_trash_or_junk=true', box.key))
  const message = data<Message>(
    await appliance.get(`/mailbox/messages/${summary!.id}?include=headers,text_body`, box.key),
  )
  assert.equal(message.parsed, false)
  assert.ok(message.headers!.length <= 200)
  const raw = data<RawMessage>(await appliance.get(`/mailbox/messages/${summary!.id}/raw`, box.key))
  assert.ok(Buffer.from(raw.raw, 'base64').toString().endsWith(content))
})

test('a message that arrives during paging does not shift the pages', async () => {
  const box = await team.mailbox('grow@shop.test')
  const subjects = ['one', 'two', 'three', 'four']
  for (const subject of subjects) await receive(appliance, { to: box.email, subject })
  for (const list of ['messages', 'threads']) {
    const first = success<{ id: string; subject: string }[]>(await appliance.get(`/mailbox/${list}?limit=2`, box.key))
    await receive(appliance, { to: box.email, subject: `late for ${list}` })
    const cursor = first.pagination!.next_cursor!
    const rest = success<{ id: string; subject: string }[]>(
      await appliance.get(`/mailbox/${list}?limit=2&cursor=${cursor}`, box.key),
    )
    const seen = [...first.data, ...rest.data].map(({ id }) => id)
    assert.equal(new Set(seen).size, 4, list)
    assert.ok(!rest.data.some(({ subject }) => subject.startsWith('late')))
  }
})
