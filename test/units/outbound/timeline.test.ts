// The timeline of a delivery: steps come back as they were noted, on one line each, and not without an end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DETAIL_MAX,
  replyLine,
  STEPS_MAX,
  type Step,
  stepsOf,
  TIMELINE_MAX,
  withStep,
} from '../../../src/outbound/log/timeline.ts'

const step = (given: Partial<Step> = {}): Step => ({
  ...{ at: 1000, type: 'deferred', detail: '451 Later', smtpCode: 451, nextAt: 2000 },
  ...given,
})

test('steps come back as they were noted', () => {
  const server = { host: 'mx.out.test', address: '192.0.2.1' }
  const steps = [
    step(),
    step({ server }),
    step({ server: { ...server, address: null } }),
    step({ at: 1001, type: 'sent', smtpCode: null, nextAt: null, detail: 'say "hi" \\ Größe 𐀀' }),
  ]
  assert.deepEqual(stepsOf(steps.reduce(withStep, '')), steps)
  assert.deepEqual(stepsOf(''), [])
})

test('a detail is one line, whatever a server says', () => {
  const [noted] = stepsOf(withStep('', step({ detail: `a\r\nb\0c\u2028${'x'.repeat(10_000)}` })))
  assert.match(noted!.detail, /^a b c x+…$/)
  assert.equal(noted!.detail.length, DETAIL_MAX)
})

test('the newest steps are kept', () => {
  let timeline = ''
  for (let at = 0; at < STEPS_MAX * 2; at++) timeline = withStep(timeline, step({ at }))
  const steps = stepsOf(timeline)
  assert.equal(steps.length, STEPS_MAX)
  assert.deepEqual([steps[0]!.at, steps.at(-1)!.at], [STEPS_MAX, STEPS_MAX * 2 - 1])
})

test('a timeline of the longest steps is bounded', () => {
  let timeline = ''
  for (let at = 0; at < STEPS_MAX * 2; at++) timeline = withStep(timeline, step({ detail: '\\'.repeat(10_000) }))
  assert.ok(timeline.length < 2 * TIMELINE_MAX + STEPS_MAX * 100, String(timeline.length))
})

test('a reply is one line that begins with its code', () => {
  const cases: [number | null, string | null, string, string][] = [
    [550, '5.1.1', '550 5.1.1 user unknown', '550 5.1.1 user unknown'],
    [550, '5.1.1', '5.1.1 user unknown', '550 5.1.1 user unknown'],
    [550, '5.1.1', 'user unknown', '550 5.1.1 user unknown'],
    [550, '5.1.1', '550-5.1.1 user unknown', '550-5.1.1 user unknown'],
    [550, '5.1.1', '5.1.10 user unknown', '550 5.1.1 5.1.10 user unknown'],
    [550, null, '5500 users', '550 5500 users'],
    [550, null, '', '550'],
    [null, '4.4.1', 'No answer', '4.4.1 No answer'],
    [null, null, 'No\r\nanswer', 'No answer'],
    [null, null, '', ''],
  ]
  for (const [smtpCode, enhancedCode, text, line] of cases) {
    assert.equal(replyLine({ smtpCode, enhancedCode, text }), line)
  }
  assert.equal(replyLine({ smtpCode: 550, enhancedCode: '5.1.1', text: 'x'.repeat(1000) }).length, DETAIL_MAX)
})
