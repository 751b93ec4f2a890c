// What is found in files: texts, tables, documents, archives, pictures; and what hostile ones cost.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { extract } from '../../../src/content/extract/extract.ts'
import { ENTRIES_MAX, type ExtractedContent, TEXT_MAX } from '../../../src/content/extract/extracted-content.ts'
import { missingProgram } from '../../support/programs.ts'
import { PYTHON } from '../../support/python.ts'

const read = (content: string | Uint8Array, filename: string, type = 'application/octet-stream') =>
  extract({ bytes: typeof content === 'string' ? Buffer.from(content) : content, filename, type, charset: null })

function parsed(content: string | Uint8Array, filename: string, type?: string): ExtractedContent {
  const result = read(content, filename, type)
  assert.equal(result.status, 'parsed', JSON.stringify(result))
  return (result as { found: ExtractedContent }).found
}

const zipped = (members: Record<string, string | Uint8Array>) =>
  zipSync(
    Object.fromEntries(
      Object.entries(members).map(([name, value]) => [name, typeof value === 'string' ? Buffer.from(value) : value]),
    ),
  )

describe('texts', () => {
  test('plain text in whatever it is written', () => {
    assert.deepEqual(parsed('Grüße\r\nzwei', 'a.txt', 'text/plain'), {
      kind: 'text',
      text: 'Grüße\nzwei',
      metadata: { format: 'plain' },
      entries: null,
      more: false,
    })
    assert.equal(parsed(Buffer.from('\ufeffGrüße', 'utf16le'), 'a.txt').text, 'Grüße')
    assert.equal(parsed(Buffer.from('Gr\xfc\xdfe', 'latin1'), 'a.txt', 'text/plain').text, 'Grüße')
    assert.equal(parsed('#!/bin/sh\necho', 'no-extension').kind, 'text')
    const { text, more } = parsed('x'.repeat(TEXT_MAX + 5), 'a.txt')
    assert.deepEqual([text!.length, more], [TEXT_MAX, true])
  })

  test('tables: rows, columns and what separates them, quoted cells whole', () => {
    const { kind, text, metadata } = parsed('a;b;c\n"x\n;y";2;3\n\n', 'a.csv')
    assert.deepEqual([kind, text], ['table', 'a;b;c\n"x\n;y";2;3\n\n'])
    assert.deepEqual(metadata, { format: 'csv', delimiter: ';', rows: 2, columns: 3 })
    assert.deepEqual(parsed('a\tb\n1\t2', 'a.tsv').metadata, { format: 'tsv', delimiter: '\t', rows: 2, columns: 2 })
    assert.deepEqual(parsed('', 'a.csv', 'text/csv').metadata, { format: 'csv', delimiter: ',', rows: 0, columns: 0 })
  })

  test('JSON, broken and deep', () => {
    assert.deepEqual(parsed('{"a":1,"b":[]}', 'a.json').metadata, {
      format: 'json',
      valid: true,
      type: 'object',
      members: 2,
    })
    assert.equal(parsed('{"a":', 'a.json').metadata.valid, false)
    assert.equal(parsed('['.repeat(200_000), 'a.json').kind, 'text')
  })

  test('XML: words, no entity of its own making', () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x><!-- c --><y t=">">Fish &amp; &#x43;hips</y><![CDATA[<z>]]>&b;</x>`
    const { text, metadata } = parsed(bomb, 'a.xml')
    assert.deepEqual([text, metadata], ['Fish & Chips\n<z>\n&b;\n', { format: 'xml', root: 'x' }])
  })

  test('HTML without hidden content', () => {
    const { text, metadata } = parsed('<p>Seen</p><p style="display:none">Not</p>', 'a.html')
    assert.deepEqual([text, metadata.warnings], ['Seen', ['hidden_text_removed']])
  })

  test('a calendar: its events and who is invited', () => {
    const ics = [
      'BEGIN:VCALENDAR',
      'METHOD:REQUEST',
      'BEGIN:VEVENT',
      'UID:1@x.test',
      'SUMMARY:Lunch\\, with',
      '  Bob',
      'DTSTART;TZID="a:b":20300102T120000',
      'DTEND:20300102T130000Z',
      'ORGANIZER;CN="Ana; Boss":mailto:ana@x.test',
      'ATTENDEE;CN=Bob:mailto:bob@x.test',
      'BEGIN:VALARM',
      'DESCRIPTION:ring',
      'END:VALARM',
      'END:VEVENT',
      'END:VCALENDAR',
    ]
    const { kind, text, metadata } = parsed(ics.join('\r\n'), 'invite.ics')
    assert.equal(kind, 'calendar')
    assert.deepEqual(metadata.events, [
      {
        ...{ kind: 'event', attendees: ['Bob <bob@x.test>'], uid: '1@x.test', summary: 'Lunch, with Bob' },
        ...{ start: '20300102T120000', end: '20300102T130000Z', organizer: 'Ana; Boss <ana@x.test>' },
      },
    ])
    assert.match(text!, /^Attendees: Bob <bob@x\.test>\nSummary: Lunch, with Bob\n/)
    assert.equal(read('BEGIN:NOTHING', 'x.ics').status, 'failed')
  })

  test('a message: sender, recipients, text and attachments', () => {
    const mail =
      'From: Ana <a@x.test>\r\nTo: b@x.test\r\nSubject: Hi\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n--b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nabc\r\n--b--\r\n'
    const { kind, text, metadata } = parsed(mail, 'a.eml')
    assert.deepEqual([kind, text], ['message', 'Hello'])
    assert.deepEqual(metadata.from, ['Ana <a@x.test>'])
    assert.deepEqual(metadata.attachments, [{ filename: 'a.txt', content_type: 'text/plain', size_bytes: 3 }])
  })
})

describe('documents', () => {
  const word = (body: string) => ({
    'word/document.xml': `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
  })
  const run = (text: string, properties = '') =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`

  test('docx: paragraphs, tables, breaks; hidden and deleted words left out', () => {
    const body =
      `<w:p>${run('One &amp; ')}${run('two')}</w:p><w:p>${run('SECRET', '<w:vanish/>')}${run('seen', '<w:vanish w:val="0"/>')}</w:p>` +
      `<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>${run('a')}<w:r><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>` +
      `<w:tbl><w:tr><w:tc><w:p>${run('x')}</w:p></w:tc><w:tc><w:p>${run('y')}</w:p></w:tc></w:tr></w:tbl>`
    const core = { 'docProps/core.xml': '<c><dc:title>Plan</dc:title><dc:creator>Ana</dc:creator></c>' }
    const { kind, text, metadata } = parsed(zipped({ ...word(body), ...core }), 'a.docx')
    assert.equal(kind, 'text')
    assert.equal(text, 'One & two\nseen\na\tb\nc\nx  | y \n')
    assert.deepEqual(metadata, { format: 'docx', title: 'Plan', author: 'Ana' })
  })

  test('xlsx: rows with their cells in place, shared texts, names of sheets', () => {
    const sheet =
      '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>1</v></c><c r="C1"><v>2.5</v></c></row><row><c r="A2" t="inlineStr"><is><t>in\nline</t></is></c><c t="b"><v>1</v></c></row></sheetData></worksheet>'
    const { kind, text, metadata } = parsed(
      zipped({
        'xl/workbook.xml': '<workbook><sheets><sheet name="Sales &lt;1&gt;"/></sheets></workbook>',
        'xl/sharedStrings.xml':
          '<sst><si><t>no</t></si><si><r><t>Pe</t></r><r><t>n</t></r><rPh><t>x</t></rPh></si></sst>',
        'xl/worksheets/sheet1.xml': sheet,
      }),
      'a.xlsx',
    )
    assert.deepEqual([kind, text], ['table', '[Sales <1>]\nPen\t\t2.5\nin line\tTRUE\n'])
    assert.deepEqual(metadata.sheets, ['Sales <1>'])
  })

  test('pptx: slides in their order', () => {
    const slide = (text: string) => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`
    const slides = Object.fromEntries([1, 2, 10].map((at) => [`ppt/slides/slide${at}.xml`, slide(`S${at}`)]))
    const { text, metadata } = parsed(
      zipped({ 'ppt/presentation.xml': '<p/>', ...slides, 'ppt/slides/_rels/slide1.xml': 'x' }),
      'a.pptx',
    )
    assert.deepEqual([text, metadata.slides], ['[1]\nS1\n\n[2]\nS2\n\n[3]\nS10\n', 3])
  })

  test('OpenDocument: texts and sheets', () => {
    const content = (body: string) => `<office:document-content>${body}</office:document-content>`
    const odt = zipped({
      mimetype: 'application/vnd.oasis.opendocument.text',
      'content.xml': content(
        '<text:h>Head</text:h><text:p>a<text:s text:c="3"/>b<text:tab/>c<office:annotation><text:p>note</text:p></office:annotation></text:p>',
      ),
      'meta.xml': '<m><dc:title>T</dc:title></m>',
    })
    assert.deepEqual(
      [parsed(odt, 'a.odt').text, parsed(odt, 'a.odt').metadata],
      ['Head\na   b\tc\n', { format: 'odt', title: 'T', author: null }],
    )
    const ods = zipped({
      mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
      'content.xml': content(
        '<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell/><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>',
      ),
    })
    assert.deepEqual([parsed(ods, 'a.ods').kind, parsed(ods, 'a.ods').text], ['table', 'a\t\tb\n'])
  })

  test('a document that unpacks to more than is read is reported as too large, a damaged one as failed', () => {
    const bomb = zipped(word('<w:p/>'.repeat(9_000_000)))
    assert.ok(bomb.length < 300_000)
    assert.deepEqual(read(bomb, 'a.docx'), { status: 'too_large' })
    const whole = zipped(word(`<w:p>${run('x'.repeat(5000))}</w:p>`))
    assert.equal(read(whole.subarray(0, whole.length - 30), 'a.docx').status, 'failed')
    const bent = Buffer.from(whole)
    bent.fill(0xff, 60, 90)
    assert.equal(read(bent, 'a.docx').status, 'failed')
  })

  test('unsupported files', () => {
    for (const bytes of [
      '%PDF-1.7\n',
      '{\\rtf1 x}',
      '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
      '7z\xbc\xaf\x27\x1c',
      'Rar!\x1a\x07\x00',
      '\x00\x01\x02',
    ]) {
      assert.equal(read(Buffer.from(bytes, 'latin1'), 'a.bin').status, 'unsupported')
    }
    assert.equal(read(Buffer.alloc(0), 'a.bin').status, 'unsupported')
    assert.equal(read('ID3', 'a.mp3', 'audio/mpeg').status, 'unsupported')
  })
})

/** Writes the archives of the tests below. */
const MAKE_ARCHIVES = `
import io, sys, tarfile, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(folder + '/a.zip', 'w', zipfile.ZIP_DEFLATED) as z:
    z.writestr('ordner/', '')
    z.writestr('ordner/grüße.txt', 'hallo')
    z.writestr('../../etc/passwd', '')
    z.writestr('zeros.bin', bytes(1000000))
with zipfile.ZipFile(folder + '/many.zip', 'w') as z:
    for i in range(70000):
        z.writestr('f%d' % i, '')
def tar(name, mode, form, long):
    with tarfile.open(folder + '/' + name, mode, format=form) as t:
        for path, size in (('a.txt', 3), (long, 700)):
            info = tarfile.TarInfo(path); info.size = size
            t.addfile(info, io.BytesIO(bytes(size)))
long = 'd' * 120 + '/' + 'f' * 90 + '.txt'
tar('gnu.tar', 'w', tarfile.GNU_FORMAT, long)
tar('pax.tar', 'w', tarfile.PAX_FORMAT, long)
tar('pax.tar.gz', 'w:gz', tarfile.PAX_FORMAT, long)
tar('ustar.tar', 'w', tarfile.USTAR_FORMAT, 'd' * 60 + '/' + 'f' * 90 + '.txt')
`

describe('archives, made by the programs people use', { skip: missingProgram(PYTHON) }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailstead-extract-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync(PYTHON, ['-c', MAKE_ARCHIVES, folder])
  const file = (name: string) => readFileSync(join(folder, name))

  test('zip: names in UTF-8, sizes, folders left out', () => {
    const { kind, entries, metadata, more } = parsed(file('a.zip'), 'a.zip')
    assert.equal(kind, 'archive')
    assert.deepEqual(entries, [
      { path: 'ordner/grüße.txt', sizeBytes: 5 },
      { path: '../../etc/passwd', sizeBytes: 0 },
      { path: 'zeros.bin', sizeBytes: 1_000_000 },
    ])
    assert.deepEqual(
      [metadata, more],
      [{ format: 'zip', files: 3, total_size_bytes: 1_000_005, encrypted: false }, false],
    )
  })

  test('zip: more members than are listed, written for 64 bits', () => {
    const { entries, metadata, more } = parsed(file('many.zip'), 'many.zip')
    assert.deepEqual([entries!.length, metadata.files, more], [ENTRIES_MAX, 70_000, true])
  })

  for (const name of ['gnu.tar', 'pax.tar', 'ustar.tar', 'pax.tar.gz']) {
    test(`${name}: long names and sizes`, () => {
      const { entries, metadata } = parsed(file(name), name)
      const long = name.startsWith('ustar')
        ? `${'d'.repeat(60)}/${'f'.repeat(90)}.txt`
        : `${'d'.repeat(120)}/${'f'.repeat(90)}.txt`
      assert.deepEqual(entries, [
        { path: 'a.txt', sizeBytes: 3 },
        { path: long, sizeBytes: 700 },
      ])
      assert.deepEqual([metadata.format, metadata.files], [name.endsWith('gz') ? 'tar.gz' : 'tar', 2])
    })
  }

  test('a packed file is an archive of one', () => {
    const { entries, metadata } = parsed(gzipSync('hello'), 'a.txt.gz')
    assert.deepEqual([entries, metadata.format], [[{ path: 'a.txt', sizeBytes: 5 }], 'gzip'])
  })

  test('bombs and stumps', () => {
    assert.equal(read(gzipSync(Buffer.alloc(60 * 1024 * 1024)), 'a.gz').status, 'too_large')
    const tar = gzipSync(Buffer.concat([file('pax.tar').subarray(0, 1024), Buffer.alloc(60 * 1024 * 1024)]))
    assert.equal(parsed(tar, 'a.tgz').entries!.length, 1)
    assert.equal(read(gzipSync('x').subarray(0, 8), 'a.gz').status, 'failed')
    assert.equal(read(file('a.zip').subarray(0, 40), 'a.zip').status, 'failed')
    assert.equal(parsed(file('gnu.tar').subarray(0, 600), 'a.tar').entries!.length, 1)
  })
})

describe('pictures', () => {
  const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')
  const pictures: [string, Buffer, number, number][] = [
    ['png', bytes('89504e470d0a1a0a 0000000d49484452 00000280 000001e0 08060000 00'), 640, 480],
    ['gif', Buffer.from('GIF89a\x80\x02\xe0\x01\x00\x00', 'latin1'), 640, 480],
    ['bmp', bytes('424d 00000000 00000000 36000000 28000000 80020000 20feffff 0100 1800'), 640, 480],
    ['jpeg', bytes('ffd8 ffe00004 0000 ff ffc00011 08 01e0 0280 03 012200 021101 031101'), 640, 480],
    ['webp', Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0'), bytes('7f0200 df0100')]), 640, 480],
    [
      'tiff',
      bytes('49492a00 08000000 0200 0001 0300 01000000 80020000 0101 0400 01000000 e0010000 00000000'),
      640,
      480,
    ],
    [
      'avif',
      Buffer.concat([
        bytes('0000001c'),
        Buffer.from('ftypavif\0\0\0\0mif1miaf'),
        Buffer.from('....ispe\0\0\0\0'),
        bytes('00000280 000001e0'),
      ]),
      640,
      480,
    ],
    [
      'heic',
      Buffer.concat([
        bytes('00000018'),
        Buffer.from('ftypheic\0\0\0\0mif1'),
        Buffer.from('ispe\0\0\0\0'),
        bytes('00000040 00000040'),
        Buffer.from('ispe\0\0\0\0'),
        bytes('00000280 000001e0'),
      ]),
      640,
      480,
    ],
  ]
  for (const [format, content, width, height] of pictures) {
    test(`${format}: its size, whatever it is called`, () => {
      assert.deepEqual(parsed(content, 'x.bin').metadata, { format, width, height })
      for (let length = 0; length < content.length; length++) {
        assert.ok(
          ['failed', 'parsed'].includes(read(content.subarray(0, length), `x.${format}`, `image/${format}`).status),
        )
      }
    })
  }

  test('svg: by its attributes or its view box', () => {
    assert.deepEqual(parsed('<?xml version="1.0"?><svg width="64px" height=\'48\'/>', 'a.svg').metadata, {
      format: 'svg',
      width: 64,
      height: 48,
    })
    assert.deepEqual(parsed('<svg viewBox="0 0 10 20"><script>alert(1)</script></svg>', 'a.svg').metadata, {
      format: 'svg',
      width: 10,
      height: 20,
    })
  })
})

test('noise and cut files of every kind end somehow', () => {
  let seed = 7
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
  const starts = [
    'PK\x03\x04',
    'PK\x05\x06',
    '\x1f\x8b\x08',
    'GIF89a',
    '\xff\xd8',
    'RIFF    WEBP',
    'II*\0',
    '    ftypavif',
    'BEGIN:VCALENDAR',
    '<',
    '{',
  ]
  for (const start of starts) {
    for (let round = 0; round < 20; round++) {
      const noise = Buffer.from(Array.from({ length: Math.floor(random() * 600) }, () => Math.floor(random() * 256)))
      for (const name of ['x', 'x.csv', 'x.xml', 'x.html', 'x.ics', 'x.eml', 'x.svg']) {
        const { status } = read(Buffer.concat([Buffer.from(start, 'latin1'), noise]), name)
        assert.ok(['parsed', 'unsupported', 'failed'].includes(status))
      }
    }
  }
})
