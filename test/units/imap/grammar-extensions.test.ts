// The grammar of extensions: PARTIAL (RFC 9394), METADATA (RFC 5464), FUZZY and RELEVANCY (RFC 6203), with forms that are not taken.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cursor, ImapSyntaxError } from '../../../src/imap/grammar/cursor.ts'
import { readFetchModifiers } from '../../../src/imap/grammar/fetch-items.ts'
import { ENTRY_BYTES, METADATA_ENTRIES } from '../../../src/imap/grammar/limits.ts'
import { readListRequest } from '../../../src/imap/grammar/list-options.ts'
import { readMetadataChange, readMetadataRequest } from '../../../src/imap/grammar/metadata.ts'
import { partOfRanges, positionsOf, readPartialRange } from '../../../src/imap/grammar/partial.ts'
import { readSearchRequest } from '../../../src/imap/grammar/search-keys.ts'
import { readAll } from '../../support/imap-grammar.ts'

function refused(read: (cursor: Cursor) => unknown, ...texts: string[]): void {
  for (const text of texts) assert.throws(() => readAll(read, text), ImapSyntaxError, text.slice(0, 80))
}

test('PARTIAL: ranges from the start and from the end, in either order', () => {
  assert.deepEqual(readAll(readPartialRange, '1:500'), [1, 500])
  assert.deepEqual(readAll(readPartialRange, '500:400'), [400, 500])
  assert.deepEqual(readAll(readPartialRange, '-1:-100'), [-1, -100])
  assert.deepEqual(readAll(readPartialRange, '-100:-1'), [-1, -100])
  refused(readPartialRange, '1', '0:1', '1:-1', '-1:1', '1:*', '*:1', '-0:-1', '1:2:3', '1,2', '4294967296:1', '')
  assert.deepEqual(readAll(readFetchModifiers, ' (PARTIAL -1:-2 CHANGEDSINCE 5)').partial, [-1, -2])
  refused(readFetchModifiers, ' (PARTIAL)', ' (PARTIAL 1:2 PARTIAL 3:4)', ' (PARTIAL (1:2))')
})

test('PARTIAL: the positions of a range, and their numbers', () => {
  const numbers = [3, 4, 5, 9, 12, 13]
  for (const [first, last] of [
    ...[
      [1, 1],
      [1, 3],
      [2, 5],
      [4, 4],
      [5, 9],
      [6, 6],
      [7, 9],
      [1, 4294967295],
    ],
    ...[
      [-1, -1],
      [-1, -4],
      [-3, -5],
      [-6, -6],
      [-6, -9],
      [-7, -9],
    ],
  ] as [number, number][]) {
    const expected = numbers.filter((_, at) => {
      const position = first > 0 ? at + 1 : numbers.length - at
      return position >= Math.abs(first) && position <= Math.abs(last)
    })
    assert.deepEqual(numbers.slice(...positionsOf([first, last], numbers.length)), expected, `${first}:${last}`)
    const ranges = partOfRanges(
      [
        [3, 5],
        [9, 9],
        [12, 13],
      ],
      [first, last],
      numbers.length,
    )
    assert.deepEqual(
      numbers.filter((number) => ranges.some((range) => number >= range[0] && number <= range[1])),
      expected,
      `${first}:${last}`,
    )
  }
  assert.deepEqual(positionsOf([1, 5], 0), [0, 0])
})

test('GETMETADATA: options before or behind the name, entries with or without parentheses', () => {
  const request = readAll(readMetadataRequest, ' (DEPTH 1 MAXSIZE 1024) "INBOX" (/shared/Comment "/private/comment")')
  assert.deepEqual(
    { ...request, mailbox: request.mailbox.toString() },
    { mailbox: 'INBOX', entries: ['/shared/comment', '/private/comment'], maxSize: 1024, depth: 1 },
  )
  const behind = readAll(readMetadataRequest, ' "" (depth infinity) /private')
  assert.deepEqual([behind.mailbox.length, behind.depth, behind.entries], [0, 'infinity', ['/private']])
  const twice = ' (DEPTH 1) x (DEPTH 0) /a'
  refused(
    readMetadataRequest,
    ' x',
    ' x ()',
    ' x (a)',
    ' x /',
    ' x /a/',
    ' x (/a  /b)',
    ' (SIZE 1) x /a',
    ' () x /a',
    twice,
  )
  refused(readMetadataRequest, ` x /${'a'.repeat(ENTRY_BYTES)}`)
  const many = Array.from({ length: METADATA_ENTRIES }, (_, n) => `/a${n}`).join(' ')
  assert.equal(readAll(readMetadataRequest, ` x (${many})`).entries.length, METADATA_ENTRIES)
  refused(readMetadataRequest, ` x (${many} /b)`)
})

test('SETMETADATA: strings, literals and NIL; LIST RETURN (METADATA …)', () => {
  const { values } = readAll(readMetadataChange, ' x (/a "1" /B NIL /c \u0001)', 'two\r\nlines')
  assert.deepEqual(
    [...values].map(([entry, value]) => [entry, value?.toString() ?? null]),
    [
      ['/a', '1'],
      ['/b', null],
      ['/c', 'two\r\nlines'],
    ],
  )
  refused(readMetadataChange, ' x', ' x ()', ' x (/a)', ' x (/a atom)', ' x /a "1"', ' x (/a "1" /b)', ' x (/a* "1")')
  const list = readAll(readListRequest, '"" % RETURN (METADATA ("/shared/x") CHILDREN)')
  assert.deepEqual([list.returns.metadata, list.returns.children], [['/shared/x'], true])
  refused(readListRequest, '"" % RETURN (METADATA)', '"" % RETURN (METADATA ())', '"" % RETURN (METADATA /a)')
})

test('FUZZY applies to the texts within it; RELEVANCY needs it', () => {
  const { key, usesFuzzy } = readAll(
    readSearchRequest,
    'RETURN (RELEVANCY ALL) FUZZY (OR SUBJECT a NOT BODY b SEEN) TO c',
  )
  assert.ok(usesFuzzy)
  const left = { kind: 'subject', value: 'a', isFuzzy: true }
  const right = { kind: 'not', key: { kind: 'text', scope: 'body', value: 'b', isFuzzy: true } }
  const seen = { kind: 'flag', flag: 'seen', isSet: true }
  const to = { kind: 'address', field: 'to', value: 'c' }
  assert.deepEqual(key, { kind: 'and', keys: [{ kind: 'and', keys: [{ kind: 'or', left, right }, seen] }, to] })
  refused(readSearchRequest, 'RETURN (RELEVANCY) SUBJECT a', 'FUZZY', 'RETURN (PARTIAL 1:2 ALL) ALL')
})
