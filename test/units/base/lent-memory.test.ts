// The memory for large messages in other threads: one budget for the process, given back by threads that die.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { FarMemory, LentMemory, lendMemory } from '../../../src/base/lent-memory.ts'
import { MemoryExhausted, MemoryShares } from '../../../src/base/memory-shares.ts'
import { ManualClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'

const MIB = 1024 * 1024

/** A budget of 10 MiB in the first thread, and as another thread sees it. */
function lending() {
  const clock = new ManualClock()
  const memory = new MemoryShares(clock, 10 * MIB, 1)
  const { port1, port2 } = new MessageChannel()
  const end = lendMemory(port1, memory, (error) => assert.fail(String(error)))
  // Ports keep no process alive; the test has nothing else.
  port1.ref()
  port2.ref()
  return { clock, memory, end, far: new FarMemory(port2), port2 }
}

test('a turn in another thread is one of the process, and small messages need none', async () => {
  const { memory, far, port2, end } = lending()
  port2.ref()
  await far.during(MIB - 1, 'a', async () => assert.equal(memory.free, 10 * MIB))
  await far.during(8 * MIB, 'a', async () => {
    assert.equal(memory.free, 2 * MIB)
    void memory.during(4 * MIB, 'b', async () => {})
    assert.equal(memory.waiting, 1, 'the first thread waits for the other one')
  })
  await eventually(() => memory.free === 10 * MIB && memory.waiting === 0)
  end()
})

test('a turn that does not come is refused, and a thread that ends gives back what it holds', async () => {
  const { memory, clock, far, port2, end } = lending()
  port2.ref()
  await far.acquire(8 * MIB, 'a')
  const late = assert.rejects(far.acquire(8 * MIB, 'a'), MemoryExhausted)
  await eventually(() => memory.waiting === 1)
  clock.advance(5 * 60_000)
  await late
  end()
  assert.equal(memory.free, 10 * MIB)
})

test('a turn that comes after the end of its thread is given back', async () => {
  const memory = new MemoryShares(new ManualClock(), 10 * MIB, 1)
  const release = await memory.acquire(8 * MIB, 'b')
  const lent = new LentMemory(memory)
  const turn = lent.reserve(8 * MIB, 'a')
  lent.end()
  release()
  await turn
  assert.equal(memory.free, 10 * MIB)
})
