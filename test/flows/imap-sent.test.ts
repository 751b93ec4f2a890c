// Messages that mail programs store in Sent: they belong to what was submitted, and there is one message in Sent.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { DAY_MS } from '../../src/base/durations.ts'
import { data } from '../api/expect.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'
import { signInToSubmit } from '../support/submission.ts'

interface SentJson {
  id: string
  thread_id: string
  keywords: string[]
  bcc: { email: string }[]
  delivery: { submission_id: string } | null
}
interface SubmissionJson {
  stored_message_id: string | null
  thread_id: string | null
  draft_id: string | null
}
type Box = { id: string; email: string; key: string }

let appliance: TestAppliance
let team: TestTeam
let boxes = 0
const clock = new ManualClock()

before(async () => {
  appliance = await startAppliance({ clock })
  team = await appliance.team()
  await team.domain('acme.test')
})
after(() => appliance.close())

async function open(): Promise<{ box: Box; client: ImapClient }> {
  const box = await team.mailbox(`s${++boxes}@acme.test`)
  return { box, client: await logInImap(appliance, box) }
}

/** Sends by the API. @returns the submission, the copy, and the Message-ID without brackets */
async function send(box: Box, more: Record<string, unknown> = {}) {
  const body = { to: [{ email: 'bob@else.test' }], subject: 'Offer', text_body: 'Text', ...more }
  const sent = data<{ message_id: string; submission_id: string; stored_message_id: string | null }>(
    await appliance.call('POST', '/mailbox/messages/send', box.key, body),
    202,
  )
  const { internetMessageId } = appliance.app.outbound.log.emails.byId(sent.message_id)!
  return { submission: sent.submission_id, copy: sent.stored_message_id, messageId: internetMessageId }
}

async function append(client: ImapClient, messageId: string, text = 'Text', folder = 'Sent'): Promise<void> {
  const message = `From: a@acme.test\r\nTo: bob@else.test\r\nSubject: Offer\r\nMessage-ID: <${messageId}>\r\n\r\n${text}`
  const { tagged } = await client.run(`APPEND ${folder} (\\Seen Mine) {${message.length}}`, message)
  assert.match(tagged, /^OK \[APPENDUID \d+ \d+\]/)
}

const submissionOf = async (box: Box, id: string) =>
  data<SubmissionJson>(await appliance.get(`/mailbox/submissions/${id}`, box.key))

async function inSent(box: Box): Promise<SentJson[]> {
  const list = data<{ id: string }[]>(await appliance.get('/mailbox/messages?q=in:sent', box.key))
  return Promise.all(
    list.map(async ({ id }) => data<SentJson>(await appliance.get(`/mailbox/messages/${id}`, box.key))),
  )
}

it('a submission without a copy gets the message that is appended, which shows its delivery', async () => {
  const { box, client } = await open()
  const { submission, messageId } = await send(box, { save_to_sent: false })
  assert.equal((await submissionOf(box, submission)).stored_message_id, null)
  await append(client, messageId)
  const [stored, ...others] = await inSent(box)
  assert.equal(others.length, 0)
  assert.equal(stored!.delivery?.submission_id, submission)
  const linked = await submissionOf(box, submission)
  assert.deepEqual([linked.stored_message_id, linked.thread_id], [stored!.id, stored!.thread_id])
})

it('replaces the copy in Sent, with its keywords, its thread and its Bcc recipients', async () => {
  const { box, client } = await open()
  const { submission, copy, messageId } = await send(box, { bcc: [{ email: 'eve@else.test' }] })
  const [kept] = await inSent(box)
  const marked = await appliance.call('PATCH', `/mailbox/messages/${copy}`, box.key, { keywords: ['$seen', 'offer'] })
  assert.equal(marked.status, 200, JSON.stringify(marked.body))
  await client.run('SELECT Sent')
  await append(client, messageId)
  const [stored, ...others] = await inSent(box)
  assert.equal(others.length, 0)
  assert.notEqual(stored!.id, copy)
  assert.equal(stored!.thread_id, kept!.thread_id)
  assert.deepEqual(stored!.keywords, ['$seen', 'mine', 'offer'])
  assert.deepEqual(
    stored!.bcc.map(({ email }) => email),
    ['eve@else.test'],
  )
  assert.equal(stored!.delivery?.submission_id, submission)
  assert.equal((await submissionOf(box, submission)).stored_message_id, stored!.id)
  assert.equal((await appliance.get(`/mailbox/messages/${copy}`, box.key)).status, 404)
  assert.deepEqual((await client.run('UID SEARCH ALL')).untagged, ['* SEARCH 2'])
})

it('what a program has stored is never replaced; a second message stays beside it', async () => {
  const { box, client } = await open()
  const { submission, messageId } = await send(box)
  await append(client, messageId, 'first')
  const { stored_message_id: first } = await submissionOf(box, submission)
  await append(client, messageId, 'second')
  assert.equal((await inSent(box)).length, 2)
  assert.equal((await submissionOf(box, submission)).stored_message_id, first)
})

it('other folders, other mailboxes, copies by COPY and submissions of the day before are left alone', async () => {
  const [{ box, client }, other] = [await open(), await open()]
  const { submission, copy, messageId } = await send(box)
  await append(client, messageId, 'Text', 'Drafts')
  await append(other.client, messageId)
  await client.run('SELECT Sent')
  assert.match((await client.run('COPY 1 Sent')).tagged, /^OK \[COPYUID/)
  assert.equal((await submissionOf(box, submission)).stored_message_id, copy)
  assert.equal((await inSent(box)).length, 2)
  // No message is being sent while time passes.
  await appliance.settle()
  clock.leap(DAY_MS + 1000)
  await append(client, messageId)
  assert.equal((await inSent(box)).length, 3)
  assert.equal((await submissionOf(box, submission)).stored_message_id, copy)
  assert.equal((await inSent(other.box))[0]!.delivery, null)
})

it('a copy that was moved elsewhere stays there', async () => {
  const { box, client } = await open()
  const { submission, copy, messageId } = await send(box)
  await client.run('SELECT Sent')
  await client.run('MOVE 1 Archive')
  await append(client, messageId)
  const [stored, ...others] = await inSent(box)
  assert.equal(others.length, 0)
  assert.equal((await submissionOf(box, submission)).stored_message_id, stored!.id)
  assert.equal((await appliance.get(`/mailbox/messages/${copy}`, box.key)).status, 200)
})

it('a full mailbox has room for a message in place of its copy', async () => {
  const box = await team.mailbox(`s${++boxes}@acme.test`, { quotaBytes: 10_485_760 })
  const client = await logInImap(appliance, box)
  const { messageId } = await send(box, { text_body: `${'x'.repeat(70)}\n`.repeat(85_000) })
  await append(client, messageId, `${'y'.repeat(70)}\r\n`.repeat(85_000))
  assert.equal((await inSent(box)).length, 1)
})

it('a copy that is in another folder as well stays there, and makes no room', async () => {
  const box = await team.mailbox(`s${++boxes}@acme.test`, { quotaBytes: 10_485_760 })
  const client = await logInImap(appliance, box)
  const { messageId, copy } = await send(box, { text_body: `${'x'.repeat(70)}\n`.repeat(85_000) })
  await client.run('SELECT Sent')
  assert.match((await client.run('COPY 1 Archive')).tagged, /^OK \[COPYUID/)
  const large = `Message-ID: <${messageId}>\r\n\r\n${`${'y'.repeat(70)}\r\n`.repeat(85_000)}`
  assert.match((await client.run(`APPEND Sent {${large.length}}`, large)).tagged, /^NO \[OVERQUOTA\]/)
  assert.deepEqual(
    (await inSent(box)).map(({ id }) => id),
    [copy],
  )
})

it('a scheduled submission that is cancelled gives back the message that took the place of its copy', async () => {
  const { box, client } = await open()
  const at = new Date(clock.now() + 3_600_000).toISOString()
  const { submission, messageId } = await send(box, { to: [{ email: 'carol@later.test' }], send_at: at })
  await append(client, messageId)
  const [stored] = await inSent(box)
  const cancelled = await appliance.call('POST', `/mailbox/submissions/${submission}/cancel`, box.key)
  assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body))
  assert.deepEqual(await inSent(box), [])
  const drafts = data<{ id: string }[]>(await appliance.get('/mailbox/messages?q=in:drafts', box.key))
  assert.deepEqual(
    drafts.map(({ id }) => id),
    [stored!.id],
  )
})

it('a program that submits and stores the message, in either order, has it once, also when copies are kept', async () => {
  const { box, client } = await open()
  const input = { name: 'Laptop', savesSent: true, createdBy: 'operator' }
  const { secret } = await appliance.app.directory.appPasswords.issue(team.id, box.id, input)
  const submit = async (messageId: string) => {
    // A recipient of its own: what fails for good is suppressed.
    const to = `to-${messageId}`
    const fields = [`From: ${box.email}`, `To: ${to}`, 'Subject: Offer', `Message-ID: <${messageId}>`]
    const smtp = await signInToSubmit(appliance, { email: box.email, key: secret })
    const { text } = await smtp.mail({ from: box.email, to, content: `${fields.join('\r\n')}\r\n\r\nText\r\n` })
    smtp.drop()
    assert.match(text, /^250 /)
  }
  await submit('after@laptop.test')
  assert.equal((await inSent(box)).length, 1)
  await append(client, 'after@laptop.test')
  await append(client, 'before@laptop.test')
  await submit('before@laptop.test')
  const sent = await inSent(box)
  assert.equal(sent.length, 2)
  assert.ok(sent.every(({ delivery, keywords }) => delivery !== null && keywords.includes('mine')))
})
