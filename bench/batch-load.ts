// Child process: posts batches as fast as they are answered, over persistent connections.

import { once } from 'node:events'
import { connect } from 'node:net'
import process from 'node:process'
import { numbers, text } from './mails.ts'

export interface BatchLoad {
  port: number
  key: string
  connections: number
  batches: number
  /** Messages of a batch, and bytes of each one's text. */
  messages: number
  bytes: number
}

export interface BatchResult {
  queued: number
  elapsed: number
  /** ms */
  waits: number[]
}

function bodyOf({ messages, bytes }: BatchLoad): string {
  const next = numbers(7)
  return JSON.stringify({
    messages: Array.from({ length: messages }, (_, n) => ({
      from: { email: 'news@bench.test', name: 'News' },
      to: { email: `reader${n}@readers.test`, name: `Reader ${n}` },
      subject: `Issue ${n}`,
      text_body: text(bytes, next),
    })),
  })
}

/** Raw sockets: a client library would cost as much as the server that is measured. */
async function post(load: BatchLoad, request: string, left: { batches: number }, result: BatchResult): Promise<void> {
  const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true })
  let waiting = ''
  let started = performance.now()
  const next = () => {
    if (left.batches-- <= 0) return socket.end()
    started = performance.now()
    socket.write(request)
  }
  socket.setEncoding('latin1').on('connect', next)
  socket.on('data', (part: string) => {
    waiting += part
    const head = waiting.indexOf('\r\n\r\n')
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(waiting.slice(0, head))?.[1] ?? 0)
    if (head < 0 || waiting.length < head + 4 + length) return
    const queued = /"summary":\{"total":\d+,"queued":(\d+)/.exec(waiting)
    if (queued === null) throw new Error(`A batch was refused: ${waiting.slice(0, 500)}`)
    result.queued += Number(queued[1])
    result.waits.push(performance.now() - started)
    waiting = ''
    next()
  })
  await once(socket, 'close')
}

process.send!({ ready: true })
for (;;) {
  const [load] = (await once(process, 'message')) as [BatchLoad | { close: true }]
  if ('close' in load) break
  const body = bodyOf(load)
  const head = `POST /api/v1/emails/send/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${load.key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  const result: BatchResult = { queued: 0, elapsed: 0, waits: [] }
  const left = { batches: load.batches }
  const started = performance.now()
  await Promise.all(Array.from({ length: load.connections }, () => post(load, head + body, left, result)))
  result.elapsed = performance.now() - started
  process.send!(result)
}
process.disconnect!()
