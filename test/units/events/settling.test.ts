// What became of tellings is written down together, and what cannot be written of one keeps no other from being written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostResult } from '../../../src/base/safe-fetch.ts'
import type { Tx } from '../../../src/db/db.ts'
import type { NewAttempt } from '../../../src/events/webhooks/attempts.ts'
import { Settling, type SettlingParts } from '../../../src/events/webhooks/outcomes.ts'
import { ManualClock } from '../../support/clock.ts'

const WELL: PostResult = {
  ...{ status: 200, body: '', retryAfter: null, accepted: true, mayAskToWait: false },
  ...{ problem: null, text: null },
}
const ILL: PostResult = { ...WELL, status: 500, accepted: false }
const UNWRITABLE = 13

/** A desk whose units of work take effect when they end well, each in a turn of its own. */
function openDesk({ isHeld = false } = {}) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const rounds: number[][] = []
  const dropped: number[] = []
  const noted: string[] = []
  const looks: number[] = []
  const postponed: number[] = []
  const parts = {
    db: {
      async write(work: (tx: Tx) => Promise<unknown>) {
        await new Promise(setImmediate)
        return work({} as Tx)
      },
    },
    ...{ clock, guard: { isHeld: () => isHeld }, payloadDays: 1, random: () => 0 },
    webhooks: {
      async byN(n: number) {
        looks.push(n)
        return { n, status: 'enabled' }
      },
      noteTry: async (_tx: Tx, n: number, success: boolean) => void noted.push(`${n} ${success ? 'well' : 'ill'}`),
      noteExhausted: async (_tx: Tx, n: number) => void noted.push(`${n} given up`),
    },
    attempts: {
      async insertAll(_tx: Tx, made: readonly NewAttempt[]) {
        if (made.some(({ event }) => event.n === UNWRITABLE)) throw new Error('not this one')
        rounds.push(made.map(({ event }) => event.n))
      },
    },
    waiting: {
      dropAll: async (_tx: Tx, ns: readonly number[]) => void dropped.push(...ns),
      postpone: async (_tx: Tx, n: number) => void postponed.push(n),
    },
  }
  const settling = new Settling(parts as unknown as SettlingParts)
  const settle = (n: number, answer = WELL, webhook = 1) => {
    const event = { n, id: `event ${n}`, type: 'message.delivered' as const, body: '{}', createdAt: clock.now() }
    // Its time is over: what fails has failed.
    return settling.settle(webhook, { n, event, attempt: 1, endsAt: 0 }, { answer, ms: 1, headers: {} })
  }
  return { settle, rounds, dropped, noted, looks, postponed }
}

test('what ends while others are being written is written together, and each subscription is looked at once', async () => {
  const { settle, rounds, dropped, noted, looks } = openDesk()
  await Promise.all([settle(1), settle(2), settle(3, WELL, 2), settle(4)])
  assert.deepEqual(rounds, [[1], [2, 3, 4]])
  assert.deepEqual(dropped, [1, 2, 3, 4])
  assert.deepEqual(looks, [1, 1, 2])
  assert.deepEqual(noted, ['1 well', '1 well', '2 well'])
})

test('one that cannot be written is told so, and the others are written one by one', async () => {
  const { settle, rounds, dropped } = openDesk()
  const all = await Promise.allSettled([settle(1), settle(2), settle(UNWRITABLE), settle(4)])
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(rounds, [[1], [2], [4]])
  assert.deepEqual(dropped, [1, 2, 4])
})

test('a success after a failure of the same round is noted anew', async () => {
  const { settle, noted } = openDesk()
  await Promise.all([settle(1), settle(2), settle(3, ILL), settle(4), settle(5)])
  assert.deepEqual(noted, ['1 well', '1 well', '1 given up', '1 well'])
})

test('while the clock is in doubt the end of its lifetime ends nothing', async () => {
  const [right, held] = [openDesk(), openDesk({ isHeld: true })]
  for (const { settle } of [right, held]) await settle(1, ILL)
  assert.deepEqual([right.dropped, right.postponed], [[1], []])
  assert.deepEqual([held.dropped, held.postponed], [[], [1]])
})
