// What reports do to the deliveries they speak of, and what strangers cannot do with them.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type BounceKey, bounceAddress } from '../../../src/outbound/model/envelope-sender.ts'
import type { Email } from '../../../src/outbound/model/records.ts'
import type { BounceReport, ComplaintReport, ReportedRecipient } from '../../../src/reports/report.ts'
import { openSendingAppliance } from '../../support/sending-appliance.ts'

const appliance = await openSendingAppliance()
after(() => appliance[Symbol.asyncDispose]())
const { app, clock, feedback, suppressions, teamId } = appliance

const NO_MAIL = { messageId: null, subject: null, from: null, to: [], returnPath: null }

function failed(email: string, more: Partial<ReportedRecipient> = {}): ReportedRecipient {
  return {
    finalRecipient: email,
    originalRecipient: null,
    action: 'failed',
    status: '5.1.1',
    smtpCode: 550,
    diagnostic: '550 5.1.1 User unknown',
    stage: null,
    remoteMta: 'mx.out.test',
    lastAttemptAt: null,
    ...more,
  }
}

function bounceOf(recipients: ReportedRecipient[], original: Partial<BounceReport['original']> = {}): BounceReport {
  const about = { ...NO_MAIL, ...original }
  return { kind: 'bounce', recipients, reportingMta: 'mx.out.test', envelopeId: null, arrivedAt: null, original: about }
}

function complaintOf(recipients: string[], more: Partial<ComplaintReport> = {}): ComplaintReport {
  return {
    kind: 'complaint',
    feedbackType: 'abuse',
    feedbackWord: 'abuse',
    userAgent: 'ExampleFBL/1.0',
    originalRecipients: recipients,
    reportingMta: null,
    arrivedAt: null,
    original: NO_MAIL,
    ...more,
  }
}

/** A report to the address of one delivery, by default the first. */
async function toAddressOf(
  email: Email,
  report: BounceReport | ComplaintReport,
  { to, voucher = null }: { to?: string; voucher?: string | null } = {},
) {
  return feedback.receive({ report, key: await keyOf(email, to), voucher, receivedAt: clock.now() })
}

async function keyOf(email: Email, recipient?: string): Promise<BounceKey> {
  const deliveries = await appliance.deliveries(email)
  const delivery = deliveries.find(({ to }) => to === recipient) ?? deliveries[0]!
  return { of: 'delivery', n: delivery.n }
}

/** A report to the address of the message, as earlier versions had one for all recipients. */
function toEarlierAddressOf(email: Email, report: BounceReport | ComplaintReport, voucher: string | null = null) {
  return feedback.receive({ report, key: { of: 'message', n: email.n }, voucher, receivedAt: clock.now() })
}

/** A report to the address for complaints. */
function toFeedback(report: BounceReport | ComplaintReport, voucher: string | null = null) {
  return feedback.receive({ report, key: null, voucher, receivedAt: clock.now() })
}

async function states(email: Email): Promise<(string | null)[]> {
  return (await appliance.deliveries(email)).map(({ status, statusReason }) => statusReason ?? status)
}

function suppressed(...emails: string[]): Set<string> {
  return suppressions.of(app.db.read, teamId, emails)
}

test('a bounce after accept: the delivery failed, the address is suppressed, the event is recorded', async () => {
  const email = await appliance.sent(['gone@out.test', 'there@out.test'])
  const before = (await appliance.events()).length
  clock.advance(60_000)
  const applied = await toAddressOf(email, bounceOf([failed('GONE@out.test', { lastAttemptAt: clock.now() - 1000 })]))
  assert.deepEqual([applied.email?.id, applied.moved], [email.id, 1])
  assert.deepEqual(await states(email), ['bounced_after_accept: 550 5.1.1 User unknown', 'sent'])
  assert.deepEqual(suppressed('gone@out.test', 'there@out.test'), new Set(['gone@out.test']))
  const [event, ...others] = (await appliance.events()).slice(before)
  assert.equal(event!.type, 'message.bounced')
  assert.deepEqual(event!.data.bounce, {
    type: 'permanent',
    sub_type: 'no_such_user',
    smtp_code: 550,
    enhanced_code: '5.1.1',
    diagnostic: '550 5.1.1 User unknown',
    reporting_mta: 'mx.out.test',
    occurred_at: new Date(clock.now() - 1000).toISOString(),
    suppressed: true,
  })
  assert.deepEqual(others, [])
})

test('the same report again changes nothing', async () => {
  const email = await appliance.sent(['twice@out.test'])
  const report = bounceOf([failed('twice@out.test'), failed('twice@out.test')])
  assert.equal((await toAddressOf(email, report)).moved, 1)
  const count = (await appliance.events()).length
  const applied = await toAddressOf(email, report)
  assert.deepEqual([applied.moved, applied.detail], [0, 'The report repeats a bounce that was known'])
  assert.equal((await appliance.events()).length, count)
})

test('a report changes only the delivery whose address it carries', async () => {
  const email = await appliance.sent(['one@out.test', 'two@out.test', 'three@far.test'])
  const others = ['two@out.test', 'three@far.test', 'stranger@x.test']
  for (const report of [bounceOf(others.slice(0, 2).map((to) => failed(to))), complaintOf(others)]) {
    const applied = await toAddressOf(email, report)
    assert.deepEqual([applied.email?.id, applied.moved], [email.id, 0])
    assert.match(applied.detail, /names no recipient whose delivery it could change$/)
  }
  assert.deepEqual(await states(email), ['sent', 'sent', 'sent'])
  assert.equal((await toAddressOf(email, bounceOf([failed('two@out.test'), failed('one@out.test')]))).moved, 1)
  assert.match((await states(email))[0]!, /^bounced_after_accept/)
  assert.deepEqual((await states(email)).slice(1), ['sent', 'sent'])
  assert.deepEqual(suppressed('one@out.test', ...others), new Set(['one@out.test']))
})

test('authenticated, a report counts for the recipients at its domain as well, and for no other', async () => {
  const email = await appliance.sent(['a1@out.test', 'a2@out.test', 'a3@far.test'])
  const report = bounceOf(['a1@out.test', 'a2@out.test', 'a3@far.test'].map((to) => failed(to)))
  assert.equal((await toAddressOf(email, report, { voucher: 'mx.out.test' })).moved, 2)
  assert.deepEqual(suppressed('a1@out.test', 'a2@out.test', 'a3@far.test'), new Set(['a1@out.test', 'a2@out.test']))
})

test('the address that an earlier version gave a message counts for its only recipient, or where it is authenticated', async () => {
  const one = await appliance.sent(['b1@out.test'])
  assert.equal((await toEarlierAddressOf(one, bounceOf([failed('b1@out.test')]))).moved, 1)
  const two = await appliance.sent(['b2@out.test', 'b3@far.test'])
  const report = bounceOf([failed('b2@out.test'), failed('b3@far.test')])
  assert.equal((await toEarlierAddressOf(two, report)).moved, 0)
  assert.equal((await toEarlierAddressOf(two, complaintOf(['b3@far.test']))).moved, 0)
  assert.deepEqual(await states(two), ['sent', 'sent'])
  assert.equal((await toEarlierAddressOf(two, report, 'out.test')).moved, 1)
  assert.deepEqual(suppressed('b2@out.test', 'b3@far.test'), new Set(['b2@out.test']))
})

test('a delay, a success and a soft bounce suppress no address', async () => {
  const email = await appliance.sent(['late@out.test', 'done@out.test', 'full@out.test', 'spam@out.test'])
  const applied = await toAddressOf(
    email,
    bounceOf([
      failed('late@out.test', { action: 'delayed', status: '4.2.2' }),
      failed('done@out.test', { action: 'delivered', status: '2.0.0' }),
      failed('full@out.test', { status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full', smtpCode: 552 }),
      failed('spam@out.test', { diagnostic: '550 5.1.1 blocked using zen.spamhaus.org' }),
    ]),
    { voucher: 'out.test' },
  )
  assert.equal(applied.moved, 2)
  assert.deepEqual((await states(email)).slice(0, 2), ['sent', 'sent'])
  assert.deepEqual(suppressed('late@out.test', 'done@out.test', 'full@out.test', 'spam@out.test'), new Set())
})

test('what failed behind a forwarding is not held against the address that was written to', async () => {
  const email = await appliance.sent(['me@forward.test'])
  await toAddressOf(email, bounceOf([failed('old@elsewhere.test')]))
  assert.deepEqual(await states(email), [
    'bounced_after_accept: 550 5.1.1 User unknown (forwarded to old@elsewhere.test)',
  ])
  assert.deepEqual(suppressed('me@forward.test', 'old@elsewhere.test'), new Set())
  // The report names both: then it is about the address that was written to.
  const second = await appliance.sent(['me2@forward.test', 'x@forward.test'])
  const named = failed('old2@elsewhere.test', { originalRecipient: 'ME2@forward.test' })
  assert.equal((await toAddressOf(second, bounceOf([named]))).moved, 1)
})

test('a server quotes an address on its way back', async () => {
  const email = await appliance.sent(['a.b@out.test'])
  assert.equal((await toAddressOf(email, bounceOf([failed('"a.b"@OUT.test')]))).moved, 1)
  assert.deepEqual(suppressed('a.b@out.test'), new Set(['a.b@out.test']))
})

test('a complaint: reported, and the address is suppressed', async () => {
  const email = await appliance.sent(['angry@out.test', 'calm@out.test'])
  const count = (await appliance.events()).length
  assert.equal((await toAddressOf(email, complaintOf(['angry@out.test']))).moved, 1)
  assert.deepEqual(await states(email), ['complained', 'sent'])
  const [event] = (await appliance.events()).slice(count)
  assert.equal(event!.type, 'message.complained')
  assert.deepEqual(suppressed('angry@out.test', 'calm@out.test'), new Set(['angry@out.test']))
})

test('a complaint without a name is of the recipient whose address it carries', async () => {
  const [one, two] = [await appliance.sent(['only@out.test']), await appliance.sent(['x1@out.test', 'x2@out.test'])]
  assert.equal((await toEarlierAddressOf(one, complaintOf([]))).moved, 1)
  assert.equal((await toEarlierAddressOf(two, complaintOf([]))).moved, 0)
  assert.equal((await toAddressOf(two, complaintOf([]), { to: 'x2@out.test' })).moved, 1)
  const both = new Set(['only@out.test', 'x2@out.test'])
  assert.deepEqual(suppressed('only@out.test', 'x1@out.test', 'x2@out.test'), both)
})

test('a failed check of authentication is no complaint, and "not spam" takes nobody off', async () => {
  const email = await appliance.sent(['checked@out.test'])
  const failure = complaintOf(['checked@out.test'], { feedbackType: 'other', feedbackWord: 'auth-failure' })
  assert.equal((await toAddressOf(email, failure)).moved, 0)
  await toAddressOf(email, complaintOf(['checked@out.test'], { feedbackType: 'not_spam', feedbackWord: 'not-spam' }))
  assert.deepEqual(suppressed('checked@out.test'), new Set())
})

test('at the address for complaints the returned mail shows where it came from', async () => {
  const email = await appliance.sent(['ana@big.test', 'ben@other.test'])
  const returnPath = bounceAddress(app.vault, app.config, (await keyOf(email, 'ben@other.test')).n)
  const applied = await toFeedback(complaintOf(['ben@other.test'], { original: { ...NO_MAIL, returnPath } }))
  assert.deepEqual([applied.email?.id, applied.moved], [email.id, 1])
})

test('a Message-ID alone proves nothing', async () => {
  const email = await appliance.sent(['eva@big.test', 'udo@other.test'])
  const about = {
    ...NO_MAIL,
    messageId: email.internetMessageId,
    returnPath: 'b+0000000010123456789abcde@bounce.mx.mailstead.test',
  }
  const bounce = bounceOf([failed('eva@big.test'), failed('udo@other.test')], about)
  assert.deepEqual(await toFeedback(bounce), {
    email: null,
    moved: 0,
    detail: 'The report is about an unknown message',
  })
  assert.deepEqual(await states(email), ['sent', 'sent'])
  // Authenticated, it counts for recipients at the domain that vouches, wherever below it.
  assert.equal((await toFeedback(bounce, 'feedback.arf.big.test')).moved, 1)
  assert.deepEqual(await states(email), ['bounced_after_accept: 550 5.1.1 User unknown', 'sent'])
  assert.deepEqual(suppressed('udo@other.test'), new Set())
  assert.equal((await toFeedback(bounceOf([], { messageId: 'nobody@knows.test' }), 'big.test')).email, null)
})

test('the id a provider assigned also finds the message', async () => {
  const email = await appliance.sent(['ana@remote.test'])
  await app.db.write((tx) => appliance.emails.addRemoteIds(tx, email.n, ['0100@eu-west-1.amazonses.com']))
  const about = { ...NO_MAIL, messageId: '0100@eu-west-1.amazonses.com' }
  assert.equal((await toFeedback(complaintOf(['ana@remote.test'], { original: about }), 'remote.test')).moved, 1)
})

test('what else belongs to the report is one unit of work with it', async () => {
  const email = await appliance.sent(['unit@out.test'])
  const arrived = {
    report: bounceOf([failed('unit@out.test')]),
    key: await keyOf(email),
    voucher: null,
    receivedAt: clock.now(),
  }
  await assert.rejects(
    feedback.receive(arrived, (_, { moved }) => {
      assert.equal(moved, 1)
      throw new Error('the row could not be written')
    }),
    /row could not be written/,
  )
  assert.deepEqual(await states(email), ['sent'])
  assert.deepEqual(suppressed('unit@out.test'), new Set())
})

test('times from the future and a mail that is gone', async () => {
  const email = await appliance.sent(['future@out.test'])
  const count = (await appliance.events()).length
  await toAddressOf(email, bounceOf([failed('future@out.test', { lastAttemptAt: clock.now() + 1e12 })]))
  const bounce = (await appliance.events())[count]!.data.bounce as { occurred_at: string }
  assert.equal(bounce.occurred_at, new Date(clock.now()).toISOString())
  for (const kind of ['delivery', 'message'] as const) {
    const key = { of: kind, n: 999_999 }
    const gone = { report: bounceOf([failed('x@y.test')]), key, voucher: null, receivedAt: clock.now() }
    assert.equal((await feedback.receive(gone)).email, null)
  }
})
