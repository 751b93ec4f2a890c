// Who is divided, and for how long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SplitRecipients } from '../../../src/inbound/split-recipients.ts'
import { ManualClock } from '../../support/clock.ts'

test('a sender is divided for a day after its recipients did not agree', () => {
  const clock = new ManualClock()
  const splitRecipients = new SplitRecipients(clock)
  splitRecipients.note('ann@out.test')
  assert.ok(splitRecipients.has('ann@out.test') && !splitRecipients.has('ben@out.test'))
  clock.advance(23 * 3_600_000)
  assert.ok(splitRecipients.has('ann@out.test'))
  clock.advance(3_600_000)
  assert.ok(!splitRecipients.has('ann@out.test'))
})

test('strangers cannot fill the memory: the oldest are forgotten', () => {
  const splitRecipients = new SplitRecipients(new ManualClock())
  for (let i = 0; i < 10_001; i++) splitRecipients.note(`s${i}@out.test`)
  assert.ok(
    !splitRecipients.has('s0@out.test') && splitRecipients.has('s1@out.test') && splitRecipients.has('s10000@out.test'),
  )
})
