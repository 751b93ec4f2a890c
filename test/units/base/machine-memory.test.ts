// The heap of a thread is bounded by the memory of the machine.

import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import process from 'node:process'
import { test } from 'node:test'
import { oldGenerationMb } from '../../../src/base/machine-memory.ts'

const GIB = 1024 ** 3

test('a heap takes at most half of the memory, and no more than is asked for', () => {
  for (const [memory, bound] of [
    [GIB / 2, 256],
    [GIB, 512],
    [2 * GIB, 1024],
    [4 * GIB, 2000],
    [64 * GIB, 2000],
  ] as const)
    assert.equal(oldGenerationMb(2000, memory), bound)
})

test('the memory is that of the machine, or of the container that has less', (t) => {
  const half = Math.floor(totalmem() / 2 / 1024 ** 2)
  const bounds: [constrained: number, heap: number][] = [
    [0, half],
    [2 ** 63, half],
    [GIB / 4, 128],
  ]
  for (const [constrained, heap] of bounds) {
    const mocked = t.mock.method(process, 'constrainedMemory', () => constrained)
    assert.equal(oldGenerationMb(Number.POSITIVE_INFINITY), heap)
    mocked.mock.restore()
  }
})
