// Sources by what they did: who is slowed down and put off, who is not, and for how long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLog } from '../../../src/base/log.ts'
import { SourceThrottle } from '../../../src/inbound/source-throttle.ts'
import {
  MAX_THROTTLED_SOURCES,
  OFFENCE_BLOCK,
  OFFENCE_FREE,
  OFFENCE_HALF_LIFE_MS,
  THROTTLE_MS,
} from '../../../src/smtp/limits.ts'
import { ManualClock } from '../../support/clock.ts'

const SOURCE = '5.5.5.5'

function open() {
  const clock = new ManualClock()
  const lines: Record<string, unknown>[] = []
  const log = openLog('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const throttle = new SourceThrottle({ clock, log })
  const offend = (times: number, address = SOURCE) => {
    for (let i = 0; i < times; i++) throttle.offended(address, 'unknown_recipient')
  }
  return { clock, throttle, offend, lines }
}

test('some offences cost nothing, more make every answer slower, and many put the source off', () => {
  const { throttle, offend, lines } = open()
  offend(OFFENCE_FREE)
  assert.equal(throttle.delay(SOURCE), 0)
  let before = 0
  for (let n = OFFENCE_FREE + 1; n < OFFENCE_BLOCK; n++) {
    offend(1)
    const delay = throttle.delay(SOURCE)!
    assert.ok(delay > before && delay <= THROTTLE_MS, `${n}: ${delay}`)
    before = delay
  }
  assert.deepEqual(lines, [])
  offend(50)
  assert.equal(throttle.delay(SOURCE), null)
  assert.deepEqual(
    lines.map(({ event, remote_address }) => [event, remote_address]),
    [['smtp.source_blocked', SOURCE]],
    'told once',
  )
  assert.equal(throttle.delay('5.5.5.6'), 0)
})

test('what a source did is forgotten by and by, whatever it was', () => {
  const { clock, throttle, offend } = open()
  offend(100_000)
  assert.equal(throttle.delay(SOURCE), null)
  clock.leap(OFFENCE_HALF_LIFE_MS + 1)
  assert.equal(typeof throttle.delay(SOURCE), 'number')
  clock.leap(3 * OFFENCE_HALF_LIFE_MS)
  assert.equal(throttle.delay(SOURCE), 0)
})

test('a relay that mostly sends good mail is never slowed down; credit does not last for ever', () => {
  const { clock, throttle, offend } = open()
  for (let i = 0; i < 10_000; i++) {
    throttle.accepted(SOURCE)
    offend(i % 2)
    assert.equal(throttle.delay(SOURCE), 0)
  }
  // What it earned is bounded.
  offend(10_000)
  assert.equal(throttle.delay(SOURCE), null)
  for (let i = 0; i < 1000; i++) throttle.accepted('5.5.5.6')
  clock.leap(20 * OFFENCE_HALF_LIFE_MS)
  offend(OFFENCE_BLOCK + 1, '5.5.5.6')
  assert.equal(throttle.delay('5.5.5.6'), null)
})

test('a network of IPv6 is one source, and addresses of our own networks are none', () => {
  const { throttle, offend } = open()
  for (let i = 0; i < OFFENCE_BLOCK + 1; i++) offend(1, `2600:1::${i.toString(16)}`)
  assert.equal(throttle.delay('2600:1::ffff:1'), null)
  assert.equal(throttle.delay('2600:1:0:1::1'), 0)
  for (const address of ['127.0.0.1', '172.17.0.1', '::1', 'fd00::1', '']) {
    offend(1000, address)
    assert.equal(throttle.delay(address), 0, address)
  }
  assert.equal(throttle.size, 1)
})

test('so many sources are remembered and no more; a clock that goes back does no harm', () => {
  const { clock, throttle, offend } = open()
  offend(OFFENCE_BLOCK)
  for (let i = 0; i < MAX_THROTTLED_SOURCES; i++) {
    // A source that goes on is not forgotten for those that came once.
    if (i % 1000 === 0) offend(1)
    offend(1, `6.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  }
  assert.equal(throttle.size, MAX_THROTTLED_SOURCES)
  assert.equal(throttle.delay(SOURCE), null)
  clock.leap(-86_400_000)
  assert.equal(throttle.delay(SOURCE), null)
})
