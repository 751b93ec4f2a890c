// Calls between threads: those of one turn share a message, errors keep their codes, and no caller waits for a thread that has ended.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { Moved, ThreadLink } from '../../../src/base/thread-link.ts'

const { port1, port2 } = new MessageChannel()
after(() => port1.close())
const failures: unknown[] = []
const calls: unknown[] = []
const far = {
  add: (a: number, b: number) => a + b,
  fail: async (error: object) => {
    throw Object.assign(new Error('disk full'), error)
  },
  size: (bytes: Uint8Array) => bytes.length,
  back: () => {
    const bytes = new Uint8Array(4)
    return new Moved({ bytes }, [bytes.buffer])
  },
  unclonable: () => () => {},
  note: (value: unknown) => calls.push(value),
  broken: () => {
    throw new Error('a defect')
  },
}
const other = new ThreadLink<never>(port2, far, (error) => failures.push(error))
const link = new ThreadLink<typeof far>(port1, {}, (error) => failures.push(error))

test('the calls of one turn are one message each way, and each gets its own answer', async (t) => {
  const there = t.mock.method(port1, 'postMessage')
  const back = t.mock.method(port2, 'postMessage')
  link.post('note', ['first'])
  assert.deepEqual(await Promise.all([link.call('add', [1, 2]), link.call('add', [3, 4])]), [3, 7])
  assert.deepEqual(calls, ['first'])
  assert.deepEqual([there.mock.callCount(), back.mock.callCount()], [1, 1])
})

test('an error keeps its message and codes', async () => {
  await assert.rejects(link.call('fail', [{ code: 'ENOSPC' }]), { message: 'disk full', code: 'ENOSPC' })
  await assert.rejects(link.call('fail', [{ errcode: 13 }]), { message: 'disk full', errcode: 13 })
})

test('buffers are moved, not copied', async () => {
  const bytes = new Uint8Array(1024)
  assert.equal(await link.call('size', [bytes], [bytes.buffer]), 1024)
  assert.equal(bytes.length, 0)
  assert.equal((await link.call('back', [])).bytes.length, 4)
})

test('a value that cannot be sent is an error of its call, in either direction, and of the calls beside it', async () => {
  const beside = link.call('add', [1, 1])
  await assert.rejects(link.call('note', [() => {}]), { name: 'DataCloneError' })
  await assert.rejects(beside, { name: 'DataCloneError' })
  await assert.rejects(link.call('unclonable', []), { name: 'DataCloneError' })
  assert.equal(await link.call('add', [1, 1]), 2)
  assert.equal(failures.splice(0).length, 2)
})

test('the failure of a call without an answer is reported where it happened', async () => {
  link.post('broken', [])
  await link.call('add', [1, 1])
  assert.deepEqual(
    failures.splice(0).map((error) => (error as Error).message),
    ['a defect'],
  )
})

test('a call now is sent with those before it, in their order', async () => {
  calls.splice(0)
  link.post('note', [1])
  link.postNow('note', [2], [])
  link.post('note', [3])
  await link.call('add', [1, 1])
  assert.deepEqual(calls, [1, 2, 3])
})

test('calls to a thread that has ended are rejected, those in progress and those to come', async () => {
  const ended = new Error('The thread has ended.')
  const pending = link.call('add', [1, 2])
  link.end(ended)
  await assert.rejects(pending, ended)
  await assert.rejects(link.call('add', [1, 2]), ended)
  link.post('note', ['late'])
  other.end(ended)
})
