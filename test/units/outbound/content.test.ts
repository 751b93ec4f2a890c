// The memory of messages in transfer: given back once a message is sent, and never all held by one team.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { MemoryShares } from '../../../src/base/memory-shares.ts'
import type { Email } from '../../../src/outbound/model/records.ts'
import { DeliveryLimits } from '../../../src/outbound/runner/concurrency.ts'
import { SignedContent } from '../../../src/outbound/runner/content.ts'

const MEGABYTE = 1024 * 1024
const never = new Promise<never>(() => {})

/** Opens contents of messages; `reads` counts how often one was read from the store. */
function opener() {
  const limits = new DeliveryLimits()
  const state = { reads: 0 }
  const blobs = {
    bytes: async () => {
      state.reads++
      return Buffer.from('Subject: x\r\n\r\n')
    },
  }
  const deps = {
    store: { blobs },
    signer: { sign: async (_: unknown, bytes: Uint8Array) => bytes },
    memory: new MemoryShares(systemClock),
  }
  const open = (teamId: string, sizeBytes: number) =>
    new SignedContent(deps as never, limits, { teamId, sizeBytes, hash: new Uint8Array(32) } as Email)
  return { open, state }
}

test('a transfer that waits for the reply to the end of data holds no memory, and another one reads the message again', async () => {
  const { open, state } = opener()
  const hanging = open('team_a', 20 * MEGABYTE)
  void hanging.lend(async (_, done) => {
    done()
    await never
  })
  assert.equal(await open('team_a', 20 * MEGABYTE).lend(async ({ length }) => length), 14)
  assert.equal(await hanging.lend(async ({ length }) => length), 14)
  assert.equal(state.reads, 3)
})

test('the bytes stay for concurrent users until the last one is done', async () => {
  const { open, state } = opener()
  const content = open('team_a', MEGABYTE)
  const { promise: isSent, resolve: send } = Promise.withResolvers<void>()
  const first = content.lend(async (bytes, done) => {
    await isSent
    done()
    done()
    return bytes.length
  })
  assert.equal(await content.lend(async ({ length }) => length), 14)
  send()
  assert.equal(await first, 14)
  assert.equal(state.reads, 1)
})

test('large messages of one team leave memory to those of others', async () => {
  const { open } = opener()
  for (let count = 0; count < 5; count++) void open('team_a', 10 * MEGABYTE).lend(() => never)
  assert.equal(await open('team_b', 10 * MEGABYTE).lend(async ({ length }) => length), 14)
})
