// The verification transitions of a domain, row by row (docs/design/directory.md §5.3).

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RecordFinding } from '../../../src/directory/domains/domain-checks.ts'
import { type DomainState, newDomain, nextState } from '../../../src/directory/domains/domain-lifecycle.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 1)

const pending: DomainState = {
  status: 'pending',
  createdAt: START,
  verifiedAt: null,
  missingDays: 0,
  nextCheckAt: START + 5 * MINUTE,
}
const verified: DomainState = { ...pending, status: 'verified', verifiedAt: START, nextCheckAt: START + DAY }
const failed: DomainState = { ...pending, status: 'failed', nextCheckAt: null }

const rows: [string, DomainState, RecordFinding, asked: boolean, after: number, Partial<DomainState>][] = [
  ['pending, found', pending, 'found', true, HOUR, { status: 'verified', verifiedAt: START + HOUR }],
  ['pending, found by itself', pending, 'found', false, HOUR, { status: 'verified', nextCheckAt: START + HOUR + DAY }],
  ['pending, missing within the hour', pending, 'missing', false, MINUTE, { nextCheckAt: START + 6 * MINUTE }],
  ['pending, missing after the hour', pending, 'missing', false, HOUR, { nextCheckAt: START + 2 * HOUR }],
  ['pending, no answer', pending, 'unknown', false, HOUR, { status: 'pending', nextCheckAt: START + 2 * HOUR }],
  ['pending just before 72 h', pending, 'missing', false, 72 * HOUR - 1, { status: 'pending' }],
  ['pending at 72 h', pending, 'missing', false, 72 * HOUR, { status: 'failed', nextCheckAt: null }],
  ['pending at 72 h, no answer', pending, 'unknown', false, 72 * HOUR, { status: 'failed' }],
  ['pending at 72 h, found', pending, 'found', false, 72 * HOUR, { status: 'verified' }],
  ['failed, asked and found', failed, 'found', true, 100 * DAY, { status: 'verified', verifiedAt: START + 100 * DAY }],
  ['failed, asked and missing', failed, 'missing', true, 100 * DAY, { status: 'failed', nextCheckAt: null }],
  ['failed, found by itself', failed, 'found', false, DAY, { status: 'failed', verifiedAt: null }],
  ['verified, found', verified, 'found', false, DAY, { verifiedAt: START + DAY, nextCheckAt: START + 2 * DAY }],
  [
    'verified, missing once',
    verified,
    'missing',
    false,
    DAY,
    { status: 'verified', missingDays: 1, verifiedAt: START },
  ],
  ['verified, asked and missing', verified, 'missing', true, DAY, { status: 'verified', missingDays: 0 }],
  [
    'verified, no answer',
    verified,
    'unknown',
    false,
    DAY,
    { status: 'verified', missingDays: 0, nextCheckAt: START + DAY + HOUR },
  ],
  [
    'verified, missing a third day',
    { ...verified, missingDays: 2 },
    'missing',
    false,
    DAY,
    { status: 'failed', nextCheckAt: null, verifiedAt: START },
  ],
  [
    'verified, found after two days',
    { ...verified, missingDays: 2 },
    'found',
    false,
    DAY,
    { status: 'verified', missingDays: 0 },
  ],
]

describe('transitions', () => {
  for (const [what, from, found, asked, after, expected] of rows) {
    it(what, () => {
      const next = nextState(from, found, asked, START + after)
      assert.deepEqual(next, { ...next, ...expected })
    })
  }

  it('a new domain is checked after five minutes; a reserved one immediately, for its key', () => {
    assert.deepEqual(newDomain(START, false), pending)
    assert.deepEqual(newDomain(START, true), { ...verified, nextCheckAt: START })
  })
})
