// SORT: every criterion, REVERSE, several of them, and what messages without a value do.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  needsHeaders,
  type SortCriterion,
  type SortMessage,
  sortedRows,
  sortValues,
} from '../../../../src/imap/search/sort.ts'

const MESSAGES: (SortMessage & { number: number })[] = [
  {
    ...{ number: 1, receivedAt: 30, sizeBytes: 5 },
    fields: { date: 'Mon, 1 Jan 2024 10:00:00 +0200', subject: 'Re: beta', from: 'Zoe <anna@x.test>', to: 'g: b@y;' },
  },
  {
    ...{ number: 2, receivedAt: 20, sizeBytes: 7 },
    fields: {
      date: 'Mon, 1 Jan 2024 09:00:00 +0000',
      subject: 'Alpha',
      from: 'ben@x.test',
      to: '=?utf-8?Q?=C3=84?= <z@y>',
    },
  },
  { number: 3, receivedAt: Date.UTC(2024, 0, 1, 8, 30), sizeBytes: 5, fields: { subject: 'ALPHA', cc: '"c d"@x' } },
]

function sorted(...criteria: [SortCriterion['key'], 'reverse'?][]): number[] {
  const by = criteria.map(([key, reverse]) => ({ key, isReverse: reverse !== undefined }))
  const rows = MESSAGES.map((message) => ({ number: message.number, modSeq: 1, values: sortValues(by, message) }))
  return sortedRows(rows, by).map(({ number }) => number)
}

test('each criterion; equal messages are in the order of the mailbox', () => {
  assert.deepEqual(sorted(['arrival']), [2, 1, 3])
  assert.deepEqual(sorted(['size']), [1, 3, 2])
  assert.deepEqual(sorted(['date']), [1, 3, 2], 'the internal date stands for a missing one')
  assert.deepEqual(sorted(['subject']), [2, 3, 1])
  assert.deepEqual(sorted(['from']), [3, 1, 2])
  assert.deepEqual(sorted(['to']), [3, 1, 2], 'a group counts by its name')
  assert.deepEqual(sorted(['cc']), [1, 2, 3])
  assert.deepEqual(sorted(['displayfrom']), [3, 2, 1])
  assert.deepEqual(sorted(['displayto']), [3, 2, 1], 'Ä is A with a mark')
})

test('REVERSE turns its criterion only, and later criteria decide among equals', () => {
  assert.deepEqual(sorted(['size', 'reverse']), [2, 1, 3])
  assert.deepEqual(sorted(['subject', 'reverse']), [1, 2, 3])
  assert.deepEqual(sorted(['subject', 'reverse'], ['size']), [1, 3, 2])
  assert.deepEqual(sorted(['size'], ['from', 'reverse']), [1, 3, 2])
})

test('headers are needed only for what is in them', () => {
  const needs = (...keys: SortCriterion['key'][]) => needsHeaders(keys.map((key) => ({ key, isReverse: false })))
  assert.deepEqual([needs('arrival', 'size'), needs('arrival', 'date'), needs('cc')], [false, true, true])
})
