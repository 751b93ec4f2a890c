// Outcomes of webhook requests are written in batches, and one that cannot be written does not block the others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostResult } from '../../../src/base/safe-fetch.ts'
import type { Tx } from '../../../src/db/db.ts'
import type { NewAttempt } from '../../../src/events/webhooks/attempts.ts'
import { type AttemptOutcome, OutcomeWriter, type OutcomeWriterDeps } from '../../../src/events/webhooks/outcomes.ts'
import { Payload } from '../../../src/events/webhooks/records.ts'
import { ManualClock } from '../../support/clock.ts'

const OK: PostResult = {
  ...{ status: 200, body: '', retryAfter: null, accepted: true, mayAskToWait: false },
  ...{ problem: null, text: null },
}
const FAILED: PostResult = { ...OK, status: 500, accepted: false }
const UNWRITABLE = 13

/** A writer on a database whose units of work run one after the other. */
function openWriter({ isHeld = false } = {}) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const batches: number[][] = []
  const dropped: number[] = []
  const noted: string[] = []
  const reads: number[] = []
  const postponed: number[] = []
  const deps = {
    db: {
      async write(work: (tx: Tx) => unknown) {
        await new Promise(setImmediate)
        return work({} as Tx)
      },
    },
    ...{ clock, guard: { isHeld: () => isHeld, expected: () => clock.now() }, payloadDays: 1, random: () => 0 },
    webhooks: {
      byN(n: number) {
        reads.push(n)
        return { n, status: 'enabled' }
      },
      noteAttempt: (_tx: Tx, n: number, success: boolean) => void noted.push(`${n} ${success ? 'ok' : 'failed'}`),
      noteExhausted: (_tx: Tx, n: number) => void noted.push(`${n} exhausted`),
    },
    attempts: {
      insertAll(_tx: Tx, made: readonly NewAttempt[]) {
        if (made.some(({ event }) => event.n === UNWRITABLE)) throw new Error('not this one')
        batches.push(made.map(({ event }) => event.n))
      },
    },
    pending: {
      drop: (_tx: Tx, ns: readonly number[]) => void dropped.push(...ns),
      postpone: (_tx: Tx, n: number) => void postponed.push(n),
    },
  }
  const writer = new OutcomeWriter(deps as unknown as OutcomeWriterDeps)
  const write = (n: number, answer = OK, webhook = 1) => {
    const event = {
      n,
      id: `event ${n}`,
      type: 'message.delivered' as const,
      payload: new Payload('{}'),
      createdAt: clock.now(),
    }
    // Its lifetime has ended: a failure is final.
    return writer.write(webhook, { n, event, attempt: 1, endsAt: 0 }, { answer, ms: 1, headers: {} })
  }
  return { writer, write, batches, dropped, noted, reads, postponed }
}

test('outcomes that arrive during a write are written in one batch, which reads each subscription once', async () => {
  const { write, batches, dropped, noted, reads } = openWriter()
  await Promise.all([write(1), write(2), write(3, OK, 2), write(4)])
  assert.deepEqual(batches, [[1], [2, 3, 4]])
  assert.deepEqual(dropped, [1, 2, 3, 4])
  assert.deepEqual(reads, [1, 1, 2])
  assert.deepEqual(noted, ['1 ok', '1 ok', '2 ok'])
})

test('an outcome that cannot be written is rejected, and the others are written one by one', async () => {
  const { write, batches, dropped } = openWriter()
  const all = await Promise.allSettled([write(1), write(2), write(UNWRITABLE), write(4)])
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(batches, [[1], [2], [4]])
  assert.deepEqual(dropped, [1, 2, 4])
})

test('outcomes wait while requests run, and are written together when the last one has ended', async () => {
  const { writer, write, batches } = openWriter()
  const request = Promise.withResolvers<AttemptOutcome>()
  const running = writer.during(request.promise)
  const writes = [write(1), write(2)]
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  assert.deepEqual(batches, [])
  request.resolve({ answer: OK, ms: 1, headers: {} })
  await running
  writes.push(write(3))
  await Promise.all(writes)
  assert.deepEqual(batches, [[1, 2, 3]])
})

test('a success after a failure in the same batch is noted again', async () => {
  const { write, noted } = openWriter()
  await Promise.all([write(1), write(2), write(3, FAILED), write(4), write(5)])
  assert.deepEqual(noted, ['1 ok', '1 ok', '1 exhausted', '1 ok'])
})

test('while the clock is untrusted, the end of the lifetime does not end a delivery', async () => {
  const [trusted, held] = [openWriter(), openWriter({ isHeld: true })]
  for (const { write } of [trusted, held]) await write(1, FAILED)
  assert.deepEqual([trusted.dropped, trusted.postponed], [[1], []])
  assert.deepEqual([held.dropped, held.postponed], [[], [1]])
})

test('a request that could not be sent for a fault of this server does not count against the webhook', async () => {
  const { write, noted, dropped } = openWriter()
  await write(1, { ...FAILED, status: 0, problem: 'internal_error', text: 'No.' })
  assert.deepEqual([noted, dropped], [['1 failed'], [1]])
})
