// Damaged content leaves no appliance: not as a message that is sent, forwarded, resent or attached, and not to an outside account.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, beforeEach, describe, it } from 'node:test'
import type { DeliveryLogDetail, DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import { data, failure, receiveRaw, walk } from '../api/expect.ts'
import { type Json, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { flipBit } from '../support/flipped-bit.ts'
import { startMailServer } from '../support/mail-server.ts'
import { modelMessage, startModels } from '../support/outside-model.ts'

const HOUR = 3_600_000
const SENTENCE = /Content in blobs\.db is missing or damaged\. /
/** Redirected messages leave only from senders that are authenticated. */
const ZONE = {
  'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  'else.test': { MX: [{ priority: 10, exchange: 'mx.else.test' }] },
  'mx.else.test': { A: ['127.0.0.1'] },
}

let reply: string | null = null
const remote = await startMailServer({
  onRcptTo(_address, _session, done) {
    done(reply === null ? null : Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) }))
  },
})
const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  zone: ZONE,
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')
let count = 0
beforeEach(() => {
  reply = null
  remote.messages.length = 0
})

async function shown(messageId: string): Promise<DeliveryLogDetail> {
  const [row] = await walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${messageId}`, team.key)
  return data<DeliveryLogDetail>(await appliance.get(`/emails/logs/${row!.id}`, team.key))
}

async function send(): Promise<string> {
  const message = { from: 'news@shop.test', to: 'bob@else.test', subject: `Order ${count++}`, text_body: 'Hello' }
  const sent = await appliance.call('POST', `${appliance.sendOrigin}/api/v1/emails/send`, team.key, message)
  await appliance.settle()
  return data<Json>(sent, 202).message_id
}

function contentOf(messageId: string): Uint8Array {
  return appliance.app.db.read.get<{ blob: Uint8Array }>('SELECT blob FROM emails WHERE id = ?', [messageId])!.blob
}

async function nextAttempt(): Promise<void> {
  clock.advance(HOUR)
  await appliance.settle()
}

/** Damages a message before its next attempt: it waits, with the reason, and leaves when its content is repaired. */
async function assertWaits(messageId: string, repair: () => Promise<void>): Promise<void> {
  reply = null
  await nextAttempt()
  const { status, status_reason: reason } = await shown(messageId)
  assert.equal(status, 'pending')
  assert.match(reason ?? '', SENTENCE)
  assert.equal(remote.messages.length, 0)
  await repair()
  await nextAttempt()
  assert.equal((await shown(messageId)).status, 'sent')
  assert.equal(remote.messages.length, 1)
}

describe('a message with a flipped bit', () => {
  it('waits with the reason before it is sent', async () => {
    reply = '451 4.7.1 later'
    const id = await send()
    await assertWaits(id, await flipBit(appliance, { hash: contentOf(id), start: 0 }))
  })

  it('waits with the reason before it is forwarded by a script', async () => {
    const box = await team.mailbox('cleo@shop.test')
    const script = { name: 'redirect', content: 'redirect "bob@else.test";', activate: true }
    data(await appliance.call('POST', '/mailbox/sieve-scripts', box.key, script), 201)
    reply = '451 4.7.1 later'
    const content = `From: cid@out.test\r\nTo: cleo@shop.test\r\nSubject: ${count++}\r\n\r\nHello\r\n`
    await receiveRaw(appliance, { from: 'cid@out.test', to: box.email, content })
    await appliance.settle()
    const [email] = appliance.app.db.read.all<{ id: string }>("SELECT id FROM emails WHERE source = 'forward'")
    await assertWaits(email!.id, await flipBit(appliance, { hash: contentOf(email!.id), start: 0 }))
  })

  it('waits with the reason before it is resent', async () => {
    reply = '550 5.1.1 no'
    const failed = await shown(await send())
    assert.equal(failed.status, 'failed')
    const { hash } = appliance.app.db.read.get<{ hash: Uint8Array }>('SELECT blob AS hash FROM kept_contents')!
    const repair = await flipBit(appliance, { hash, start: 0 })
    for (const { id } of await walk<Json>(appliance, '/suppressions', team.key))
      await appliance.call('DELETE', `/suppressions/${id}`, team.key)
    const resent = data<Json>(await appliance.call('POST', `/emails/logs/${failed.id}/resend`, team.key), 202)
    await appliance.settle()
    await assertWaits(resent.message_id, repair)
  })

  it('is not attached, quoted or forwarded in a new message', async () => {
    const box = await team.mailbox('ana@shop.test')
    const content = [
      ...[
        'From: cid@out.test',
        'To: ana@shop.test',
        `Subject: ${count++}`,
        'Content-Type: multipart/mixed; boundary=b',
      ],
      ...['', '--b', '', 'Hello', '--b', 'Content-Disposition: attachment; filename=a.bin', '', 'x'.repeat(2000)],
      ...['--b--', ''],
    ].join('\r\n')
    await receiveRaw(appliance, { from: 'cid@out.test', to: box.email, content })
    const [message] = data<Json[]>(await appliance.get('/mailbox/messages', box.key))
    const { attachments } = data<Json>(await appliance.get(`/mailbox/messages/${message!.id}`, box.key))
    const { blob } = appliance.app.db.read.get<{ blob: Uint8Array }>('SELECT blob FROM messages WHERE id = ?', [
      message!.id,
    ])!
    const repair = await flipBit(appliance, { hash: blob, start: 0 })
    const path = `/mailbox/messages/${message!.id}`
    const to = [{ email: 'bob@else.test' }]
    const attached = {
      to,
      subject: 'Fwd',
      text_body: 'a',
      attachments: [{ filename: 'a', blob_id: attachments[0].blob_id }],
    }
    for (const [route, body] of [
      ['/mailbox/messages/send', attached],
      ['/mailbox/drafts', attached],
      [`${path}/forward`, { to, mode: 'attached' }],
      [`${path}/forward`, { to, mode: 'inline' }],
      [`${path}/reply`, { quote: 'text' }],
      [`${path}/reply`, { quote: 'all' }],
    ] as const) {
      const refused = await appliance.call('POST', route, box.key, body)
      failure(refused, 503, 'service_unavailable')
      assert.match(refused.body.error.message, SENTENCE)
    }
    await appliance.settle()
    assert.equal(remote.messages.length, 0)
    await repair()
  })
})

describe('a message with a flipped bit in the mailbox of an outside account', () => {
  it('is not copied to its server; the others are, and the account names the reason', async () => {
    await using models = await startModels()
    const mailbox = await models.attach({}, (account) => void account.add('INBOX', modelMessage()))
    await mailbox.settle(1)
    const inbox = mailbox.store.read.folders.list(mailbox.mail).find(({ role }) => role === 'inbox')!
    const [damaged, whole] = [modelMessage(), modelMessage()]
    await mailbox.import(damaged, inbox.id)
    const repair = await flip(models.appliance, damaged)
    await mailbox.import(whole, inbox.id)
    await mailbox.settle()
    const texts = () => [...mailbox.account.folder('INBOX').messages.values()].map(({ bytes }) => bytes.toString())
    assert.equal(texts().length, 2)
    assert.ok(texts().includes(whole.toString()))
    assert.match((await mailbox.record()).status_reason ?? '', SENTENCE)
    await repair()
    await mailbox.settle(12)
    mailbox.assertEqual('repaired')
    assert.equal(texts().length, 3)
  })

  it('is not removed there where only its content would tell which message it is; the others are', async () => {
    await using models = await startModels()
    const [damaged, whole] = ['first', 'other'].map((text) => Buffer.from(`Subject: ${text}\r\n\r\nText\r\n`))
    const mailbox = await models.attach({ qresync: false, condstore: false, uidPlus: false }, (account) => {
      account.create('Work')
    })
    await mailbox.settle(1)
    const {
      read: { folders },
      programs: { mail },
      edit: { messages: edits },
    } = mailbox.store
    const folderOf = (name: string) => folders.paths(mailbox.mail).find(({ path }) => path === name)!.id
    for (const bytes of [damaged!, whole!]) await mailbox.import(bytes, folderOf('Work'))
    await mailbox.settle(1)
    mailbox.assertEqual('stored there')
    const ids = [...mail.placements(mailbox.mail, mailbox.numbers()).values()].map(({ id }) => id)
    await flip(models.appliance, damaged!)
    await edits.change(mailbox.mail, ids, { folders: { set: [folderOf('Inbox')] } })
    await mailbox.settle()
    const left = [...mailbox.account.folder('Work').messages.values()].map(({ bytes }) => bytes.toString())
    assert.deepEqual(left, [damaged!.toString()])
    assert.equal((await mailbox.record()).status, 'active')
  })
})

/** Damages the content that a message has. */
function flip(where: TestAppliance, bytes: Buffer): Promise<() => Promise<void>> {
  return flipBit(where, { hash: createHash('sha256').update(bytes).digest(), start: 0 })
}
