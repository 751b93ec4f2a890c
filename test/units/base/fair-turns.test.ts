// Turns that sources share: a share of each, one line per source, and preferred sources first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairTurns } from '../../../src/base/fair-turns.ts'

const stranger = (source: string) => ({ source, isPreferred: false })

function recorder(turns: FairTurns) {
  const order: string[] = []
  const ends: (() => void)[] = []
  const take = (source: string, isPreferred = false) => {
    const turn = turns.take({ source, isPreferred })
    void turn?.then((end) => {
      order.push(source)
      ends.push(end)
    })
    return turn !== null
  }
  const drain = async () => {
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
      end()
      await new Promise(setImmediate)
    }
  }
  return { order, take, drain }
}

test('sources take turns, however many places one has taken', async () => {
  const { order, take, drain } = recorder(new FairTurns({ atOnce: 1, each: 4, waiting: 20 }))
  for (let n = 0; n < 4; n++) assert.equal(take('flood'), true)
  assert.equal(take('flood'), false, 'its share is used up')
  assert.equal(take('office'), true)
  assert.equal(take('home'), true)
  await new Promise(setImmediate)
  await drain()
  assert.deepEqual(order, ['flood', 'flood', 'office', 'home', 'flood', 'flood'])
  assert.equal(take('flood'), true, 'its places are free again')
})

test('preferred sources go first, and have places that strangers cannot take', async () => {
  const { order, take, drain } = recorder(new FairTurns({ atOnce: 1, each: 1, waiting: 2 }))
  for (const source of ['a', 'b', 'c']) assert.equal(take(source), true)
  assert.equal(take('d'), false, 'strangers of many sources wait in a bounded number')
  assert.equal(take('ana', true), true)
  assert.equal(take('a', true), true, 'the share of a stranger at the same address is its own')
  await new Promise(setImmediate)
  await drain()
  assert.deepEqual(order, ['a', 'ana', 'a', 'b', 'c'])
})

test('work runs at once up to the limit', async () => {
  const turns = new FairTurns({ atOnce: 2, each: 5, waiting: 5 })
  const [first, second] = [await turns.take(stranger('a'))!, await turns.take(stranger('a'))!]
  let isThird = false
  const third = turns.take(stranger('b'))!.then((end) => {
    isThird = true
    return end
  })
  await new Promise(setImmediate)
  assert.equal(isThird, false)
  first()
  const end = await third
  second()
  end()
  await turns.take(stranger('c'))
})
