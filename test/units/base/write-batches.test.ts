// Writes requested one by one are joined; one that fails does not fail the others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteBatches } from '../../../src/base/write-batches.ts'

/** Writes on request only; an item below zero cannot be written. */
function open(most: number) {
  const written: number[][] = []
  const begun: PromiseWithResolvers<void>[] = []
  const batches = new WriteBatches<number, string>({
    most,
    async write(take) {
      const gate = Promise.withResolvers<void>()
      begun.push(gate)
      await gate.promise
      const items = [...take()]
      if (items.some((item) => item < 0)) throw new Error(`${items} cannot be written`)
      written.push(items)
      return items.map((item) => `${item} is written`)
    },
  })
  const settle = async () => {
    for (let at = 0; at < begun.length; at++) {
      begun[at]!.resolve()
      await new Promise(setImmediate)
    }
  }
  return { batches, written, settle }
}

test('what waits until a write begins is written together, up to the limit, and each caller gets its own result', async () => {
  const { batches, written, settle } = open(3)
  const results = [1, 2, 3, 4].map((item) => batches.write(item))
  await settle()
  assert.deepEqual(written, [[1, 2, 3], [4]])
  assert.deepEqual(
    await Promise.all(results),
    [1, 2, 3, 4].map((item) => `${item} is written`),
  )
})

test('writes that may overlap begin when the one before has taken its items, not when it has ended', async () => {
  const ends: (() => void)[] = []
  const written: number[][] = []
  const batches = new WriteBatches<number>({
    ...{ most: 2, overlap: true },
    async write(take) {
      await new Promise(setImmediate)
      const items = take()
      written.push([...items])
      await new Promise<void>((end) => ends.push(end))
      return items.map(() => undefined)
    },
  })
  const first = [1, 2, 3].map((item) => batches.write(item))
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
  const last = batches.write(4)
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
  assert.deepEqual(written, [[1, 2], [3], [4]])
  for (const end of ends) end()
  await Promise.all([...first, last])
})

test('after a failed batch each item is written alone: only the one that cannot be written fails', async () => {
  const { batches, written, settle } = open(10)
  const results = [1, -2, 3].map((item) => batches.write(item).catch((error: Error) => error.message))
  await settle()
  assert.deepEqual(await Promise.all(results), ['1 is written', '-2 cannot be written', '3 is written'])
  assert.deepEqual(written, [[1], [3]])
  const later = batches.write(5)
  await settle()
  assert.equal(await later, '5 is written')
})

test('items that have to be written one by one are written again alone, and each caller gets its own result', async () => {
  const written: number[][] = []
  const batches = new WriteBatches<number, string>({
    most: 5,
    async write(take) {
      await new Promise(setImmediate)
      const items = take()
      if (items.length > 1) return null
      written.push([...items])
      return items.map((item) => `${item} is written`)
    },
  })
  assert.deepEqual(
    await Promise.all([1, 2, 3].map((item) => batches.write(item))),
    [1, 2, 3].map((item) => `${item} is written`),
  )
  assert.deepEqual(written, [[1], [2], [3]])
})

test('a write that fails before it takes its items fails them, too, and the next ones are written', async () => {
  let isBroken = true
  const batches = new WriteBatches<number>({
    most: 5,
    write(take) {
      if (isBroken) return Promise.reject(new Error('no disk'))
      return Promise.resolve(take().map(() => undefined))
    },
  })
  const failed = await Promise.allSettled([batches.write(1), batches.write(2)])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  isBroken = false
  await batches.write(3)
})
