// Small parts of the team pages: CSV for spreadsheets, and what changed between two checks of a domain.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf } from '../../../web/src/base/csv.ts'
import { changesBetween } from '../../../web/src/panels/seen-changes.ts'

test('cells of CSV are quoted, and none begins like a formula', () => {
  const rows = [
    ['Domain', 'Sent'],
    ['a "b", c', '1'],
    ['=HYPERLINK("x")', '-2'],
    ['@x', 'two\nlines'],
  ]
  assert.equal(csvOf(rows), 'Domain,Sent\r\n"a ""b"", c",1\r\n"\'=HYPERLINK(""x"")",-2\r\n\'@x,"two\nlines"\r\n')
})

test('a record that appeared, changed or vanished between two checks is seen, an order that changed is not', () => {
  const check = (record: 'spf' | 'mx' | 'dmarc', found: string[], ok: boolean) => {
    return { record, name: 'shop.example', expected: record, found, ok, required: false }
  }
  const before = [check('spf', [], false), check('mx', ['a', 'b'], true), check('dmarc', ['x'], true)]
  const now = [check('spf', ['spf'], true), check('mx', ['b', 'a'], true), check('dmarc', [], false)]
  const at = '2030-01-02T03:04:05.000Z'
  assert.deepEqual(changesBetween(before, now, at), [
    { record: 'spf', what: 'appeared', isGood: true, at },
    { record: 'dmarc', what: 'vanished', isGood: false, at },
  ])
  assert.deepEqual(changesBetween(before, [check('mx', ['a', 'c'], true)], at), [
    { record: 'mx', what: 'changed', isGood: true, at },
  ])
  assert.deepEqual(changesBetween([], now, at), [])
})
