// Failed sign-ins: delays, refused sources and mailboxes, and bounded memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DELAY_MAX_MS,
  FIRST_DELAY_MS,
  MAILBOX_FAILURES_MAX,
  REMEMBERED_MAX,
  SignInThrottle,
  SOURCE_FAILURES_MAX,
  WINDOW_MS,
} from '../../../src/access/throttle.ts'
import { ManualClock } from '../../support/clock.ts'

const ANA = { mailboxId: 'mbx_ana' }
const never = () => false
/** What was logged. */
const lines: unknown[] = []
const note = (line: object) => lines.push(line)

function newThrottle(clock = new ManualClock()): SignInThrottle {
  lines.length = 0
  return new SignInThrottle({ clock, log: { info: note, warn: note } })
}

test('each failure of a source delays its answer twice as long, up to 16 s, until ten minutes have passed', () => {
  const clock = new ManualClock()
  const throttle = newThrottle(clock)
  const delays = Array.from({ length: 7 }, () => throttle.failed('192.0.2.1', ANA))
  assert.deepEqual(delays, [1000, 2000, 4000, 8000, 16_000, 16_000, 16_000])
  assert.equal(throttle.failed('192.0.2.2', ANA), FIRST_DELAY_MS, 'another source')
  clock.advance(WINDOW_MS)
  assert.equal(throttle.failed('192.0.2.1', ANA), FIRST_DELAY_MS)
  assert.equal(DELAY_MAX_MS, 16_000)
})

test('20 failures within ten minutes block a source for ten minutes, whatever it tries that it does not know', () => {
  const clock = new ManualClock()
  const throttle = newThrottle(clock)
  for (let n = 1; n < SOURCE_FAILURES_MAX; n++) throttle.failed('192.0.2.1', { name: `${n}` })
  assert.equal(throttle.refuses('192.0.2.1', ANA, never), false)
  clock.advance(WINDOW_MS - 1)
  throttle.failed('192.0.2.1', null)
  assert.equal(throttle.refuses('192.0.2.1', ANA, never), true)
  assert.equal(throttle.refuses('::ffff:192.0.2.1', null, never), true)
  assert.equal(throttle.refuses('192.0.2.3', ANA, never), false)
  clock.advance(1)
  assert.equal(throttle.refuses('192.0.2.1', ANA, never), false, 'the failures before no longer count')
})

test('one who guesses in a network does not lock out those who have signed in from it; guesses at a mailbox count for it', () => {
  const throttle = newThrottle()
  const known = () => true
  for (let n = 0; n < 2 * SOURCE_FAILURES_MAX; n++) throttle.failed('192.0.2.1', { mailboxId: 'mbx_ben' })
  assert.equal(throttle.refuses('192.0.2.1', ANA, never), true)
  assert.equal(throttle.refuses('192.0.2.1', ANA, known), false)
  assert.equal(throttle.refuses('192.0.2.1', { mailboxId: 'mbx_ben' }, known), true)
  for (let n = 0; n < SOURCE_FAILURES_MAX; n++) {
    assert.equal(throttle.refuses('192.0.2.1', ANA, known), false)
    throttle.failed('192.0.2.1', ANA)
  }
  assert.equal(throttle.refuses('192.0.2.1', ANA, known), true)
})

test('an IPv6 source is its /64', () => {
  const throttle = newThrottle()
  for (let n = 0; n < SOURCE_FAILURES_MAX; n++) throttle.failed(`2001:db8::${n.toString(16)}`, null)
  assert.equal(throttle.refuses('2001:db8::ffff', null, never), true)
  assert.equal(throttle.refuses('2001:db8:0:1::1', null, never), false)
})

test('200 failures refuse a mailbox to sources that never signed in to it; an unknown name is refused alike', () => {
  const clock = new ManualClock()
  const throttle = newThrottle(clock)
  for (const target of [ANA, { name: 'nobody@in.test' }]) {
    for (let n = 0; n < MAILBOX_FAILURES_MAX; n++) {
      assert.equal(throttle.refuses('198.51.100.1', target, never), false)
      throttle.failed(`10.0.${n % 200}.${n}`, target)
    }
    assert.equal(throttle.refuses('198.51.100.1', target, never), true)
  }
  assert.deepEqual(lines, [{ event: 'sign_in.mailbox_guarded', mailbox_id: 'mbx_ana' }])
  assert.equal(
    throttle.refuses('198.51.100.1', ANA, () => true),
    false,
  )
  assert.equal(throttle.refuses('198.51.100.1', { mailboxId: 'mbx_ben' }, never), false)
  clock.advance(WINDOW_MS)
  assert.equal(throttle.refuses('198.51.100.1', ANA, never), false)
})

test('memory is bounded, and guessed names do not push out mailboxes', () => {
  const throttle = newThrottle()
  for (let n = 0; n < MAILBOX_FAILURES_MAX; n++) throttle.failed('192.0.2.1', ANA)
  for (let n = 0; n <= REMEMBERED_MAX; n++)
    throttle.failed(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, { name: `${n}` })
  assert.deepEqual(throttle.sizes, [REMEMBERED_MAX, 1, REMEMBERED_MAX])
  assert.equal(throttle.refuses('198.51.100.1', ANA, never), true)
  assert.equal(throttle.refuses('192.0.2.1', null, never), false, 'the source that was silent longest is forgotten')
})

test('a clock that is set neither locks nor unlocks', () => {
  const clock = new ManualClock()
  const throttle = newThrottle(clock)
  for (let n = 0; n < SOURCE_FAILURES_MAX; n++) throttle.failed('192.0.2.1', null)
  clock.set(clock.now() + 10 * WINDOW_MS)
  assert.equal(throttle.refuses('192.0.2.1', null, never), true)
  clock.set(clock.now() - 100 * WINDOW_MS)
  clock.advance(WINDOW_MS)
  assert.equal(throttle.refuses('192.0.2.1', null, never), false)
})
