// What is sent from a mailbox that is an account elsewhere: its envelope sender, and the one copy in the account's Sent.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SAVED_WITHIN_MS } from '../../src/sync/session/sent-copy.ts'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { attach, type OutsideAccount, signIn } from '../support/outside.ts'
import { type RemoteDovecot, remoteDovecotMissing, startRemoteDovecot } from '../support/remote-dovecot.ts'

const skip = remoteDovecotMissing()
const clock = new ManualClock(Date.now())
let server: RemoteDovecot
let relay: Awaited<ReturnType<typeof startMailServer>>
let appliance: TestAppliance
let team: TestTeam

before(async () => {
  if (skip) return
  server = await startRemoteDovecot()
  relay = await startMailServer()
  appliance = await startAppliance({
    clock,
    zone: { 'relay.example': { A: ['127.0.0.1'] } },
    env: { ALLOW_PRIVATE_IMAP_HOSTS: 'true', ALLOW_PRIVATE_SMTP_HOSTS: 'true' },
  })
  team = await appliance.team()
})
after(async () => {
  await appliance?.close()
  await relay?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

async function mirror(user: string): Promise<OutsideAccount> {
  const smtp = { smtp_host: 'relay.example', smtp_port: relay.port, smtp_protocol: 'none' }
  const account = await attach(appliance, team, server, { user, ...smtp })
  await eventually(account.record, ({ status }) => status === 'active')
  await appliance.app.outbound.accounts.checks.runDue()
  return account
}

/** @returns the Message-ID of the message, when it has left */
async function send({ key }: OutsideAccount, subject: string): Promise<string> {
  const body = { to: [{ email: 'bob@else.test' }], subject, text_body: 'Hello' }
  const reply = await appliance.call('POST', '/mailbox/messages/send', key, body)
  assert.equal(reply.status < 300, true, JSON.stringify(reply.body))
  await eventually(
    async () => (await appliance.get('/mailbox/submissions', key)).body.data[0],
    (submission: Json) => submission.status === 'sent',
  )
  const [copy] = await sentHere(key)
  return `<${(await appliance.get(`/mailbox/messages/${copy.id}`, key)).body.data.internet_message_id}>`
}

async function sentHere(key: string): Promise<Json[]> {
  const { body } = await appliance.get('/mailbox/folders', key)
  const sent = body.data.find(({ role }: Json) => role === 'sent')
  return (await appliance.get(`/mailbox/messages?folder_id=${sent.id}`, key)).body.data
}

/** Both sides are compared after the server had its time. */
async function later({ id, record }: OutsideAccount): Promise<void> {
  clock.advance(SAVED_WITHIN_MS + 1000)
  const asked = await appliance.call('POST', `/remote-accounts/${id}/sync`, team.key)
  assert.equal(asked.status, 200, JSON.stringify(asked.body))
  await appliance.settle()
  assert.equal((await record()).status, 'active')
}

async function sentThere(user: string): Promise<string[]> {
  await using client = await signIn(server, user)
  if (!(await client.list()).some(({ path }) => path === 'Sent')) return []
  await client.mailboxOpen('Sent')
  const found: string[] = []
  for await (const { envelope } of client.fetch('1:*', { envelope: true })) found.push(envelope?.messageId ?? '')
  return found
}

test('a server that saves nothing gets the copy after a minute, and the message leaves with the address of the account', {
  skip,
}, async () => {
  const user = 'plain@elsewhere.test'
  const account = await mirror(user)
  const id = await send(account, 'One')
  assert.equal(relay.messages.at(-1)!.from, user)
  assert.deepEqual(await sentThere(user), [], 'its server may still save it')
  await later(account)
  const there = await eventually(
    () => sentThere(user),
    (found) => found.length > 0,
  )
  assert.deepEqual(there, [id])
  await later(account)
  assert.deepEqual([await sentThere(user), (await sentHere(account.key)).length], [[id], 1])
})

test('what a server, or a mail program, has saved itself is the copy', { skip }, async () => {
  const user = 'saves@elsewhere.test'
  const account = await mirror(user)
  const id = await send(account, 'Two')
  {
    await using client = await signIn(server, user)
    if (!(await client.list()).some(({ path }) => path === 'Sent')) await client.mailboxCreate('Sent')
    await client.append(
      'Sent',
      `From: <${user}>\r\nSubject: Two\r\nMessage-ID: ${id}\r\n\r\nAs its server has it\r\n`,
      ['\\Seen'],
    )
  }
  await later(account)
  await later(account)
  assert.deepEqual([await sentThere(user), (await sentHere(account.key)).length], [[id], 1])
})
