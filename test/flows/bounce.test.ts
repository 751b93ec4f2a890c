// Bounces: over SMTP to the envelope sender of a message, into the log, the suppression list and the events.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bounceAddress } from '../../src/outbound/model/envelope-sender.ts'
import type { Email } from '../../src/outbound/model/records.ts'
import { composeDsn } from '../../src/reports/dsn.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { sendingContextOf } from '../support/sending-appliance.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { logOf, storedMessages, sweepContent } from '../support/stored.ts'

const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  env: { MAIL_HOSTS: 'mx.mailstead.test,mx2.mailstead.test' },
  zone: {
    'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'], A: ['127.0.0.1'] },
    '_dmarc.out.test': { TXT: ['v=DMARC1; p=reject'] },
    'mx.out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'], A: ['127.0.0.1'] },
  },
})
after(async () => {
  await sweepContent(appliance, clock)
  await appliance.close()
})
const { app } = appliance
const team = await appliance.team()
await team.domain('shop.test')
const sent = sendingContextOf(app, team.id)
const port = appliance.ports.smtp

/** The address of the first delivery. */
function addressOf(email: Email): string {
  return bounceAddress(app.vault, app.config, app.outbound.log.emails.deliveriesOf(email.n)[0]!.n)
}

/** A report as another appliance of this kind would write it. */
function dsn(email: Email, recipient: string, text = '550 5.1.1 User unknown'): Buffer {
  const failure = { email: recipient, status: '5.1.1', reason: '', diagnostic: text, lastAttemptAt: clock.now() }
  return composeDsn({
    reportingMta: 'mx.out.test',
    from: { email: 'mailer-daemon@mx.out.test', name: '' },
    to: { email: addressOf(email), name: '' },
    messageId: 'report@mx.out.test',
    date: clock.now(),
    arrivedAt: clock.now(),
    envelopeId: 'x',
    subject: email.subject,
    originalMessageId: email.internetMessageId,
    recipients: [failure],
    original: Buffer.from(`Message-ID: <${email.internetMessageId}>\r\n\r\n`),
  })
}

async function offer(to: string | string[], content: string | Buffer, from = ''): Promise<string> {
  await using client = await SmtpClient.greet(port, 'mx.out.test')
  return (await client.mail({ from, to, content })).text
}

async function statuses(email: Email): Promise<(string | null)[]> {
  return (await sent.deliveries(email)).map(({ status, statusReason }) => statusReason ?? status)
}

/** A complaint of out.test (RFC 5965). */
function complaintOf({ author, victim, email, returnPath = 'x@y.test' }: Complaint): string {
  return [
    `From: ${author}@out.test`,
    'To: fbl@bounce.mx.mailstead.test',
    'Subject: complaint',
    'Content-Type: multipart/report; report-type=feedback-report; boundary=b',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: Test/1',
    `Original-Rcpt-To: ${victim}`,
    '--b',
    'Content-Type: message/rfc822',
    '',
    `Return-Path: <${returnPath}>`,
    `Message-ID: <${email.internetMessageId}>`,
    '--b--',
    '',
  ].join('\r\n')
}

interface Complaint {
  author: string
  victim: string
  email: Email
  returnPath?: string
}

test('a bounce to the envelope sender of a message: the delivery failed, the recipient is suppressed, the event is sent', async () => {
  const email = await sent.sent(['gone@out.test', 'there@out.test'])
  const events = (await sent.events()).length
  assert.match(await offer(addressOf(email), dsn(email, 'gone@out.test')), /^250 2\.0\.0 Ok: queued as /)
  assert.deepEqual(await statuses(email), ['bounced_after_accept: 550 5.1.1 User unknown', 'sent'])
  assert.deepEqual(
    sent.suppressions.of(app.db.read, team.id, ['gone@out.test', 'there@out.test']),
    new Set(['gone@out.test']),
  )
  const [event] = (await sent.events()).slice(events)
  assert.deepEqual([event!.type, event!.data.recipient], ['message.bounced', 'gone@out.test'])
  const row = (await logOf(appliance, team.id)).at(-1)!
  assert.deepEqual(
    [row.status, row.reason, row.mail_from, row.rcpt_to, row.domain, row.message_id],
    ['stored', null, '', addressOf(email), 'bounce.mx.mailstead.test', null],
  )
  assert.deepEqual(row.evidence.report, {
    kind: 'bounce',
    message_id: email.id,
    outcome: 'The report recorded a bounce for 1 of its recipients',
  })
  const { body } = await appliance.get('/inbound/logs', team.key)
  const shown = await appliance.get(`/inbound/logs/${body.data[0].id}`, team.key)
  assert.equal(shown.body.data.evidence.report.message_id, email.id)
  // The peer missed our answer and sends it again: nothing changes.
  const count = (await sent.events()).length
  assert.match(await offer(addressOf(email), dsn(email, 'gone@out.test')), /^250 /)
  assert.equal((await sent.events()).length, count)
})

test('at each of our host names, in any case, and from a non-null sender', async () => {
  const email = await sent.sent(['any@out.test'])
  const address = addressOf(email).toUpperCase().replace('@BOUNCE.MX.', '@Bounce.MX2.')
  assert.match(await offer(address, dsn(email, 'any@out.test'), 'mailer-daemon@mx.out.test'), /^250 /)
  assert.match((await statuses(email))[0]!, /^bounced_after_accept/)
})

test('a forged report address is unknown, and so is that of an expired message', async () => {
  const email = await sent.sent(['x@out.test'])
  const forged = addressOf(email).replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'))
  const unknown = [forged, 'b@bounce.mx.mailstead.test', 'ana@bounce.mx.mailstead.test']
  for (const address of unknown) {
    assert.equal(await offer(address, dsn(email, 'x@out.test')), '550 5.1.1 There is no such mailbox here', address)
  }
  const forgotten = bounceAddress(app.vault, app.config, 999_999)
  assert.equal(
    await offer(forgotten, dsn(email, 'x@out.test'), 'ann@out.test'),
    '550 5.1.1 There is no such mailbox here',
  )
  // From the null sender a refusal would freeze in the queue of the other server.
  const elsewhere = await sent.sent(['x@else.test'])
  assert.match(await offer(forgotten, dsn(elsewhere, 'x@else.test')), /^250 /)
  assert.deepEqual(await statuses(elsewhere), ['sent'])
  assert.match(await offer(forgotten, plainMail({ from: 'x@out.test', to: forgotten })), /^250 /)
  assert.match(await offer('x@bounce.other.test', 'x'), /^550 5\.7\.1 /)
  assert.deepEqual(await statuses(email), ['sent'])
})

test('a recipient who forges a report about all others changes only their own delivery', async () => {
  const email = await sent.sent(['mallory@evil.test', 'ann@near.test', 'bob@far.test'])
  const rows = (await logOf(appliance, team.id)).length
  for (const victim of ['ann@near.test', 'bob@far.test']) {
    assert.match(await offer(addressOf(email), dsn(email, victim)), /^250 /)
  }
  assert.deepEqual(await statuses(email), ['sent', 'sent', 'sent'])
  assert.deepEqual(sent.suppressions.of(app.db.read, team.id, ['ann@near.test', 'bob@far.test']), new Set())
  const notes = (await logOf(appliance, team.id)).slice(rows).map(({ evidence }) => evidence.report)
  const note = {
    kind: 'bounce',
    message_id: email.id,
    outcome: 'The report names no recipient whose delivery it could change',
  }
  assert.deepEqual(notes, [note, note])
})

test('a customer of a provider does not speak for its other customers', async () => {
  const email = await sent.sent(['mallory@out.test', 'ann@out.test'])
  // Authenticated for out.test, as each of its customers is.
  assert.match(await offer(addressOf(email), dsn(email, 'ann@out.test'), 'mallory@out.test'), /^250 /)
  // The signature of out.test is as good when a message of its customer is sent once more from the null sender.
  const written = dsn(email, 'ann@out.test').toString().replace('mailer-daemon@mx.out.test', 'mallory@out.test')
  assert.match(written, /^From: .*mallory@out\.test/m)
  assert.match(await offer(addressOf(email), written), /^250 /)
  for (const author of ['mallory', 'staffan']) {
    const complaint = complaintOf({ author, victim: 'ann@out.test', email })
    assert.match(await offer('fbl@bounce.mx.mailstead.test', complaint, `${author}@out.test`), /^250 /)
  }
  assert.deepEqual(await statuses(email), ['sent', 'sent'])
  const complaint = complaintOf({ author: 'fbl', victim: 'ann@out.test', email })
  assert.match(await offer('fbl@bounce.mx.mailstead.test', complaint, 'fbl@out.test'), /^250 /)
  assert.deepEqual(await statuses(email), ['sent', 'complained'])
  const other = await sent.sent(['x@far.test', 'ben@out.test'])
  assert.match(await offer(addressOf(other), dsn(other, 'ben@out.test')), /^250 /)
  assert.match((await statuses(other))[1]!, /^bounced_after_accept/)
})

test('a complaint to the complaint address', async () => {
  const email = await sent.sent(['angry@out.test'])
  const report = (returnPath: string) => complaintOf({ author: 'fbl', victim: 'angry@out.test', email, returnPath })
  // A report that has only the Message-ID is accepted without effect.
  const rows = (await logOf(appliance, team.id)).length
  assert.match(await offer('fbl@bounce.mx.mailstead.test', report('x@y.test'), 'fbl@stranger.test'), /^250 /)
  assert.deepEqual(await statuses(email), ['sent'])
  assert.equal((await logOf(appliance, team.id)).length, rows)
  assert.match(await offer('FBL@bounce.mx.mailstead.test', report(addressOf(email))), /^250 /)
  assert.deepEqual(await statuses(email), ['complained'])
  const { kind } = (await logOf(appliance, team.id)).at(-1)!.evidence.report as unknown as { kind: string }
  assert.equal(kind, 'complaint')
})

test('an automatic reply is delivered to the mailbox that sent the message', async () => {
  const ana = await team.mailbox('ana@shop.test')
  const email = await sent.sent(['away@out.test'], ana)
  const more = ['Auto-Submitted: auto-replied', `In-Reply-To: <${email.internetMessageId}>`]
  const reply = plainMail({ from: 'away@out.test', to: addressOf(email), subject: 'Out of office', more })
  assert.match(await offer(addressOf(email), reply), /^250 /)
  const [mail, ...others] = await storedMessages(appliance, ana.id)
  assert.deepEqual(others, [])
  assert.deepEqual([mail!.subject, mail!.rcptTo, mail!.role], ['Out of office', addressOf(email), 'inbox'])
  const row = (await logOf(appliance, team.id)).at(-1)!
  assert.deepEqual([row.status, row.mailbox_id], ['stored', ana.id])
  assert.deepEqual(await statuses(email), ['sent'])
  // A mail that fails DMARC is refused there as everywhere.
  const forged = plainMail({ from: 'ann@out.test', to: addressOf(email) })
  await using client = await SmtpClient.greet(port, 'stranger.test')
  assert.match(
    (await client.mail({ from: 'x@stranger.test', to: addressOf(email), content: forged })).text,
    /^550 5\.7\.1 /,
  )
})

test('a report for a deleted mailbox is not delivered to a mailbox that reuses its address', async () => {
  const before = await team.mailbox('sales@shop.test')
  const email = await sent.sent(['away@out.test'], before)
  await app.administration.mailboxes.delete(team.id, before.id)
  const now = await team.mailbox('sales@shop.test')
  const more = ['Auto-Submitted: auto-replied', `In-Reply-To: <${email.internetMessageId}>`]
  const reply = plainMail({ from: 'away@out.test', to: addressOf(email), subject: 'Out of office', more })
  assert.match(await offer(addressOf(email), reply), /^250 /)
  assert.deepEqual(await storedMessages(appliance, now.id), [])
  const row = (await logOf(appliance, team.id)).at(-1)!
  assert.deepEqual([row.status, row.reason, row.rcpt_to], ['discarded', 'not_a_report', addressOf(email)])
})

test('an automatic reply to a message of a root key is delivered to the mailbox of its From address, and dropped without one', async () => {
  const info = await team.mailbox('info@shop.test')
  const email = await sent.sent(['away@out.test'], { id: null, email: 'info@shop.test' })
  const answer = (more: string[]) => plainMail({ from: 'away@out.test', to: addressOf(email), subject: 'Away', more })
  assert.match(await offer(addressOf(email), answer(['X-Auto-Response-Suppress: All'])), /^250 /)
  assert.deepEqual(
    (await storedMessages(appliance, info.id)).map(({ subject, role }) => [subject, role]),
    [['Away', 'inbox']],
  )
  const other = await sent.sent(['away@out.test'])
  for (const [more, from] of [
    [['Auto-Submitted: auto-replied'], 'away@out.test'],
    [['Precedence: bulk'], 'away@out.test'],
    [['X-Autoreply: yes'], 'away@out.test'],
    [[], ''],
  ] as [string[], string][]) {
    const content = plainMail({ from: 'away@out.test', to: addressOf(other), subject: 'Away', more })
    assert.match(await offer(addressOf(other), content, from), /^250 /)
    assert.deepEqual((await logOf(appliance, team.id)).at(-1)!.status, 'discarded')
  }
  assert.deepEqual(await statuses(other), ['sent'])
})

test('an out-of-office reply that resembles a bounce is not one', async () => {
  const dan = await team.mailbox('dan@shop.test')
  const email = await sent.sent(['away@out.test'], dan)
  const text = 'Delivery of your message to away@out.test: this mailbox is disabled, the user is no longer here.'
  for (const more of [
    ['Auto-Submitted: auto-generated', 'X-Auto-Response-Suppress: All'],
    ['Precedence: auto_reply'],
  ]) {
    const content = plainMail({ from: 'away@out.test', to: addressOf(email), subject: `Away ${more[0]}`, text, more })
    assert.match(await offer(addressOf(email), content), /^250 /)
  }
  assert.equal((await storedMessages(appliance, dan.id)).length, 2)
  assert.deepEqual(await statuses(email), ['sent'])
})

test('an undeliverable message from the null sender is dropped: a full mailbox defers it, DMARC and filters reject it', async () => {
  const fay = await team.mailbox('fay@shop.test')
  const email = await sent.sent(['away@out.test'], fay)
  const more = ['Auto-Submitted: auto-replied']
  const forged = plainMail({ from: 'away@out.test', to: addressOf(email), subject: 'Away', more })
  await using client = await SmtpClient.greet(port, 'stranger.test')
  assert.match((await client.mail({ from: '', to: addressOf(email), content: forged })).text, /^250 /)
  const row = (await logOf(appliance, team.id)).at(-1)!
  assert.deepEqual([row.status, row.reason, row.mailbox_id], ['discarded', 'dmarc_reject', fay.id])
  assert.deepEqual(await storedMessages(appliance, fay.id), [])
  await app.db.write((tx) => tx.run('UPDATE mailboxes SET quota_bytes = 1 WHERE id = ?', [fay.id]))
  assert.match(await offer(addressOf(email), forged), /^452 4\.2\.2 /)
})

test('an automatic reply is filed by the Sieve script of its mailbox', async () => {
  const cleo = await team.mailbox('cleo@shop.test')
  const content = 'require "fileinto"; if header :is "auto-submitted" "auto-replied" { fileinto "Archive"; }'
  await appliance.app.directory.sieveScripts.create(cleo.id, { name: 'Replies', content, activate: true })
  const email = await sent.sent(['away@out.test'], cleo)
  const more = ['Auto-Submitted: auto-replied']
  const reply = plainMail({ from: 'away@out.test', to: addressOf(email), subject: 'Out of office', more })
  assert.match(await offer(addressOf(email), reply), /^250 /)
  assert.deepEqual(
    (await storedMessages(appliance, cleo.id)).map(({ role }) => role),
    ['archive'],
  )
})

test('a message that is not a report is rejected when no mailbox sent the original, and the log shows it', async () => {
  const email = await sent.sent(['x@out.test'])
  const reply = await offer(addressOf(email), plainMail({ from: 'ann@out.test', to: addressOf(email) }), 'ann@out.test')
  assert.equal(reply, '550 5.7.1 This address only takes reports about mail that was sent')
  const row = (await logOf(appliance, team.id)).at(-1)!
  assert.deepEqual([row.status, row.reason, row.rcpt_to], ['refused', 'not_a_report', addressOf(email)])
  const other = plainMail({ from: 'a@out.test', to: 'b@c.test' })
  assert.equal(await offer('fbl@bounce.mx.mailstead.test', other, 'ann@out.test'), reply)
  assert.match(await offer('fbl@bounce.mx.mailstead.test', other), /^250 /)
  const { body } = await appliance.get('/inbound/logs?status=refused', team.key)
  assert.equal(body.data[0].reason, 'not_a_report')
})

test('a report address must be the only recipient', async () => {
  const [one, two] = [await sent.sent(['x@out.test']), await sent.sent(['y@out.test'])]
  await team.mailbox('ben@shop.test')
  for (const to of [
    [addressOf(one), addressOf(two)],
    [addressOf(one), 'ben@shop.test'],
    ['ben@shop.test', addressOf(one)],
  ]) {
    assert.equal(await offer(to, 'x'), '452 4.5.3 Send to this recipient separately')
  }
  // The same one twice is one.
  assert.match(await offer([addressOf(one), addressOf(one)], dsn(one, 'x@out.test')), /^250 /)
})

test('malformed lines in a report are rejected, with a log row for the team', async () => {
  const email = await sent.sent(['x@out.test'])
  await using client = await SmtpClient.greet(port)
  await client.command('MAIL FROM:<>', 250)
  await client.command(`RCPT TO:<${addressOf(email)}>`, 250)
  await client.command('DATA', 354)
  client.write('Subject: a\nb\r\n\r\n.\r\n')
  assert.match((await client.reply()).text, /^550 5\.6\.11 /)
  const row = (await logOf(appliance, team.id)).at(-1)!
  assert.deepEqual([row.status, row.reason, row.rcpt_to], ['refused', 'bad_bytes', addressOf(email)])
})

test('the operator can be reached at the report domain too (RFC 5321 §4.5.1)', async () => {
  const found = app.directory.mailboxes.receiver('postmaster', null)
  assert.equal(found.reason, null)
  const mail = plainMail({ from: 'ann@out.test', to: 'postmaster@bounce.mx.mailstead.test', subject: 'Hello operator' })
  assert.match(await offer('postmaster@bounce.mx.mailstead.test', mail, 'ann@out.test'), /^250 /)
  assert.ok(found.reason === null)
  assert.equal((await storedMessages(appliance, found.mailbox.id)).at(-1)!.subject, 'Hello operator')
})

test('the sender mailbox is notified of a bounced message', async () => {
  const eva = await team.mailbox('eva@shop.test')
  const email = await sent.sent(['lost@out.test'], eva)
  assert.match(await offer(addressOf(email), dsn(email, 'lost@out.test')), /^250 /)
  assert.deepEqual(sent.emails.noticesDue(10), [email.n])
  assert.equal(await sent.notices.run(), 1)
  const { body } = await appliance.get('/inbound/logs?search=lost', team.key)
  assert.deepEqual(body.data, [])
})

describe('a bounce in the mailbox that is the envelope sender of a sending account', () => {
  const returned = (email: Email, recipient: string, from = 'mailer-daemon@mx.out.test') =>
    composeDsn({
      ...{ reportingMta: 'mx.out.test', from: { email: from, name: '' }, to: { email: 'owner@shop.test', name: '' } },
      ...{ messageId: 'report@mx.out.test', date: clock.now(), arrivedAt: clock.now(), envelopeId: 'x' },
      ...{ subject: email.subject, originalMessageId: email.internetMessageId },
      recipients: [
        {
          ...{ email: recipient, status: '5.1.1', reason: '', lastAttemptAt: clock.now() },
          diagnostic: '550 5.1.1 User unknown',
        },
      ],
      original: Buffer.from(`Message-ID: <${email.internetMessageId}>\r\n\r\n`),
    })
  let ana: { id: string; email: string; key: string }
  let eve: { id: string; email: string; key: string }
  before(async () => {
    ana = await team.mailbox('owner@shop.test')
    eve = await team.mailbox('eve@shop.test')
  })
  const suppressed = (address: string) => sent.suppressions.of(app.db.read, team.id, [address])

  test('is applied to the delivery and delivered to the mailbox', async () => {
    for (const from of [ana, { id: null, email: ana.email }]) {
      const email = await sent.sent(['lost@out.test', 'well@out.test'], from)
      const count = (await storedMessages(appliance, ana.id)).length
      const events = (await sent.events()).length
      assert.match(await offer(ana.email, returned(email, 'lost@out.test')), /^250 /)
      assert.deepEqual(await statuses(email), ['bounced_after_accept: 550 5.1.1 User unknown', 'sent'])
      assert.deepEqual(suppressed('lost@out.test'), new Set(['lost@out.test']))
      assert.equal((await storedMessages(appliance, ana.id)).length, count + 1)
      const types = (await sent.events()).slice(events).map(({ type }) => type)
      assert.ok(types.includes('message.bounced'), types.join())
    }
  })

  const refused: [string, (email: Email) => Promise<string>][] = [
    ['of a stranger', (email) => offer(ana.email, returned(email, 'kept@far.test', 'mailer-daemon@out.test'))],
    ['without authentication', (email) => offer(ana.email, returned(email, 'kept@far.test', 'mailer-daemon@far.test'))],
    ['in a mailbox that did not send it', (email) => offer(eve.email, returned(email, 'kept@out.test'))],
    ['with a sender', (email) => offer(ana.email, returned(email, 'kept@out.test'), 'mailer-daemon@mx.out.test')],
    ['for two mailboxes', (email) => offer([ana.email, eve.email], returned(email, 'kept@out.test'))],
  ]
  for (const [what, give] of refused) {
    test(`changes nothing when it is ${what}`, async () => {
      const email = await sent.sent(['kept@out.test', 'kept@far.test'], ana)
      assert.match(await give(email), /^250 /)
      assert.deepEqual(await statuses(email), ['sent', 'sent'])
      assert.deepEqual([...suppressed('kept@out.test'), ...suppressed('kept@far.test')], [])
    })
  }

  test('of another team changes nothing', async () => {
    const other = await appliance.team()
    const theirs = await sendingContextOf(app, other.id).sent(['kept@out.test'])
    assert.match(await offer(ana.email, returned(theirs, 'kept@out.test')), /^250 /)
    assert.deepEqual(await statuses(theirs), ['sent'])
  })
})
