// Deadlines of sessions (docs/design/mail-programs.md §2.5), and the rights of credentials.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayDo } from '../../../src/access/rights.ts'
import {
  LITERAL_GRACE_MS,
  LITERAL_PAUSE_MS,
  LITERAL_RATE,
  LOGIN_MS,
  SILENCE_MS,
  STARTED_LINE_MS,
  UNREAD_MS,
} from '../../../src/imap/grammar/limits.ts'
import { type SessionActivity, SessionDeadlines } from '../../../src/imap/session/session-deadlines.ts'
import { ManualClock } from '../../support/clock.ts'

const QUIET: SessionActivity = {
  isSignedIn: true,
  isIdle: false,
  hasBegun: false,
  isRunning: false,
  received: 0,
  blockedSince: null,
}

function opened() {
  const clock = new ManualClock()
  return { clock, deadlines: new SessionDeadlines(clock) }
}

test('the login and silence have a deadline; a running command has none', () => {
  const { clock, deadlines } = opened()
  clock.advance(LOGIN_MS)
  assert.equal(deadlines.problem({ ...QUIET, isSignedIn: false }), null)
  clock.advance(1)
  assert.match(deadlines.problem({ ...QUIET, isSignedIn: false })!, /login/)
  clock.advance(SILENCE_MS - LOGIN_MS - 1)
  assert.equal(deadlines.problem(QUIET), null)
  clock.advance(1)
  assert.match(deadlines.problem(QUIET)!, /Silent/)
  assert.equal(deadlines.problem({ ...QUIET, isRunning: true }), null)
  assert.match(deadlines.problem({ ...QUIET, isRunning: true, isIdle: true })!, /Silent/)
})

test('a line that has begun has to end, however slowly it comes', () => {
  const { clock, deadlines } = opened()
  let received = 1
  for (let at = 0; at <= STARTED_LINE_MS; at += 1000) {
    assert.equal(deadlines.problem({ ...QUIET, hasBegun: true, received: received++ }), null)
    clock.advance(1000)
  }
  assert.match(deadlines.problem({ ...QUIET, hasBegun: true, received })!, /too long/)
})

test('a message has to go on arriving, and not too slowly', () => {
  const { clock, deadlines } = opened()
  deadlines.contentBegan()
  const reading = { ...QUIET, isRunning: true }
  clock.advance(LITERAL_GRACE_MS)
  assert.equal(deadlines.problem(reading), null)
  clock.advance(1000)
  assert.match(deadlines.problem(reading)!, /slowly/)
  deadlines.progress((LITERAL_RATE * 2 * LITERAL_PAUSE_MS) / 1000)
  assert.equal(deadlines.problem({ ...reading, received: 1 }), null)
  clock.advance(LITERAL_PAUSE_MS + 1)
  assert.match(deadlines.problem({ ...reading, received: 1 })!, /did not arrive/)
})

test('the rest of a command behind a message has to arrive, however slowly it comes', async () => {
  const { clock, deadlines } = opened()
  const { promise, resolve } = Promise.withResolvers<void>()
  const reading = deadlines.duringRest(promise)
  assert.ok(deadlines.isReadingContent)
  clock.advance(STARTED_LINE_MS)
  assert.equal(deadlines.problem({ ...QUIET, isRunning: true, received: 1 }), null)
  clock.advance(1)
  assert.match(deadlines.problem({ ...QUIET, isRunning: true, received: 2 })!, /too long/)
  resolve()
  await reading
  assert.ok(!deadlines.isReadingContent)
  assert.equal(deadlines.problem({ ...QUIET, isRunning: true, received: 2 }), null)
})

test('a client that takes nothing is cut off', () => {
  const { clock, deadlines } = opened()
  const blockedSince = clock.monotonic()
  clock.advance(UNREAD_MS)
  assert.equal(deadlines.problem({ ...QUIET, isRunning: true, blockedSince }), null)
  clock.advance(1)
  assert.equal(deadlines.problem({ ...QUIET, isRunning: true, blockedSince }), 'unread')
})

test('rights follow the scopes; a suspended mailbox is read-only', () => {
  const may = (permissions: string[], suspended = false) =>
    (['read', 'change', 'write'] as const).filter((right) =>
      mayDo({ principal: { permissions } as never, suspended }, right),
    )
  assert.deepEqual(may(['mailbox.read']), ['read'])
  assert.deepEqual(may(['mailbox.read', 'email.receive']), ['read', 'change'])
  assert.deepEqual(may(['mailbox.read', 'mailbox.write']), ['read', 'change', 'write'])
  assert.deepEqual(may(['mailbox.read', 'mailbox.write'], true), ['read'])
  assert.deepEqual(may(['email.send']), [])
})
