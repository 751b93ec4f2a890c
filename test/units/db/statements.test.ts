// Prepared statements of a connection: a statement is prepared once.

import assert from 'node:assert/strict'
import { constants, DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Statements } from '../../../src/db/statements.ts'

test('a statement with a bound LIMIT is prepared once, whatever the limit is', () => {
  using database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE notes (folder INTEGER, uid INTEGER, PRIMARY KEY (folder, uid)) WITHOUT ROWID')
  database.exec('INSERT INTO notes VALUES (1, 1), (1, 2), (1, 3), (1, 4)')
  let prepared = 0
  database.setAuthorizer((action) => {
    if (action === constants.SQLITE_SELECT) prepared++
    return constants.SQLITE_OK
  })
  const statements = new Statements(database)
  const uids = (limit: number, offset: number) =>
    statements
      .all('SELECT uid FROM notes WHERE folder = ? AND uid BETWEEN ? AND ? LIMIT ? OFFSET ?', [1, 1, 9, limit, offset])
      .map(({ uid }) => uid)
  assert.deepEqual([uids(2, 0), uids(3, 1), uids(0, 0), uids(-1, 2)], [[1, 2], [2, 3, 4], [], [3, 4]])
  assert.equal(prepared, 1)
})
