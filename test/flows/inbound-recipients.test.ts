// Each recipient has its own reply, and each reply its row in the log.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PROBES_PER_MINUTE } from '../../src/inbound/probes.ts'
import { FULL_DEFER_MS } from '../../src/inbound/recipients.ts'
import { MAX_MESSAGE_BYTES } from '../../src/smtp/limits.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, storedMessages, sweepContent } from '../support/stored.ts'

const DAY_MS = 86_400_000
const QUOTA = 10_485_760

const clock = new ManualClock()
// The reverse DNS query is never answered, and the clock does not advance: nothing may wait for it.
const appliance = await startAppliance({ clock, zone: { '1.0.0.127.in-addr.arpa': { error: 'silent' } } })
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const port = appliance.ports.smtp
const team = await appliance.team()
await team.domain('in.test')
const ben = await team.mailbox('ben@in.test')

const content = plainMail({ from: 'ann@out.test', to: 'ben@in.test' })

/** Opens a transaction; `size` is declared when given. */
async function transaction(size?: number): Promise<SmtpClient> {
  const client = await SmtpClient.greet(port)
  await client.command(`MAIL FROM:<ann@out.test>${size === undefined ? '' : ` SIZE=${size}`}`, 250)
  return client
}

async function finish(client: SmtpClient, bytes = content): Promise<string> {
  await client.command('DATA', 354)
  await client.push(Buffer.from(`${bytes}.\r\n`))
  return (await client.reply()).text
}

/** What the log says last. */
async function lastRow(teamId = team.id) {
  return (await logOf(appliance, teamId)).at(-1)
}

test('a known recipient gets 250, however the address is written', async () => {
  await using client = await transaction()
  for (const path of ['ben@in.test', 'BEN@In.Test', 'ben+news@in.test', '"ben"@in.test', '@relay.test:ben@in.test']) {
    assert.match((await client.command(`RCPT TO:<${path}>`)).text, /^250 2\.1\.5 /, path)
  }
})

test('an unknown recipient gets 550 5.1.1, one of a foreign domain 550 5.7.1', async () => {
  await using client = await transaction()
  assert.match((await client.command('RCPT TO:<nobody@in.test>')).text, /^550 5\.1\.1 /)
  const row = await lastRow()
  assert.deepEqual(
    [row!.status, row!.reason, row!.rcpt_to, row!.mailbox_id, row!.smtp_reply.slice(0, 9), row!.helo],
    ['refused', 'unknown_recipient', 'nobody@in.test', null, '550 5.1.1', 'client.test'],
  )
  assert.equal(`550 5.1.1 ${row!.detail}`, row!.smtp_reply)
  assert.equal(row!.remote_name, null)
  assert.ok(appliance.dns.queries.some(({ name, type }) => name === '1.0.0.127.in-addr.arpa' && type === 'PTR'))
  for (const path of ['ben@elsewhere.test', 'ben@sub.in.test', 'ben@[127.0.0.1]', '"ben@in.test"@elsewhere.test']) {
    assert.match((await client.command(`RCPT TO:<${path}>`)).text, /^550 5\.7\.1 /, path)
  }
  assert.equal((await lastRow())!.rcpt_to, 'nobody@in.test', 'a refused relay attempt has no row')
})

test('postmaster and abuse are deliverable, with and without a domain', async () => {
  await using client = await transaction()
  for (const path of [
    'postmaster',
    'Postmaster@in.test',
    'abuse@in.test',
    'postmaster@mx.mailstead.test',
    'dmarc@mx.mailstead.test',
  ]) {
    assert.match((await client.command(`RCPT TO:<${path}>`)).text, /^250 2\.1\.5 /, path)
  }
  assert.match(await finish(client), /^250 /)
  assert.equal((await storedMessages(appliance, ben.id)).length, 1, 'all of them are the oldest mailbox here')
})

test('a suspended mailbox gets 550 5.2.1, the others their copy', async () => {
  const gone = await team.mailbox('gone@in.test')
  await appliance.app.directory.mailboxes.suspend(team.id, gone.id)
  const before = (await storedMessages(appliance, ben.id)).length
  await using client = await transaction()
  assert.match((await client.command('RCPT TO:<gone@in.test>')).text, /^550 5\.2\.1 /)
  assert.deepEqual([(await lastRow())!.reason, (await lastRow())!.mailbox_id], ['mailbox_suspended', gone.id])
  await client.command('RCPT TO:<ben@in.test>', 250)
  const text = plainMail({ from: 'ann@out.test', to: 'ben@in.test' })
  assert.match(await finish(client, text), /^250 /)
  assert.equal((await storedMessages(appliance, ben.id)).length, before + 1)
})

test('a deleted mailbox is unknown', async () => {
  const old = await team.mailbox('old@in.test')
  await appliance.app.administration.mailboxes.delete(team.id, old.id)
  await using client = await transaction()
  assert.match((await client.command('RCPT TO:<old@in.test>')).text, /^550 5\.1\.1 /)
})

test('a suspended team is deferred for seven days, then rejected', async () => {
  const other = await appliance.team('Other')
  await other.domain('other.test')
  await other.mailbox('eve@other.test')
  await appliance.app.directory.teams.setStatus(other.id, 'suspended')
  const answer = async () => {
    await using client = await transaction()
    return (await client.command('RCPT TO:<eve@other.test>')).text
  }
  assert.match(await answer(), /^450 4\./)
  const row = await lastRow(other.id)
  assert.deepEqual([row!.status, row!.reason], ['deferred', 'mailbox_suspended'])
  clock.advance(7 * DAY_MS)
  assert.match(await answer(), /^550 5\./)
})

test('a full mailbox is deferred for five days, then rejected; other recipients do not wait', async () => {
  const small = await team.mailbox('small@in.test', { quotaBytes: QUOTA })
  const before = (await storedMessages(appliance, ben.id)).length
  await using client = await transaction(QUOTA)
  assert.match((await client.command('RCPT TO:<small@in.test>')).text, /^452 4\.2\.2 /)
  const row = await lastRow()
  assert.deepEqual([row!.status, row!.reason, row!.mailbox_id], ['deferred', 'mailbox_full', small.id])
  await client.command('RCPT TO:<ben@in.test>', 250)
  assert.match(await finish(client, plainMail({ from: 'a@out.test', to: 'ben@in.test' })), /^250 /)
  assert.equal((await storedMessages(appliance, ben.id)).length, before + 1)
  clock.advance(FULL_DEFER_MS + 1)
  await using late = await transaction(QUOTA)
  assert.match((await late.command('RCPT TO:<small@in.test>')).text, /^552 5\.2\.2 /)
  // What fits still comes in, and the mailbox counts as full no longer.
  await using fits = await transaction(content.length)
  await fits.command('RCPT TO:<small@in.test>', 250)
  assert.match(await finish(fits), /^250 /)
  await using again = await transaction(QUOTA)
  assert.match((await again.command('RCPT TO:<small@in.test>')).text, /^452 4\.2\.2 /)
})

test('a message too large for one mailbox is rejected for that mailbox only', async () => {
  await team.mailbox('tight@in.test', { quotaBytes: QUOTA })
  const long = plainMail({ from: 'a@out.test', to: 'tight@in.test', text: `${'x'.repeat(998)}\r\n`.repeat(10_600) })
  await using undeclared = await transaction()
  await undeclared.command('RCPT TO:<tight@in.test>', 250)
  assert.match((await undeclared.command('RCPT TO:<ben@in.test>')).text, /^452 4\.5\.3 /)
  assert.match(await finish(undeclared, long), /^452 4\.2\.2 /)
  const row = await lastRow()
  assert.deepEqual([row!.status, row!.reason, row!.rcpt_to], ['deferred', 'mailbox_full', 'tight@in.test'])
  await using lying = await transaction(1000)
  await lying.command('RCPT TO:<tight@in.test>', 250)
  await lying.command('RCPT TO:<ben@in.test>', 250)
  assert.match(await finish(lying, long), /^552 5\.3\.4 /)
})

test('when messages compete for the last space the loser is deferred, and no error is logged', async () => {
  const { store, log } = appliance.app
  const { deliver } = store.delivery
  const { error } = log
  const errors: unknown[] = []
  log.error = (...given: unknown[]) => void errors.push(given)
  for (const [name, others] of [
    ['race', []],
    ['race2', [ben.email]],
  ] as const) {
    const mailbox = await team.mailbox(`${name}@in.test`, { quotaBytes: QUOTA })
    const large = plainMail({ from: 'a@out.test', to: mailbox.email, text: `${'x'.repeat(998)}\r\n`.repeat(6000) })
    await using winner = await transaction(large.length)
    await using loser = await transaction(large.length)
    for (const client of [winner, loser]) await client.command(`RCPT TO:<${mailbox.email}>`, 250)
    for (const other of others) await loser.command(`RCPT TO:<${other}>`, 250)
    // The winner is stored after room for the loser was found.
    store.delivery.deliver = async (message, targets, record) => {
      store.delivery.deliver = deliver
      assert.match(await finish(winner, large), /^250 /)
      return deliver(message, targets, record)
    }
    assert.match(await finish(loser, large.replace('Subject:', 'Subject: second')), /^452 4\.2\.2 /)
    const row = await lastRow()
    assert.deepEqual([row!.status, row!.smtp_reply.slice(0, 9)], ['deferred', '452 4.2.2'])
    assert.equal(store.accounts.byMailbox(mailbox.id)!.messageCount, 1)
  }
  log.error = error
  assert.deepEqual(errors, [])
})

test('a mailbox deleted while a message is received stores nothing, and the sender gets no 250 for it', async () => {
  const { mailboxes } = appliance.app.directory
  const ends = {
    deleted: (id: string) => appliance.app.administration.mailboxes.delete(team.id, id),
    suspended: (id: string) => mailboxes.suspend(team.id, id),
    lowered: (id: string) => appliance.app.administration.mailboxes.update(team.id, id, { quotaBytes: QUOTA }, 0),
  }
  for (const [name, end] of Object.entries(ends)) {
    const mailbox = await team.mailbox(`${name}@in.test`, { quotaBytes: 2 * QUOTA })
    await using client = await transaction(1000)
    await client.command(`RCPT TO:<${mailbox.email}>`, 250)
    await client.command('RCPT TO:<ben@in.test>', 250)
    await client.command('DATA', 354)
    await end(mailbox.id)
    await client.push(Buffer.from(`${content}.\r\n`))
    assert.match((await client.reply()).text, /^451 4\.3\.0 /, name)
    assert.equal(appliance.app.store.accounts.byMailbox(mailbox.id)!.messageCount, 0)
    await using again = await transaction(1000)
    const answers = { deleted: /^550 5\.1\.1 /, suspended: /^550 5\.2\.1 /, lowered: /^250 / }
    assert.match((await again.command(`RCPT TO:<${mailbox.email}>`)).text, answers[name as keyof typeof answers], name)
  }
})

test('a declared size above the limit is rejected at MAIL', async () => {
  await using client = await SmtpClient.greet(port)
  assert.match((await client.command(`MAIL FROM:<ann@out.test> SIZE=${MAX_MESSAGE_BYTES + 1}`)).text, /^552 5\.3\.4 /)
})

test('many unknown recipients are counted, not logged one by one', async () => {
  clock.advance(60_000)
  const unknown = async () =>
    (await logOf(appliance, team.id)).filter(
      ({ reason, rcpt_to }) => reason === 'unknown_recipient' && /^p\d|^\*/.test(rcpt_to),
    )
  await using client = await transaction()
  for (let i = 0; i < PROBES_PER_MINUTE + 5; i++) await client.command(`RCPT TO:<p${i}@in.test>`, 550)
  assert.equal((await unknown()).length, PROBES_PER_MINUTE)
  clock.advance(60_000)
  // The count is written in the background, before whatever is asked of the database next.
  await appliance.app.db.write(() => {})
  const last = (await unknown()).at(-1)
  assert.equal(last!.rcpt_to, '*@in.test')
  assert.match(last!.detail, /^5 more /)
  assert.deepEqual(last!.evidence, { probes: 5 })
})
