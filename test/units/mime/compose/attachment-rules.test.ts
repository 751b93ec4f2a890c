// What may be attached: file names, base64, types and content ids.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ATTACHMENTS_MAX,
  checkAttachments,
  checkFileName,
  type GivenAttachment,
} from '../../../../src/mime/compose/attachment-rules.ts'
import { failure } from '../../../support/directory.ts'

const check = (changes: Partial<GivenAttachment>) =>
  checkAttachments('attachments', [{ filename: 'a.pdf', content: 'JVBERg==', ...changes }], [])[0]!

function refused(changes: Partial<GivenAttachment>, field: string, code: string): void {
  const wanted = failure('validation_error', { field: `attachments.0.${field}`, code })
  assert.throws(() => check(changes), wanted, JSON.stringify(changes).slice(0, 80))
}

describe('file names', () => {
  it('may be what people write, with an extension that is allowed', () => {
    const names = [
      'a.pdf',
      'A.PDF',
      'Rechnung für Ana (1).docx',
      '日本語.txt',
      'my.exe.txt',
      "it's “it”.zip",
      'a.tar.gz',
      'نامه\u200cها.pdf',
      '👩‍👩‍👧.png',
      '..a.pdf',
      '.a.pdf',
      'a:b.txt',
      'a.b .pdf',
    ]
    for (const name of names) assert.equal(checkFileName('f', name, []), name)
    for (const name of ['a.pdf.', 'a.pdf . .', 'a.pdf   ']) assert.equal(checkFileName('f', name, []), 'a.pdf')
    assert.equal(checkFileName('f', `${'👋'.repeat(251)}.pdf`, []).length, 251 * 2 + 4)
  })

  it('hide nothing and lead nowhere', () => {
    const names = [
      ...['../a.pdf', '/etc/a.pdf', 'C:\\a.pdf', 'a/b.pdf', 'a\\b.pdf', '..\\a.pdf'],
      ...[
        'a\r\nX: b.pdf',
        'a\n.pdf',
        'a\0.pdf',
        'a.exe\0.pdf',
        'a\t.pdf',
        'a\x1b.pdf',
        'a\x7f.pdf',
        'a\x85.pdf',
        'a\u2028.pdf',
      ],
      ...['invoice\u202efdp.exe.pdf', 'a\u2066.pdf', 'a\u200f.pdf', 'a\u200e.pdf', 'a\u061c.pdf', 'a\u202d.pdf'],
      ...['a\ud800.pdf'],
    ]
    for (const filename of names) refused({ filename }, 'filename', 'invalid_format')
    refused({ filename: '' }, 'filename', 'too_small')
    for (const filename of [`${'x'.repeat(252)}.pdf`, 'x'.repeat(1e6)]) refused({ filename }, 'filename', 'too_big')
  })

  it('have one of the allowed extensions, whatever stands behind it', () => {
    const names = [
      ...[
        'a.exe',
        'a.EXE',
        'a.exe.',
        'a.exe. .',
        'a.pdf.exe',
        'a.js',
        'a.docm',
        'a.iso',
        'a.lnk',
        'a.ps1',
        'a.sh',
        'a.py',
      ],
      ...[
        'a',
        'pdf',
        '.pdf',
        'a.',
        '...',
        '. .',
        'a．pdf',
        'a.pdf\u200b',
        'a.ｐｄｆ',
        'a.p df',
        'a.constructor',
        'a.__proto__',
      ],
    ]
    for (const filename of names) refused({ filename }, 'filename', 'forbidden_value')
  })

  it("follow the operator's list, but never to what runs", () => {
    assert.equal(checkFileName('f', 'a.Blend', ['blend']), 'a.Blend')
    for (const extension of ['exe', 'js', 'jar', 'pptm', 'img']) {
      assert.throws(
        () => checkFileName('f', `a.${extension}`, [extension]),
        failure('validation_error', { field: 'f', code: 'forbidden_value' }),
      )
    }
  })
})

describe('content', () => {
  it('is base64 as RFC 4648 has it, or bytes', () => {
    const bytes = Buffer.from([0, 255, 254, 62, 63, 10])
    for (let length = 1; length <= 6; length++) {
      const content = bytes.subarray(0, length)
      assert.deepEqual(check({ content: content.toString('base64') }).content, content)
      assert.equal(check({ content }).content, content)
    }
    refused({ content: '' }, 'content', 'too_small')
    const wrong = [
      'A',
      'AA',
      'AAA',
      'QQ',
      'QQ=',
      'QR==',
      'QUJ=',
      'QUJD=',
      'QQ==QQ==',
      '====',
      '=AAA',
      'QUJD\nQUJD',
      'QUJD QUJD',
      'QUJDQUI=\n',
      '-_-_',
      'QUJ!',
      'QUJä',
      '€€€€',
      'data:;base64,QUJD',
    ]
    for (const content of wrong) refused({ content }, 'content', 'invalid_format')
  })
})

describe('types', () => {
  it('are media types, with parameters of their own', () => {
    const types = [
      'application/pdf',
      'application/vnd.ms-excel.sheet+xml',
      'text/calendar; method=REQUEST',
      'text/x; a="b; c";d=e',
      'message/rfc822',
    ]
    for (const type of types) assert.equal(check({ type }).type, type)
    assert.equal(check({ type: 'Text/CSV; Header=Present' }).type, 'text/csv; Header=Present')
    for (const type of [null, undefined]) assert.equal(check({ type }).type, null)
  })

  it('break out of nothing and are made of no parts', () => {
    const wrong = [
      ...[
        '',
        'pdf',
        '/',
        'a/',
        '/b',
        'a/b/c',
        'a b/c',
        'a/b;',
        'a/b; c',
        'a/b; c=',
        'a/b; c="d',
        'a/b; c=d e',
        'a/b ;c=d',
      ],
      ...['a/b\r\nX: y', 'a/b; c="d\r\nX: y"', 'a/b; c="\\""', 'text/ü', `a/${'b'.repeat(300)}`],
      ...['a/b; name="x.exe"', 'a/b;boundary=x', 'a/b; FileName=x'],
    ]
    for (const type of wrong) refused({ type }, 'type', 'invalid_format')
    for (const type of ['multipart/mixed', 'Multipart/Related', 'message/external-body', 'message/partial']) {
      refused({ type }, 'type', 'forbidden_value')
    }
  })
})

describe('content ids', () => {
  it('lose their brackets, and stand once', () => {
    assert.equal(check({ contentId: '<logo@x.test>', disposition: 'inline' }).contentId, 'logo@x.test')
    assert.deepEqual(check({ contentId: 'logo' }), {
      filename: 'a.pdf',
      type: null,
      content: Buffer.from('%PDF'),
      disposition: 'attachment',
      contentId: 'logo',
    })
    for (const contentId of ['', '<>', '<<a>>', 'a b', 'a>\r\nX: y', 'ü', 'a"b', 'x'.repeat(251)]) {
      refused({ contentId }, 'content_id', 'invalid_format')
    }
    const twice = [1, 2].map(() => ({ filename: 'a.png', content: 'AAAA', contentId: 'a' }))
    const wanted = failure('validation_error', { field: 'files.1.content_id', code: 'duplicate' })
    assert.throws(() => checkAttachments('files', twice, []), wanted)
  })
})

describe('attachments', () => {
  it('are ten at most', () => {
    const files = (count: number) => Array.from({ length: count }, () => ({ filename: 'a.txt', content: 'AAAA' }))
    assert.equal(checkAttachments('attachments', files(ATTACHMENTS_MAX), []).length, ATTACHMENTS_MAX)
    assert.throws(
      () => checkAttachments('attachments', files(ATTACHMENTS_MAX + 1), []),
      failure('validation_error', { field: 'attachments', code: 'too_big' }),
    )
  })
})
