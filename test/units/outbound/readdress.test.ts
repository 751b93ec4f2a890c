// The header of a mail names those it is handed over for, whatever stands in it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER_BYTES_MAX, readHeaders } from '../../../src/mime/headers.ts'
import { MARK, readdress, unsigned } from '../../../src/outbound/transports/accounts/readdress.ts'
import { mailOf } from '../../support/mail.ts'

/** The header afterwards, without the mark. */
function changed(lines: string[], recipients: string[], hidden: string[] = []): string[] {
  const bytes = mailOf(...lines, '', 'Body', '')
  const made = readdress({ emailId: 'eml_x', recipients, hidden, bytes })!.toString('latin1')
  assert.ok(made.startsWith(`${MARK}: eml_x.`))
  assert.ok(made.endsWith('\r\n\r\nBody\r\n'))
  return made.slice(made.indexOf('\r\n') + 2, made.indexOf('\r\n\r\n')).split('\r\n')
}

test('a header that names the recipients and nobody else stays as it is', () => {
  const lines = ['From: a@x.test', 'To: "B, (b)" <B@X.test>,\t', ' c@x.test (Carl, of course)', 'Subject: s']
  assert.deepEqual(changed(lines, ['b@x.test', 'c@x.test']), lines)
})

test('those it is not for are taken out, with their names and comments', () => {
  const lines = ['To: "Last, \\"First\\"" <b@x.test>, c@x.test (one, two), "x@y.test" <d@x.test>,', ' E <e@x.test>']
  assert.deepEqual(changed(lines, ['b@x.test', 'e@x.test']), ['To: "Last, \\"First\\"" <b@x.test>,', ' E <e@x.test>'])
  assert.deepEqual(changed(lines, ['d@x.test']), ['To: "x@y.test" <d@x.test>'])
})

test('a field without anybody left is gone, and hidden recipients are in Bcc', () => {
  assert.deepEqual(changed(['To: b@x.test', 'Cc: c@x.test', 'Subject: s'], ['d@x.test', 'c@x.test'], ['d@x.test']), [
    'Bcc: d@x.test',
    'Cc: c@x.test',
    'Subject: s',
  ])
})

test('one who is to be hidden is hidden, also when the header names them', () => {
  assert.deepEqual(changed(['To: b@x.test, c@x.test'], ['b@x.test', 'c@x.test'], ['c@x.test']), [
    'Bcc: c@x.test',
    'To: b@x.test',
  ])
})

test('a Bcc that came along names nobody', () => {
  assert.deepEqual(changed(['Bcc: spy@x.test', 'To: b@x.test'], ['b@x.test']), ['To: b@x.test'])
})

test('groups, routes and literals are read as RFC 5322 writes them', () => {
  assert.deepEqual(changed(['To: Friends: b@x.test, c@x.test;, d@[127.0.0.1]'], ['c@x.test', 'd@[127.0.0.1]']), [
    'To: c@x.test,',
    ' d@[127.0.0.1]',
  ])
  assert.deepEqual(changed(['To: undisclosed-recipients:;'], ['b@x.test']), [
    'Bcc: b@x.test',
    'To: undisclosed-recipients:;',
  ])
})

test('an entry that names two is kept only for both', () => {
  for (const entry of ['b@x.test c@x.test', '<b@x.test> <c@x.test>', 'b@x.test\\, c@x.test']) {
    const lines = changed([`To: ${entry}`, 'Subject: s'], ['b@x.test'])
    assert.ok(!lines.join('\n').includes('c@x.test'), lines.join('|'))
    assert.ok(lines.join('\n').includes('b@x.test'))
  }
})

test('every To and every Cc is looked at', () => {
  assert.deepEqual(changed(['To: b@x.test', 'to : c@x.test', 'CC: d@x.test', 'cc: b@x.test'], ['b@x.test']), [
    'To: b@x.test',
    'cc: b@x.test',
  ])
})

test('letters beyond ASCII compare as they are meant', () => {
  const lines = [`To: ${Buffer.from('Jörg <jörg@x.test>').toString('latin1')}, c@x.test`]
  const [to] = changed(lines, ['jörg@x.test'])
  assert.equal(Buffer.from(to!, 'latin1').toString(), 'To: Jörg <jörg@x.test>')
})

test('our signatures are taken out of the header, and of nothing else', () => {
  const bytes = mailOf(
    'DKIM-Signature: v=1;',
    ' b=x',
    'From: a@x.test',
    'dkim-signature: v=1',
    '',
    'DKIM-Signature: y',
    '',
  )
  assert.equal(unsigned(bytes).toString(), 'From: a@x.test\r\n\r\nDKIM-Signature: y\r\n')
})

test('a header that cannot be read whole is not guessed at', () => {
  const bytes = mailOf(`X-Long: ${'x'.repeat(HEADER_BYTES_MAX)}`, 'To: spy@x.test', '', '')
  assert.notEqual(readHeaders(bytes).problem, null)
  assert.equal(readdress({ emailId: 'eml_x', recipients: ['b@x.test'], hidden: [], bytes }), null)
})
