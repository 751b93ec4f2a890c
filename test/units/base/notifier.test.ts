// Bells of the house: heard in every thread, those of one turn told together, never by another house.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWake, type Wake } from '../../../src/base/notifier.ts'

const heard = (wake: Wake) => new Promise<readonly number[]>((resolve) => wake.listen('accounts', resolve))

test('what was rung for in one turn is told at once, here and in other threads of the house', async () => {
  const [one, other, stranger] = [openWake('/a'), openWake('/a'), openWake('/b')]
  const strange: unknown[] = []
  stranger.listen('accounts', (subjects) => strange.push(subjects))
  one.listen('deliver', () => assert.fail('another bell'))
  const [here, there] = [heard(one), heard(other)]
  for (const account of [7, 8, 7]) one.ring('accounts', account)
  assert.deepEqual(
    [await here, await there],
    [
      [7, 8],
      [7, 8],
    ],
  )
  const next = heard(other)
  one.ring('accounts', 9)
  assert.deepEqual(await next, [9])
  assert.deepEqual(strange, [])
  // A commit may come to its end after the house has closed its bells.
  one.ring('accounts', 10)
  for (const wake of [one, other, stranger]) wake.close()
})
