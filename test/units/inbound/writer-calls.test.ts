// Calls of a receive thread: they reach the writer with what it needs of a message, and nothing else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { ThreadLink } from '../../../src/base/thread-link.ts'
import type { Decided, ForWriter } from '../../../src/inbound/received-message.ts'
import { refusals } from '../../../src/inbound/refusals.ts'
import {
  type FirstThreadCalls,
  type ReceiveWriter,
  remoteWriter,
  writerCalls,
} from '../../../src/inbound/writer-calls.ts'

function open() {
  const calls: { name: string; given: unknown[] }[] = []
  const chunks = [{ start: 0, sizeBytes: 4, zstd: false, data: new Uint8Array([1, 2, 3, 4]) }]
  const answers: Record<string, unknown> = { deliver: 'stored', fullSince: 7, reserve: 3, inspect: { chunks } }
  const writer = new Proxy({} as ReceiveWriter, {
    get:
      (_, name: string) =>
      async (...given: unknown[]) => {
        calls.push({ name, given })
        return answers[name]
      },
  })
  const { port1, port2 } = new MessageChannel()
  const fail = (error: unknown) => assert.fail(String(error))
  new ThreadLink(port1, { ...writerCalls(writer) }, fail)
  const remote = remoteWriter(new ThreadLink<FirstThreadCalls>(port2, {}, fail))
  return { remote, calls, chunks, [Symbol.dispose]: () => port1.close() }
}

function decided(): ForWriter<Decided> {
  const mailbox = { id: 'mbx_1' }
  const recipient = { rcptTo: 'ben@in.test', mailbox, teamId: 'team_1', domain: 'in.test', step: 'address' }
  const data = new Uint8Array([1, 2, 3, 4])
  return {
    queueId: 'q1',
    recipients: [{ ...recipient, policy: { rules: ['long'] }, batchKey: 'x' }],
    report: null,
    sizeBytes: 4,
    decision: { junk: false },
    inspection: {
      chunks: [{ start: 0, sizeBytes: 4, zstd: false, data }],
      edited: [],
      report: { kind: 'bounce' },
      message: { subject: 'Hello', searchText: 'long text' },
    },
  } as unknown as ForWriter<Decided>
}

test('a message to store arrives with its content, whose buffers are handed over, and without policies', async () => {
  using thread = open()
  const message = decided()
  assert.equal(await thread.remote.deliver(message), 'stored')
  const sent = thread.calls[0]!.given[0] as ForWriter<Decided>
  assert.deepEqual(Object.keys(sent.recipients[0]!), ['rcptTo', 'mailbox', 'teamId', 'domain', 'step'])
  assert.deepEqual([...sent.inspection.chunks[0]!.data], [1, 2, 3, 4])
  assert.equal(sent.inspection.report, null)
  assert.equal(message.inspection.chunks[0]!.data.length, 0, 'the buffer has moved')
})

test('a message for the log arrives without content and text', async () => {
  using thread = open()
  const message = decided()
  await thread.remote.noteRefusedMessage(message, refusals.spam)
  const { name, given } = thread.calls[0]!
  const [sent, refusal] = given as [ForWriter<Decided>, object]
  assert.equal(name, 'noteRefusedMessage')
  assert.deepEqual(refusal, refusals.spam)
  assert.deepEqual([sent.inspection.chunks, sent.inspection.message.searchText], [[], ''])
  assert.equal(sent.inspection.message.subject, 'Hello')
  assert.equal(message.inspection.chunks[0]!.data.length, 4, 'nothing has moved')
})

test('every other call arrives as it is, and its answer comes back', async () => {
  using thread = open()
  const { remote, calls, chunks } = thread
  assert.equal(await remote.fullSince('mbx_1', 10, 4), 7)
  assert.equal(await remote.reserve(4, '192.0.2.1'), 3)
  remote.release(3)
  const inspection = await remote.inspect({ file: 'spooled' }, {} as never)
  assert.deepEqual([...inspection.chunks[0]!.data], [1, 2, 3, 4])
  assert.equal(chunks[0]!.data.length, 0, 'the buffer has moved')
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['fullSince', 'reserve', 'release', 'inspect'],
  )
  assert.deepEqual(calls[0]!.given, ['mbx_1', 10, 4])
})
