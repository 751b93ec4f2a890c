// What changed between two DNS checks of a domain.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CHANGES_MAX,
  type CheckChange,
  type DatedCheck,
  dateChecks,
} from '../../../src/directory/domains/check-changes.ts'
import type { DomainCheck } from '../../../src/directory/domains/domain-checks.ts'

const NOW = Date.UTC(2030, 0, 2)
const BEFORE = NOW - 1000

function check(record: 'spf' | 'mx' | 'dmarc', found: string[], ok: boolean, definite = true): DomainCheck {
  return { record, name: 'shop.example', expected: record, found, ok, required: false, definite, asked: [] }
}
const dated = (...checks: DomainCheck[]): DatedCheck[] => checks.map((one) => ({ ...one, since: BEFORE }))

test('a record that appeared, changed or vanished between two checks is seen, an order that changed is not', () => {
  const before = dated(check('spf', [], false), check('mx', ['a', 'b'], true), check('dmarc', ['x'], true))
  const now = [check('spf', ['spf'], true), check('mx', ['b', 'a'], true), check('dmarc', [], false)]
  const name = 'shop.example'
  const { checks, changes } = dateChecks(before, [], now, NOW)
  assert.deepEqual(changes, [
    { record: 'spf', name, what: 'appeared', ok: true, at: NOW },
    { record: 'dmarc', name, what: 'vanished', ok: false, at: NOW },
  ])
  assert.deepEqual(
    checks.map(({ since }) => since),
    [NOW, BEFORE, NOW],
  )
  assert.deepEqual(dateChecks(before, [], [check('mx', ['a', 'c'], true)], NOW).changes, [
    { record: 'mx', name, what: 'changed', ok: true, at: NOW },
  ])
  assert.deepEqual(dateChecks([], [], now, NOW).changes, [])
})

test('records of several hosts at one name are one change', () => {
  const of = (expected: string, found: string[]) => ({ ...check('mx', found, false), expected })
  const { changes } = dateChecks(dated(of('a', []), of('b', [])), [], [of('a', ['c']), of('b', ['c'])], NOW)
  assert.equal(changes.length, 1)
})

test('while no name server answers nothing has changed, and the next answer is compared with the last one', () => {
  const silent = () => [check('mx', [], false, false)]
  let { checks, changes } = dateChecks(dated(check('mx', ['a'], true)), [], silent(), NOW)
  ;({ checks, changes } = dateChecks(checks, changes, silent(), NOW + 1000))
  assert.deepEqual([changes, checks[0]?.since, checks[0]?.found], [[], BEFORE, []])
  assert.deepEqual(dateChecks(checks, [], [check('mx', ['a'], true)], NOW + 2000).changes, [])
  assert.equal(dateChecks(checks, [], [check('mx', ['b'], true)], NOW + 2000).changes[0]?.what, 'changed')
})

test('a record that no name server had answered for before has not appeared', () => {
  const first = dateChecks([], [], [check('mx', [], false, false)], BEFORE)
  const silent = dateChecks(first.checks, first.changes, [check('mx', [], false, false)], BEFORE)
  assert.deepEqual([silent.checks[0]?.since, silent.changes], [null, []])
  const { checks, changes } = dateChecks(silent.checks, silent.changes, [check('mx', ['a'], true)], NOW)
  assert.deepEqual([checks[0]?.since, changes], [NOW, []])
})

test('the last changes are kept, the newest first', () => {
  let checks = dated(check('spf', [], false))
  let changes: CheckChange[] = []
  for (let n = 1; n <= CHANGES_MAX + 5; n++)
    ({ checks, changes } = dateChecks(checks, changes, [check('spf', [String(n)], true)], NOW + n))
  assert.deepEqual(
    changes.map(({ at }) => at - NOW),
    Array.from({ length: CHANGES_MAX }, (_, index) => CHANGES_MAX + 5 - index),
  )
})
