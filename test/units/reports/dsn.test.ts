// The report a sender gets: read back by our own reader, by a person, and by mail servers of seven bits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMessage } from '../../../src/mime/parse.ts'
import { composeDsn, type DsnInput } from '../../../src/reports/dsn.ts'
import { readReport } from '../../../src/reports/report.ts'
import { soundMail, typesOf } from '../../support/mail.ts'

const AT = Date.UTC(2030, 0, 2, 3, 4, 5)

function compose(more: Partial<DsnInput> = {}): Buffer {
  const bytes = composeDsn({
    reportingMta: 'mx.house.test',
    from: { email: 'mailer-daemon@mx.house.test', name: 'Mail Delivery System' },
    to: { email: 'ana@shop.test', name: '' },
    messageId: 'eml_0a1b2c3d4e5f6g7h8i9j0k1l@mx.house.test',
    date: AT,
    arrivedAt: AT - 1000,
    envelopeId: 'eml_1',
    subject: 'Hello',
    originalMessageId: 'eml_1@shop.test',
    recipients: [failure('gone@out.test')],
    original: Buffer.from('From: ana@shop.test\r\nMessage-ID: <eml_1@shop.test>\r\n\r\nBody\r\n'),
    ...more,
  })
  // RFC 5322 2.1.1 and 2.3: lines in bounds, seven bits, CRLF only.
  assert.doesNotMatch(bytes.toString('latin1'), /[^\t\r\n -~]|\r(?!\n)|(?<!\r)\n|[^\r\n]{999}/)
  assert.equal(bytes.subarray(-2).toString(), '\r\n')
  assert.equal(soundMail(bytes).problem, null)
  return bytes
}

function failure(email: string, more = {}) {
  const reason = 'The mail server of the recipient refused it.'
  return { email, status: '5.1.1', reason, diagnostic: '550 5.1.1 User unknown', lastAttemptAt: AT, ...more }
}

function recipientsOf(bytes: Buffer) {
  const report = readReport(bytes, '')
  assert.ok(report?.kind === 'bounce')
  return report.recipients
}

test('a report has a sentence, a status and the header, not the body', () => {
  const bytes = compose()
  const mail = parseMessage(bytes)
  assert.equal(typesOf(mail.structure!), 'multipart/report(text/plain message/delivery-status text/rfc822-headers)')
  assert.equal(mail.subject, 'Not delivered: Hello')
  assert.match(mail.searchText, /^Your message could not be delivered to this recipient:\n\n {2}gone@out\.test\n/)
  assert.match(mail.searchText, /The remote server replied: 550 5\.1\.1 User unknown/)
  assert.deepEqual([mail.inReplyTo, mail.references], [['eml_1@shop.test'], ['eml_1@shop.test']])
  assert.doesNotMatch(bytes.toString(), /\r\nBody/)
  const report = readReport(bytes, '')
  assert.ok(report?.kind === 'bounce')
  assert.deepEqual([report.reportingMta, report.envelopeId, report.arrivedAt], ['mx.house.test', 'eml_1', AT - 1000])
  assert.equal(report.original.messageId, 'eml_1@shop.test')
  const [gone, ...others] = report.recipients
  assert.deepEqual(
    [gone!.finalRecipient, gone!.originalRecipient, gone!.action, gone!.status, gone!.smtpCode, gone!.lastAttemptAt],
    ['gone@out.test', 'gone@out.test', 'failed', '5.1.1', 550, AT],
  )
  assert.deepEqual(others, [])
})

test('what a stranger said stays in its place', () => {
  const diagnostic = '550 no\r\nAction: delivered\r\n\r\n--=_x Ünïcode '.padEnd(5000, 'x')
  const bytes = compose({ recipients: [failure('gone@out.test', { diagnostic }), failure('two@out.test')] })
  assert.deepEqual(
    recipientsOf(bytes).map(({ finalRecipient, action }) => [finalRecipient, action]),
    [
      ['gone@out.test', 'failed'],
      ['two@out.test', 'failed'],
    ],
  )
})

test('addresses and subjects beyond ASCII', () => {
  const bytes = compose({ subject: 'Grüße 🐈', recipients: [failure('jürgen\\x@bücher.test', { diagnostic: '' })] })
  assert.equal(parseMessage(bytes).subject, 'Not delivered: Grüße 🐈')
  assert.match(bytes.toString(), /\r\nFinal-Recipient: utf-8; j\\x\{FC\}rgen\\x\{5C\}x@b\\x\{FC\}cher\.test\r\n/)
  assert.match(parseMessage(bytes).searchText, /jürgen/)
})

test('five hundred recipients: all in the status, the first fifty in the text', () => {
  const recipients = Array.from({ length: 500 }, (_, at) => failure(`a${at}@out.test`))
  const bytes = compose({ recipients })
  assert.equal(recipientsOf(bytes).length, 500)
  const { searchText } = parseMessage(bytes)
  assert.match(searchText, /these 500 recipients/)
  assert.match(searchText, /a49@out\.test/)
  assert.doesNotMatch(searchText, /a50@out\.test/)
  assert.match(searchText, /and 450 more/)
})

test('a header that no 7bit mail server accepts, and none at all', () => {
  const original = Buffer.concat([
    Buffer.from('Subject: ü\r\nX: '),
    Buffer.alloc(2000, 'x'),
    Buffer.from('\r\n\r\nBody'),
  ])
  assert.match(compose({ original }).toString(), /text\/rfc822-headers\r\nContent-Transfer-Encoding: base64\r\n/)
  const report = readReport(compose({ original }), '')
  assert.ok(report?.kind === 'bounce')
  assert.equal(report.original.subject, 'ü')
  assert.doesNotMatch(compose({ original: null }).toString(), /rfc822-headers/)
})
