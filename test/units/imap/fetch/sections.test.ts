// Sections: names of parts, ranges, repaired line ends and NUL, decoded parts; in pieces as in one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainFields, servedFields } from '../../../../src/imap/fetch/header-fields.ts'
import {
  messageSize,
  type RequestedRange,
  type RequestedSection,
  type ResolvedSection,
  resolveBinary,
  resolveSection,
} from '../../../../src/imap/fetch/sections.ts'
import { ServedStream, servedBytes } from '../../../../src/imap/fetch/served-stream.ts'
import type { Part } from '../../../../src/mime/message.ts'
import { unpackHeaders } from '../../../../src/mime/message-headers.ts'
import { parseMessage } from '../../../../src/mime/parse.ts'
import { mailOf } from '../../../support/mail.ts'
import { Random } from '../../../support/random.ts'

const MAIL = mailOf(
  ...[
    'From: a@x',
    'Subject: s',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    'pre',
    '--x',
    'A: 1',
    '',
    'one',
    '--x',
  ],
  ...[
    'Content-Type: message/rfc822',
    '',
    'Subject: inner',
    'To: b@x',
    '',
    'inner body',
    '--x',
    'Content-Type: message/rfc822',
  ],
  ...['', 'Content-Type: multipart/mixed; boundary=y', '', '--y', 'B: 2', '', 'deep', '--y--', '--x--', 'post', ''],
)

function rootOf(bytes: Uint8Array): Part {
  return parseMessage(bytes).structure!
}

function shown(bytes: Uint8Array, plan: ResolvedSection): string | null {
  if (plan.kind !== 'bytes' && plan.kind !== 'fields') return plan.kind === 'missing' ? null : plan.kind
  const stored = bytes.subarray(plan.start, plan.end)
  const served = plan.kind === 'bytes' ? servedBytes(plan, stored) : servedFields(plan, stored)
  if (plan.kind === 'bytes') assert.equal(served.length, plan.size)
  return Buffer.from(served).toString('latin1')
}

function body(
  bytes: Uint8Array,
  part: number[],
  text: RequestedSection['text'] = 'all',
  fields: string[] = [],
  range: RequestedRange | null = null,
): string | null {
  return shown(bytes, resolveSection(rootOf(bytes), { part, text, fields }, range))
}

function binary(bytes: Uint8Array, part: number[], range: RequestedRange | null = null): string | null {
  return shown(bytes, resolveBinary(rootOf(bytes), part, range))
}

test('parts, their headers, and those of messages in them', () => {
  assert.equal(body(MAIL, []), MAIL.toString('latin1'))
  assert.match(body(MAIL, [], 'header')!, /^From: a@x[\s\S]*boundary=x\r\n\r\n$/)
  assert.match(body(MAIL, [], 'text')!, /^pre[\s\S]*post\r\n$/)
  assert.equal(body(MAIL, [1]), 'one')
  assert.equal(body(MAIL, [1], 'mime'), 'A: 1\r\n\r\n')
  assert.equal(body(MAIL, [2]), 'Subject: inner\r\nTo: b@x\r\n\r\ninner body')
  assert.equal(body(MAIL, [2], 'mime'), 'Content-Type: message/rfc822\r\n\r\n')
  assert.equal(body(MAIL, [2], 'header'), 'Subject: inner\r\nTo: b@x\r\n\r\n')
  assert.equal(body(MAIL, [2], 'text'), 'inner body')
  assert.equal(body(MAIL, [2, 1]), 'inner body')
  assert.equal(body(MAIL, [3, 1]), 'deep')
  assert.equal(body(MAIL, [3, 1], 'mime'), 'B: 2\r\n\r\n')
  assert.match(body(MAIL, [3], 'text')!, /^--y[\s\S]*--y--$/)
})

test('what does not exist is NIL: parts, and HEADER and TEXT of parts that are no messages', () => {
  for (const part of [[4], [1, 1], [2, 2], [2, 1, 1], [0]]) assert.equal(body(MAIL, part), null, part.join('.'))
  for (const text of ['header', 'text', 'fields', 'fields-not'] as const)
    assert.equal(body(MAIL, [1], text, ['A']), null)
  assert.equal(body(MAIL, [9], 'mime'), null)
  assert.equal(binary(MAIL, [4]), null)
  const single = mailOf('A: 1', '', 'x')
  assert.deepEqual([body(single, [1]), body(single, [1], 'mime'), body(single, [2])], ['x', 'A: 1\r\n\r\n', null])
})

test('fields in the order of the header with the empty line, and all other lines', () => {
  assert.equal(body(MAIL, [], 'fields', ['SUBJECT', 'FROM', 'X']), 'From: a@x\r\nSubject: s\r\n\r\n')
  assert.equal(body(MAIL, [], 'fields', ['X']), '\r\n')
  assert.equal(body(MAIL, [2], 'fields', ['TO']), 'To: b@x\r\n\r\n')
  assert.equal(body(MAIL, [2], 'fields-not', ['TO']), 'Subject: inner\r\n\r\n')
  assert.equal(body(MAIL, [], 'fields', ['FROM'], { start: 6, count: 4 }), 'a@x\r')
  const odd = Buffer.from('From x\nA: 1\n folded\nno field\nB: 2\0\n\nbody')
  assert.equal(body(odd, [], 'fields', ['A', 'B']), 'A: 1\r\n folded\r\nB: 2\x80\r\n\r\n')
  assert.equal(body(odd, [], 'fields-not', ['A']), 'From x\r\nno field\r\nB: 2\x80\r\n\r\n')
  assert.equal(body(Buffer.from('A: 1'), [], 'fields', ['A']), 'A: 1\r\n\r\n')
  assert.equal(body(Buffer.from('A: 1'), [], 'fields-not', ['B']), 'A: 1\r\n\r\n')
})

test('the kept fields answer what they can', () => {
  const root = rootOf(MAIL)
  const isKept = (section: RequestedSection) => {
    const plan = resolveSection(root, section)
    return plan.kind === 'fields' && plan.isKept
  }
  const wanted = { part: [], text: 'fields', fields: ['From', 'SUBJECT', 'List-Id'] } as const
  assert.ok(isKept(wanted))
  assert.ok(!isKept({ ...wanted, fields: ['From', 'Received'] }))
  assert.ok(!isKept({ ...wanted, text: 'fields-not' }))
  assert.ok(!isKept({ ...wanted, part: [2] }))
  const kept = unpackHeaders(parseMessage(MAIL).keptHeaders)
  const plan = resolveSection(root, wanted)
  assert.ok(plan.kind === 'fields')
  assert.equal(Buffer.from(servedFields(plan, kept.bytes, kept.fields)).toString(), shown(MAIL, plan))
})

test('fields as text are what is served, where they need no repair', () => {
  const served = (fields: string[], range: { start: number; count: number } | null = null) => {
    const header = Buffer.from(fields.join(''), 'latin1')
    const text = plainFields(fields, range)
    const names = new Set(['a', 'b'])
    if (text !== null)
      assert.equal(text, Buffer.from(servedFields({ names, isNot: false, range }, header)).toString('latin1'))
    return text
  }
  assert.equal(served(['A: 1\r\n', 'b: 2\r\n 3\r\n']), 'A: 1\r\nb: 2\r\n 3\r\n\r\n')
  assert.equal(served([]), '\r\n')
  assert.equal(served(['A: 1\r\n'], { start: 3, count: 3 }), '1\r\n')
  assert.equal(served(['A: 1\r\n'], { start: 100, count: 3 }), '')
  for (const field of ['A: 1', 'A: 1\n', 'A: 1\n x\r\n', 'A: \xe9\r\n', 'A: \0\r\n'])
    assert.equal(served([field]), null)
})

test('a range of a message that needs no repair is a range of its bytes', () => {
  const plan = resolveSection(rootOf(MAIL), { part: [2], text: 'all', fields: [] }, { start: 9, count: 5 })
  assert.ok(plan.kind === 'bytes')
  assert.equal(plan.end - plan.start, 5)
  assert.equal(shown(MAIL, plan), 'inner')
  assert.equal(body(MAIL, [1], 'all', [], { start: 2, count: 100 }), 'e')
  assert.equal(body(MAIL, [1], 'all', [], { start: 3, count: 1 }), '')
  assert.equal(body(MAIL, [1], 'all', [], { start: 2 ** 53, count: 2 ** 53 }), '')
})

test('BINARY: decoded parts, unknown encodings, no repair of what is declared binary', () => {
  const part = (encoding: string, content: string) => ['--x', `Content-Transfer-Encoding: ${encoding}`, '', content]
  const bytes = mailOf(
    ...[
      'Content-Type: multipart/mixed; boundary=x',
      '',
      ...part('base64', 'AAECAw=='),
      ...part('quoted-printable', 'a=20=\r\nb=00'),
    ],
    ...[...part('x-uuencode', 'begin'), ...part('binary', 'a\nb'), ...part('8bit', 'a\nb\0'), '--x--', ''],
  )
  assert.equal(binary(bytes, [1]), '\0\x01\x02\x03')
  assert.equal(binary(bytes, [1], { start: 1, count: 2 }), '\x01\x02')
  assert.equal(binary(bytes, [2]), 'a b\0')
  assert.equal(binary(bytes, [3]), 'unknown-encoding')
  assert.equal(binary(bytes, [4]), 'a\nb')
  assert.equal(binary(bytes, [5]), 'a\r\nb\0')
  assert.equal(body(bytes, [5]), 'a\r\nb\x80')
  assert.equal(binary(bytes, [])!.length, messageSize(rootOf(bytes)))
})

/** What is served, made from the whole repaired message. */
function repaired(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/(?<!\r)\n/g, '\r\n')
    .replaceAll('\0', '\x80')
}

test('random messages: sizes, repairs and ranges are those of the repaired whole, in pieces of any size', () => {
  const random = new Random(4)
  const pieces = [
    ...['\n', '\r\n', '\r', '\0', 'a', '--x\n', '--x\r\n', '--x--\n', '=41', '=\n', 'QUJD', ' ', '\n\n', '\r\n\r\n'],
    ...['Content-Type: multipart/mixed; boundary=x\n', 'Content-Type: message/rfc822\r\n', 'Subject: s\n'],
    ...['Content-Transfer-Encoding: base64\r\n', 'Content-Transfer-Encoding: quoted-printable\n'],
  ]
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(Array.from({ length: random.below(40) }, () => random.pick(pieces)).join(''))
    const root = rootOf(bytes)
    assert.equal(messageSize(root), repaired(bytes).length)
    for (const part of partsOf(root)) {
      const numbers = part.id.endsWith('TEXT') ? [] : part.id.split('.').map(Number)
      const range = random.chance(0.5) ? null : { start: random.below(20), count: 1 + random.below(20) }
      const section = resolveSection(root, { part: numbers, text: 'all', fields: [] }, range)
      const stored = numbers.length === 0 ? bytes : bytes.subarray(part.bodyStart, part.bodyEnd)
      const whole = repaired(stored)
      const expected = range === null ? whole : whole.slice(range.start, range.start + range.count)
      assertServed(bytes, section, expected, random)
      const decoded = resolveBinary(root, numbers, range)
      const all = resolveBinary(root, numbers)
      if (decoded.kind !== 'bytes' || all.kind !== 'bytes') continue
      const text = shown(bytes, all)!
      assertServed(bytes, decoded, range === null ? text : text.slice(range.start, range.start + range.count), random)
    }
  }
})

function partsOf(part: Part): Part[] {
  return [part, ...part.parts.flatMap(partsOf)]
}

function assertServed(bytes: Buffer, plan: ResolvedSection, expected: string, random: Random): void {
  const about = JSON.stringify(bytes.toString('latin1'))
  assert.equal(shown(bytes, plan), expected, about)
  assert.ok(plan.kind === 'bytes')
  const stream = new ServedStream(plan)
  const out: Uint8Array[] = []
  for (let at = plan.start; at < plan.end && !stream.isComplete; ) {
    const next = Math.min(plan.end, at + 1 + random.below(5))
    out.push(stream.push(bytes.subarray(at, next)))
    at = next
  }
  out.push(stream.end())
  assert.equal(Buffer.concat(out).toString('latin1'), expected, about)
}
