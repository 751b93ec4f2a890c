// Blobs: lookup of the objects that use them, and copies from one mailbox into another.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AttachmentFile } from '../../src/api/schemas/attachment-file.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, failure, issues, receiveRaw } from './expect.ts'

interface Match {
  blob_id: string
  found: boolean
  matched: Record<'messages' | 'threads' | 'folders', string[]>
}

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')
await team.domain('shop.test')
await other.domain('else.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')
const eve = await other.mailbox('eve@else.test')

/** Hands in a mail with one file. @returns it as its mailbox shows it */
async function mailWith(bytes: string, to = ana, subject = 'File'): Promise<Message> {
  const part = `Content-Type: application/zip\r\nContent-Disposition: attachment; filename=a.zip\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(bytes).toString('base64')}`
  const head = `From: x@far.test\r\nTo: ${to.email}\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b`
  await receiveRaw(appliance, {
    from: 'x@far.test',
    to: to.email,
    content: `${head}\r\n\r\n--b\r\n${part}\r\n--b--\r\n`,
  })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', to.key))
  return data<Message>(await appliance.get(`/mailbox/messages/${summary!.id}`, to.key))
}

const lookUp = async (ids: string[], types?: string[], key = ana.key) =>
  data<Match[]>(await appliance.call('POST', '/mailbox/blobs/lookup', key, { blob_ids: ids, ...(types && { types }) }))

const copy = (body: object, secret?: string, key = bob.key, headers: Record<string, string> = {}) =>
  appliance.call('POST', '/mailbox/blobs/copy', key, body, {
    ...(secret === undefined ? {} : { 'x-source-authorization': `Bearer ${secret}` }),
    ...headers,
  })

const nobodys = `blob_${'0'.repeat(24)}`

test('lookup: messages by their own bytes and by their files, uploads, and unknown blobs', async () => {
  const [first, second] = [await mailWith('same'), await mailWith('same', ana, 'Another')]
  const file = first.attachments![0]!.blob_id
  assert.equal(second.attachments![0]!.blob_id, file)
  const upload = data<AttachmentFile>(
    await appliance.call('POST', '/mailbox/attachments', ana.key, { filename: 'a.txt', content: 'YWxvbmU=' }),
    201,
  )
  const matches = await lookUp([file, first.blob_id, upload.blob_id, nobodys], ['messages', 'threads', 'folders'])
  assert.deepEqual(matches, [
    {
      blob_id: file,
      found: true,
      matched: {
        messages: [second.id, first.id],
        threads: matches[0]!.matched.threads,
        folders: first.folder_ids,
      },
    },
    {
      blob_id: first.blob_id,
      found: true,
      matched: { messages: [first.id], threads: [first.thread_id], folders: first.folder_ids },
    },
    { blob_id: upload.blob_id, found: true, matched: { messages: [], threads: [], folders: [] } },
    { blob_id: nobodys, found: false, matched: { messages: [], threads: [], folders: [] } },
  ])
  assert.deepEqual(matches[0]!.matched.threads.toSorted(), [first.thread_id, second.thread_id].toSorted())
  const [plain] = await lookUp([file])
  assert.deepEqual(plain!.matched, { messages: [second.id, first.id], threads: [], folders: [] })
  assert.equal((await lookUp([file], undefined, bob.key))[0]!.found, false)
  const ids = Array.from({ length: 101 }, (_, at) => `blob_${String(at).padStart(24, '0')}`)
  issues(await appliance.call('POST', '/mailbox/blobs/lookup', ana.key, { blob_ids: ids }), 422, 'validation_error', [
    'blob_ids too_big',
  ])
})

test('content of earlier versions has no name yet, is found anyway, and is named by the job', async () => {
  const message = await mailWith('old', bob)
  const file = message.attachments![0]!.blob_id
  const { db, store } = appliance.app
  const forget = () =>
    db.write((tx) => {
      tx.run('UPDATE messages SET blob_name = NULL')
      tx.run('UPDATE attachments SET blob_name = NULL')
    })
  await forget()
  const [match] = await lookUp([file], undefined, bob.key)
  assert.deepEqual(match!.matched.messages, [message.id])
  await forget()
  const [{ rows }] = db.read.all<{ rows: number }>('SELECT count(*) AS rows FROM messages') as [{ rows: number }]
  assert.equal(await store.read.contents.nameUnnamed(new AbortController().signal), rows * 2)
  assert.equal(await store.read.contents.nameUnnamed(new AbortController().signal), 0)
})

test('copies: files and whole messages, decoded, with their own ids in the other mailbox', async () => {
  const message = await mailWith('to be copied')
  const file = message.attachments![0]!
  const body = { source_mailbox_id: ana.id, blob_ids: [file.blob_id, message.blob_id, nobodys] }
  const reply = await copy(body, ana.key, bob.key, { 'idempotency-key': 'one' })
  const { copied, not_found } = data<{ copied: Record<string, string>; not_found: string[] }>(reply)
  assert.deepEqual(not_found, [nobodys])
  assert.deepEqual(Object.keys(copied), [file.blob_id, message.blob_id])
  assert.notEqual(copied[file.blob_id], file.blob_id)
  const again = await copy(body, ana.key, bob.key, { 'idempotency-key': 'one' })
  assert.deepEqual(data(again), { copied, not_found, damaged: [] })
  const account = appliance.app.store.accounts.byMailbox(bob.id)!
  assert.equal(appliance.app.store.edit.uploads.pending(account).files, 2)
  const held = await appliance.app.store.read.contents.find(account, copied[file.blob_id]!)
  assert.deepEqual([held!.filename, held!.type, held!.source.kind], ['a.zip', 'application/zip', 'upload'])
  const { bytes } = await appliance.app.store.read.contents.stored(held!.range)
  assert.equal(Buffer.from(bytes).toString(), 'to be copied')
  const mail = { to: [{ email: ana.email }], subject: 'x', text_body: 'x' }
  const attachments = [{ filename: 'b.zip', blob_id: copied[file.blob_id] }]
  data(await appliance.call('POST', '/mailbox/messages/send', bob.key, { ...mail, attachments }), 202)
  await appliance.settle()
})

test('copies need a credential for the source, which must be of the same team', async () => {
  const message = await mailWith('private')
  const body = { source_mailbox_id: ana.id, blob_ids: [message.blob_id] }
  assert.equal(failure(await copy(body), 400, 'missing_parameter').param, 'X-Source-Authorization')
  const wrong = [bob.key, eve.key, team.key, 'smk_wrong', '', 'x'.repeat(1000)]
  for (const secret of wrong) failure(await copy(body, secret), 404, 'not_found')
  failure(await copy({ ...body, source_mailbox_id: eve.id }, eve.key), 404, 'not_found')
  failure(await copy(body, ana.key, eve.key), 404, 'not_found')
  const reply = await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, {
    name: 'x',
    permissions: ['email.send'],
  })
  failure(await copy(body, data<{ key: string }>(reply, 201).key), 403, 'insufficient_permissions')
})
