// A draft as the bytes it becomes: fields and their folding, the nesting of parts, the encoding of each.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { compose, REFERENCES_WRITTEN_MAX } from '../../../../src/mime/compose/compose.ts'
import type { Draft, DraftAttachment } from '../../../../src/mime/compose/draft.ts'
import { readHeaders } from '../../../../src/mime/headers.ts'
import { parseMessage } from '../../../../src/mime/parse.ts'
import { failure } from '../../../support/directory.ts'
import { draft } from '../../../support/drafts.ts'
import { typesOf } from '../../../support/mail.ts'

const written = (changes: Partial<Draft> = {}) => compose(draft(changes)).bytes.toString('latin1')

/** The lines of one field as they are written. */
function field(text: string, name: string): string | undefined {
  return new RegExp(`^${name}:(?:[^\\r]|\\r\\n[ \\t])*`, 'm').exec(text)?.[0]
}

function file(changes: Partial<DraftAttachment> = {}): DraftAttachment {
  return {
    filename: 'a.pdf',
    type: null,
    content: Buffer.from('%PDF'),
    disposition: 'attachment',
    contentId: null,
    ...changes,
  }
}

describe('the header', () => {
  it('has its fields in a fixed order, and a short mail is plain to the eye', () => {
    const text = written({
      cc: [{ email: 'cc@other.test', name: 'C. C.' }],
      bcc: [{ email: 'bcc@other.test', name: '' }],
      replyTo: [{ email: 'help@shop.test', name: '' }],
      inReplyTo: 'b@x.test',
      references: ['a@x.test', 'b@x.test'],
      headers: [{ name: 'X-Order', value: '17' }],
    })
    assert.equal(
      text,
      [
        'From: Ann <ann@shop.test>',
        'To: bob@other.test',
        'Cc: "C. C." <cc@other.test>',
        'Reply-To: help@shop.test',
        'Subject: Your order',
        'Date: Wed, 02 Jan 2030 03:04:05 +0000',
        'Message-ID: <eml_000000000000000000000001@shop.test>',
        'In-Reply-To: <b@x.test>',
        'References: <a@x.test> <b@x.test>',
        'X-Order: 17',
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 7bit',
        '',
        'Thank you.',
        '',
      ].join('\r\n'),
    )
  })

  it('never has a Bcc, and says so when nobody else is named', () => {
    const text = written({ to: [], bcc: [{ email: 'bcc@other.test', name: 'Hidden' }] })
    assert.equal(field(text, 'To'), 'To: undisclosed-recipients:;')
    assert.doesNotMatch(text, /bcc|hidden/i)
    assert.deepEqual(parseMessage(Buffer.from(text)).to, [])
  })

  it('folds between addresses and words', () => {
    const to = Array.from({ length: 5 }, (_, index) => ({ email: `recipient${index}@other.test`, name: 'A Name' }))
    assert.equal(
      field(written({ to }), 'To'),
      'To: A Name <recipient0@other.test>, A Name <recipient1@other.test>, A Name\r\n' +
        ' <recipient2@other.test>, A Name <recipient3@other.test>, A Name\r\n <recipient4@other.test>',
    )
    const subject = field(written({ subject: 'word '.repeat(30).trim() }), 'Subject')!
    assert.ok(subject.split('\r\n').every((line) => line.length <= 76))
    assert.equal(subject.replaceAll('\r\n', ''), `Subject: ${'word '.repeat(30).trim()}`)
  })

  it('writes names so that nothing in them means anything', () => {
    const rows: [string, string][] = [
      ['Bob', 'Bob <b@x.test>'],
      ['Smith, Bob', '"Smith, Bob" <b@x.test>'],
      ['a"b\\c', '"a\\"b\\\\c" <b@x.test>'],
      ['eve@evil.test', '"eve@evil.test" <b@x.test>'],
      ['Jörg', '=?utf-8?Q?J=C3=B6rg?= <b@x.test>'],
      ['日本', '=?utf-8?B?5pel5pys?= <b@x.test>'],
      ['=?utf-8?Q?x?=', '=?utf-8?Q?=3D=3Futf-8=3FQ=3Fx=3F=3D?= <b@x.test>'],
      ['\ud800', '=?utf-8?B?77+9?= <b@x.test>'],
      ['a\x07b', '"a b" <b@x.test>'.replaceAll('"', '')],
      ['  ', 'b@x.test'],
    ]
    for (const [name, expected] of rows) {
      assert.equal(field(written({ to: [{ email: 'b@x.test', name }] }), 'To'), `To: ${expected}`, name)
    }
  })

  it('cuts encoded words between characters, each at most 75 long', () => {
    const subject = '👩‍👩‍👧‍👦ü'.repeat(20)
    const words = field(written({ subject }), 'Subject')!.match(/=\?[^ \r]*\?=/g)!
    for (const word of words) {
      assert.ok(word.length <= 75, word)
      const [, encoding, text] = /^=\?utf-8\?([QB])\?(.*)\?=$/.exec(word)!
      const bytes =
        encoding === 'B'
          ? Buffer.from(text!, 'base64')
          : Buffer.from(
              text!.replace(/=(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
              'latin1',
            )
      assert.doesNotThrow(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes), word)
    }
  })

  it('keeps a custom field as it was written, encodes what is beyond ASCII, breaks no word of a list field', () => {
    const rows: [string, string, string][] = [
      ['X-A', 'a  b\tc', 'X-A: a  b c'],
      ['X-A', '=?utf-8?Q?J=C3=B6rg?=', 'X-A: =?utf-8?Q?J=C3=B6rg?='],
      ['X-A', 'Grüße aus Bonn', 'X-A: =?utf-8?Q?Gr=C3=BC=C3=9Fe_aus_Bonn?='],
      ['X-A', '   ', 'X-A:'],
      [
        'List-Unsubscribe',
        `<https://x.test/${'u'.repeat(200)}>`,
        `List-Unsubscribe: <https://x.test/${'u'.repeat(200)}>`,
      ],
    ]
    for (const [name, value, expected] of rows)
      assert.equal(field(written({ headers: [{ name, value }] }), name), expected)
    const long = field(written({ headers: [{ name: 'X'.repeat(76), value: 'y'.repeat(998) }] }), 'X{76}')!
    assert.ok(long.split('\r\n').every((line) => line.length <= 78))
  })

  it('leaves out ids nobody could write, and the middle of a long chain', () => {
    const ids = Array.from({ length: REFERENCES_WRITTEN_MAX + 10 }, (_, index) => `${index}@x.test`)
    const mail = parseMessage(compose(draft({ references: ids })).bytes)
    assert.deepEqual(mail.references, [ids[0], ...ids.slice(11)])
    const odd = written({ inReplyTo: 'ü@x.test', references: ['a b@x.test', 'x'.repeat(998), 'good@x.test'] })
    assert.equal(field(odd, 'In-Reply-To'), undefined)
    assert.equal(field(odd, 'References'), 'References: <good@x.test>')
  })

  it('is refused where receivers would cut it off', () => {
    const headers = Array.from({ length: 50 }, (_, index) => ({ name: `X-${index}`, value: 'x'.repeat(990) }))
    const mail = parseMessage(compose(draft({ headers })).bytes)
    assert.equal(mail.problem, null)
    const to = Array.from({ length: 50 }, (_, index) => ({ email: `${index}@x.test`, name: '👋'.repeat(255) }))
    for (const changes of [{ to }, { headers: headers.map(({ name }) => ({ name, value: '👋'.repeat(900) })) }]) {
      assert.throws(() => compose(draft(changes)), failure('payload_too_large'))
    }
    const lines = (count: number) =>
      Array.from({ length: 50 }, (_, index) => ({
        name: `X-${index}`,
        value: `${'x'.repeat(40)} `.repeat(count).trim(),
      }))
    assert.equal(parseMessage(compose(draft({ headers: lines(19) })).bytes).problem, null)
    assert.throws(() => compose(draft({ headers: lines(20) })), failure('payload_too_large'))
  })

  it('refuses what no check has seen', () => {
    const drafts: Partial<Draft>[] = [
      { to: [{ email: 'b@b.test>\r\nBcc: <z@z.test', name: '' }] },
      { to: [{ email: 'a@a.test, z@z.test', name: '' }] },
      { to: [{ email: 'a@a.test>,<z@z.test', name: 'x' }] },
      { to: [{ email: 'jörg@a.test', name: '' }] },
      { headers: [{ name: 'X-A\r\nBcc', value: 'z@z.test' }] },
      { headers: [{ name: 'X-Ä', value: 'z' }] },
      { attachments: [file({ type: 'text/plain\r\nX-A: b' })] },
      { attachments: [file({ contentId: 'a>\r\nX-A: b' })] },
    ]
    for (const changes of drafts)
      assert.throws(() => compose(draft(changes)), /was not checked/, JSON.stringify(changes))
    // What a text field holds cannot leave it, whoever wrote it.
    const text = written({ subject: 'a\r\nBcc: z@z.test', headers: [{ name: 'X-A', value: 'b\r\nBcc: z@z.test' }] })
    assert.deepEqual(
      readHeaders(Buffer.from(text)).fields.filter(({ name }) => name === 'bcc'),
      [],
    )
  })
})

describe('the parts', () => {
  const shape = (changes: Partial<Draft>) => typesOf(parseMessage(compose(draft(changes)).bytes).structure!)
  const picture = file({ filename: 'a.png', disposition: 'inline', contentId: 'pic@x.test' })
  const html = '<p>Hello <img src="cid:pic@x.test"></p>'

  it('nest as readers expect them', () => {
    const both = { textBody: 'Hello', htmlBody: html }
    const alternative = 'multipart/alternative(text/plain text/html)'
    const related = 'multipart/alternative(text/plain multipart/related(text/html image/png))'
    const rows: [Partial<Draft>, string][] = [
      [{}, 'text/plain'],
      [both, alternative],
      [{ ...both, attachments: [file()] }, `multipart/mixed(${alternative} application/pdf)`],
      [{ ...both, attachments: [picture] }, related],
      [{ ...both, attachments: [file(), picture] }, `multipart/mixed(${related} application/pdf)`],
      [{ attachments: [picture] }, 'multipart/mixed(text/plain image/png)'],
      [{ ...both, attachments: [file({ disposition: 'inline' })] }, `multipart/mixed(${alternative} application/pdf)`],
      [{ textBody: null, htmlBody: html }, alternative],
      [{ textBody: null, htmlBody: '<img src="https://x.test/a.png">' }, 'text/html'],
      [{ textBody: null, htmlBody: html, attachments: [file()] }, `multipart/mixed(${alternative} application/pdf)`],
    ]
    for (const [changes, expected] of rows) assert.equal(shape(changes), expected)
  })

  it('a text made of the HTML says where its links lead', () => {
    const htmlBody = '<h1>Hello</h1><p><a href="https://shop.test/pay?a=1&amp;b=2">Pay now</a></p>'
    const text = written({ textBody: null, htmlBody })
    assert.match(text, /\r\n\r\nHello\r\n\r\nPay now <https:\/\/shop\.test\/pay\?a=1&b=2>\r\n--/)
  })

  it('boundaries come from the message id, and differ inside a mail', () => {
    const mail = { textBody: 'a', htmlBody: html, attachments: [file(), picture] }
    const boundaries = (text: string) => [...text.matchAll(/boundary="([^"]+)"/g)].map(([, boundary]) => boundary!)
    const one = boundaries(written(mail))
    assert.equal(new Set(one).size, 3)
    assert.deepEqual(boundaries(written(mail)), one)
    assert.notDeepEqual(boundaries(written({ ...mail, messageId: 'other@shop.test' })), one)
    for (const boundary of one) assert.match(boundary, /^=_[0-9a-f]{24}\.[0-2]$/)
  })

  it('no text and no attached mail can play a boundary', () => {
    const [, boundary] = /boundary="([^"]+)"/.exec(written({ htmlBody: html }))!
    const hostile = `--${boundary}\r\nContent-Type: text/html\r\n\r\nevil\r\n--${boundary}--`
    const mail = parseMessage(
      compose(
        draft({
          textBody: hostile,
          htmlBody: `<pre>${hostile}</pre>`,
          attachments: [
            file({ filename: 'a.eml', content: Buffer.from(hostile) }),
            file({ content: Buffer.from(hostile) }),
          ],
        }),
      ).bytes,
    )
    assert.equal(
      typesOf(mail.structure!),
      'multipart/mixed(multipart/alternative(text/plain text/html) application/octet-stream application/pdf)',
    )
  })

  it('file names stand plain where they can, else in the extended form', () => {
    const name = (filename: string) => field(written({ attachments: [file({ filename })] }), 'Content-Disposition')
    assert.equal(name('a b.pdf'), 'Content-Disposition: attachment; filename="a b.pdf"')
    // In front of a plain name for readers that know no other.
    const plain = (filename: string) => /;(?:\r\n)? filename="([^"]*)"$/.exec(name(filename)!)?.[1]
    assert.match(
      name('ü".pdf')!,
      /^Content-Disposition: attachment; filename\*=utf-8''%C3%BC%22\.pdf;(?:\r\n)? filename="u_\.pdf"$/,
    )
    assert.deepEqual(['Größe – März.pdf', '報告書.docx', '日本.ü', 'a=?b?=.txt', `${'é'.repeat(200)}.pdf`].map(plain), [
      'Gro_e _ Marz.pdf',
      'attachment.docx',
      'attachment.u',
      'a_?b?_.txt',
      `${'e'.repeat(60)}.pdf`,
    ])
    for (const filename of ['Größe – März.pdf', '報告書.docx', `${'日'.repeat(30)}.pdf`])
      assert.equal(
        parseMessage(compose(draft({ attachments: [file({ filename })] })).bytes).attachments[0]!.filename,
        filename,
      )
    const long = name(`${'日'.repeat(30)}.pdf`)!
    assert.match(
      long,
      /^Content-Disposition: attachment;\r\n filename\*0\*=utf-8''(?:%[0-9A-F]{2})+;\r\n filename\*1\*=/,
    )
    assert.ok(long.split('\r\n').every((line) => line.length <= 78))
    // A stretch ends where a character ends.
    for (const [, stretch] of long.matchAll(/\*\d\*=(?:utf-8'')?([^;\r]+)/g))
      assert.doesNotThrow(() => decodeURIComponent(stretch!))
  })

  it('a text of ASCII leaves as 7bit or quoted-printable, byte for byte', () => {
    const rows: [string, string][] = [
      ['a,b\r\n1,2\r\n', '7bit'],
      ['a,b\n1,2\n', 'quoted-printable'],
      ['no end', '7bit'],
      [`${'x'.repeat(998)}\r\n`, '7bit'],
      [`${'x'.repeat(999)}\r\n`, 'quoted-printable'],
      ['blank \r\nends \n\rmixed\r', 'quoted-printable'],
      ['page one\f and two', 'quoted-printable'],
      [`${'y'.repeat(71)}\n${'z'.repeat(72)}\n${'w'.repeat(75)}\n`, 'quoted-printable'],
      ['--=_ like a boundary of ours', 'quoted-printable'],
      ['a\0b', 'base64'],
      ['=\x01'.repeat(100), 'base64'],
      ['\n'.repeat(20_000), 'base64'],
    ]
    for (const [text, expected] of rows) {
      const { bytes } = compose(draft({ attachments: [file({ filename: 'a.csv', content: Buffer.from(text) })] }))
      const part = bytes.toString('latin1').split('\r\n--')[2]!
      const shown = JSON.stringify(text.slice(0, 30))
      assert.equal(/Content-Transfer-Encoding: (\S+)/.exec(part)![1], expected, shown)
      const [attachment] = parseMessage(bytes).attachments
      const sha256 = createHash('sha256').update(text).digest('hex')
      assert.equal(Buffer.from(attachment!.sha256).toString('hex'), sha256, shown)
      for (const line of part.split('\r\n')) assert.ok(line.length <= (expected === '7bit' ? 998 : 76), shown)
    }
  })

  it('types follow the extension unless they are given; texts in Unicode say so', () => {
    const type = (changes: Partial<DraftAttachment>) =>
      field(written({ attachments: [file(changes)] }).split('\r\n--')[2]!, 'Content-Type')
    assert.equal(type({}), 'Content-Type: application/pdf')
    assert.equal(type({ filename: 'a.unknown' }), 'Content-Type: application/octet-stream')
    assert.equal(type({ type: 'application/x-thing' }), 'Content-Type: application/x-thing')
    const calendar = 'text/calendar; charset=utf-8; method=REQUEST'
    assert.equal(type({ type: calendar }), `Content-Type: ${calendar}`)
    const csv = { filename: 'a.csv' }
    assert.equal(type({ ...csv, content: Buffer.from('Größe') }), 'Content-Type: text/csv; charset=utf-8')
    assert.equal(type({ ...csv, content: Buffer.from('Größe', 'latin1') }), 'Content-Type: text/csv')
    assert.equal(type({ ...csv, content: Buffer.from('plain') }), 'Content-Type: text/csv')
  })

  it('a mail inside goes as it is, or as bytes where it cannot', () => {
    const inner = Buffer.from('Subject: inner\r\n\r\nline\r\n')
    const forwarded = (content: Buffer) =>
      parseMessage(compose(draft({ attachments: [file({ filename: 'a.eml', content })] })).bytes)
    assert.equal(typesOf(forwarded(inner).structure!), 'multipart/mixed(text/plain message/rfc822(text/plain))')
    // RFC 2046 5.2.1: 7bit, 8bit or binary, never an encoding; a file whose lines end in LF is a message all the same.
    for (const [text, encoding] of [
      ['Subject: bare\n\nLF\n', '7bit'],
      ['Subject: 8 bit\r\n\r\nü\r\n', '8bit'],
      ['Subject: 8 bit and bare\n\nü\n', '8bit'],
    ] as const) {
      const attachments = [file({ filename: 'a.eml', type: 'message/rfc822', content: Buffer.from(text) })]
      const bytes = compose(draft({ attachments })).bytes
      assert.equal(typesOf(parseMessage(bytes).structure!), 'multipart/mixed(text/plain message/rfc822(text/plain))')
      const [head, , part] = bytes.toString().split('\r\n--')
      assert.match(part!, new RegExp(`Content-Transfer-Encoding: ${encoding}\r\n`))
      assert.ok(part!.includes(`\r\n\r\n${text.replace(/\r?\n/g, '\r\n')}`))
      // RFC 2045 6.4: what holds eight bits says so as well.
      assert.equal(/Content-Transfer-Encoding: 8bit/.test(head!), encoding === '8bit')
    }
    for (const text of [`Subject: long\r\n\r\n${'x'.repeat(999)}`, 'NUL\0', 'a\rb\n']) {
      const mail = forwarded(Buffer.from(text))
      assert.equal(typesOf(mail.structure!), 'multipart/mixed(text/plain application/octet-stream)')
      assert.equal(mail.attachments[0]!.sizeBytes, Buffer.byteLength(text))
    }
    assert.equal(
      forwarded(Buffer.from(`Subject: limit\r\n\r\n${'x'.repeat(998)}\r\n`)).attachments[0]!.contentType,
      'message/rfc822',
    )
  })
})

describe('the encoding of a text', () => {
  const encodingOf = (textBody: string) => /Content-Transfer-Encoding: (\S+)/.exec(written({ textBody }))![1]
  const bodyOf = (textBody: string) => {
    const text = written({ textBody })
    return text.slice(text.indexOf('\r\n\r\n') + 4)
  }

  it('is chosen by what it holds', () => {
    const rows: [string, string][] = [
      ['short lines\nof ASCII\twith a tab', '7bit'],
      ['', '7bit'],
      ['x'.repeat(78), '7bit'],
      ['x'.repeat(79), 'quoted-printable'],
      ['blank at the end \nof a line', 'quoted-printable'],
      ['blank at the end ', 'quoted-printable'],
      ['a NUL \0 in it, and some more text', 'quoted-printable'],
      ['Grüße aus Köln, viel Text und wenig Umlaute', 'quoted-printable'],
      ['a = b', '7bit'],
      ['--=_ like a boundary', 'quoted-printable'],
      ['日本語のテキスト', 'base64'],
      ['Здравствуйте', 'base64'],
      ['\ud800', 'base64'],
    ]
    for (const [text, expected] of rows) assert.equal(encodingOf(text), expected, JSON.stringify(text.slice(0, 40)))
  })

  it('ends every line with CRLF, whatever it ended with', () => {
    assert.equal(bodyOf('a\nb\rc\r\nd\n\re'), 'a\r\nb\r\nc\r\nd\r\n\r\ne\r\n')
    assert.equal(bodyOf(`é is\nb\rc\r\nd${' '.repeat(3)}`), '=C3=A9 is\r\nb\r\nc\r\nd  =20\r\n')
    assert.equal(bodyOf('é and more\t\nb'), '=C3=A9 and more=09\r\nb\r\n')
  })

  it('breaks quoted-printable lines at 76, not inside a character, and keeps a blank at the very end', () => {
    for (let width = 60; width <= 80; width++) {
      for (const tail of [' ', 'é', '👋', '=', '\t\nx', '  \n', 'é \n']) {
        const text = `é${'x'.repeat(width)}${tail}`
        const body = bodyOf(text)
        for (const line of body.split('\r\n')) {
          assert.ok(line.length <= 76, line)
          assert.match(line, /^(?:[^ ]|.*[^ \t])?$/)
          assert.doesNotThrow(() =>
            decodeURIComponent(line.replace(/=$/, '').replaceAll('%', '%25').replaceAll('=', '%')),
          )
        }
        const read = body
          .replaceAll('=\r\n', '')
          .replace(/=(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
        assert.equal(
          Buffer.from(read, 'latin1').toString().replace(/\r\n$/, '').replaceAll('\r\n', '\n'),
          text.replace(/\n$/, ''),
        )
      }
    }
  })
})
