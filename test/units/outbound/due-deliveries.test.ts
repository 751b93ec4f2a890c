// Due deliveries are read once: what may not be taken is passed over until it may be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queue, QueuedDelivery } from '../../../src/outbound/queue/queue.ts'
import { laneOf } from '../../../src/outbound/queue/queue.ts'
import { DueDeliveries } from '../../../src/outbound/runner/due-deliveries.ts'
import { InFlight } from '../../../src/outbound/runner/in-flight.ts'
import { Random } from '../../support/random.ts'

const NOW = 1_000_000

/** A queue in memory, read as the real one is; `passed` counts the rows that a query reads to find its own. */
function openQueue(waiting: (domain: string) => boolean = () => false) {
  const rows = new Map<number, QueuedDelivery>()
  const counts = { passed: 0 }
  const inFlight = new InFlight()
  const due: Queue['due'] = (now, limit, { teams, origins, lanes }, { after, upTo }) => {
    const isBehind = (one: QueuedDelivery, at: { dueAt: number; delivery: number }) =>
      one.dueAt > at.dueAt || (one.dueAt === at.dueAt && one.delivery > at.delivery)
    const page: QueuedDelivery[] = []
    const ordered = [...rows.values()].sort((a, b) => a.dueAt - b.dueAt || a.delivery - b.delivery)
    for (const one of ordered) {
      if (one.dueAt > now || !isBehind(one, after) || (upTo !== null && isBehind(one, upTo))) continue
      counts.passed++
      const isSkipped = teams.includes(one.teamId) || origins.includes(one.origin) || lanes.includes(laneOf(one))
      if (!isSkipped) page.push(one)
      if (page.length === limit) break
    }
    return page
  }
  const reader = new DueDeliveries({ queue: { due }, inFlight, hasWaiting: waiting, scheduledLater: () => new Set() })
  const put = (delivery: number, of: Partial<QueuedDelivery> = {}) => {
    const base = {
      email: delivery,
      teamId: 'a',
      origin: 'o',
      lane: 'x.test',
      dueAt: 1,
      uncertain: false,
      isUrgent: false,
    }
    rows.set(delivery, { delivery, ...base, ...of })
  }
  /** Takes all that may be taken, as the runner does. @returns the keys of the messages */
  const take = (now = NOW) => {
    const taken: number[] = []
    for (let isLast = false; !isLast; ) {
      const page = reader.next(now)
      taken.push(...page.emails)
      for (const [n, { email, dueAt }] of rows) if (dueAt <= now && page.emails.includes(email)) rows.delete(n)
      isLast = page.isLast
    }
    return taken
  }
  return { rows, counts, inFlight, reader, put, take }
}

test('a sender with a long queue is read past once, not with every poll', () => {
  const { counts, inFlight, put, take } = openQueue()
  for (let n = 1; n <= 5000; n++) put(n, { lane: `${n % 10}.test` })
  const taken = take()
  assert.equal(taken.length, 200)
  assert.ok(counts.passed < 5300)
  counts.passed = 0
  put(9000, { origin: 'p', dueAt: NOW })
  assert.deepEqual(take(), [9000])
  for (const n of taken.slice(0, 50)) inFlight.remove(n)
  assert.deepEqual(
    take(),
    Array.from({ length: 50 }, (_, index) => 201 + index),
  )
  assert.ok(counts.passed < 250, `${counts.passed} rows were read to take 51 messages`)
})

test('messages are added again when a quarter of the limit is free, not one by one', () => {
  const { inFlight, reader, put, take } = openQueue()
  for (let n = 1; n <= 300; n++) put(n, { lane: `${n % 10}.test` })
  const taken = take()
  for (const n of taken.slice(0, 49)) inFlight.remove(n)
  assert.equal(reader.mayHaveMore(NOW), false)
  assert.deepEqual(take(), [])
  inFlight.remove(taken[49]!)
  assert.equal(reader.mayHaveMore(NOW), true)
  assert.equal(take().length, 50)
  assert.equal(reader.mayHaveMore(NOW), false)
  reader.restart(NOW - 1)
  assert.equal(reader.mayHaveMore(NOW), true)
})

test('a delivery that returns to its earlier place is found when its lane is free', () => {
  const full = new Set(['x.test'])
  const { reader, put, take, inFlight, rows } = openQueue((domain) => full.has(domain))
  for (let n = 1; n <= 3; n++) put(n)
  const one = { ...rows.get(2)! }
  assert.deepEqual(take(), [1, 2, 3])
  const key = reader.skipLane(one)
  put(2)
  reader.noteReturned(one, key!)
  inFlight.remove(2)
  assert.deepEqual(take(), [])
  full.clear()
  assert.deepEqual(take(), [2])
})

test('whatever is in flight, skipped and new: all that may be taken is taken, the longest due first', () => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = new Random(seed)
    const full = new Set<string>()
    const { rows, inFlight, reader, put, take } = openQueue((domain) => full.has(domain))
    let [next, now] = [1, NOW]
    const flying = new Map<number, QueuedDelivery>()
    for (let step = 0; step < 60; step++) {
      now += 10
      for (let n = random.below(120); n > 0; n--) {
        const of = { teamId: `t${random.below(2)}`, lane: `${random.below(3)}.test`, dueAt: now - random.below(5) }
        put(next, { ...of, origin: `${of.teamId}${random.below(2)}`, email: next++ })
      }
      // Deliveries that became due earlier than the poll that missed them.
      reader.restart(now - 10)
      const known = new Map(rows)
      const taken = take(now)
      for (const n of taken) flying.set(n, known.get(n)!)
      const exclusions = inFlight.exclusions(now, (domain) => full.has(domain))
      const isOpen = (one: QueuedDelivery) => inFlight.refusal(one) === null
      const missed = [...rows.values()].filter((one) => one.dueAt <= now && isOpen(one))
      assert.deepEqual(inFlight.isFull ? [] : missed, [], `seed ${seed}, step ${step}, ${JSON.stringify(exclusions)}`)
      for (const [n, one] of flying) {
        if (random.below(3) > 0) continue
        flying.delete(n)
        const returned = random.below(20) === 0 ? reader.skipOrigin(one, now + random.below(100)) : null
        inFlight.remove(n)
        if (returned === null) continue
        put(n, one)
        reader.noteReturned(one, returned)
      }
      const open = [...rows.values()].filter((one) => one.dueAt <= now && isOpen(one))
      if (!reader.mayHaveMore(now)) assert.deepEqual(inFlight.isFull ? [] : open, [], `seed ${seed}, step ${step}`)
    }
  }
})
