// What is added to, taken out of and encoded in a submitted message, and what makes it unacceptable.

import assert from 'node:assert/strict'
import { isAscii } from 'node:buffer'
import { describe, it } from 'node:test'
import { ProductError } from '../../../src/base/errors.ts'
import { prepareRawDraft, type RawDraft } from '../../../src/mime/compose/raw-draft.ts'
import { parseMessage } from '../../../src/mime/parse.ts'

const RULES = {
  id: 'eml_1',
  hostName: 'mail.acme.test',
  protocol: 'ESMTPSA',
  now: Date.UTC(2026, 0, 1),
  own: { addresses: ['ada@acme.test', 'sales@acme.test'], takesTags: true, patterns: [] },
  recipients: ['bob@out.test', 'eve@out.test'],
}
const TRACE = 'Received: by mail.acme.test with ESMTPSA id eml_1;\r\n Thu, 01 Jan 2026 00:00:00 +0000\r\n'
const USUAL = [
  'From: Ada <ada@acme.test>',
  'To: bob@out.test',
  'Subject: Hello',
  'Date: Thu, 1 Jan 2026 10:00:00 +0100',
  'Message-ID: <one@client.test>',
]

const lines = (...texts: string[]) => texts.join('\r\n')

function prepare(message: string | Buffer, more: Partial<typeof RULES> = {}): RawDraft & { text: string } {
  const draft = prepareRawDraft(Buffer.from(message), { ...RULES, ...more })
  return { ...draft, text: Buffer.from(draft.bytes).toString('latin1') }
}

/** The field and code of the error. */
function refused(message: string | Buffer): string {
  try {
    prepare(message)
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    return `${error.issues![0]!.field} ${error.issues![0]!.code}`
  }
  return 'accepted'
}

describe('fields', () => {
  it('of a complete message stay as they are, below one Received field', () => {
    const message = lines(...USUAL, 'X-Odd:   two  spaces ', 'Received: from pc by relay; x', '', 'Hello', '')
    const draft = prepare(message)
    assert.equal(draft.text, TRACE + message)
    const { from, subject, messageId, hasOwnId, hidden } = draft
    assert.deepEqual(from, { email: 'ada@acme.test', name: 'Ada' })
    assert.deepEqual([subject, messageId, hasOwnId], ['Hello', 'one@client.test', true])
    assert.deepEqual(hidden, [{ email: 'eve@out.test', name: '' }])
  })

  it('above 998 octets are folded', () => {
    const to = Array.from({ length: 60 }, (_, n) => `person.${n}@customer.example`).join(', ')
    const draft = prepare(lines('From: ada@acme.test', `To: ${to}`, `Bcc: ${to}`, '', 'Hello', ''))
    assert.ok(draft.text.split('\r\n').every((line) => line.length <= 998))
    assert.match(draft.text, /\r\nTo: person\.0@customer\.example,[^\r]*\r\n person/)
    assert.doesNotMatch(draft.text, /Bcc/)
  })

  it('Date and Message-ID are added where they are missing or unusable', () => {
    const draft = prepare(lines('From: ada@acme.test', '', 'Hello', ''))
    const added = 'Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nMessage-ID: <eml_1@acme.test>\r\n'
    assert.equal(draft.text, `${TRACE}${added}From: ada@acme.test\r\n\r\nHello\r\n`)
    assert.deepEqual([draft.messageId, draft.hasOwnId], ['eml_1@acme.test', false])
    const empty = prepare(lines(...USUAL.slice(0, 4), 'Message-ID: <>', '', 'Hello', ''))
    assert.equal(empty.text.match(/^Message-ID:.*/gm)!.join(), 'Message-ID: <eml_1@acme.test>')
  })

  it('Bcc, Return-Path, a strange Sender and signatures of our domains are taken out', () => {
    const gone = [
      'Bcc: eve@out.test,\r\n mallory@out.test',
      'BCC: again@out.test',
      'Resent-Bcc: hidden@out.test',
      'Return-Path: <x@out.test>',
      'Sender: root@pc.local',
      'DKIM-Signature: v=1; a=rsa-sha256; d=ACME.test; s=x; b=abc',
    ]
    const kept = 'DKIM-Signature: v=1; d=other.test; s=x; b=abc'
    const { text } = prepare(lines(...gone.slice(0, 3), ...USUAL, ...gone.slice(3), kept, '', 'Bcc: text', ''))
    assert.equal(text, TRACE + lines(...USUAL, kept, '', 'Bcc: text', ''))
  })

  it('the author may be any own address, with a tag where the mailbox takes tags', () => {
    const from = (email: string) => lines(`From: ${email}`, '', 'Hello', '')
    for (const email of ['sales@acme.test', 'Ada+Shop@acme.test', 'sales+x@acme.test']) {
      assert.equal(prepare(from(email)).from.email, email)
    }
    for (const email of ['eve@acme.test', 'ada@acme.test.out.test', 'eve+ada@acme.test']) {
      assert.equal(refused(from(email)), 'from forbidden_value')
    }
    const own = { addresses: ['ada@acme.test'], takesTags: false, patterns: [] }
    assert.throws(() => prepare(from('ada+x@acme.test'), { own }), /must be one address of: ada@acme\.test$/)
  })

  it('a Sender that is an own address stays', () => {
    const message = lines(...USUAL, 'Sender: sales@acme.test', '', 'Hello', '')
    assert.equal(prepare(message).text, TRACE + message)
    assert.doesNotMatch(prepare(message.replace('\r\n\r\n', '\r\nSender: x@y.test\r\n\r\n')).text, /Sender/)
  })

  it('a header alone gets the empty line that ends it', () => {
    assert.ok(prepare(`${lines(...USUAL)}\r\n`).text.endsWith('<one@client.test>\r\n\r\n'))
  })
})

describe('From', () => {
  const cases: [from: string, expected: string][] = [
    ['From: SALES@Acme.test', 'accepted'],
    ['From: "Ada, of Acme" <ada@acme.test>', 'accepted'],
    ['From: =?utf-8?q?Ad=C3=A1?= <ada@acme.test>', 'accepted'],
    ['From: eve@acme.test', 'from forbidden_value'],
    ['From: ada@acme.test, eve@acme.test', 'from forbidden_value'],
    ['From: ada@acme.test\r\nFrom: eve@acme.test', 'message invalid_format'],
    ['From: eve@out.test <ada@acme.test>', 'accepted'],
    ['From: <eve@out.test> ada@acme.test', 'from forbidden_value'],
    ['From: team: ada@acme.test;', 'from forbidden_value'],
    ['From: ', 'from forbidden_value'],
    ['X-From: ada@acme.test', 'from forbidden_value'],
    ['From: ada@acme.test\\@out.test', 'from forbidden_value'],
    ['From: =?utf-8?q?ada=40acme.test?=', 'from forbidden_value'],
  ]
  for (const [from, expected] of cases) {
    it(`${JSON.stringify(from)}: ${expected}`, () => {
      assert.equal(refused(lines(from, 'To: bob@out.test', '', 'Hello', '')), expected)
    })
  }
})

describe('a header that other programs could read differently', () => {
  const cases: Record<string, [header: string, expected: string]> = {
    'a line that is no field': [lines(...USUAL, 'no field', 'X-More: x'), 'message invalid_format'],
    'a line before the first field': [lines('hello', ...USUAL), 'message invalid_format'],
    'a continuation before the first field': [lines(' hello', ...USUAL), 'message invalid_format'],
    'two subjects': [lines(...USUAL, 'subject: other'), 'message invalid_format'],
    'two types': [lines(...USUAL, 'Content-Type: text/plain', 'Content-Type: text/html'), 'message invalid_format'],
    'latin1 in a field': [`${lines(...USUAL, 'X-Name: ')}\xe9`, 'message not_utf8'],
    'above the limits': [lines(...USUAL, ...Array(1001).fill('X-A: b')), 'message invalid_format'],
    '101 hosts': [lines(...USUAL, ...Array(101).fill('Received: by x; y')), 'message loop'],
  }
  for (const [name, [header, expected]] of Object.entries(cases)) {
    it(`${name}: ${expected}`, () => {
      assert.equal(refused(Buffer.from(`${header}\r\n\r\nHello\r\n`, 'latin1')), expected)
    })
  }

  it('UTF-8 in a field stays as it is (RFC 6532)', () => {
    const message = lines(...USUAL.with(2, 'Subject: Grüße'), '', 'Hello', '')
    const draft = prepare(message)
    assert.equal(draft.subject, 'Grüße')
    assert.equal(Buffer.from(draft.bytes).toString(), TRACE + message)
  })
})

describe('files that are never sent', () => {
  const file = (fields: string) =>
    lines(
      ...USUAL,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      fields,
      '',
      'x',
      '--b--',
      '',
    )
  const cases: [fields: string, expected: string][] = [
    ['Content-Disposition: attachment; filename=setup.EXE', 'attachments forbidden_value'],
    ['Content-Disposition: attachment; filename="setup.exe. "', 'attachments forbidden_value'],
    ['Content-Type: application/x; name=setup.exe', 'attachments forbidden_value'],
    ["Content-Disposition: attachment; filename*=utf-8''a%2Eexe", 'attachments forbidden_value'],
    [
      'Content-Disposition: attachment; filename=a.txt\r\nContent-Type: text/plain; name=a.js',
      'attachments forbidden_value',
    ],
    ['Content-Type: message/rfc822\r\n\r\nContent-Type: application/x; name=a.bat', 'attachments forbidden_value'],
    ['Content-Disposition: attachment; filename=exe', 'attachments forbidden_value'],
    ['Content-Disposition: attachment; filename=a.exe.txt', 'accepted'],
    ['Content-Disposition: attachment; filename=a.unknown', 'accepted'],
  ]
  for (const [fields, expected] of cases) {
    it(`${JSON.stringify(fields)}: ${expected}`, () => assert.equal(refused(file(fields)), expected))
  }
})

describe('8-bit parts', () => {
  const mime = (...more: string[]) => lines(...USUAL, 'MIME-Version: 1.0', ...more)
  const bodyOf = (draft: RawDraft) => {
    const { structure } = parseMessage(draft.bytes)
    return structure!
  }

  it('of a message without MIME fields get them', () => {
    const { text } = prepare(lines(...USUAL, '', 'Grüße', '.', 'x = 1 ', ''))
    assert.match(text, /^MIME-Version: 1\.0\r\nContent-Type: text\/plain; charset=utf-8\r\n/m)
    assert.match(text, /^Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n\.\r\nx =3D 1=20\r\n$/m)
    assert.ok(isAscii(Buffer.from(text, 'latin1')))
  })

  it('become quoted-printable in place, with the multiparts around them declared 7bit', () => {
    const message = mime(
      'Content-Type: multipart/alternative; boundary=b',
      'Content-Transfer-Encoding: 8bit',
      '',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
      '',
      'Grüße',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<b>Grüße</b>',
      '--b',
      'Content-Type: text/plain',
      'Content-Transfer-Encoding: 8BIT',
      '',
      'plain',
      '--b--',
      '',
    )
    const draft = prepare(message)
    assert.ok(isAscii(draft.bytes))
    const root = bodyOf(draft)
    assert.deepEqual(
      [root, ...root.parts].map(({ encoding }) => encoding),
      ['7bit', 'quoted-printable', 'quoted-printable', '7bit'],
    )
    assert.match(draft.text, /\r\n\r\nGr=C3=BC=C3=9Fe\r\n--b\r\n/)
  })

  it('inside of what is signed or encrypted, and of inner messages, stay', () => {
    for (const type of ['multipart/signed', 'multipart/encrypted']) {
      const message = mime(
        `Content-Type: ${type}; boundary=s`,
        '',
        '--s',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 8bit',
        '',
        'Grüße',
        '--s--',
        '',
      )
      assert.equal(Buffer.from(prepare(message).bytes).toString(), TRACE + message)
    }
    const inner = mime(
      'Content-Type: multipart/mixed; boundary=m',
      'Content-Transfer-Encoding: 8bit',
      '',
      '--m',
      'Content-Type: message/rfc822',
      'Content-Transfer-Encoding: 8bit',
      '',
      'Subject: inner',
      '',
      'Grüße',
      '--m--',
      '',
    )
    assert.equal(Buffer.from(prepare(inner).bytes).toString(), TRACE + inner)
  })

  it('around the parts of a multipart stay, and are declared', () => {
    const fields = ['Content-Type: multipart/mixed; boundary=b', 'Content-Transfer-Encoding: 8bit']
    const message = mime(...fields, '', 'Grüße', '--b', '', 'x', '--b--', '')
    assert.equal(Buffer.from(prepare(message).bytes).toString(), TRACE + message)
  })

  it('and lines above 998 bytes are encoded, files in base64 are not', () => {
    const long = 'x'.repeat(10_000)
    const draft = prepare(mime('Content-Type: text/html', '', long, ''))
    assert.match(draft.text, /quoted-printable/)
    assert.ok(draft.text.split('\r\n').every((line) => line.length <= 998))
    const message = mime('Content-Type: application/pdf', 'Content-Transfer-Encoding: base64', '', long, '')
    assert.equal(prepare(message).text, TRACE + message)
  })

  it('of another charset keep their bytes', () => {
    const message = mime('Content-Type: text/plain; charset=iso-8859-1', '', 'Gr\xfc\xdfe', '')
    const { text } = prepare(Buffer.from(message, 'latin1'))
    assert.match(text, /charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n$/)
  })

  it('of a part without a header get one', () => {
    const draft = prepare(mime('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'Grüße', '--b--', ''))
    assert.match(draft.text, /--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3/)
    assert.equal(bodyOf(draft).parts[0]!.encoding, 'quoted-printable')
  })
})
