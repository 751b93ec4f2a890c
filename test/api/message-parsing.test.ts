// Content parsed as a message without being stored as one.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AttachmentFile } from '../../src/api/schemas/attachment-file.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { data, issues, receiveRaw } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')

interface Parsed {
  parsed: Record<string, Json>
  not_parsable: string[]
  damaged: string[]
  not_found: string[]
}

async function upload(content: string, filename = 'a.eml'): Promise<string> {
  const body = { filename, content: Buffer.from(content).toString('base64') }
  return data<AttachmentFile>(await appliance.call('POST', '/mailbox/attachments', ana.key, body), 201).blob_id
}
const parse = (body: object, key = ana.key) => appliance.call('POST', '/mailbox/messages/parse', key, body)
const parsed = async (body: object, key = ana.key) => data<Parsed>(await parse(body, key))

const MAIL = [
  'From: Bob <bob@else.test>',
  'To: ana@shop.test',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Date: Thu, 01 Jan 2026 00:00:00 +0000',
  'Message-ID: <one@else.test>',
  'In-Reply-To: <zero@else.test>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('Grüße an alle').toString('base64'),
  '--b',
  'Content-Type: application/zip; name=a.zip',
  'Content-Transfer-Encoding: base64',
  '',
  'aGVsbG8=',
  '--b--',
  '',
].join('\r\n')
const ALL = ['headers', 'text_body', 'html_body', 'attachments', 'authentication']

test('content is shown like the message it would become, without ids', async () => {
  const id = await upload(MAIL)
  const { parsed: messages, ...rest } = await parsed({ blob_ids: [id], include: ALL })
  assert.deepEqual(rest, { not_parsable: [], not_found: [], damaged: [] })
  const made = await appliance.call('POST', '/mailbox/messages/import', ana.key, { blob_id: id })
  const message = data<Json>(
    await appliance.get(`/mailbox/messages/${data<Message>(made, 201).id}?include=${ALL}`, ana.key),
  )
  const facts = 'id thread_id folder_ids received_at delivered_to keywords flags blob_id'
  const without = `${facts} authentication spam delivery state`.split(' ')
  for (const name of without) delete message[name]
  for (const file of message.attachments) {
    delete file.id
    delete file.blob_id
  }
  assert.deepEqual(messages[id], message)
  assert.equal(messages[id].text_body, 'Grüße an alle')
  const short = (await parsed({ blob_ids: [id], include: ['text_body'], body_chars: 4 })).parsed[id]
  assert.deepEqual([short.text_body, short.body_truncated.text], ['Grüß', true])
  assert.ok(!('attachments' in short) && !('headers' in short) && !('html_body' in short))
})

test('a message attached to another one, and a stored message', async () => {
  const part = `Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename=a.eml\r\n\r\n${MAIL}`
  const content = `From: x@far.test\r\nSubject: Outer\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n${part}\r\n--o--\r\n`
  await receiveRaw(appliance, { from: 'x@far.test', to: ana.email, content })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?q=subject:outer', ana.key))
  const outer = data<Message>(await appliance.get(`/mailbox/messages/${summary!.id}`, ana.key))
  const inner = outer.attachments![0]!.blob_id
  const { parsed: messages } = await parsed({ blob_ids: [inner, outer.blob_id] })
  assert.deepEqual([messages[inner].subject, messages[outer.blob_id].subject], ['Grüße', 'Outer'])
})

test('content that is not a message, is too large, or is missing', async () => {
  const [text, mail, nobodys] = [await upload('no mail'), await upload(MAIL), `blob_${'0'.repeat(24)}`]
  assert.deepEqual(await parsed({ blob_ids: [text, nobodys] }), {
    ...{ parsed: {}, not_parsable: [text], not_found: [nobodys], damaged: [] },
  })
  assert.deepEqual((await parsed({ blob_ids: [mail] }, bob.key)).not_found, [mail])
  const large = await upload(`${MAIL}more`)
  await appliance.app.db.write((tx) => tx.run('UPDATE uploads SET size_bytes = 52428801 WHERE blob_name = ?', [large]))
  assert.deepEqual((await parsed({ blob_ids: [large] })).not_parsable, [large])
  const ids = Array.from({ length: 11 }, (_, at) => `blob_${String(at).padStart(24, '0')}`)
  issues(await parse({ blob_ids: ids }), 422, 'validation_error', ['blob_ids too_big'])
})

test('a message built to break a parser is shown as far as possible', async () => {
  const parts = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(20_000)
  const id = await upload(
    `From: x@y.test\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts}`,
  )
  const shown = (await parsed({ blob_ids: [id] })).parsed[id]
  assert.deepEqual([shown.parsed, shown.from.email], [false, 'x@y.test'])
})
