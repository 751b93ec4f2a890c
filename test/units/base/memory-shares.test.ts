// Large messages share a number of bytes by their sources; small ones need none, nobody waits for ever, and nothing is lost.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { MemoryShares } from '../../../src/base/memory-shares.ts'
import { ManualClock } from '../../support/clock.ts'

const MIB = 1024 * 1024

/** A budget for two messages of 4 MiB at a time, each counted once. */
function openBudget() {
  const clock = new ManualClock()
  return { clock, budget: new MemoryShares(clock, 8 * MIB, 1) }
}

/** Messages that wait for their turn, in the order in which they get it, and what ends each. */
class Turns {
  readonly order: string[] = []
  readonly ends = new Map<string, () => void>()
  readonly #budget: MemoryShares

  constructor(budget: MemoryShares) {
    this.#budget = budget
  }

  ask(name: string, source: string, mib = 4): void {
    void this.#budget.acquire(mib * MIB, source).then(
      (release) => {
        this.order.push(name)
        this.ends.set(name, release)
      },
      () => this.order.push(`${name} given up`),
    )
  }

  async end(name: string): Promise<void> {
    this.ends.get(name)!()
    await turn()
  }
}

describe('the memory for large messages', () => {
  it('is never exceeded, and comes back when the work fails', async () => {
    const { budget } = openBudget()
    let inProgress = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inProgress)
      await turn()
      inProgress--
      throw new Error('broken')
    }
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => budget.during(4 * MIB, `s${n % 3}`, work)),
    )
    assert.deepEqual([most, all.length, new Set(all.map(({ status }) => status))], [2, 20, new Set(['rejected'])])
    assert.deepEqual([budget.free, budget.waiting], [budget.total, 0])
  })

  it('is not needed by a small message, which passes while large ones wait', async () => {
    const { budget } = openBudget()
    const turns = new Turns(budget)
    for (const name of ['a', 'b', 'c']) turns.ask(name, 'source')
    await turn()
    assert.equal(budget.waiting, 1)
    assert.equal(await budget.during(MIB - 1, 'source', async () => 'passed'), 'passed')
  })

  it('goes to another source before the second message of one that sends many', async () => {
    const { budget } = openBudget()
    const turns = new Turns(budget)
    for (let n = 1; n <= 5; n++) turns.ask(`flood ${n}`, 'flood')
    turns.ask('guest', 'guest')
    await turn()
    await turns.end('flood 1')
    await turns.end('flood 2')
    assert.deepEqual(turns.order, ['flood 1', 'flood 2', 'guest', 'flood 3'])
  })

  it('does not go to new sources for ever: who waits is served after those that came before', async () => {
    const { budget } = openBudget()
    const turns = new Turns(budget)
    turns.ask('first', 'old', 8)
    turns.ask('second', 'old', 8)
    for (let n = 1; n <= 4; n++) {
      turns.ask(`new ${n}`, `new ${n}`, 8)
      await turn()
      await turns.end(turns.order.at(-1)!)
    }
    assert.deepEqual(turns.order.slice(0, 3), ['first', 'second', 'new 1'])
  })

  it('is kept free for a message that needs much of it: smaller ones do not overtake it for ever', async () => {
    const { budget } = openBudget()
    const turns = new Turns(budget)
    turns.ask('a', 'a')
    turns.ask('whole', 'b', 8)
    turns.ask('c', 'c')
    await turn()
    await turns.end('a')
    await turns.end('whole')
    assert.deepEqual(turns.order, ['a', 'whole', 'c'])
  })

  it('is given to a message larger than all of it, alone', async () => {
    const { budget } = openBudget()
    const release = await budget.acquire(50 * MIB, 'source')
    assert.equal(budget.free, 0)
    release()
    release()
    assert.equal(budget.free, budget.total)
  })

  it('is given up after minutes, and the next one is served in its place', async () => {
    const { budget, clock } = openBudget()
    const turns = new Turns(budget)
    turns.ask('a', 'a')
    turns.ask('whole', 'b', 8)
    await turn()
    clock.advance(3 * 60_000)
    turns.ask('c', 'c')
    await turn()
    assert.deepEqual(turns.order, ['a'])
    clock.advance(60_000)
    await turn()
    assert.deepEqual(new Set(turns.order), new Set(['a', 'whole given up', 'c']))
  })

  it('is refused at once to the fifty-first that waits of one source, and not to others', async () => {
    const { budget } = openBudget()
    const turns = new Turns(budget)
    for (let n = 0; n < 52; n++) turns.ask(`flood ${n}`, 'flood')
    await turn()
    await assert.rejects(budget.acquire(4 * MIB, 'flood'), { code: 'service_unavailable' })
    turns.ask('guest', 'guest')
    await turn()
    await turns.end('flood 0')
    assert.deepEqual(turns.order, ['flood 0', 'flood 1', 'guest'])
  })
})
