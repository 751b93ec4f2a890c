// The grammar of IMAP: each rule of RFC 9051 §9 that commands use, with forms that are taken and forms that are not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cursor, ImapSyntaxError } from '../../../src/imap/grammar/cursor.ts'
import { formatDateTime, readDate, readDateTime } from '../../../src/imap/grammar/dates.ts'
import { readFetchItems, readFetchModifiers } from '../../../src/imap/grammar/fetch-items.ts'
import { readFlags } from '../../../src/imap/grammar/flags.ts'
import {
  FETCH_ITEMS,
  FIELD_NAMES,
  LIST_PATTERNS,
  SEARCH_DEPTH,
  SEARCH_KEYS,
  SEARCH_STRING_BYTES,
  SET_RANGES,
} from '../../../src/imap/grammar/limits.ts'
import { readListRequest, readStatusItems } from '../../../src/imap/grammar/list-options.ts'
import { BadCharset, readSearchRequest } from '../../../src/imap/grammar/search-keys.ts'
import { formatSection, readSection } from '../../../src/imap/grammar/sections.ts'
import {
  formatRanges,
  normalizeRanges,
  rangesOf,
  readKnownUids,
  readSequenceSet,
  STAR,
} from '../../../src/imap/grammar/sets.ts'
import { readAstring, readNstring, readString } from '../../../src/imap/grammar/strings.ts'
import { readAll } from '../../support/imap-grammar.ts'

function refused(read: (cursor: Cursor) => unknown, ...texts: string[]): void {
  for (const text of texts) assert.throws(() => readAll(read, text), ImapSyntaxError, text.slice(0, 80))
}

test('strings: atoms, quoted strings with escapes, literals, NIL', () => {
  assert.equal(readAll(readAstring, 'foo]bar').toString(), 'foo]bar')
  assert.equal(readAll(readAstring, '"a \\"b\\" \\\\c"').toString(), 'a "b" \\c')
  assert.equal(readAll(readAstring, '\u0001', 'x\r\ny').toString(), 'x\r\ny')
  assert.equal(readAll(readAstring, '""').toString(), '')
  assert.equal(readAll(readNstring, 'nil'), null)
  assert.equal(readAll(readNstring, '"NIL"')!.toString(), 'NIL')
  refused(readAstring, '', ' ', '(', '"a', '"a\\b"', '"a\\', 'a b', 'a"', '{3}')
  refused(readString, 'atom', 'NIL')
})

test('numbers: 32 bits and 63 bits, never negative', () => {
  const number = (cursor: Cursor) => cursor.number()
  const number64 = (cursor: Cursor) => cursor.number64()
  assert.equal(readAll(number, '4294967295'), 4294967295)
  assert.equal(readAll(number64, '9223372036854775807'), 2 ** 63)
  refused(number, '4294967296', '-1', '', 'x', '99999999999999999999999')
  refused(number64, '9223372036854775808', '-1', '18446744073709551616')
  refused((cursor) => cursor.nzNumber(), '0', '00')
})

test('sequence sets: ranges in any order, *, $, and no zero', () => {
  assert.deepEqual(readAll(readSequenceSet, '1,3:5,7:*'), [
    [1, 1],
    [3, 5],
    [7, STAR],
  ])
  assert.equal(readAll(readSequenceSet, '$'), '$')
  refused(readSequenceSet, '', '0', '1:', ':1', '1,', '1,,2', '1:2:3', '1;2', '-1', '4294967296', '$,1')
  refused(readKnownUids, '1:*', '*')
  const many = Array.from({ length: SET_RANGES }, () => '1').join(',')
  assert.equal(readAll(readSequenceSet, many).length, SET_RANGES)
  refused(readSequenceSet, `${many},1`)
})

test('ranges are sorted, joined and written back', () => {
  const normal = (ranges: [number, number][], highest: number) => formatRanges(normalizeRanges(ranges, highest))
  assert.equal(
    normal(
      [
        [5, 3],
        [1, 1],
        [2, 2],
        [9, STAR],
      ],
      12,
    ),
    '1:5,9:12',
  )
  assert.equal(normal([[STAR, STAR]], 7), '7')
  assert.equal(normal([[10, STAR]], 7), '7:10')
  assert.equal(normal([[STAR, STAR]], 0), '')
  assert.equal(formatRanges(rangesOf([1, 2, 3, 7, 9, 10])), '1:3,7,9:10')
})

test('flags: system flags in any case, keywords in lower case, \\Recent ignored', () => {
  assert.deepEqual(readAll(readFlags, '(\\SEEN \\recent $Forwarded foo FOO)'), {
    system: ['seen'],
    keywords: ['$forwarded', 'foo'],
  })
  assert.deepEqual(readAll(readFlags, '\\Deleted \\Flagged'), { system: ['deleted', 'flagged'], keywords: [] })
  assert.deepEqual(readAll(readFlags, '()'), { system: [], keywords: [] })
  refused(readFlags, '(\\Foo)', '(a  b)', '(a', 'a)', '(\\)', '(a%b)', `(${'k'.repeat(256)})`)
})

test('dates: days that exist, times with zones', () => {
  assert.equal(readAll(readDate, '1-Feb-2024'), Date.UTC(2024, 1, 1))
  assert.equal(readAll(readDate, '"29-feb-2024"'), Date.UTC(2024, 1, 29))
  refused(readDate, '29-Feb-2023', '32-Jan-2024', '1-Foo-2024', '1-Jan-24', '1-Jan', '0-Jan-2024', '"1-Jan-2024')
  const time = readAll(readDateTime, '"17-Jul-1996 02:44:25 -0700"')
  assert.equal(time, Date.UTC(1996, 6, 17, 9, 44, 25))
  assert.equal(readAll(readDateTime, '" 7-Jul-1996 02:44:25 +0000"'), Date.UTC(1996, 6, 7, 2, 44, 25))
  assert.equal(formatDateTime(time), '17-Jul-1996 09:44:25 +0000')
  refused(
    readDateTime,
    '17-Jul-1996',
    '"17-Jul-1996 24:00:00 +0000"',
    '"17-Jul-1996 02:44:25"',
    '"17-Jul-1996 02:44 +0000"',
  )
})

test('sections: parts, texts, fields; written back as they are echoed', () => {
  for (const section of [
    '[]',
    '[TEXT]',
    '[1.2]',
    '[1.MIME]',
    '[2.HEADER]',
    '[HEADER.FIELDS (FROM TO)]',
    '[3.HEADER.FIELDS.NOT (X)]',
  ]) {
    assert.equal(formatSection(readAll(readSection, section)), section)
  }
  assert.equal(formatSection(readAll(readSection, '[header.fields ("from")]')), '[HEADER.FIELDS (FROM)]')
  refused(
    readSection,
    '[MIME]',
    '[0]',
    '[1.]',
    '[1..2]',
    '[HEADER.FIELDS ()]',
    '[HEADER.FIELDS]',
    '[FOO]',
    '[1',
    '[HEADER.FIELDS (a:b)]',
  )
  refused(readSection, `[HEADER.FIELDS (${'a '.repeat(FIELD_NAMES)}a)]`)
})

test('FETCH items: macros, lists, ranges of bytes, and all extensions', () => {
  assert.deepEqual(
    readAll(readFetchItems, 'fast').map((item) => item.kind === 'plain' && item.name),
    ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE'],
  )
  assert.deepEqual(readAll(readFetchItems, 'BODY.PEEK[TEXT]<0.100>'), [
    { kind: 'body', section: { part: [], text: 'text', fields: [] }, range: { start: 0, count: 100 }, isPeek: true },
  ])
  assert.deepEqual(readAll(readFetchItems, '(BINARY[1.2]<5.1> BINARY.SIZE[3] body PREVIEW (LAZY) PREVIEW MODSEQ)'), [
    { kind: 'binary', part: [1, 2], range: { start: 5, count: 1 }, isPeek: false },
    { kind: 'binary-size', part: [3] },
    { kind: 'plain', name: 'BODY' },
    { kind: 'plain', name: 'PREVIEW' },
    { kind: 'plain', name: 'PREVIEW' },
    { kind: 'plain', name: 'MODSEQ' },
  ])
  refused(
    readFetchItems,
    '()',
    '(ALL)',
    'FOO',
    '(UID',
    'BODY.PEEK',
    'BODY[]<0>',
    'BODY[]<0.0>',
    'BINARY[TEXT]',
    'UID[1]',
    'BODY[]<-1.5>',
  )
  refused(readFetchItems, `(${'UID '.repeat(FETCH_ITEMS)}UID)`)
  assert.deepEqual(readAll(readFetchModifiers, ' (CHANGEDSINCE 12 VANISHED)'), {
    changedSince: 12,
    vanished: true,
    partial: null,
  })
  assert.deepEqual(readAll(readFetchModifiers, ' (PARTIAL -1:-100)').partial, [-1, -100])
  refused(readFetchModifiers, ' (VANISHED)', ' ()', ' (CHANGEDSINCE)', ' (PARTIAL 0:1)', ' (PARTIAL -1:1)', ' (FOO)')
})

test('LIST and STATUS: old form, selection and return options, several patterns', () => {
  const plain = readAll(readListRequest, '"" *')
  assert.equal(plain.isExtended, false)
  const extended = readAll(
    readListRequest,
    '(SUBSCRIBED RECURSIVEMATCH) "" ("a%" b/*) RETURN (CHILDREN STATUS (MESSAGES UNSEEN))',
  )
  assert.deepEqual(extended.patterns.map(String), ['a%', 'b/*'])
  assert.deepEqual(extended.returns.status, ['MESSAGES', 'UNSEEN'])
  assert.equal(extended.selection.recursiveMatch, true)
  refused(readListRequest, '""', '"" * RETURN', '(FOO) "" *', '(RECURSIVEMATCH) "" *', '"" ()', '"" * RETURN (STATUS)')
  refused(readListRequest, `"" (${'a '.repeat(LIST_PATTERNS)}a)`, `"" ${'%'.repeat(1025)}`)
  refused(readStatusItems, '()', '(FOO)', 'MESSAGES', '(MESSAGES')
})

test('SEARCH: every key, as a tree', () => {
  const key = (text: string) => readAll(readSearchRequest, text).key
  assert.deepEqual(key('UNSEEN'), { kind: 'flag', flag: 'seen', isSet: false })
  assert.deepEqual(key('OR (1:2 SEEN) NOT FROM bob'), {
    kind: 'or',
    left: {
      kind: 'and',
      keys: [
        { kind: 'set', set: [[1, 2]], isUid: false },
        { kind: 'flag', flag: 'seen', isSet: true },
      ],
    },
    right: { kind: 'not', key: { kind: 'address', field: 'from', value: 'bob' } },
  })
  assert.deepEqual(key('HEADER X-Foo ""'), { kind: 'header', name: 'X-FOO', value: '' })
  assert.deepEqual(key('FUZZY TEXT foo'), { kind: 'text', scope: 'text', value: 'foo', isFuzzy: true })
  assert.deepEqual(key('MODSEQ "/flags/\\\\seen" all 12'), { kind: 'modseq', least: 12 })
  for (const text of [
    ...[
      'ALL',
      'NEW',
      'OLD',
      'RECENT',
      'UNKEYWORD foo',
      'SENTBEFORE 1-Feb-2024',
      'SAVEDON 1-Feb-2024',
      'LARGER 5',
      'YOUNGER 60',
    ],
    ...[
      'UID 1:*',
      '$',
      '*',
      'EMAILID msg_1',
      'THREADID thr_1',
      'SAVEDATESUPPORTED',
      'BCC a',
      'CC a',
      'SUBJECT "a b"',
      'MODSEQ 5',
    ],
    ...[
      'RETURN () ALL',
      'RETURN (MIN MAX COUNT SAVE) CHARSET utf-8 TEXT foo',
      'RETURN (PARTIAL 1:500 COUNT) ALL',
      'ALL ',
    ],
  ])
    assert.ok(key(text), text)
  refused(
    readSearchRequest,
    '',
    'FOO',
    'OR SEEN',
    'NOT',
    '(SEEN',
    '()',
    'SEEN  UNSEEN',
    'BEFORE 1-1-2024',
    'UID',
    'HEADER "a:b" c',
  )
  refused(readSearchRequest, 'RETURN (FOO) ALL', 'RETURN (ALL PARTIAL 1:2) ALL', 'TEXT "\u00e9', 'OLDER 0', 'LARGER -1')
  assert.throws(() => readAll(readSearchRequest, 'CHARSET koi8-r TEXT foo'), BadCharset)
})

test('SEARCH is bounded: keys, depth, length of strings, bytes that are no UTF-8', () => {
  const nested = (depth: number) => `${'('.repeat(depth)}ALL${')'.repeat(depth)}`
  assert.ok(readAll(readSearchRequest, nested(SEARCH_DEPTH)))
  refused(
    readSearchRequest,
    nested(SEARCH_DEPTH + 1),
    `${'NOT '.repeat(SEARCH_DEPTH + 1)}ALL`,
    `${'OR ALL '.repeat(SEARCH_DEPTH + 1)}ALL`,
  )
  refused(
    readSearchRequest,
    Array.from({ length: SEARCH_KEYS + 1 }, () => 'ALL').join(' '),
    `TEXT ${'x'.repeat(SEARCH_STRING_BYTES + 1)}`,
  )
  assert.throws(() => readAll(readSearchRequest, 'TEXT \u0001', Buffer.from([0xff])), ImapSyntaxError)
  assert.throws(() => readAll(readSearchRequest, 'TEXT \u0001', 'a\0'), ImapSyntaxError)
})
