// The query language (docs/design/mailbox.md §4): the terms of each element, what is treated as text, and the limits.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProductError } from '../../../src/base/errors.ts'
import { QUERY_CHARS, QUERY_DEPTH, QUERY_TERMS, readQuery } from '../../../src/store/search/parse-query.ts'
import type { Leaf, Term, TextPart } from '../../../src/store/search/terms.ts'

const NOW = Date.UTC(2026, 2, 15, 12)
const DAY = 24 * 60 * 60 * 1000

const read = (text: string): Term => readQuery(text, NOW)
const words = (tokens: string, part: TextPart = 'any', prefix = false): Leaf => ({
  kind: 'words',
  part,
  tokens: tokens.split(' '),
  prefix,
})
const all = (...of: Term[]): Term => ({ kind: 'all', of })
const any = (...of: Term[]): Term => ({ kind: 'any', of })
const not = (of: Term): Term => ({ kind: 'not', of })
const received = (from: number | null, before: number | null): Leaf => ({ kind: 'received', from, before })

/** Queries and their expected terms. */
function reads(cases: Record<string, Term>): void {
  for (const [text, term] of Object.entries(cases)) assert.deepEqual(read(text), term, text)
}

describe('words', () => {
  it('are single, in phrases, and prefixes', () => {
    reads({
      invoice: words('invoice'),
      'invoice march': all(words('invoice'), words('march')),
      '"invoice march"': words('invoice march'),
      'inv*': words('inv', 'any', true),
      'mar-inv*': words('mar inv', 'any', true),
      '"inv*"': words('inv'),
      'a*': words('a'),
      '"not closed': words('not closed'),
      'o’neil@shop.example': words('o neil shop example'),
      'foo"bar baz"': all(words('foo'), words('bar baz')),
    })
  })

  it('without a letter or digit are ignored', () => {
    reads({
      '': all(),
      '   ': all(),
      '!!! ??': all(),
      '"-" * \u0000': all(),
      'a & b': all(words('a'), words('b')),
      '-!!!': all(),
      'a OR !!!': words('a'),
      '()': all(),
    })
  })
})

describe('operators', () => {
  it('negate words, phrases, fields and groups', () => {
    reads({
      '-a': not(words('a')),
      'NOT a': not(words('a')),
      'a -"b c"': all(words('a'), not(words('b c'))),
      '-subject:a': not(words('a', 'subject')),
      '-(a b)': not(all(words('a'), words('b'))),
      'NOT -a': words('a'),
      'NOT NOT NOT a': not(words('a')),
      'a - b': all(words('a'), words('b')),
      'a -- b -': all(words('a'), words('b')),
      'a-b': words('a b'),
    })
  })

  it('form alternatives with lower precedence than adjacent words', () => {
    reads({
      'a OR b': any(words('a'), words('b')),
      'a b OR c d': any(all(words('a'), words('b')), all(words('c'), words('d'))),
      'a (b OR c)': all(words('a'), any(words('b'), words('c'))),
      '(from:a OR is:unread) -in:trash': all(
        any(words('a', 'from'), { kind: 'flag', flag: 'seen', on: false }),
        not({ kind: 'folder', name: 'trash' }),
      ),
      'a AND b': all(words('a'), words('b')),
      'a or b and c': all(words('a'), words('or'), words('b'), words('and'), words('c')),
      '"OR"': words('OR'),
    })
  })

  it('are closed at the end, and surplus ones are ignored', () => {
    reads({
      '((a OR b': any(words('a'), words('b')),
      'a) b': all(words('a'), words('b')),
      'OR a OR': words('a'),
      'a OR OR b': any(words('a'), words('b')),
      NOT: all(),
      'NOT OR a': words('a'),
      '(NOT) a': words('a'),
      'foo(bar)': all(words('foo'), words('bar')),
    })
  })
})

describe('fields', () => {
  it('search one part', () => {
    for (const part of ['from', 'to', 'cc', 'bcc', 'subject', 'body', 'filename'] as const) {
      reads({ [`${part}:ana`]: words('ana', part), [`${part.toUpperCase()}:"ana l"`]: words('ana l', part) })
    }
    reads({ 'subject:inv*': words('inv', 'subject', true), 'from:shop.example': words('shop example', 'from') })
  })

  it('match a whole address or a domain exactly', () => {
    reads({
      'from:Ana@shop.example': { kind: 'address', part: 'from', email: 'Ana@shop.example' },
      'to:"ana@shop.example"': { kind: 'address', part: 'to', email: 'ana@shop.example' },
      'cc:@shop.example': { kind: 'domain', part: 'cc', domain: 'shop.example' },
      'bcc:@': words('bcc'),
      'from:ana@shop*': words('ana shop', 'from', true),
      'subject:ana@shop.example': words('ana shop example', 'subject'),
    })
  })

  it('match folders, flags, keywords, attachments and Message-IDs', () => {
    reads({
      'in:inbox': { kind: 'folder', name: 'inbox' },
      'in:"My Work"': { kind: 'folder', name: 'My Work' },
      'in:Anywhere': { kind: 'anywhere' },
      'is:unread': { kind: 'flag', flag: 'seen', on: false },
      'is:read': { kind: 'flag', flag: 'seen', on: true },
      'is:flagged': { kind: 'flag', flag: 'flagged', on: true },
      'is:starred': { kind: 'flag', flag: 'flagged', on: true },
      'is:ANSWERED': { kind: 'flag', flag: 'answered', on: true },
      'is:draft': { kind: 'flag', flag: 'draft', on: true },
      'has:attachment': { kind: 'attachment', on: true },
      'keyword:Work': { kind: 'keyword', keyword: 'work' },
      'label:$Forwarded': { kind: 'keyword', keyword: '$forwarded' },
      'msgid:<a.b@c.example>': { kind: 'messageId', id: 'a.b@c.example' },
      'msgid:a.b@c.example': { kind: 'messageId', id: 'a.b@c.example' },
    })
  })

  it('limit times and sizes', () => {
    const march = Date.UTC(2026, 2, 1)
    reads({
      'after:2026-03-01': received(march, null),
      'before:2026-03-01': received(null, march),
      'after:2026-03-01T10:00:00Z': received(march + 10 * 60 * 60 * 1000, null),
      'after:2026-03-01T10:00:00.500+02:00': received(march + 8 * 60 * 60 * 1000 + 500, null),
      'after:2026-03-01T10:00': received(march + 10 * 60 * 60 * 1000, null),
      'newer_than:2d': received(NOW - 2 * DAY, null),
      'older_than:1w': received(null, NOW - 7 * DAY),
      'newer_than:3m': received(NOW - 90 * DAY, null),
      'older_than:1y': received(null, NOW - 365 * DAY),
      'larger:100': { kind: 'size', min: 101, max: null },
      'larger:2k': { kind: 'size', min: 2049, max: null },
      'smaller:1M': { kind: 'size', min: null, max: 1024 * 1024 - 1 },
    })
  })

  it('that are unknown or invalid are treated as text', () => {
    reads({
      'https://shop.example/a?b=c': words('https shop example a b c'),
      're:invoice': words('re invoice'),
      '__proto__:x': words('proto x'),
      'constructor:x': words('constructor x'),
      'toString:': words('tostring'),
      'is:constructor': words('is constructor'),
      'is:banana': words('is banana'),
      'has:wings': words('has wings'),
      'after:yesterday': words('after yesterday'),
      'after:2026-02-30': words('after 2026 02 30'),
      'after:2026-03-01T25:00Z': words('after 2026 03 01T25 00Z'),
      'larger:big': words('larger big'),
      'larger:9999999999999999': words('larger 9999999999999999'),
      'newer_than:d': words('newer_than d'.replace('_', ' ')),
      'in:': words('in'),
      'in:""': words('in'),
      'from:': words('from'),
      '12:30': words('12 30'),
    })
  })
})

describe('the limits of a query', () => {
  const refused = (text: string) =>
    assert.throws(
      () => read(text),
      (error: ProductError) =>
        error instanceof ProductError && error.code === 'invalid_parameter' && error.param === 'q',
      text.slice(0, 40),
    )

  it('are 512 characters, counted as code points', () => {
    read('a'.repeat(QUERY_CHARS))
    read('\u{1d11e}'.repeat(QUERY_CHARS))
    refused('a'.repeat(QUERY_CHARS + 1))
    refused('\u{1d11e}'.repeat(QUERY_CHARS + 1))
    refused(' '.repeat(QUERY_CHARS + 1))
  })

  it('are 32 terms', () => {
    read('a '.repeat(QUERY_TERMS))
    read(`${'a '.repeat(QUERY_TERMS)}${'! '.repeat(100)}`)
    refused('a '.repeat(QUERY_TERMS + 1))
    refused('-(a OR b) '.repeat(QUERY_TERMS / 2 + 1))
  })

  it('are groups 5 deep', () => {
    read(`${'('.repeat(QUERY_DEPTH)}a`)
    refused(`${'('.repeat(QUERY_DEPTH + 1)}a`)
    refused('('.repeat(QUERY_CHARS))
    refused('-('.repeat(QUERY_DEPTH + 1))
  })

  it('apply to any repetition: parsing does not recurse without a limit', () => {
    for (const piece of ['-', '"', ')', 'NOT ', 'OR ', ': ', 'a:', '\u0000', '\ud800', '*']) {
      read(piece.repeat(QUERY_CHARS).slice(0, piece.startsWith('a') ? 60 : QUERY_CHARS))
    }
  })
})
