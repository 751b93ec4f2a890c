// How large a removal at a server is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLost, weightOf } from '../../../src/sync/model/removal-weight.ts'

test('what is gone is weighed by number, by the share of the account, and by what is left', () => {
  const cases: [gone: number, taken: number, present: number, weight: string][] = [
    [100, 0, 0, 'mass'],
    [11, 0, 0, 'mass'],
    [10, 0, 0, 'small'],
    [1, 10, 0, 'mass'],
    [100, 0, 1, 'small'],
    [101, 0, 1, 'large'],
    [60, 60, 100, 'large'],
    [250, 0, 200, 'large'],
    [251, 0, 200, 'mass'],
    [251, 0, 251, 'small'],
    [999, 0, 100_000, 'small'],
    [1, 999, 100_000, 'mass'],
    [0, 5000, 0, 'small'],
  ]
  for (const [gone, taken, present, weight] of cases) {
    assert.equal(weightOf({ gone, taken, present }), weight, `${gone} ${taken} ${present}`)
  }
})

test('a folder that went back lost what is gone; one with other numbers did when it is more than a few', () => {
  assert.deepEqual(
    [
      isLost(null, 5000),
      isLost('restored', 0),
      isLost('restored', 1),
      isLost('renumbered', 10),
      isLost('renumbered', 11),
    ],
    [false, false, true, false, true],
  )
})
