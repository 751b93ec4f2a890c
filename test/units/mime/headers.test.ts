// Fields of a header: where they lie, how they unfold, what is no field, and where the bounds are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FIELD_BYTES_MAX,
  fieldText,
  HEADER_BYTES_MAX,
  HEADER_LINES_MAX,
  headerText,
  readHeaders,
} from '../../../src/mime/headers.ts'
import { mailOf } from '../../support/mail.ts'

const read = (...lines: string[]) => readHeaders(mailOf(...lines))
const table = (...lines: string[]) => read(...lines).fields.map((field) => [field.name, fieldText(field)])

test('fields have lower-case names, unfolded values and exact offsets', () => {
  const bytes = mailOf('Subject: one', '\ttwo', 'X-Empty:', 'To : a@b.c', '', 'body')
  const { fields, bodyStart, problem } = readHeaders(bytes)
  assert.deepEqual(
    fields.map((field) => [field.name, fieldText(field), bytes.toString('latin1', field.start, field.end)]),
    [
      ['subject', 'one\ttwo', 'Subject: one\r\n\ttwo\r\n'],
      ['x-empty', '', 'X-Empty:\r\n'],
      ['to', 'a@b.c', 'To : a@b.c\r\n'],
    ],
  )
  assert.equal(bytes.toString('latin1', bodyStart), 'body')
  assert.equal(problem, null)
})

test('a bare LF ends a line too', () => {
  const { fields, bodyStart } = readHeaders(Buffer.from('A: 1\nB: 2\n 3\n\nbody\n'))
  assert.deepEqual(
    fields.map((field) => fieldText(field)),
    ['1', '2 3'],
  )
  assert.equal(bodyStart, 14)
})

test('names such as __proto__ are names like any other', () => {
  assert.deepEqual(table('__proto__: a', 'constructor: b', 'hasOwnProperty: c', ''), [
    ['__proto__', 'a'],
    ['constructor', 'b'],
    ['hasownproperty', 'c'],
  ])
})

test('lines that are no field are passed over, with what continues them', () => {
  const lines = [
    'From me Thu Jan  1 00:00:00 1970',
    'A: 1',
    'garbage here',
    ' goes on',
    'Bad name: x',
    'B: 2',
    '',
    'body',
  ]
  assert.deepEqual(table(...lines), [
    ['a', '1'],
    ['b', '2'],
  ])
})

test('a mail that starts with text has no header, and its body is all of it', () => {
  assert.deepEqual([read('hello, world', 'A: 1').bodyStart, table('hello, world', 'A: 1')], [0, []])
  assert.deepEqual(read('', 'A: 1').fields, [])
})

test('text behind the last field is the body when no empty line ever comes', () => {
  const bytes = mailOf('A: 1', 'the body', 'without a line before it')
  assert.equal(bytes.toString('latin1', readHeaders(bytes).bodyStart), 'the body\r\nwithout a line before it')
})

test('a boundary ends the header', () => {
  const bytes = mailOf('A: 1', '--b', 'B: 2', '')
  const isBoundary = (start: number, end: number) => bytes.toString('latin1', start, end) === '--b'
  assert.equal(readHeaders(bytes, { isBoundary }).bodyStart, 6)
})

test('raw 8-bit text is UTF-8 (RFC 6532) where it can be, else windows-1252', () => {
  assert.equal(headerText(readHeaders(Buffer.from('Subject: Grüße 世界\r\n\r\n')).fields, 'subject'), 'Grüße 世界')
  assert.equal(headerText(read('Subject: Gr\xfc\xdfe \x80', '').fields, 'subject'), 'Grüße €')
})

test('bounds: lines, bytes of the header, bytes of a field', () => {
  const lines = read(...Array.from({ length: HEADER_LINES_MAX + 5 }, (_, at) => `A${at}: x`), '', 'body')
  assert.equal(lines.fields.length, HEADER_LINES_MAX)
  assert.match(lines.problem!, /more than 1000 lines/)

  const field = `A: ${'x'.repeat(60_000)}`
  const bytes = read(...Array.from({ length: 8 }, () => field), '', 'body')
  assert.equal(bytes.fields.length, Math.ceil(HEADER_BYTES_MAX / (field.length + 2)))
  assert.match(bytes.problem!, /longer than 262144 bytes/)

  const long = read(`A: ${'x'.repeat(FIELD_BYTES_MAX)}`, 'B: 2', '', 'body')
  assert.equal(long.fields[0]!.value.length, FIELD_BYTES_MAX - 2)
  assert.match(long.problem!, /field is longer than 65536 bytes/)
  assert.equal(headerText(long.fields, 'b'), '2')
})
