// Sessions at a shutdown: idle ones end at once, busy ones get their time, and work that does not end keeps nobody waiting.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLOSING_MS, CUT_MS } from '../../../src/base/lifecycle.ts'
import { OpenSessions } from '../../../src/net/open-sessions.ts'
import { ManualClock } from '../../support/clock.ts'

interface Session {
  /** What ends it: the request to end, the cut of its connection, or nothing. */
  endsWith: 'retire' | 'cut' | 'nothing'
}

function ending(...kinds: Session['endsWith'][]) {
  const clock = new ManualClock()
  const sessions = new OpenSessions<Session, null>()
  for (const endsWith of kinds) sessions.add({ endsWith }, null)
  const on = (event: Session['endsWith']) => (session: Session) => {
    if (session.endsWith === event) sessions.remove(session)
  }
  let isOver = false
  const over = sessions.end({ clock, retire: on('retire'), cut: on('cut') }).then(() => (isOver = true))
  const isOverAfter = async (ms: number) => {
    clock.advance(ms)
    // The promises that the timers have resolved.
    await new Promise((resolve) => setImmediate(resolve))
    return isOver
  }
  return { sessions, over, isOverAfter }
}

test('sessions that end by themselves are waited for, and no longer', async () => {
  await ending().over
  await ending('retire', 'retire').over
  const { isOverAfter, sessions } = ending('retire', 'cut')
  assert.equal(await isOverAfter(CLOSING_MS - 1), false)
  assert.equal(await isOverAfter(1), true)
  assert.equal([...sessions].length, 0)
})

test('work that goes on behind a connection that was cut holds up nothing', async () => {
  const { isOverAfter } = ending('nothing', 'cut')
  assert.equal(await isOverAfter(CLOSING_MS), false)
  assert.equal(await isOverAfter(CUT_MS), true)
})
