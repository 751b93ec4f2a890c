// Whether a DMARC policy can be tightened: enough reports of known receivers, next to nothing that fails, nothing of our own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dmarcAdvice } from '../../../src/deliverability/dmarc-verdict.ts'

const ENOUGH = { days: 21, reporters: 3, messages: 100, passed: 98, ownFailures: 0 }

test('enough reports that pass are safe', () => {
  const { verdict, reasons } = dmarcAdvice(ENOUGH)
  assert.equal(verdict, 'safe')
  assert.deepEqual(reasons, ['98 % of 100 messages passed, by reports of 3 known receivers on 21 days.'])
})

test('too few of anything is too little to know', () => {
  for (const few of [{ days: 20 }, { reporters: 2 }, { messages: 99, passed: 99 }, { ownFailures: null }]) {
    const { verdict, reasons } = dmarcAdvice({ ...ENOUGH, ...few })
    assert.deepEqual([verdict, reasons.length], ['too_little', 1], JSON.stringify(few))
  }
  assert.equal(dmarcAdvice({ days: 0, reporters: 0, messages: 0, passed: 0, ownFailures: 0 }).reasons.length, 3)
})

test('what fails outweighs what is missing', () => {
  assert.equal(dmarcAdvice({ ...ENOUGH, passed: 97 }).verdict, 'not_yet')
  assert.equal(dmarcAdvice({ ...ENOUGH, messages: 100_000, passed: 97_999 }).verdict, 'not_yet', 'no rounding up')
  assert.equal(dmarcAdvice({ ...ENOUGH, ownFailures: 1 }).verdict, 'not_yet')
  assert.equal(dmarcAdvice({ days: 1, reporters: 1, messages: 3, passed: 2, ownFailures: 1 }).verdict, 'not_yet')
  assert.equal(dmarcAdvice({ days: 1, reporters: 1, messages: 3, passed: 1, ownFailures: 0 }).verdict, 'too_little')
})
