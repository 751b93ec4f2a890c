// Receiving a message: from the greeting to the stored message and its log row.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { plainMail, SmtpClient, sendMail } from '../support/smtp.ts'
import { logOf, rawOf, spooled, storedMessages, sweepContent } from '../support/stored.ts'

const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  zone: {
    'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'], A: ['127.0.0.1'] },
    '_dmarc.out.test': { TXT: ['v=DMARC1; p=reject'] },
    '1.0.0.127.in-addr.arpa': { PTR: ['mx.out.test'] },
    'mx.out.test': { A: ['127.0.0.1'] },
    'news_letter.out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    '_fail.out.test': { TXT: ['v=spf1 -all'] },
  },
})
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const team = await appliance.team()
await team.domain('in.test')
const port = appliance.ports.smtp

test('an ordinary message is stored with its check results, and the log shows them', async () => {
  const ben = await team.mailbox('ben@in.test')
  const info = await sendMail(port, {
    envelope: { from: 'ann@out.test', to: 'ben@in.test' },
    from: 'Ann <ann@out.test>',
    to: 'ben@in.test',
    subject: 'Grüße',
    date: new Date(clock.now()),
    text: 'Hello Ben\n.\n..\n',
    attachments: [{ filename: 'a.txt', content: 'attached' }],
  })
  const queueId = /^250 2\.0\.0 Ok: queued as ([a-z0-9]+)$/.exec(String(info.response))?.[1]
  assert.ok(queueId)
  const [mail, ...others] = await storedMessages(appliance, ben.id)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [mail!.subject, mail!.role, mail!.rcptTo, mail!.mailFrom],
    ['Grüße', 'inbox', 'ben@in.test', 'ann@out.test'],
  )
  const { spf, dmarc, fromAligned } = mail!.authentication
  assert.deepEqual([spf, dmarc, fromAligned], ['pass', 'pass', true])
  assert.deepEqual([mail!.spam.score, mail!.spam.isSpam, mail!.spam.reasons], [0, false, ['first_contact']])

  const raw = await rawOf(appliance, mail!.id)
  assert.match(raw, /^Return-Path: <ann@out\.test>\r\nAuthentication-Results: mx\.mailstead\.test;/)
  assert.match(
    raw,
    new RegExp(`by mx\\.mailstead\\.test with ESMTPS \\(TLSv1\\.3 [^)]+\\) id ${queueId}\r\n for <ben@in\\.test>`),
  )
  assert.match(raw, /Received: from client\.test \(mx\.out\.test \[127\.0\.0\.1\]\)/)

  const [row, ...more] = await logOf(appliance, team.id)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [row!.status, row!.reason, row!.mail_from, row!.rcpt_to, row!.header_from, row!.subject, row!.domain],
    ['stored', null, 'ann@out.test', 'ben@in.test', 'ann@out.test', 'Grüße', 'in.test'],
  )
  assert.equal(row!.smtp_reply, info.response)
  assert.equal(row!.message_id, mail!.id)
  assert.equal(row!.mailbox_id, ben.id)
  assert.deepEqual([row!.remote_address, row!.remote_name, row!.helo], ['127.0.0.1', 'mx.out.test', 'client.test'])
  assert.match(row!.tls!, /^TLSv1\.3 /)
  assert.equal(row!.authentication!.dmarc, 'pass')
  assert.equal(row!.spam_score, 0)
  assert.ok(row!.size_bytes! > 200)
  const {
    dns,
    dmarc: policy,
    thread,
    filter,
  } = row!.evidence as unknown as {
    dns: { name: string }[]
    dmarc: { policy: string }
    thread: { id: string; by: string }
    filter: { accept: boolean }
  }
  assert.ok(dns.some(({ name }) => name === '_dmarc.out.test'))
  assert.equal(policy.policy, 'reject')
  assert.equal(thread.by, 'new')
  assert.equal(filter.accept, true)
})

test('a message larger than the memory of the spool goes through a file and is complete', async () => {
  const mailbox = await team.mailbox('big@in.test')
  const line = 'The quick brown fox jumps over the lazy dog, again and again and again.\r\n'
  const text = line.repeat(50_000)
  await using client = await SmtpClient.greet(port)
  const content = plainMail({ from: 'ann@out.test', to: mailbox.email, text })
  const reply = await client.mail({ from: 'ann@out.test', to: mailbox.email, content })
  assert.equal(reply.code, 250, reply.text)
  const [mail] = await storedMessages(appliance, mailbox.id)
  assert.ok((await rawOf(appliance, mail!.id)).endsWith(`\r\n\r\n${text}\r\n`))
  assert.deepEqual(await spooled(appliance), [])
})

test('a client that disconnects after the final dot and sends again causes one message', async () => {
  const mailbox = await team.mailbox('drop@in.test')
  const content = plainMail({ from: 'ann@out.test', to: mailbox.email, subject: 'Once' })
  const first = await SmtpClient.greet(port)
  first.write(`MAIL FROM:<ann@out.test>\r\nRCPT TO:<${mailbox.email}>\r\nDATA\r\n`)
  for (const code of [250, 250, 354]) await first.expect(code)
  await first.push(Buffer.from(`${content}.\r\n`))
  first.drop()
  await using again = await SmtpClient.greet(port)
  for (let i = 0; i < 2; i++) {
    const reply = await again.mail({ from: 'ann@out.test', to: mailbox.email, content })
    assert.equal(reply.code, 250, reply.text)
  }
  const mails = await storedMessages(appliance, mailbox.id)
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['Once'],
  )
  const rows = (await logOf(appliance, team.id)).filter(({ rcpt_to }) => rcpt_to === mailbox.email)
  assert.ok(rows.some(({ status }) => status === 'duplicate'))
  assert.equal(rows.filter(({ status }) => status === 'stored').length, 1)
  assert.ok(rows.every(({ message_id }) => message_id === mails[0]!.id))
})

test('the same message to an address and its tag is one message', async () => {
  const mailbox = await team.mailbox('twice@in.test')
  await using client = await SmtpClient.greet(port)
  const content = plainMail({ from: 'ann@out.test', to: mailbox.email })
  await client.mail({ from: 'ann@out.test', to: [mailbox.email, 'twice+tag@in.test'], content })
  assert.equal((await storedMessages(appliance, mailbox.id)).length, 1)
})

test('copies for several mailboxes share one content', async () => {
  const mailboxes = [await team.mailbox('one@in.test'), await team.mailbox('two@in.test')]
  await using client = await SmtpClient.greet(port)
  const content = plainMail({ from: 'ann@out.test', to: 'both@in.test', subject: 'Both' })
  const reply = await client.mail({ from: 'ann@out.test', to: mailboxes.map(({ email }) => email), content })
  assert.equal(reply.code, 250, reply.text)
  const raws: string[] = []
  for (const { id } of mailboxes) {
    const [mail] = await storedMessages(appliance, id)
    raws.push(await rawOf(appliance, mail!.id))
  }
  assert.equal(raws[0], raws[1])
  assert.doesNotMatch(raws[0]!, / for </, 'other recipients are not disclosed')
})

test('content without a valid header is stored as received', async () => {
  const mailbox = await team.mailbox('odd@in.test')
  await using client = await SmtpClient.greet(port)
  for (const content of ['', 'no header at all', `X: ${'y'.repeat(300_000)}\r\n\r\nbody`, '\r\n\r\n\r\n']) {
    const reply = await client.mail({ from: 'ann@out.test', to: mailbox.email, content })
    assert.ok(reply.code === 250 || reply.text.startsWith('550 5.7.1'), reply.text)
  }
})

test('non-ASCII addresses are accepted with SMTPUTF8', async () => {
  const mailbox = await team.mailbox('utf@in.test')
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<jürgen@out.test> SMTPUTF8 BODY=8BITMIME', 250)
  await client.command(`RCPT TO:<${mailbox.email}>`, 250)
  await client.command('DATA', 354)
  client.write(`${plainMail({ from: 'Jürgen <jürgen@out.test>', to: mailbox.email, subject: 'Grüße' })}.\r\n`)
  await client.expect(250)
  const [mail] = await storedMessages(appliance, mailbox.id)
  assert.deepEqual([mail!.subject, mail!.mailFrom], ['Grüße', 'jürgen@out.test'])
  assert.match(await rawOf(appliance, mail!.id), /with UTF8SMTP id/)
})

test('a sender domain with underscores is accepted, and SPF is checked for it', async () => {
  const mailbox = await team.mailbox('letters@in.test')
  await using client = await SmtpClient.greet(port)
  for (const domain of ['news_letter.out.test', '_fail.out.test']) {
    const content = plainMail({ from: 'ann@else.test', to: mailbox.email, subject: domain })
    const reply = await client.mail({ from: `b+1@${domain}`, to: mailbox.email, content })
    assert.equal(reply.code, 250, reply.text)
  }
  const mails = await storedMessages(appliance, mailbox.id)
  assert.deepEqual(
    mails.map(({ mailFrom, authentication }) => [mailFrom, authentication.spf]),
    [
      ['b+1@news_letter.out.test', 'pass'],
      ['b+1@_fail.out.test', 'fail'],
    ],
  )
  const raw = await rawOf(appliance, mails[0]!.id)
  assert.match(raw, /^Return-Path: <b\+1@news_letter\.out\.test>\r\n/)
  assert.match(raw, /spf=pass smtp\.mailfrom=news_letter\.out\.test/)
})

test('a client that half-closes after QUIT gets the reply for its message', async () => {
  const mailbox = await team.mailbox('half@in.test')
  for (const secure of [false, true]) {
    await using client = await SmtpClient.greet(port)
    if (secure) {
      await client.startTls()
      await client.command('EHLO client.test', 250)
    }
    const subject = secure ? 'secure' : 'plain'
    client.write(`MAIL FROM:<ann@out.test>\r\nRCPT TO:<${mailbox.email}>\r\nDATA\r\n`)
    for (const code of [250, 250, 354]) await client.expect(code)
    client.write(`${plainMail({ from: 'ann@out.test', to: mailbox.email, subject })}.\r\nQUIT\r\n`)
    client.end()
    await client.expect(250)
    await client.expect(221)
    assert.equal(await client.closed(), '')
  }
  const subjects = (await storedMessages(appliance, mailbox.id)).map(({ subject }) => subject)
  assert.deepEqual(subjects, ['plain', 'secure'])
})

test('a bounce is accepted', async () => {
  const mailbox = await team.mailbox('bounced@in.test')
  await using client = await SmtpClient.greet(port, 'out.test')
  const content = plainMail({
    from: 'Mailer-Daemon <mailer-daemon@out.test>',
    to: mailbox.email,
    subject: 'Undelivered',
  })
  const reply = await client.mail({ from: '', to: mailbox.email, content })
  assert.equal(reply.code, 250, reply.text)
  const [mail] = await storedMessages(appliance, mailbox.id)
  assert.equal(mail!.mailFrom, '')
})
