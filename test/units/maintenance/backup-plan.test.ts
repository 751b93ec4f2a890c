// When backups are due and late, and which ones are kept, without a disk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../src/base/durations.ts'
import { keepRuleOf, keepText, outdated } from '../../../src/maintenance/backup/keep.ts'
import { dueAt, isLate, nextAt } from '../../../src/maintenance/backup/schedule.ts'

const at = (text: string) => Date.parse(`${text}Z`)
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString().slice(0, 16))

test('a backup is due at the last of its times, and next at the first one after now', () => {
  const times = ['15:15', '03:15']
  const due = (now: string) => [iso(dueAt(times, at(now))), iso(nextAt(times, at(now)))]
  assert.deepEqual(due('2030-01-02T03:14'), ['2030-01-01T15:15', '2030-01-02T03:15'])
  assert.deepEqual(due('2030-01-02T03:15'), ['2030-01-02T03:15', '2030-01-02T15:15'])
  assert.deepEqual(due('2030-01-02T23:59'), ['2030-01-02T15:15', '2030-01-03T03:15'])
  assert.deepEqual([dueAt([], 0), nextAt([], 0)], [null, null])
})

test('the last good backup is late after one and a half intervals, without a schedule after a week', () => {
  const now = at('2030-01-10T00:00')
  const late = (times: string[], hours: number) =>
    isLate({ times, lastGood: { at: now - hours * HOUR_MS }, hasFailed: false, now })
  assert.deepEqual([late(['03:15'], 36), late(['03:15'], 37)], [false, true])
  // The longer of both intervals counts: 16 hours.
  assert.deepEqual([late(['03:00', '11:00'], 24), late(['03:00', '11:00'], 25)], [false, true])
  assert.deepEqual([late([], 7 * 24), late([], 7 * 24 + 1)], [false, true])
})

test('without any backup a schedule is late once it has failed', () => {
  const none = { lastGood: null, now: 0 }
  assert.equal(isLate({ ...none, times: ['03:15'], hasFailed: false }), false)
  assert.equal(isLate({ ...none, times: ['03:15'], hasFailed: true }), true)
  assert.equal(isLate({ ...none, times: [], hasFailed: true }), false)
})

test('rules of days, weeks and months are read and written', () => {
  for (const text of ['7d 4w 6m', '1d', '30d 12m', 'all']) assert.equal(keepText(keepRuleOf(text)), text)
  assert.deepEqual(keepRuleOf('30d 12m'), { days: 30, weeks: 0, months: 12 })
})

test('the newest backup of each day, week and month is kept, and the rest is outdated', () => {
  const start = at('2030-01-01T03:15')
  const backups = Array.from({ length: 60 }, (_, day) => [
    { startedAt: start + day * DAY_MS },
    { startedAt: start + day * DAY_MS + 12 * HOUR_MS },
  ]).flat()
  const gone = new Set(outdated(backups, { days: 3, weeks: 2, months: 6 }))
  const kept = backups.filter((backup) => !gone.has(backup)).map(({ startedAt }) => iso(startedAt))
  // 2030-03-01 is a Friday; Sunday 2030-02-24 ends the week before.
  assert.deepEqual(kept, [
    '2030-01-31T15:15',
    '2030-02-24T15:15',
    '2030-02-27T15:15',
    '2030-02-28T15:15',
    '2030-03-01T15:15',
  ])
})

test('neither a pause nor a clock that jumped ahead makes backups outdated', () => {
  const days = ['2030-01-01T03:15', '2030-01-02T03:15', '2030-06-01T03:15', '2041-01-01T03:15']
  const backups = days.map((day) => ({ startedAt: at(day) }))
  assert.deepEqual(outdated(backups, { days: 4, weeks: 0, months: 0 }), [])
  assert.deepEqual(outdated([], { days: 4, weeks: 0, months: 0 }), [])
})
