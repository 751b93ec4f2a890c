// Child process: requests one URL as fast as it is answered, over persistent connections.

import { once } from 'node:events'
import { connect } from 'node:net'
import process from 'node:process'

export interface HttpLoad {
  port: number
  path: string
  key: string
  connections: number
  /** ms */
  duration: number
}

export interface HttpResult {
  requests: number
  elapsed: number
  /** ms */
  waits: number[]
  /** Replies that were not 200. */
  refused: number
}

/** Raw sockets: a client library would cost more than the servers that are measured. */
async function read(load: HttpLoad, end: number, result: HttpResult): Promise<void> {
  const request = `GET ${load.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${load.key}\r\nAccept: application/json\r\n\r\n`
  const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true })
  let waiting: Buffer = Buffer.alloc(0)
  let needed = -1
  let started = performance.now()
  socket.on('connect', () => socket.write(request))
  socket.on('data', (part: Buffer) => {
    waiting = waiting.length === 0 ? part : Buffer.concat([waiting, part])
    if (needed < 0) {
      const head = waiting.indexOf('\r\n\r\n')
      if (head < 0) return
      const text = waiting.toString('latin1', 0, head)
      if (!text.startsWith('HTTP/1.1 200')) result.refused++
      needed = head + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
    }
    if (waiting.length < needed) return
    const now = performance.now()
    result.requests++
    result.waits.push(now - started)
    waiting = Buffer.alloc(0)
    needed = -1
    started = now
    if (now < end) socket.write(request)
    else socket.end()
  })
  await once(socket, 'close')
}

process.send!({ ready: true })
for (;;) {
  const [load] = (await once(process, 'message')) as [HttpLoad | { close: true }]
  if ('close' in load) break
  const result: HttpResult = { requests: 0, elapsed: 0, waits: [], refused: 0 }
  const started = performance.now()
  await Promise.all(Array.from({ length: load.connections }, () => read(load, started + load.duration, result)))
  result.elapsed = performance.now() - started
  process.send!(result)
}
process.disconnect!()
