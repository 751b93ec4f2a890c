// Bells of the house: heard in every thread, those of one turn told together, never by another house.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Notifier, openNotifier } from '../../../src/base/notifier.ts'

const heard = (wake: Notifier) => new Promise<readonly number[]>((resolve) => wake.listen('accounts', resolve))

test('notifications of one turn are combined, in this thread and in others', async () => {
  const [one, other, stranger] = [openNotifier('/a'), openNotifier('/a'), openNotifier('/b')]
  const strange: unknown[] = []
  stranger.listen('accounts', (subjects) => strange.push(subjects))
  one.listen('deliver', () => assert.fail('another bell'))
  const [here, there] = [heard(one), heard(other)]
  for (const account of [7, 8, 7]) one.notify('accounts', account)
  assert.deepEqual(
    [await here, await there],
    [
      [7, 8],
      [7, 8],
    ],
  )
  const next = heard(other)
  one.notify('accounts', 9)
  assert.deepEqual(await next, [9])
  assert.deepEqual(strange, [])
  // A commit may come to its end after the house has closed its bells.
  one.notify('accounts', 10)
  for (const wake of [one, other, stranger]) wake.close()
})
