// Small parts of the team pages: CSV for spreadsheets, names of permissions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSIONS } from '../../../src/directory/names/permissions.ts'
import { csvOf } from '../../../web/src/base/csv.ts'
import { keys } from '../../../web/src/words/en/keys.ts'

test('cells of CSV are quoted, and none begins like a formula', () => {
  const rows = [
    ['Domain', 'Sent'],
    ['a "b", c', '1'],
    ['=HYPERLINK("x")', '-2'],
    ['@x', 'two\nlines'],
  ]
  assert.equal(csvOf(rows), 'Domain,Sent\r\n"a ""b"", c",1\r\n"\'=HYPERLINK(""x"")",-2\r\n\'@x,"two\nlines"\r\n')
})

test('every permission of a key is offered and named', () => {
  const partsOf = (permission: string) => /^(.+)\.(\w+)$/.exec(permission)!.slice(1) as [string, string]
  const unnamed = PERMISSIONS.filter((permission) => {
    const [subject, verb] = partsOf(permission)
    return keys.permissionNotes[subject] === undefined || keys.verbs[verb] === undefined
  })
  assert.deepEqual(unnamed, [])
})
