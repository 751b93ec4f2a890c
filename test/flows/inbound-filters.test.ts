// Sender filters, DMARC and the spam score decide during the SMTP session; the log has the reason, and rejected messages are not stored.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FilterRule, FilterState } from '../../src/directory/domains/filters.ts'
import { startAppliance } from '../support/appliance.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, storedMessages } from '../support/stored.ts'

const ours = 'v=spf1 ip4:127.0.0.1 -all'
const appliance = await startAppliance({
  zone: {
    'out.test': { TXT: [ours] },
    '_dmarc.out.test': { TXT: ['v=DMARC1; p=reject'] },
    'friend.test': { TXT: [ours] },
    '_dmarc.friend.test': { TXT: ['v=DMARC1; p=reject'] },
    'spam.test': { TXT: [ours] },
    'strict.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.strict.test': { TXT: ['v=DMARC1; p=reject'] },
    'junk.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.junk.test': { TXT: ['v=DMARC1; p=quarantine'] },
    'broken.test': { error: 'servfail' },
    '_dmarc.broken.test': { error: 'servfail' },
  },
})
after(() => appliance.close())
const port = appliance.ports.smtp
const team = await appliance.team()
const domainId = await team.domain('in.test')
const { filters } = appliance.app.directory

const deny = (pattern: string): FilterRule => ({ type: 'deny', pattern })
const allow = (pattern: string): FilterRule => ({ type: 'allow', pattern })

let count = 0
async function mailbox(filter?: FilterState) {
  const made = await team.mailbox(`m${count++}@in.test`)
  if (filter) await filters.put(made.id, filter)
  return made
}

async function offer(to: string[], sender: { from: string; envelope?: string }): Promise<string> {
  await using client = await SmtpClient.greet(port)
  const content = plainMail({ from: sender.from, to: to[0]! })
  return (await client.mail({ from: sender.envelope ?? sender.from, to, content })).text
}

async function lastRow() {
  return (await logOf(appliance, team.id)).at(-1)!
}

test('a sender on a denylist is rejected at RCPT', async () => {
  const box = await mailbox({ mode: 'denylist', rules: [deny('spam.test')] })
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<win@spam.test>', 250)
  assert.match((await client.command(`RCPT TO:<${box.email}>`)).text, /^550 5\.7\.1 /)
  const row = await lastRow()
  assert.deepEqual([row.status, row.reason, row.header_from], ['refused', 'sender_filtered', null])
  assert.deepEqual(row.evidence.filter, {
    accept: false,
    scope: 'mailbox',
    mode: 'denylist',
    rule: { type: 'deny', pattern: 'spam.test' },
  })
})

test('a From field on a denylist is rejected after DATA, and nothing is stored', async () => {
  const box = await mailbox({ mode: 'denylist', rules: [deny('spam.test')] })
  assert.match(await offer([box.email], { from: 'win@spam.test', envelope: 'b@out.test' }), /^550 5\.7\.1 /)
  assert.deepEqual(await storedMessages(appliance, box.id), [])
  const row = await lastRow()
  assert.deepEqual([row.reason, row.header_from, row.message_id], ['sender_filtered', 'win@spam.test', null])
  assert.match(await offer([box.email], { from: 'ann@out.test' }), /^250 /)
})

test('an allowlist accepts its senders, and no look-alike', async () => {
  const box = await mailbox({ mode: 'allowlist', rules: [allow('friend.test')] })
  assert.match(await offer([box.email], { from: 'fay@friend.test' }), /^250 /)
  assert.match(await offer([box.email], { from: 'ann@out.test' }), /^550 5\.7\.1 /)
  // The domain asks for refusal of what it does not authenticate, so the look-alike falls at DMARC.
  assert.match(await offer([box.email], { from: 'fay@friend.test', envelope: 'x@strict.test' }), /^550 5\.7\.1 .*DMARC/)
  assert.equal((await storedMessages(appliance, box.id)).length, 1)
})

test('the filter of the domain applies where the mailbox has none, and the mailbox can override it', async () => {
  const plain = await mailbox()
  const own = await mailbox({ mode: 'denylist', rules: [allow('spam.test')] })
  await filters.put(domainId, { mode: 'denylist', rules: [deny('spam.test')] })
  try {
    assert.match(await offer([plain.email], { from: 'win@spam.test' }), /^550 5\.7\.1 /)
    assert.match(await offer([own.email], { from: 'win@spam.test' }), /^250 /)
  } finally {
    await filters.put(domainId, { mode: 'off', rules: [] })
  }
})

test('a message that all recipients accept is never split, whatever their filters', async () => {
  const boxes = [await mailbox(), await mailbox({ mode: 'denylist', rules: [deny('spam.test')] })]
  assert.match(
    await offer(
      boxes.map(({ email }) => email),
      { from: 'all@out.test' },
    ),
    /^250 /,
  )
  for (const { id } of boxes) assert.equal((await storedMessages(appliance, id)).length, 1)
})

test('when recipients have different decisions the message is deferred once and then split, so that no rejection is hidden by a 250', async () => {
  const open = [await mailbox(), await mailbox()]
  const closed = await mailbox({ mode: 'allowlist', rules: [allow('friend.test')] })
  const everybody = [...open, closed].map(({ email }) => email)
  assert.match(await offer(everybody, { from: 'ann@out.test' }), /^451 4\.7\.1 /)
  assert.deepEqual([(await lastRow()).status, (await lastRow()).reason], ['deferred', 'sender_filtered'])
  assert.ok(JSON.stringify((await lastRow()).evidence.filter).includes('"accept":false'))
  for (const { id } of [...open, closed]) assert.deepEqual(await storedMessages(appliance, id), [])
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<ann@out.test>', 250)
  await client.command(`RCPT TO:<${open[0]!.email}>`, 250)
  assert.match((await client.command(`RCPT TO:<${closed.email}>`)).text, /^452 4\.5\.3 /)
  assert.deepEqual([(await lastRow()).status, (await lastRow()).reason], ['deferred', 'rate_limited'])
  await client.command(`RCPT TO:<${open[1]!.email}>`, 250)
  await client.command('DATA', 354)
  client.write(`${plainMail({ from: 'ann@out.test', to: 'all@in.test' })}.\r\n`)
  await client.expect(250)
  for (const { id } of open) assert.equal((await storedMessages(appliance, id)).length, 1)
  assert.match(await offer([closed.email], { from: 'ann@out.test' }), /^550 5\.7\.1 /)
  assert.deepEqual(await storedMessages(appliance, closed.id), [])
})

test('a DMARC policy of reject is applied', async () => {
  const box = await mailbox()
  assert.match(
    await offer([box.email], { from: 'boss@strict.test', envelope: 'x@out.test' }),
    /^550 5\.7\.1 .*strict\.test/,
  )
  const row = await lastRow()
  assert.deepEqual([row.reason, row.authentication!.dmarc], ['dmarc_reject', 'fail'])
  assert.deepEqual(await storedMessages(appliance, box.id), [])
})

test('a policy of quarantine stores in Junk with its keyword', async () => {
  const box = await mailbox()
  assert.match(await offer([box.email], { from: 'boss@junk.test', envelope: 'x@out.test' }), /^250 /)
  const [mail] = await storedMessages(appliance, box.id)
  assert.deepEqual([mail!.role, mail!.keywords, mail!.spam.isSpam], ['junk', ['$junk'], true])
  assert.ok(mail!.spam.reasons.includes('dmarc_quarantine'))
  const row = await lastRow()
  assert.deepEqual([row.status, row.reason], ['junk', 'spam'])
  assert.ok(row.spam_score! >= 5)
  assert.ok((row.evidence.spam as unknown as { reason: string }[]).some(({ reason }) => reason === 'dmarc_quarantine'))
})

test('failing DNS neither loses nor rejects a message', async () => {
  const box = await mailbox()
  assert.match(await offer([box.email], { from: 'ann@broken.test' }), /^250 /)
  const [mail] = await storedMessages(appliance, box.id)
  assert.deepEqual([mail!.role, mail!.authentication.spf], ['inbox', 'temperror'])
})

test('a message with all the traits of spam is rejected', async () => {
  const box = await mailbox()
  await using client = await SmtpClient.connect(port)
  await client.expect(220)
  await client.command('HELO pc', 250)
  const content = [
    'From: "win@bank.test" <win@junk.test>',
    'Subject: YOU HAVE WON A MILLION',
    'Subject: YOU HAVE WON A MILLION',
    'To: a@in.test',
    'To: b@in.test',
    'Content-Type: text/html',
    '',
    '<a href="http://192.0.2.1/x">http://bank.test/</a> <a href="https://bit.ly/x">bank.test</a>',
  ].join('\r\n')
  const reply = await client.mail({ from: 'win@junk.test', to: box.email, content })
  assert.match(reply.text, /^550 5\.7\.1 .*spam/)
  const row = await lastRow()
  assert.equal(row.reason, 'spam')
  assert.ok(row.spam_score! >= 15)
  assert.deepEqual(await storedMessages(appliance, box.id), [])
})
