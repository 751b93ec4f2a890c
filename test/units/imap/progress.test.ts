// INPROGRESS (RFC 9585): when it is said, and what.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROGRESS_MS } from '../../../src/imap/grammar/limits.ts'
import { CommandProgress } from '../../../src/imap/session/progress.ts'
import { ManualClock } from '../../support/clock.ts'

function started() {
  const clock = new ManualClock()
  const progress = new CommandProgress(clock)
  const said: string[] = []
  const writer = { blockedSince: null as number | null, write: (...parts: unknown[]) => void said.push(parts.join('')) }
  /** What is said after some time. */
  const after = (ms: number): string[] => {
    clock.advance(ms)
    progress.sayTo(writer)
    return said.splice(0)
  }
  return { progress, writer, after }
}

test('nothing is said before 10 s, without a command, within a response, or to a client that does not read', () => {
  const { progress, writer, after } = started()
  assert.deepEqual(after(PROGRESS_MS), [])
  progress.began('A1')
  assert.deepEqual(after(PROGRESS_MS - 1), [])
  progress.isWithinResponse = true
  assert.deepEqual(after(1), [])
  progress.isWithinResponse = false
  writer.blockedSince = 0
  assert.deepEqual(after(0), [])
  writer.blockedSince = null
  assert.equal(after(0).length, 1)
  assert.deepEqual(after(PROGRESS_MS - 1), [])
  progress.ended()
  assert.deepEqual(after(PROGRESS_MS), [])
})

test('the code names what was done and of how much, as far as it is known', () => {
  const { progress, after } = started()
  progress.began('A001')
  assert.deepEqual(after(PROGRESS_MS), ['* OK [INPROGRESS ("A001" NIL NIL)] Still working.\r\n'])
  progress.reached(454, 1000)
  assert.deepEqual(after(PROGRESS_MS), ['* OK [INPROGRESS ("A001" 454 1000)] Processed 454 of 1000 messages.\r\n'])
  progress.reached(175)
  assert.deepEqual(after(PROGRESS_MS), ['* OK [INPROGRESS ("A001" 175 NIL)] Processed 175 messages.\r\n'])
  progress.reached(1000, 1000)
  assert.deepEqual(after(PROGRESS_MS), ['* OK [INPROGRESS ("A001" 1000 NIL)] Processed 1000 messages.\r\n'])
  progress.began('a]b')
  assert.deepEqual(after(PROGRESS_MS), ['* OK [INPROGRESS (NIL NIL NIL)] Still working.\r\n'])
})
