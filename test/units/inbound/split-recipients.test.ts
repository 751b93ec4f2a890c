// Who is divided, and for how long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Divisions } from '../../../src/inbound/split-recipients.ts'
import { ManualClock } from '../../support/clock.ts'

test('a sender is divided for a day after its recipients did not agree', () => {
  const clock = new ManualClock()
  const divisions = new Divisions(clock)
  divisions.note('ann@out.test')
  assert.ok(divisions.has('ann@out.test') && !divisions.has('ben@out.test'))
  clock.advance(23 * 3_600_000)
  assert.ok(divisions.has('ann@out.test'))
  clock.advance(3_600_000)
  assert.ok(!divisions.has('ann@out.test'))
})

test('strangers cannot fill the memory: the oldest are forgotten', () => {
  const divisions = new Divisions(new ManualClock())
  for (let i = 0; i < 10_001; i++) divisions.note(`s${i}@out.test`)
  assert.ok(!divisions.has('s0@out.test') && divisions.has('s1@out.test') && divisions.has('s10000@out.test'))
})
