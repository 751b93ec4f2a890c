// Whose turn it is, drawn; and room, counted: by model and by statistics.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Candidate, orderOf } from '../../../src/outbound/routing/choose.ts'
import { Random } from '../../support/random.ts'

const at = (id: string, weight: number | null, position = 0): Candidate => ({ id, weight, position })

/** How often each comes first. */
function shares(candidates: Candidate[], draws = 20_000): Map<string, number> {
  const source = new Random(7)
  const random = () => source.next()
  const firsts = new Map<string, number>()
  for (let i = 0; i < draws; i++) {
    const [first] = orderOf(candidates, 'weighted', 0, random)
    firsts.set(first!.id, (firsts.get(first!.id) ?? 0) + 1 / draws)
  }
  return firsts
}

function near(share: number | undefined, expected: number): void {
  assert.ok(Math.abs((share ?? 0) - expected) < 0.02, `${share} instead of ${expected}`)
}

test('accounts are drawn by weight; without one they count as the mean of the others', () => {
  const drawn = shares([at('a', 60), at('b', 20), at('c', null)])
  near(drawn.get('a'), 0.5)
  near(drawn.get('b'), 1 / 6)
  near(drawn.get('c'), 1 / 3)
  const even = shares([at('a', null), at('b', null)])
  near(even.get('a'), 0.5)
})

test('weight 0 receives nothing while another account is available', () => {
  const order = orderOf([at('a', 0), at('b', 5)], 'weighted', 0, () => 0.99)
  assert.deepEqual(
    order.map(({ id }) => id),
    ['b'],
  )
  assert.equal(orderOf([at('a', 0)], 'weighted', 0, () => 0.5)[0]!.id, 'a')
  near(shares([at('a', 0), at('b', 0)]).get('a'), 0.5)
  // The mean of the others is no share at all: an account without a weight of its own still gets messages.
  near(shares([at('a', 0), at('b', null)]).get('b'), 1)
})

test('failover keeps to positions, round robin goes on from turn to turn', () => {
  const three = [at('c', 1, 2), at('a', 9, 0), at('b', 5, 1)]
  const ids = (strategy: 'failover' | 'round_robin', turn: number) =>
    orderOf(three, strategy, turn, () => 0.5).map(({ id }) => id)
  assert.deepEqual(ids('failover', 5), ['a', 'b', 'c'])
  assert.deepEqual(
    [0, 1, 2, 3].map((turn) => ids('round_robin', turn)[0]),
    ['a', 'b', 'c', 'a'],
  )
  assert.deepEqual(ids('round_robin', 2), ['c', 'a', 'b'])
})
