// Small parts of the team pages: CSV for spreadsheets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf } from '../../../web/src/base/csv.ts'

test('cells of CSV are quoted, and none begins like a formula', () => {
  const rows = [
    ['Domain', 'Sent'],
    ['a "b", c', '1'],
    ['=HYPERLINK("x")', '-2'],
    ['@x', 'two\nlines'],
  ]
  assert.equal(csvOf(rows), 'Domain,Sent\r\n"a ""b"", c",1\r\n"\'=HYPERLINK(""x"")",-2\r\n\'@x,"two\nlines"\r\n')
})
