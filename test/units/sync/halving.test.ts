// Reading by halves: what a server refuses or fails at alone costs only itself; a server that fails at everything is asked later.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerError } from '../../../src/sync/model/server.ts'
import { readByHalves } from '../../../src/sync/session/halving.ts'

const items = Array.from({ length: 64 }, (_, n) => n)
const refusal = () => new ServerError('refused', 'No.')
const failure = () => new ServerError('delay', 'Internal error.', { isFailure: true })

for (const [name, error] of [
  ['refuses', refusal],
  ['fails at', failure],
] as const) {
  test(`a message that the server ${name} costs only itself`, async () => {
    const { results, refused } = await readByHalves(items, async (some) => {
      if (some.some((n) => n === 0 || n === 40)) throw error()
      return some
    })
    assert.deepEqual(
      results.flat(),
      items.filter((n) => n !== 0 && n !== 40),
    )
    assert.deepEqual(
      refused.map(({ item }) => item),
      [0, 40],
    )
  })
}

test('a server that fails at every message is asked later, after a few commands', async () => {
  let commands = 0
  const read = async () => {
    commands++
    throw failure()
  }
  await assert.rejects(readByHalves(items, read), { effect: 'delay' })
  assert.ok(commands < 20, `${commands} commands`)
  await assert.rejects(readByHalves([1], read), { effect: 'delay' })
})
