// Reports as the standards write them, and what must never be read as one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyReply } from '../../../src/reports/reply-class.ts'
import { type BounceReport, type ComplaintReport, readReport } from '../../../src/reports/report.ts'
import { mailOf } from '../../support/mail.ts'

/** The parts of a multipart/report, each with its type. */
function reportOf(type: string, ...parts: [type: string, ...lines: string[]][]): Buffer {
  const body = parts.flatMap(([part, ...lines]) => ['--b', `Content-Type: ${part}`, '', ...lines])
  return mailOf(
    'From: Mail Delivery System <mailer-daemon@mx.out.test>',
    'To: b+1@bounce.mx.in.test',
    'Subject: Undelivered Mail Returned to Sender',
    `Content-Type: multipart/report; report-type=${type}; boundary=b`,
    '',
    ...body,
    '--b--',
    '',
  )
}

function bounce(bytes: Uint8Array, mailFrom: string | null = null): BounceReport {
  const report = readReport(bytes, mailFrom)
  assert.ok(report?.kind === 'bounce', `${report?.kind} instead of a bounce`)
  return report
}

function complaint(bytes: Uint8Array): ComplaintReport {
  const report = readReport(bytes)
  assert.ok(report?.kind === 'complaint', `${report?.kind} instead of a complaint`)
  return report
}

test('of several recipients each has the reason of its own line: OpenSMTPD, with and without fields beside its words', () => {
  const words = [
    '    Hi!',
    '',
    '    This is the MAILER-DAEMON, please DO NOT REPLY to this email.',
    '',
    '    An error has occurred while attempting to deliver a message for',
    '    the following list of recipients:',
    '',
    'alice@out.test: network error',
    'bob@out.test: 550 5.1.1 User unknown',
    '',
    '    Below is a copy of the original message:',
    '',
    'Subject: Hello',
  ]
  const plain = mailOf(
    'From: Mailer Daemon <MAILER-DAEMON@mx.out.test>',
    'Subject: Delivery status notification',
    '',
    ...words,
  )
  const fields = ['alice', 'bob'].flatMap((name) => [
    '',
    `Final-Recipient: rfc822; ${name}@out.test`,
    'Action: failed',
    'Status: 5.0.0',
  ])
  const report = reportOf(
    'delivery-status',
    ['text/plain', ...words],
    ['message/delivery-status', 'Reporting-MTA: dns; mx.out.test', ...fields],
  )
  for (const bytes of [plain, report]) {
    const { recipients } = bounce(bytes, '')
    assert.deepEqual(
      recipients.map(({ finalRecipient, smtpCode }) => [finalRecipient, smtpCode]),
      [
        ['alice@out.test', null],
        ['bob@out.test', 550],
      ],
    )
    assert.match(recipients[1]!.diagnostic, /^550 5\.1\.1 User unknown/)
    assert.doesNotMatch(recipients[0]!.diagnostic, /550|bob@/)
    const hard = recipients.map(({ smtpCode, status, diagnostic, stage }) => {
      return classifyReply({ smtpCode, enhancedCode: status, text: diagnostic }, stage).suppress
    })
    assert.equal(hard[0], false)
  }
})

test('a reason on several lines is read up to the next named recipient', () => {
  const report = reportOf(
    'delivery-status',
    [
      'text/plain',
      'The following addresses failed:',
      '',
      '  alice@out.test',
      '    host mx.out.test [192.0.2.1]',
      '    answered: 550 5.1.1 No such user',
      '  bob@out.test',
      '    retry timeout exceeded',
    ],
    [
      'message/delivery-status',
      ...['Reporting-MTA: dns; mx.out.test', '', 'Final-Recipient: rfc822; alice@out.test', 'Action: failed'],
      ...['Status: 5.0.0', '', 'Final-Recipient: rfc822; bob@out.test', 'Action: failed', 'Status: 5.0.0'],
    ],
  )
  assert.deepEqual(
    bounce(report).recipients.map(({ status, smtpCode }) => [status, smtpCode]),
    [
      ['5.1.1', 550],
      ['5.0.0', null],
    ],
  )
})

/** Recipients that the report would suppress. */
function suppressedBy(bytes: Uint8Array): string[] {
  const hard = bounce(bytes, '').recipients.filter(({ smtpCode, status, diagnostic, stage }) => {
    return classifyReply({ smtpCode, enhancedCode: status, text: diagnostic }, stage).suppress
  })
  return hard.map(({ finalRecipient }) => finalRecipient)
}

/** Delivery status that gives no reason: the text has it. */
function withoutReasons(recipients: readonly string[], ...words: string[]): Buffer {
  const fields = recipients.flatMap((email) => [
    '',
    `Final-Recipient: rfc822; ${email}`,
    'Action: failed',
    'Status: 5.0.0',
  ])
  return reportOf(
    'delivery-status',
    ['text/plain', 'The following addresses failed:', '', ...words],
    ['message/delivery-status', 'Reporting-MTA: dns; mx.out.test', ...fields],
  )
}

const inWords = (type: string, ...words: string[]) =>
  mailOf(
    ...['From: MAILER-DAEMON@mx.out.test', 'Subject: Undeliverable', `Content-Type: ${type}; charset=utf-8`, ''],
    ...words.map((line) => Buffer.from(line).toString('latin1')),
  )

const UNKNOWN = '550 5.1.1 User unknown'

test('no recipient gets the reason of an address that contains its own', () => {
  for (const longer of [
    'joann@out.test',
    'big-ann@out.test',
    'jo.ann@out.test',
    'ann@out.test.example',
    'ann@out.test2',
  ])
    for (const words of [
      [`${longer}: ${UNKNOWN}`, 'ann@out.test: network error'],
      ['ann@out.test: network error', `${longer}: ${UNKNOWN}`],
    ])
      assert.deepEqual(suppressedBy(withoutReasons(['ann@out.test', longer], ...words)), [longer])
})

test('no recipient gets the reason of a line that begins with another address', () => {
  const cases: [recipients: string[], words: string[]][] = [
    [
      ['ann@out.test', 'carl@out.test'],
      ['ann@out.test: network error', `bob@out.test: ${UNKNOWN}`, 'carl@out.test: odd'],
    ],
    [['ann@out.test'], [`bob@out.test: ${UNKNOWN}`, 'ann@out.test: network error']],
    [
      ['ann@out.test'],
      [`Your message to bob@out.test failed: ${UNKNOWN}`, 'Your message to ann@out.test: network error'],
    ],
  ]
  for (const [recipients, words] of cases) assert.deepEqual(suppressedBy(withoutReasons(recipients, ...words)), [])
  const both = [`bob@out.test: ${UNKNOWN}, of ann@out.test and bob@out.test`, 'ann@out.test: network error']
  assert.deepEqual(suppressedBy(withoutReasons(['ann@out.test', 'bob@out.test'], ...both)), ['bob@out.test'])
  const continued = [
    '<bob@out.test>: host mx said: 550 5.1.1',
    '    <list@out.test>: User unknown',
    '<ann@out.test>: odd',
  ]
  assert.deepEqual(suppressedBy(withoutReasons(['ann@out.test', 'bob@out.test'], ...continued)), ['bob@out.test'])
})

test('a list of recipients and the reasons below it, in any order', () => {
  const list = ['Delivery to the following recipients failed.', '', '    bob@out.test', '    ann@out.test', '']
  const reasons = ['ann@out.test', 'mx.out.test', "Server returned '554 5.2.2 mailbox full'", '']
  const dead = ['bob@out.test', 'mx.out.test', "Server returned '550 5.1.10 not found'", '']
  for (const order of [
    [...dead, ...reasons],
    [...reasons, ...dead],
  ])
    assert.deepEqual(suppressedBy(inWords('text/plain', ...list, 'Diagnostic information:', '', ...order)), [
      'bob@out.test',
    ])
})

test('an address with a dash, an arrow, a bar or a reply behind it is an item of the list', () => {
  for (const mark of ['-', '\u2013', '\u2014', '\u2192', '=>', '->', '|', '']) {
    const words = [`bob@out.test ${mark} ${UNKNOWN}`, `ann@out.test ${mark} connection timed out`]
    assert.ok(
      !suppressedBy(inWords('text/plain', 'Your message was not delivered to:', '', ...words)).includes('ann@out.test'),
      mark,
    )
  }
  const item = (email: string, said: string) => `<li>${email} &#8211; ${said}</li>`
  const html = `<p>Your message was not delivered:</p><ul>${item('bob@out.test', UNKNOWN)}${item('ann@out.test', 'timed out')}</ul>`
  assert.deepEqual(suppressedBy(inWords('text/html', html)), ['bob@out.test'])
})

test('a delivery status has fields of the message and of each recipient', () => {
  const report = bounce(
    reportOf(
      'delivery-status',
      ['text/plain', 'Two recipients were not reached.'],
      [
        'message/delivery-status',
        'Reporting-MTA: dns; mx.out.test (Postfix)',
        'Original-Envelope-Id: eml_1',
        'Arrival-Date: Wed, 2 Jan 2030 03:04:05 +0000',
        '',
        'Original-Recipient: rfc822; ANA@out.test',
        'Final-Recipient: rfc822; ana@inside.out.test',
        'Action: failed',
        'Status: 5.1.1 (unknown)',
        'Remote-MTA: dns; mx2.out.test',
        'Diagnostic-Code: smtp; 550 5.1.1 <ana@inside.out.test>:',
        '    User unknown',
        'Last-Attempt-Date: Wed, 2 Jan 2030 03:05:00 +0000',
        '',
        'Final-Recipient: rfc822;ben@out.test',
        'Action: delayed',
        'Status: 4.2.2',
      ],
      ['message/rfc822', 'Message-ID: <eml_1@shop.test>', 'From: shop@shop.test', 'To: ana@out.test', '', 'Hello'],
    ),
  )
  assert.deepEqual([report.reportingMta, report.envelopeId], ['mx.out.test', 'eml_1'])
  assert.equal(report.arrivedAt, Date.UTC(2030, 0, 2, 3, 4, 5))
  assert.deepEqual(report.original, {
    messageId: 'eml_1@shop.test',
    subject: null,
    from: 'shop@shop.test',
    to: ['ana@out.test'],
    returnPath: null,
  })
  const [ana, ben, ...others] = report.recipients
  assert.deepEqual(ana, {
    finalRecipient: 'ana@inside.out.test',
    originalRecipient: 'ANA@out.test',
    action: 'failed',
    status: '5.1.1',
    smtpCode: 550,
    diagnostic: '550 5.1.1 <ana@inside.out.test>: User unknown',
    stage: 'unknown',
    remoteMta: 'mx2.out.test',
    lastAttemptAt: Date.UTC(2030, 0, 2, 3, 5, 0),
  })
  assert.deepEqual(
    [ben!.finalRecipient, ben!.action, ben!.status, ben!.diagnostic],
    ['ben@out.test', 'delayed', '4.2.2', ''],
  )
  assert.deepEqual(others, [])
})

test('addresses beyond ASCII, in the types of RFC 6533', () => {
  const status = (address: string) =>
    bounce(
      reportOf('delivery-status', [
        'message/global-delivery-status',
        'Reporting-MTA: dns; mx.out.test',
        '',
        `Final-Recipient: ${address}`,
        'Action: failed',
        'Status: 5.1.1',
      ]),
    ).recipients[0]!.finalRecipient
  assert.equal(status('utf-8; j\\x{FC}rgen@out.test'), 'jürgen@out.test')
  assert.equal(status(`utf-8; ${Buffer.from('jürgen@out.test').toString('latin1')}`), 'jürgen@out.test')
  assert.equal(status('utf-8; \\x{110000}x@out.test'), 'x{110000}x@out.test')
})

test('a status without empty lines between its recipients, and with fields that never end', () => {
  const report = bounce(
    reportOf('delivery-status', [
      'message/delivery-status',
      'Final-Recipient: rfc822; <ana@out.test>',
      'Action: failed',
      'Status: 5.1.1',
      'Final-Recipient: RFC822; ben@out.test',
      'Action: Failed (for good)',
      'Status: 5.2.2',
      'Action: failed',
      'Final-Recipient: carla@out.test',
    ]),
  )
  assert.deepEqual(
    report.recipients.map(({ finalRecipient, status }) => [finalRecipient, status]),
    [
      ['ana@out.test', '5.1.1'],
      ['ben@out.test', '5.2.2'],
      ['carla@out.test', null],
    ],
  )
})

test("the other server's own code says more than what the reporting one made of it", () => {
  const status = (given: string, diagnostic: string) =>
    bounce(
      reportOf('delivery-status', [
        'message/delivery-status',
        'Final-Recipient: rfc822; ana@out.test',
        'Action: failed',
        `Status: ${given}`,
        `Diagnostic-Code: smtp; ${diagnostic}`,
      ]),
    ).recipients[0]!.status
  assert.equal(status('5.0.0', '550 5.1.1 User unknown'), '5.1.1')
  assert.equal(status('5.1.1', '550 5.7.1 Blocked'), '5.7.1')
  // Of another class: how it ended is for the reporting server to say.
  assert.equal(status('5.4.7', '450 4.2.2 Mailbox full'), '5.4.7')
  assert.equal(status('5.0.0', '550 rejected by 5.1.1.7 and 10.5.1.1'), '5.0.0')
})

test('the reason is read from the text when the fields do not give it', () => {
  const report = bounce(
    reportOf(
      'delivery-status',
      ['text/plain', 'Your message to ana@out.test failed:', 'Remote server said: 552 5.2.2 Mailbox full'],
      ['message/delivery-status', 'Final-Recipient: rfc822; ana@out.test', 'Action: failed', 'Status: 5.0.0'],
    ),
  )
  const { status, smtpCode, diagnostic } = report.recipients[0]!
  assert.deepEqual([status, smtpCode, diagnostic], ['5.2.2', 552, '552 5.2.2 Mailbox full'])
})

test('a complaint names the recipient and the message', () => {
  const report = complaint(
    reportOf(
      'feedback-report',
      ['text/plain', 'A user complains.'],
      [
        'message/feedback-report',
        'Feedback-Type: abuse',
        'User-Agent: ExampleFBL/1.0',
        'Version: 1',
        'Original-Mail-From: <b+1@bounce.mx.in.test>',
        'Original-Rcpt-To: <ana@out.test>',
        'Original-Rcpt-To: <ben@out.test>',
        'Arrival-Date: Wed, 2 Jan 2030 03:04:05 +0000',
        'Reporting-MTA: dns; mx.out.test',
      ],
      ['text/rfc822-headers', 'Message-ID: <eml_1@shop.test>', 'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=', ''],
    ),
  )
  assert.deepEqual([report.feedbackType, report.userAgent], ['abuse', 'ExampleFBL/1.0'])
  assert.deepEqual(report.originalRecipients, ['ana@out.test', 'ben@out.test'])
  assert.deepEqual([report.original.messageId, report.original.subject], ['eml_1@shop.test', 'Grüße'])
  assert.equal(report.original.returnPath, 'b+1@bounce.mx.in.test')
})

test('the words of complaints', () => {
  const read = (word: string) => {
    const { feedbackType, feedbackWord } = complaint(
      reportOf('feedback-report', ['message/feedback-report', `Feedback-Type: ${word}`]),
    )
    return [feedbackType, feedbackWord]
  }
  assert.deepEqual(read('Fraud'), ['fraud', 'fraud'])
  assert.deepEqual(read('virus'), ['virus', 'virus'])
  assert.deepEqual(read('not-spam'), ['not_spam', 'not-spam'])
  assert.deepEqual(read('opt-out'), ['other', 'opt-out'])
  assert.deepEqual(read('__proto__'), ['other', 'proto'])
  assert.deepEqual(read(''), ['other', 'other'])
})

test('an encoded report', () => {
  const fields = Buffer.from('Final-Recipient: rfc822; ana@out.test\r\nAction: failed\r\nStatus: 5.1.1\r\n').toString(
    'base64',
  )
  const bytes = mailOf(
    'Content-Type: multipart/report; boundary=b',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    'Content-Transfer-Encoding: base64',
    '',
    fields,
    '--b--',
  )
  assert.equal(bounce(bytes).recipients[0]!.finalRecipient, 'ana@out.test')
})

const AUTO_REPLY = [
  'From: Ana <ana@out.test>',
  'To: shop@shop.test',
  'Subject: Automatic reply: Your order',
  'Auto-Submitted: auto-replied',
  '',
  'I am out of office and cannot be reached until Monday. In urgent cases write to',
  'ben@out.test.',
]

test('what is no report', () => {
  const returned = [
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Final-Recipient: rfc822; ana@out.test',
    '--b--',
  ]
  const mails: [string, Buffer][] = [
    ['an auto-reply', mailOf(...AUTO_REPLY)],
    [
      'a mail about a bounce',
      mailOf('From: ana@out.test', 'Subject: Undelivered mail', '', 'ben@out.test: user unknown'),
    ],
    [
      'a forwarded report',
      mailOf('From: ana@out.test', 'Content-Type: message/rfc822', '', 'From: mailer-daemon@x.test'),
    ],
    [
      'a report among the attachments',
      mailOf('From: ana@out.test', 'Content-Type: multipart/mixed; boundary=b', '', ...returned),
    ],
    [
      'a mail of the postmaster',
      mailOf('From: postmaster@out.test', 'Subject: Maintenance', '', 'Ask ana@out.test what was changed.'),
    ],
    [
      'a mail of a list about bounces',
      mailOf('From: mailer-daemon@l.test', 'List-Id: <l.test>', 'Subject: failure notice', '', '<a@b.test>:', '550 no'),
    ],
    [
      'a receipt',
      reportOf('disposition-notification', [
        'message/disposition-notification',
        'Final-Recipient: rfc822; ana@out.test',
        'Disposition: manual-action/MDN-sent-manually; displayed',
      ]),
    ],
    ['nothing', Buffer.alloc(0)],
  ]
  for (const [what, bytes] of mails)
    for (const from of [null, '', 'x@y.test']) assert.equal(readReport(bytes, from), null, what)
})

test('the null sender lets a report in words be one that no daemon signed', () => {
  const bytes = mailOf(
    'From: info@carrier.test',
    'Subject: Mail',
    '',
    'Could not be delivered to: <ana@out.test>',
    'as their mailbox is full.',
  )
  assert.equal(readReport(bytes, 'info@carrier.test'), null)
  assert.deepEqual(
    bounce(bytes, '').recipients.map(({ finalRecipient, diagnostic }) => [finalRecipient, diagnostic]),
    [['ana@out.test', 'as their mailbox is full.']],
  )
})
