// Messages of our own, and those of the fixtures where they are, received over SMTP: none is lost or stops anything, and each is returned byte for byte.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AttachmentFile } from '../../src/api/schemas/attachment-file.ts'
import type { CleanContentJson } from '../../src/api/schemas/clean-content.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { ParsedFile } from '../../src/api/schemas/parsed-file.ts'
import { data } from '../api/expect.ts'
import { some } from '../support/amount.ts'
import { startAppliance } from '../support/appliance.ts'
import { type ForeignMessage, SUITES } from '../support/foreign.ts'
import { SmtpClient } from '../support/smtp.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')

/** Lines as they travel. What these files lost of it when they were saved is nothing a mail can have. */
function onTheWire(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replace(/\r\n|\r|\n/g, '\r\n')
  return Buffer.from(text.endsWith('\r\n') ? text : `${text}\r\n`, 'latin1')
}

/** Fields only the receiving host may write are taken out of what arrives (RFC 5321 4.4); all else is kept. */
function withoutOurs(content: Buffer): Buffer {
  const text = content.toString('latin1')
  const blank = text.indexOf('\r\n\r\n')
  const end = text.startsWith('\r\n') ? 0 : blank < 0 ? text.length : blank + 2
  const ours = /^(?:return-path|received-spf|x-spam-[!-9;-~]*)[ \t]*:.*\r\n(?:[ \t].*\r\n)*/gim
  return Buffer.from(text.slice(0, end).replace(ours, '') + text.slice(end), 'latin1')
}

/** Messages of a suite, unless all of them run. */
const OF_A_SUITE = 150

for (const [suite, mails] of SUITES) {
  test(`${suite}: none is lost`, async () => {
    const box = await team.mailbox(`${suite}@shop.test`)
    const foreign = some(mails(), OF_A_SUITE).map((mail) => ({ ...mail, content: onTheWire(mail.content) }))
    assert.ok(foreign.length > 50, `${foreign.length} messages`)
    const taken = await handIn(foreign, box.email)
    const account = appliance.app.store.accounts.byMailbox(box.id)!
    assert.equal(account.messageCount, taken.length)
    const rows = await appliance.app.db.scan.all<{ id: string; blob: Uint8Array; size_bytes: number }>(
      'SELECT id, blob, size_bytes FROM messages WHERE account = ? ORDER BY rowid',
      [account.n],
    )
    const left = new Map(taken.map(({ name, content }) => [name, withoutOurs(content)]))
    for (const { id } of rows) {
      const raw = await bytesOf(`/mailbox/messages/${id}/raw`, box.key)
      const found = [...left].find(([, content]) => raw.subarray(-content.length).equals(content))
      assert.ok(found !== undefined, `${id} is none of the messages that were sent`)
      left.delete(found[0])
      await isReadable(id, box.key, found[0])
    }
    assert.deepEqual([...left.keys()], [])
  })
}

/** Mails of one connection. */
const AT_ONCE = 40

/** Submits the messages, equal ones once. @returns the accepted ones: all but those that violate the protocol */
async function handIn(foreign: ForeignMessage[], to: string): Promise<ForeignMessage[]> {
  const mails = [...new Map(foreign.map((mail) => [mail.content.toString('latin1'), mail])).values()]
  const refused = mails.filter(({ content }) => content.includes(0))
  for (const { name, content } of refused) {
    await using client = await SmtpClient.greet(appliance.ports.smtp)
    const reply = await client.mail({ from: 'eve@else.test', to, content })
    assert.match(`${reply.code} ${reply.text}`, /^550 .*5\.6\.11/, name)
  }
  const taken = mails.filter((mail) => !refused.includes(mail))
  for (let from = 0; from < taken.length; from += AT_ONCE) {
    await using client = await SmtpClient.greet(appliance.ports.smtp)
    for (const { name, content } of taken.slice(from, from + AT_ONCE)) {
      const reply = await client.mail({ from: 'eve@else.test', to, content })
      assert.equal(reply.code, 250, `${name}: ${reply.text}`)
    }
  }
  return taken
}

/** The message in full, its clean content in both forms, and each of its files: whole, described, looked into. */
async function isReadable(id: string, key: string, name: string): Promise<void> {
  const message = data<Message>(
    await appliance.get(`/mailbox/messages/${id}?include=headers,text_body,html_body,attachments`, key),
  )
  for (const format of ['text', 'markdown']) {
    const clean = data<CleanContentJson>(
      await appliance.get(`/mailbox/messages/${id}/clean-content?format=${format}`, key),
    )
    assert.ok(clean.content.isWellFormed(), name)
    assert.equal(clean.char_count, [...clean.content].length, name)
  }
  for (const { id: file, size_bytes } of message.attachments!) {
    const record = data<AttachmentFile>(await appliance.get(`/mailbox/attachments/${file}`, key))
    const bytes = await bytesOf(`/mailbox/attachments/${file}/content`, key)
    assert.equal(bytes.length, size_bytes, name)
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))).toString('hex')
    assert.equal(digest, record.sha256, name)
    const parsed = data<ParsedFile>(await appliance.get(`/mailbox/attachments/${file}/parsed`, key))
    assert.ok(['parsed', 'unsupported', 'failed'].includes(parsed.status), name)
  }
}

async function bytesOf(path: string, key: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${key}`, accept: path.endsWith('/raw') ? 'message/rfc822' : '*/*' }
  const response = await fetch(`${appliance.origin}/api/v1${path}`, { headers })
  assert.equal(response.status, 200, path)
  return Buffer.from(await response.arrayBuffer())
}
