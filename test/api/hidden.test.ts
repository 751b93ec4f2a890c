// Mail that ordinary lists leave out, mail that could not be read, and lists that grow while they are walked.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Folder } from '../../src/api/schemas/folder.ts'
import type { Message, RawMessage } from '../../src/api/schemas/message.ts'
import type { MessageSummary } from '../../src/api/schemas/message-summary.ts'
import type { Thread } from '../../src/api/schemas/thread.ts'
import { startHouse } from '../support/house.ts'
import { plainMail } from '../support/smtp.ts'
import { data, receive, receiveRaw, success, walk } from './expect.ts'

const house = await startHouse({
  zone: {
    'junk.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.junk.test': { TXT: ['v=DMARC1; p=quarantine'] },
  },
})
after(() => house.close())
const team = await house.team()
await team.domain('shop.test')

test('mail in Junk is left out unless it is asked for', async () => {
  const box = await team.mailbox('junk@shop.test')
  await receive(house, { from: 'ann@else.test', to: box.email, subject: 'Good' })
  await receive(house, { from: 'win@junk.test', to: box.email, subject: 'Bad' })
  const [junk] = data<Folder[]>(await house.get('/mailbox/folders?role=junk', box.key))
  assert.equal(junk!.total_messages, 1)
  const messages = async (query: string) =>
    (await walk<MessageSummary>(house, `/mailbox/messages?${query}`, box.key)).map(({ subject }) => subject).sort()
  const threads = async (query: string) =>
    (await walk<Thread>(house, `/mailbox/threads?${query}`, box.key)).map(({ subject }) => subject).sort()

  for (const list of [messages, threads]) {
    assert.deepEqual(await list(''), ['Good'])
    assert.deepEqual(await list(`folder_id=${junk!.id}`), ['Bad'])
    assert.deepEqual(await list('q=in:junk'), ['Bad'])
    assert.deepEqual(await list('q=in:anywhere'), ['Bad', 'Good'])
    assert.deepEqual(await list('q=bad'), [])
  }
  assert.deepEqual(await messages('in_trash_or_junk=true'), ['Bad', 'Good'])

  const [bad] = await walk<MessageSummary>(house, '/mailbox/messages?q=in:junk', box.key)
  assert.ok(bad!.keywords.includes('$junk'))
  const detail = data<Message>(await house.get(`/mailbox/messages/${bad!.id}`, box.key))
  assert.equal(detail.spam.is_spam, true)
  assert.ok(detail.spam.reasons.length > 0)
  assert.equal(detail.authentication?.dmarc, 'fail')
})

test('a mail that breaks the bounds of reading is kept, said to be unread, and given raw', async () => {
  const box = await team.mailbox('odd@shop.test')
  const more = Array.from({ length: 1200 }, (_, index) => `X-Field-${index}: 1`)
  const content = plainMail({ from: 'ann@else.test', to: box.email, subject: 'Many lines', more })
  await receiveRaw(house, { from: 'ann@else.test', to: box.email, content })
  const [summary] = data<MessageSummary[]>(await house.get('/mailbox/messages?in_trash_or_junk=true', box.key))
  const message = data<Message>(await house.get(`/mailbox/messages/${summary!.id}?include=headers,text_body`, box.key))
  assert.equal(message.parsed, false)
  assert.ok(message.headers!.length <= 200)
  const raw = data<RawMessage>(await house.get(`/mailbox/messages/${summary!.id}/raw`, box.key))
  assert.ok(Buffer.from(raw.raw, 'base64').toString().endsWith(content))
})

test('what arrives while a list is walked does not shift its pages', async () => {
  const box = await team.mailbox('grow@shop.test')
  const subjects = ['one', 'two', 'three', 'four']
  for (const subject of subjects) await receive(house, { to: box.email, subject })
  for (const list of ['messages', 'threads']) {
    const first = success<{ id: string; subject: string }[]>(await house.get(`/mailbox/${list}?limit=2`, box.key))
    await receive(house, { to: box.email, subject: `late for ${list}` })
    const cursor = first.pagination!.next_cursor!
    const rest = success<{ id: string; subject: string }[]>(
      await house.get(`/mailbox/${list}?limit=2&cursor=${cursor}`, box.key),
    )
    const seen = [...first.data, ...rest.data].map(({ id }) => id)
    assert.equal(new Set(seen).size, 4, list)
    assert.ok(!rest.data.some(({ subject }) => subject.startsWith('late')))
  }
})
