// Reports made to hang or to fill the reader: each ends, within its bounds. The time-out only names the culprit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCodes } from '../../../src/reports/codes.ts'
import { NOTICE_LINES_MAX, namedRecipients } from '../../../src/reports/notice-addresses.ts'
import { findPhrase, PHRASE_TEXT_MAX } from '../../../src/reports/phrases.ts'
import { readReport } from '../../../src/reports/report.ts'
import { DIAGNOSTIC_MAX, RECIPIENTS_MAX, REPORT_TEXT_MAX } from '../../../src/reports/reported.ts'
import { GROUP_FIELDS_MAX, readStatusFields, STATUS_FIELD_MAX } from '../../../src/reports/status-fields.ts'

// Texts are cut at 256 KiB: the square of that still comes to an end, but not in this time.
const ends = { timeout: 60_000 }
const DAEMON = 'From: mailer-daemon@x.test\r\nSubject: Undelivered Mail\r\n'
const STATUS = 'Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n'

function read(...text: string[]) {
  const report = readReport(Buffer.from(DAEMON + text.join(''), 'latin1'), '')
  for (const { finalRecipient, diagnostic } of report?.kind === 'bounce' ? report.recipients : []) {
    assert.ok(diagnostic.length <= DIAGNOSTIC_MAX && !/[\r\n]/.test(diagnostic), diagnostic)
    assert.match(finalRecipient, /^[^\s@]\S*@[^\s@]+$/)
  }
  return report?.kind === 'bounce' ? report.recipients.length : null
}

const UNITS = [
  ...['a@b.c\n', 'a@b.c ', 'x@', 'a.', ' ', '<', '"', '(', '\n', '\t', '-', 'ü', '=?utf-8?q?', '----------\n'],
  ...['user ', 'mailbox unknown ', '550 ', '5.1.', '5.1.1 ', 'code ', 'said: ', 'message for ', 'generated from '],
  ...['could not be ', 'received ', 'Final-Recipient: rfc822; a@b.c\n', 'Action: failed\n', 'Status:\n'],
  ...['>>> RCPT TO:<a@b.c>\n<<< 550 no\n', 'contact a@b.c\n', 'Received: from\n'],
]

test('5 MB of one thing, as a text, behind a recipient, and as a field', ends, () => {
  for (const unit of UNITS) {
    const text = unit.repeat(5_000_000 / unit.length)
    read('\r\n', text)
    read('\r\n<a@b.test>:\r\n', text)
    assert.notEqual(read(STATUS, 'Final-Recipient: rfc822; a@b.test\r\nDiagnostic-Code: smtp; ', text), null, unit)
    findPhrase(text)
    findCodes(text.slice(0, REPORT_TEXT_MAX))
  }
})

test('200,000 recipients: so many are read', ends, () => {
  const many = (line: (at: number) => string) => Array.from({ length: 200_000 }, (_, at) => line(at)).join('')
  assert.equal(
    read(
      '\r\n',
      many((at) => `<a${at}@b.test>: 550 5.1.1 no\r\n`),
    ),
    RECIPIENTS_MAX,
  )
  assert.equal(
    read(
      STATUS,
      many((at) => `Final-Recipient: rfc822; a${at}@b.test\r\nAction: failed\r\n\r\n`),
    ),
    RECIPIENTS_MAX,
  )
  assert.equal(
    read(
      many((at) => (at < 900 ? `X-Failed-Recipients: a${at}@b.test\r\n` : '')),
      '\r\n',
    ),
    RECIPIENTS_MAX,
  )
})

test('a delivery status with more fields and longer ones than any has', ends, () => {
  const fields = Array.from({ length: 500 }, (_, at) => `X-Field-${at}: ${'x'.repeat(5000)}`)
  const { mail, recipients } = readStatusFields([...fields, 'Final-Recipient: a@b.test', ...fields].join('\n'))
  assert.equal(mail.size, GROUP_FIELDS_MAX)
  assert.equal(recipients[0]!.size, GROUP_FIELDS_MAX)
  assert.equal(mail.get('x-field-0')!.length, STATUS_FIELD_MAX)
  assert.equal(readStatusFields('__proto__: 1\nconstructor: 2').mail.get('constructor'), '2')
})

test('lines beyond the limit are ignored', () => {
  assert.deepEqual(namedRecipients(`${'\n'.repeat(NOTICE_LINES_MAX)}a@b.test\n`, new Set()), [])
  assert.equal(findPhrase(`${'x'.repeat(PHRASE_TEXT_MAX)} user unknown`), null)
})

test('reports in reports, and pasted ones', ends, () => {
  read(`${DAEMON}Content-Type: message/rfc822\r\n\r\n`.repeat(5000))
  const nested = `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nundelivered\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${DAEMON}`
  read(nested.repeat(500))
  read('\r\nundelivered\r\nReceived: from x\r\n'.repeat(50_000))
  assert.equal(read('Content-Type: multipart/mixed; boundary=b\r\n\r\n', '--b\r\n\r\na@b.c\r\n'.repeat(50_000)), 1)
})
