// Declared tables: rows become records and records rows, by the kinds of their columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tx } from '../../../src/db/db.ts'
import {
  bytes,
  flag,
  type InsertOf,
  integer,
  json,
  key,
  type RecordOf,
  table,
  text,
  time,
} from '../../../src/db/table.ts'

const NOTES = table('notes', {
  n: key(),
  team_id: text(),
  to_email: text().as('to'),
  is_read: flag(),
  is_late: flag().orNull(),
  labels: json<string[]>(),
  place: json<{ at: number }>().orNull(),
  tries: integer().or(3),
  digest: bytes().orNull(),
  secret: text().hidden(),
  read_at: time().orNull(),
})
const ROW = {
  ...{ n: 7, team_id: 'team', to_email: 'bo@a.example', is_read: 1, is_late: null, labels: '["x"]' },
  ...{ place: null, tries: 3, digest: null, read_at: 5 },
}
const RECORD: RecordOf<typeof NOTES> = {
  ...{ n: 7, teamId: 'team', to: 'bo@a.example', isRead: true, isLate: null, labels: ['x'] },
  ...{ place: null, tries: 3, digest: null, readAt: 5 },
}

test('a row becomes a record: flags are booleans, JSON its value, members in camel case or as they are called', () => {
  assert.deepEqual(NOTES.record(ROW), RECORD)
  assert.deepEqual(NOTES.record({ ...ROW, is_read: 0, is_late: 0, place: '{"at":1}' }), {
    ...RECORD,
    ...{ isRead: false, isLate: false, place: { at: 1 } },
  })
})

test('hidden columns are read only where they are named', () => {
  assert.equal(NOTES.columns, 'n, team_id, to_email, is_read, is_late, labels, place, tries, digest, read_at')
  assert.equal('secret' in NOTES.record({ ...ROW, secret: 's' } as typeof ROW), false)
  const whole = NOTES.and('secret')
  assert.match(whole.of('x'), /^x\.n, x\.team_id, .* x\.read_at, x\.secret$/)
  assert.equal(whole.record({ ...ROW, secret: 's' }).secret, 's')
  const few = NOTES.only('to_email', 'secret')
  assert.equal(few.columns, 'to_email, secret')
  assert.deepEqual(few.record({ to_email: 'bo@a.example', secret: 's' }), { to: 'bo@a.example', secret: 's' })
})

test('a record becomes a row with every column but the key; values left out are NULL or the default', () => {
  const record: InsertOf<typeof NOTES> = {
    teamId: 'team',
    to: 'bo@a.example',
    isRead: true,
    labels: ['x'],
    secret: 's',
  }
  assert.deepEqual(NOTES.row(record), {
    ...{ team_id: 'team', to_email: 'bo@a.example', is_read: true, is_late: null, labels: '["x"]' },
    ...{ place: null, tries: 3, digest: null, secret: 's', read_at: null },
  })
  assert.deepEqual(NOTES.row({ ...record, place: { at: 1 }, tries: 0 }), {
    ...NOTES.row(record),
    ...{ place: '{"at":1}', tries: 0 },
  })
})

test('statements from WHERE on, and updates of the members that are given', () => {
  const runs: [string, readonly unknown[]][] = []
  const tx = {
    all: (sql: string, values: readonly unknown[]) => {
      runs.push([sql, values])
      return [ROW]
    },
    get: (sql: string, values: readonly unknown[]) => tx.all(sql, values)[0],
    run: (sql: string, values: readonly unknown[]) => {
      runs.push([sql, values])
      return { changes: 2, lastId: 0 }
    },
  }
  const handle = tx as unknown as Tx
  assert.deepEqual(NOTES.get(handle, 'WHERE n = ?', [7]), RECORD)
  assert.deepEqual(NOTES.all(handle, 'ORDER BY n'), [RECORD])
  const changes = { to: 'eva@a.example', place: null, labels: ['y'], tries: undefined }
  assert.equal(NOTES.update(handle, changes, 'WHERE n = ?', [7]), 2)
  assert.deepEqual(runs, [
    [`SELECT ${NOTES.columns} FROM notes WHERE n = ?`, [7]],
    [`SELECT ${NOTES.columns} FROM notes ORDER BY n`, []],
    ['UPDATE notes SET to_email = ?, labels = ?, place = ? WHERE n = ?', ['eva@a.example', '["y"]', null, 7]],
  ])
})

test('what a column declares is what its records are checked for', () => {
  // @ts-expect-error hidden columns are not in records
  assert.equal(NOTES.record(ROW).secret, undefined)
  // @ts-expect-error a hidden column without NULL or a default has to be inserted
  NOTES.row({ teamId: 'team', to: 'bo@a.example', isRead: true, labels: [] })
  // @ts-expect-error a column that is not hidden need not be named
  NOTES.and('team_id')
})
