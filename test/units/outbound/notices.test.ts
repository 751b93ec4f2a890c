// Who sent from a mailbox is told what failed: once, in one mail, and never about a report.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Email, Outcome } from '../../../src/outbound/model/records.ts'
import { readReport } from '../../../src/reports/report.ts'
import { openSendingAppliance } from '../../support/sending-appliance.ts'

const appliance = await openSendingAppliance()
after(() => appliance[Symbol.asyncDispose]())
const { app, clock, emails, transitions: fate, notices } = appliance
const ana = await appliance.mailbox('ana@shop.test')

const bounced = (text: string): Outcome => ({
  kind: 'bounced',
  reply: { smtpCode: 550, enhancedCode: '5.1.1', text },
  type: 'permanent',
  subType: 'no_such_user',
  reportingMta: null,
  afterAccept: false,
  occurredAt: clock.now(),
})

async function fail(email: Email, outcomes: (Outcome | null)[]): Promise<void> {
  const deliveries = await appliance.deliveries(email)
  await app.db.write((tx) => {
    for (const [index, outcome] of outcomes.entries()) if (outcome) fate.apply(tx, deliveries[index]!.n, outcome, null)
  })
}

/** Mails of the system that wait in the queue, with their bytes. */
async function waiting(): Promise<{ email: Email; to: string[]; text: string }[]> {
  const rows = app.db.read.all<{ email: number }>('SELECT DISTINCT email FROM queue ORDER BY email')
  const mails = emails.byN(rows.map(({ email }) => email))
  return Promise.all(
    mails
      .filter(({ source }) => source === 'system')
      .map(async (email) => {
        const bytes = await app.store.blobs.bytes(email.hash!, 0, email.sizeBytes)
        return {
          email,
          to: (await appliance.deliveries(email)).map(({ to }) => to),
          text: Buffer.from(bytes).toString(),
        }
      }),
  )
}

test('one report for all recipients that failed, with the null sender, to the mailbox', async () => {
  const email = await appliance.accepted(['gone@out.test', 'there@out.test', 'late@out.test'], ana)
  const expired: Outcome = { kind: 'expired', reply: { smtpCode: 451, enhancedCode: '4.4.1', text: 'No answer' } }
  await fail(email, [bounced('User unknown'), null, expired])
  assert.equal(await notices.run(), 1)
  const [report, ...others] = await waiting()
  assert.deepEqual(others, [])
  assert.deepEqual([report!.email.returnPath, report!.to], ['', ['ana@shop.test']])
  assert.match(
    report!.text,
    /^From: Mail Delivery System <mailer-daemon@mx\.mailstead\.test>\r\nTo: ana@shop\.test\r\n/,
  )
  assert.match(report!.text, /\r\nAuto-Submitted: auto-replied\r\n/)
  assert.match(report!.text, new RegExp(`\r\nIn-Reply-To: <${email.internetMessageId}>\r\n`))
  assert.match(report!.text, /Your message could not be delivered to these 2 recipients:/)
  assert.match(report!.text, /No mail server accepted it for two days\./)
  const read = readReport(Buffer.from(report!.text), '')
  assert.ok(read?.kind === 'bounce')
  assert.deepEqual(
    read.recipients.map(({ finalRecipient, status, smtpCode }) => [finalRecipient, status, smtpCode]),
    [
      ['gone@out.test', '5.1.1', 550],
      ['late@out.test', '4.4.1', 451],
    ],
  )
  assert.equal(read.original.messageId, email.internetMessageId)
  assert.equal(read.envelopeId, email.id)
  // Told once.
  assert.equal(await notices.run(), 0)
  assert.equal((await waiting()).length, 1)
})

test('two runs at once make one report', async () => {
  const before = (await waiting()).length
  await fail(await appliance.accepted(['twice@out.test'], ana), [bounced('no')])
  const runs = await Promise.all([notices.run(), notices.run()])
  assert.deepEqual(runs, [1, 1])
  assert.equal((await waiting()).length, before + 1)
})

test('a rejection says why in words; what is no longer there cannot be given back', async () => {
  const email = await appliance.sent(['late-bounce@out.test'], ana)
  const deliveries = await appliance.deliveries(email)
  await app.db.write((tx) => fate.apply(tx, deliveries[0]!.n, { ...bounced('no'), afterAccept: true } as Outcome, null))
  const rejected = await appliance.accepted(['stopped@out.test'], ana)
  await fail(rejected, [{ kind: 'rejected', reason: 'suppressed', detail: 'After a hard bounce.' }])
  assert.equal(await notices.run(), 2)
  const [late, stopped] = (await waiting()).slice(-2)
  assert.match(late!.text, /It was accepted at first and returned later\./)
  assert.doesNotMatch(late!.text, /rfc822-headers/)
  assert.match(stopped!.text, /The recipient is on the suppression list\. After a hard bounce\./)
  assert.match(stopped!.text, /\r\nStatus: 5\.7\.1\r\n/)
})

test('where no server was asked, the report has our sentence, no reply, and no server that refused', async () => {
  const email = await appliance.accepted(['x@nowhere.test', 'y@slow.test'], ana)
  const unknown: Outcome = {
    ...(bounced('') as Extract<Outcome, { kind: 'bounced' }>),
    reply: { smtpCode: null, enhancedCode: '5.1.2', text: 'There is no domain nowhere.test.' },
  }
  const slow = { smtpCode: null, enhancedCode: null, text: 'DNS does not answer for slow.test.' }
  await fail(email, [unknown, { kind: 'expired', reply: slow }])
  assert.equal(await notices.run(), 1)
  // Long lines are quoted-printable.
  const text = (await waiting()).at(-1)!.text.replaceAll('=\r\n', '')
  assert.match(text, / {2}x@nowhere\.test\r\n {4}There is no domain nowhere\.test\.\r\n\r\n/)
  assert.match(text, /No mail server accepted it for two days\. DNS does not answer for slow\.test\./)
  assert.match(text, /\r\nStatus: 5\.1\.2\r\n/)
  assert.doesNotMatch(text, /refused it|remote server replied|Diagnostic-Code/)
})

test('what a server announced is no refusal by it: too large, an extension that is missing, a null MX', async () => {
  const own = (enhancedCode: string, text: string): Outcome => ({
    ...(bounced('') as Extract<Outcome, { kind: 'bounced' }>),
    reply: { smtpCode: null, enhancedCode, text },
  })
  const sentences: [code: string, text: string][] = [
    ['5.3.4', 'mx.out.test accepts messages of up to 1000 bytes; this one has 2000.'],
    ['5.6.7', 'mx.out.test does not accept non-ASCII addresses (SMTPUTF8).'],
    ['5.6.3', 'mx.out.test does not accept non-ASCII octets (8BITMIME).'],
    ['5.1.10', 'out.test accepts no mail (null MX).'],
    ['5.4.4', 'The aliases (CNAME) of out.test form a loop in DNS.'],
  ]
  const email = await appliance.accepted(
    sentences.map(([code]) => `p${code}@out.test`),
    ana,
  )
  await fail(
    email,
    sentences.map(([code, text]) => own(code, text)),
  )
  const relayed = await appliance.accepted(['big@out.test'], ana)
  const detail = 'mail.acme.test accepts messages of up to 1000 bytes; this one has 2000.'
  await fail(relayed, [{ kind: 'rejected', reason: 'message_too_large', detail }])
  assert.equal(await notices.run(), 2)
  const [direct, byAccount] = (await waiting()).slice(-2).map(({ text }) => text.replaceAll('=\r\n', ''))
  for (const [code, sentence] of sentences) {
    assert.ok(direct!.includes(`  p${code}@out.test\r\n    ${sentence}\r\n`), sentence)
    assert.ok(direct!.includes(`\r\nStatus: ${code}\r\n`), code)
  }
  assert.ok(byAccount!.includes(`    It is too large. ${detail}\r\n`))
  assert.match(byAccount!, /\r\nStatus: 5\.3\.4\r\n/)
  for (const text of [direct!, byAccount!]) {
    assert.doesNotMatch(text, /refused it|remote server replied|Diagnostic-Code/)
  }
})

test('nobody is told of mail from a root key, of a cancelled one, or in a mailbox that is gone', async () => {
  const before = (await waiting()).length
  await fail(await appliance.accepted(['x@out.test']), [bounced('no')])
  await fail(await appliance.accepted(['x@out.test'], ana), [{ kind: 'cancelled' }])
  const ben = await appliance.mailbox('ben@shop.test')
  await fail(await appliance.accepted(['x@out.test'], ben), [bounced('no')])
  await app.administration.mailboxes.delete(appliance.teamId, ben.id)
  assert.equal(await notices.run(), 0)
  assert.equal((await waiting()).length, before)
  assert.deepEqual(emails.noticesDue(10), [])
})

test('a report that fails itself is not reported', async () => {
  await fail(await appliance.accepted(['y@out.test'], ana), [bounced('no')])
  await notices.run()
  const report = (await waiting()).at(-1)!
  const count = (await appliance.events()).length
  await fail(report.email, [bounced('mailbox full')])
  assert.equal(await notices.run(), 0)
  assert.equal((await appliance.events()).length, count)
})
