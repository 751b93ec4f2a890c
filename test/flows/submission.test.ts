// Submission by mail programs: the way of a message from DATA to its recipients, what is changed in it, and what is refused.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DeliveryLogJson } from '../../src/api/schemas/delivery-log.ts'
import { REPEATED_MS } from '../../src/outbound/submit/raw-submitter.ts'
import { SUBMITTED_RECIPIENTS_MAX } from '../../src/submission/limits.ts'
import { walk } from '../api/expect.ts'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { logInImap } from '../support/imap.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { signInToSubmit } from '../support/submission.ts'

const clock = new ManualClock()
let remote: MailServer
let appliance: TestAppliance
let team: TestTeam
let ada: { id: string; email: string; key: string }
/** An app password that keeps copies in Sent. */
let saving: string

const zone = {
  'customer.example': { MX: [{ priority: 10, exchange: 'mx.customer.example' }] },
  'mx.customer.example': { A: ['127.0.0.1'], TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
}

before(async () => {
  remote = await startMailServer({
    onRcptTo({ address }, _session, done) {
      const refusals = { gone: '5.1.1 no such user', strict: '5.7.1 not from there' }
      const refusal = Object.entries(refusals).find(([local]) => address.startsWith(local))?.[1]
      done(refusal === undefined ? null : Object.assign(new Error(refusal), { responseCode: 550 }))
    },
  })
  appliance = await startAppliance({
    clock,
    zone,
    env: {
      ...{ ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
      ...{ BILLING_UNIT_PRICE: '0.01', BILLING_ENFORCE: 'true' },
    },
  })
  team = await appliance.team()
  await appliance.app.outbound.billing.ledger.credit(team.id, { type: 'purchase', amount: 1e9, description: 'x' })
  await team.domain('acme.test')
  ada = await team.mailbox('ada@acme.test')
  await appliance.app.administration.mailboxes.addAlias(team.id, ada.id, 'sales@acme.test')
  const input = { name: 'Laptop', savesSent: true, createdBy: 'operator' }
  saving = (await appliance.app.directory.appPasswords.issue(team.id, ada.id, input)).secret
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})

/** Submits a message and lets it be delivered. @returns the reply to it, or the first refusal */
async function submit(to: string | string[], content: string | Buffer, more: { from?: string; as?: typeof ada } = {}) {
  const { from = ada.email, as = ada } = more
  const client = await signInToSubmit(appliance, as)
  const { text } = await client.mail({ from, to, content })
  client.drop()
  await appliance.settle()
  return text
}

const emailIdOf = (reply: string): string => /queued as (eml_\w+)$/.exec(reply)?.[1] ?? assert.fail(reply)
const mail = (more: Partial<Parameters<typeof plainMail>[0]> = {}) =>
  plainMail({ from: ada.email, to: 'bob@customer.example', ...more })
const logOf = (id: string) => walk<DeliveryLogJson>(appliance, `/emails/logs?message_id=${id}`, team.key)

async function submissionOf(id: string): Promise<Json> {
  const all = await walk<Json>(appliance, '/mailbox/submissions', ada.key)
  return all.find(({ message_id }) => message_id === id)
}

async function messagesWith(subject: string): Promise<Json[]> {
  return walk<Json>(appliance, `/mailbox/messages?subject=${encodeURIComponent(subject)}`, ada.key)
}

describe('a submitted message', () => {
  it('is accepted with its id, delivered as it was written, signed and logged', async () => {
    const content = mail({ from: 'Ada <ada@acme.test>', id: 'one@client.test', subject: 'Logged' })
    const id = emailIdOf(await submit('bob@customer.example', content))
    const got = remote.messages.at(-1)!
    assert.deepEqual(got.to, ['bob@customer.example'])
    assert.match(got.from, /^b\+[0-9a-z]{24}@bounce\.mx\.mailstead\.test$/)
    const text = got.bytes.toString()
    assert.match(text, /^DKIM-Signature: /)
    assert.equal(/\r\nReceived: by mx\.mailstead\.test with ESMTPSA id (eml_\w+);\r\n /.exec(text)![1], id)
    assert.ok(text.endsWith(content), 'nothing else is changed')
    assert.doesNotMatch(text, /127\.0\.0\.1/, 'the address of the program is not shown')
    const [row] = await logOf(id)
    assert.equal(row!.status, 'sent')
    const { body } = await appliance.get(`/emails/${id}`, team.key)
    assert.deepEqual([body.data.source, body.data.internet_message_id], ['smtp', '<one@client.test>'])
    const submission = await submissionOf(id)
    assert.deepEqual([submission.status, submission.subject, submission.stored_message_id], ['sent', 'Logged', null])
    assert.deepEqual(submission.envelope.rcpt_to, ['bob@customer.example'])
  })

  it('goes to all recipients its envelope names, and names no hidden recipient', async () => {
    const content = mail({ more: ['Cc: cleo@customer.example', 'Bcc: hidden@customer.example'] })
    const to = ['bob@customer.example', 'cleo@customer.example', 'hidden@customer.example', 'Ada@acme.test']
    const count = remote.messages.length
    emailIdOf(await submit([...to, 'BOB@customer.example'], content))
    const got = remote.messages.slice(count)
    assert.deepEqual(got.flatMap(({ to }) => to).toSorted(), to.slice(0, 3).toSorted())
    for (const { bytes } of got) assert.doesNotMatch(bytes.toString(), /hidden|^bcc/im)
    const [copy] = await walk<Json>(appliance, '/mailbox/messages?limit=1', ada.key)
    const raw = await appliance.get(`/mailbox/messages/${copy.id}/raw`, ada.key, { accept: 'message/rfc822' })
    assert.match(String(raw.body), /ESMTPSA/, 'also delivered here')
    assert.doesNotMatch(String(raw.body), /hidden/)
  })

  it('is kept in Sent only where the app password says so, with its hidden recipients', async () => {
    const content = mail({ subject: 'Kept', more: ['Bcc: hidden@customer.example'] })
    const to = ['bob@customer.example', 'hidden@customer.example']
    const id = emailIdOf(await submit(to, content, { as: { ...ada, key: saving } }))
    const [copy, ...others] = await messagesWith('Kept')
    assert.deepEqual(others, [])
    assert.equal((await submissionOf(id)).stored_message_id, copy.id)
    const { body } = await appliance.get(`/mailbox/messages/${copy.id}`, ada.key)
    assert.deepEqual(
      body.data.bcc.map(({ email }: Json) => email),
      ['hidden@customer.example'],
    )
    emailIdOf(await submit('bob@customer.example', mail({ subject: 'Not kept' })))
    assert.deepEqual(await messagesWith('Not kept'), [])
  })

  it('is found by its Message-ID, for the copy that a mail program appends', async () => {
    const id = emailIdOf(await submit('bob@customer.example', mail({ id: 'appended@client.test' })))
    const { store, db } = appliance.app
    const account = store.accounts.byMailbox(ada.id)!
    const wanted = { internetMessageId: 'appended@client.test', since: clock.now() - 1 }
    assert.equal(store.sending.submissions.byInternetId(db.read, account, wanted)!.emailId, id)
    assert.equal(store.sending.submissions.byInternetId(db.read, { n: account.n + 1 }, wanted), undefined)
    const later = { ...wanted, since: clock.now() + 1 }
    assert.equal(store.sending.submissions.byInternetId(db.read, account, later), undefined)
  })

  it('is in Sent once, whether the program, the appliance or both store it', async () => {
    for (const [at, key] of [ada.key, saving].entries()) {
      const content = mail({ subject: `Stored ${at}`, id: `stored${at}@client.test` })
      const id = emailIdOf(await submit('bob@customer.example', content, { as: { ...ada, key } }))
      const client = await logInImap(appliance, ada)
      const size = Buffer.byteLength(content)
      assert.match((await client.run(`APPEND Sent (\\Seen) {${size}}`, content)).tagged, /^OK \[APPENDUID/)
      client.close()
      const [stored, ...others] = await messagesWith(`Stored ${at}`)
      assert.deepEqual(others, [])
      const submission = await submissionOf(id)
      assert.deepEqual([submission.stored_message_id, submission.status], [stored.id, 'sent'])
    }
  })

  it('that is submitted again is accepted and sent once', async () => {
    const content = mail({ id: 'again@client.test' })
    const count = remote.messages.length
    const [first, second] = await Promise.all([
      submit('bob@customer.example', content),
      submit('bob@customer.example', content),
    ])
    assert.equal(first, second)
    assert.equal(await submit('bob@customer.example', content), first)
    assert.equal(remote.messages.length, count + 1)
    const others = [
      await submit('cleo@customer.example', content),
      await submit('bob@customer.example', `${content}more\r\n`),
    ]
    assert.equal(new Set([first, ...others]).size, 3, 'to others, or with another text, it is another message')
    const bare = `From: ${ada.email}\r\n\r\nHello\r\n`
    const twice = [await submit('bob@customer.example', bare), await submit('bob@customer.example', bare)]
    assert.equal(new Set(twice).size, 2, 'without a Message-ID it may be meant')
    clock.advance(REPEATED_MS + 1000)
    assert.notEqual(await submit('bob@customer.example', content), first)
  })

  it('leaves with a sender of ours, whatever the program gave', async () => {
    for (const from of ['', 'sales@acme.test', 'ADA+list@acme.test']) {
      emailIdOf(await submit('bob@customer.example', mail(), { from }))
      assert.match(remote.messages.at(-1)!.from, /^b\+/)
    }
  })
})

describe('what comes back', () => {
  it('a bounce, as a report in the mailbox, and an event', async () => {
    for (const [at, from] of [ada.email, ''].entries()) {
      const [to, subject] = [`gone${at}@customer.example`, `Bounced ${at}`]
      const id = emailIdOf(await submit(to, mail({ to, subject }), { from }))
      assert.match((await logOf(id))[0]!.status_reason!, /^bounced: 550/)
      await appliance.settle()
      const [report] = await messagesWith(`Not delivered: ${subject}`)
      assert.match(report.from.email, /^mailer-daemon@/)
    }
    const { body } = await appliance.get('/events?type=message.bounced', team.key)
    assert.equal(body.data[0].data.source, 'smtp', JSON.stringify(body))
  })

  it('an out-of-office answer to the envelope sender', async () => {
    emailIdOf(await submit('bob@customer.example', mail()))
    const { from } = remote.messages.at(-1)!
    await using client = await SmtpClient.greet(appliance.ports.smtp, 'mx.customer.example')
    const content = plainMail({ from: 'bob@customer.example', to: ada.email, subject: 'Away until Monday' })
    assert.equal((await client.mail({ from: '', to: from, content })).code, 250)
    assert.equal((await messagesWith('Away until Monday')).length, 1)
  })
})

describe('the envelope', () => {
  it('senders that are not the mailbox are refused', async () => {
    await team.mailbox('eve@acme.test')
    const client = await signInToSubmit(appliance, ada)
    for (const address of ['eve@acme.test', 'ada@other.test', 'ada@acme.test.evil.test', 'root@mx.mailstead.test']) {
      const { text } = await client.command(`MAIL FROM:<${address}>`)
      assert.match(text, /^553 5\.7\.1 .*: ada@acme\.test, sales@acme\.test, and each of them with a \+tag/, address)
    }
    for (const address of ['', 'Ada@Acme.test', 'ada+tag@acme.test', 'sales@acme.test']) {
      await client.command(`MAIL FROM:<${address}> AUTH=<>`, 250)
      await client.command('RSET', 250)
    }
    client.drop()
  })

  it('recipients that nothing can reach are refused one by one', async () => {
    await appliance.call('POST', '/suppressions', team.key, { email: 'stop@customer.example' })
    const client = await signInToSubmit(appliance, ada)
    await client.command('MAIL FROM:<ada@acme.test>', 250)
    const cases: [address: string, expected: RegExp][] = [
      ['nobody@acme.test', /^550 5\.1\.1/],
      ['Stop@customer.example', /^550 5\.7\.1 .*suppression list/],
      ['bob@[127.0.0.1]', /^550 5\.1\.2/],
      ['bob@localhost', /^550 5\.1\.2/],
      ['"bob <x"@customer.example', /^550 5\.1\.2/],
      ['not an address', /^501 5\.1\.3/],
      ['b\u00f6b@customer.example', /^553 5\.6\.7/],
      ['bob@customer.example', /^250/],
      ['BOB@customer.example', /^250/],
      ['postmaster', /^250/],
      ['sales@acme.test', /^250/],
    ]
    for (const [address, expected] of cases) {
      assert.match((await client.command(`RCPT TO:<${address}>`)).text, expected, address)
    }
    client.drop()
  })

  it('500 recipients are taken, and no more', async () => {
    const client = await signInToSubmit(appliance, ada)
    await client.command('MAIL FROM:<ada@acme.test>', 250)
    for (let at = 0; at < SUBMITTED_RECIPIENTS_MAX; at++) client.write(`RCPT TO:<p${at}@customer.example>\r\n`)
    for (let at = 0; at < SUBMITTED_RECIPIENTS_MAX; at++) await client.expect(250)
    assert.match((await client.command('RCPT TO:<more@customer.example>')).text, /^452 4\.5\.3/)
    await client.command('DATA', 354)
    client.write(`${mail({ subject: 'Many' })}.\r\n`)
    const id = emailIdOf((await client.reply()).text)
    client.drop()
    await appliance.settle()
    const { body } = await appliance.get(`/emails/${id}`, team.key)
    assert.equal(body.data.recipients.length, SUBMITTED_RECIPIENTS_MAX)
  })

  it('commands in a wrong order are refused', async () => {
    const client = await signInToSubmit(appliance, ada)
    for (const command of ['RCPT TO:<bob@customer.example>', 'DATA']) {
      assert.match((await client.command(command)).text, /^503 5\.5\.1/)
    }
    await client.command('MAIL FROM:<ada@acme.test>', 250)
    for (const command of ['MAIL FROM:<ada@acme.test>', 'DATA']) {
      assert.match((await client.command(command)).text, /^503 5\.5\.1/)
    }
    client.drop()
  })
})

it('a message that failed for all its recipients can be submitted again', async () => {
  const content = mail({ id: 'again@client.test', to: 'strict@customer.example' })
  const first = emailIdOf(await submit('strict@customer.example', content))
  assert.equal((await submissionOf(first)).status, 'failed')
  const second = emailIdOf(await submit('strict@customer.example', content))
  assert.notEqual(second, first)
})

describe('what is refused', () => {
  it('an author that is no address of the mailbox, with those that are', async () => {
    const reply = await submit('bob@customer.example', mail({ from: 'eve@acme.test' }))
    assert.match(reply, /^550 5\.7\.1 .*: ada@acme\.test, sales@acme\.test, and each of them with a \+tag/)
    assert.match(await submit('bob@customer.example', mail({ from: 'eve+ada@acme.test' })), /^550 5\.7\.1/)
    const list = (await appliance.get('/mailbox/identities', ada.key)).body.data
    const idOf = (address: string) => list.find(({ email }: { email: string }) => email === address).id
    for (const [from, identity] of [
      ['sales@acme.test', 'sales@acme.test'],
      ['sales+spring@acme.test', 'sales@acme.test'],
      ['ada+shop@acme.test', 'ada@acme.test'],
    ] as const) {
      const id = emailIdOf(await submit('bob@customer.example', mail({ from })))
      assert.equal((await submissionOf(id)).identity_id, idOf(identity), from)
    }
  })

  it('an author whose domain is not verified', async () => {
    const domain = await team.domain('lapsed.test')
    const other = await team.mailbox('zoe@lapsed.test')
    await appliance.app.db.write((tx) =>
      tx.run(`UPDATE domains SET verification_status = 'failed' WHERE id = ?`, [domain]),
    )
    const content = mail({ from: other.email })
    const reply = await submit('bob@customer.example', content, { from: other.email, as: other })
    assert.match(reply, /^550 5\.7\.1 The domain lapsed\.test is not verified/)
  })

  it('files that are never sent, and messages that are too large or malformed', async () => {
    const file = ['MIME-Version: 1.0', 'Content-Type: application/x; name=setup.exe']
    assert.match(await submit('bob@customer.example', mail({ more: file })), /^552 5\.7\.0 .*setup\.exe/)
    assert.match(await submit('bob@customer.example', mail({ more: ['no field'] })), /^554 5\.6\.0/)
    const client = await signInToSubmit(appliance, ada)
    assert.match((await client.command('MAIL FROM:<ada@acme.test> SIZE=41943041')).text, /^552 5\.3\.4/)
    client.drop()
  })

  it('what the balance of the team or the quota of the mailbox does not cover', async () => {
    const poor = await appliance.team('Poor')
    await poor.domain('poor.test')
    const pam = await poor.mailbox('pam@poor.test', { quotaBytes: 10_485_760 })
    const signedIn = await signInToSubmit(appliance, pam)
    await signedIn.command('MAIL FROM:<pam@poor.test>', 250)
    assert.match((await signedIn.command('RCPT TO:<bob@customer.example>')).text, /^452 4\.3\.1 The balance/)
    signedIn.drop()
    await appliance.app.outbound.billing.ledger.credit(poor.id, { type: 'purchase', amount: 1e6, description: 'x' })
    const input = { name: 'Laptop', savesSent: true, createdBy: 'operator' }
    const { secret } = await appliance.app.directory.appPasswords.issue(poor.id, pam.id, input)
    const large = mail({ from: pam.email, text: `${'x'.repeat(70)}\r\n`.repeat(150_000) })
    const as = { ...pam, key: secret }
    assert.match(await submit('bob@customer.example', large, { from: pam.email, as }), /^452 4\.3\.1 .*quota/)
    emailIdOf(await submit('bob@customer.example', large, { from: pam.email, as: pam }))
  })
})

it('is counted by result', async () => {
  const { results } = appliance.app.outbound.submit.rawSubmitter
  assert.ok(results.accepted > 10 && results.refused > 4, JSON.stringify(results))
  assert.deepEqual([results.repeated, results.deferred], [2, 1])
})
