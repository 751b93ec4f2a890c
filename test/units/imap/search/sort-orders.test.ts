// Kept orders of folders: made once for all sessions that ask, brought up to date with new messages, and bounded.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INSERTED_MAX, ORDERED_UIDS_MAX, SortOrders } from '../../../../src/imap/search/sort-orders.ts'

const BY_SUBJECT = [{ key: 'subject', isReverse: false }] as const

/** A folder with UIDs from 1 on, ordered the other way around. */
function folderOf(count: number) {
  const calls: string[] = []
  const state = { count, calls }
  const view = () => ({
    lastUid: state.count,
    count: state.count,
    above: (uid: number) => Array.from({ length: state.count - uid }, (_, at) => uid + 1 + at),
  })
  const maker = {
    async order() {
      calls.push('order')
      return Uint32Array.from({ length: state.count }, (_, at) => state.count - at)
    },
    async insert(order: Uint32Array, fresh: readonly number[]) {
      calls.push(`insert ${fresh.length}`)
      return Uint32Array.from([...fresh.toReversed(), ...order])
    },
  }
  return { state, calls, view, maker }
}

test('an order is made once, and new messages are inserted in it as long as they are few', async () => {
  const orders = new SortOrders()
  const { state, calls, view, maker } = folderOf(5)
  const all = await Promise.all([1, 2].map(() => orders.of(1, BY_SUBJECT, view(), maker)))
  assert.deepEqual(
    all.map((uids) => [...uids]),
    [
      [5, 4, 3, 2, 1],
      [5, 4, 3, 2, 1],
    ],
  )
  state.count = 7
  assert.deepEqual([...(await orders.of(1, BY_SUBJECT, view(), maker))], [7, 6, 5, 4, 3, 2, 1])
  // A session that has not heard of the new messages yet takes the same order.
  state.count = 6
  assert.equal((await orders.of(1, BY_SUBJECT, view(), maker)).length, 7)
  assert.deepEqual(calls, ['order', 'insert 2'])
  state.count = 7 + INSERTED_MAX + 1
  await orders.of(1, BY_SUBJECT, view(), maker)
  await orders.of(2, BY_SUBJECT, view(), maker)
  await orders.of(1, [{ key: 'subject', isReverse: true }], view(), maker)
  assert.deepEqual(calls.slice(2), ['order', 'order', 'order'])
  assert.equal(orders.size, 3)
})

test('an order that cannot be made is made by the next one who asks', async () => {
  const orders = new SortOrders()
  const { view, maker } = folderOf(3)
  const order = () => Promise.reject(new Error('The client has gone.'))
  const [failed, other] = await Promise.allSettled([
    orders.of(1, BY_SUBJECT, view(), { ...maker, order }),
    orders.of(1, BY_SUBJECT, view(), maker),
  ])
  assert.deepEqual([failed.status, other.status], ['rejected', 'fulfilled'])
})

test('bounds: the orders that were used last are kept', async () => {
  const orders = new SortOrders()
  const { state, calls, view, maker } = folderOf(ORDERED_UIDS_MAX / 2)
  const large = { ...maker, order: async () => (calls.push('order'), new Uint32Array(state.count)) }
  await orders.of(1, BY_SUBJECT, view(), large)
  await orders.of(2, BY_SUBJECT, view(), large)
  await orders.of(1, BY_SUBJECT, view(), large)
  assert.equal(orders.size, 2)
  await orders.of(3, BY_SUBJECT, view(), large)
  assert.equal(orders.size, 2)
  await orders.of(1, BY_SUBJECT, view(), large)
  assert.equal(calls.length, 3)
})
