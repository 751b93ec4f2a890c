// Child process: sends requests as fast as they are answered, over persistent connections.

import { once } from 'node:events'
import { connect } from 'node:net'
import process from 'node:process'

export interface HttpLoad {
  port: number
  /** Requested in turn. */
  paths: readonly string[]
  key: string
  connections: number
  /** ms */
  duration: number
  /** Walks the list of the first path by the cursors in the replies, to its end or for `duration`. One connection. */
  isWalk?: boolean
  /** Sent before each request, the bodies in turn, and not measured. */
  change?: { path: string; bodies: readonly string[] }
}

export interface HttpResult {
  requests: number
  elapsed: number
  /** ms */
  waits: number[]
  /** Replies that were not 200. */
  refused: number
  /** Paths of the pages of a walk. */
  walked: string[]
}

/** @returns the text of the next request and whether its reply is measured; null at the end */
type Next = (reply: Buffer | null) => { request: string; isMeasured: boolean } | null

/** Raw sockets: a client library would cost more than the servers that are measured. */
async function read({ port }: HttpLoad, next: Next, result: HttpResult): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let waiting: Buffer = Buffer.alloc(0)
  let needed = -1
  let started = 0
  let isMeasured = false
  const send = (reply: Buffer | null) => {
    const one = next(reply)
    if (one === null) return void socket.end()
    isMeasured = one.isMeasured
    started = performance.now()
    socket.write(one.request)
  }
  socket.on('connect', () => send(null))
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
    if (isMeasured) {
      result.requests++
      result.waits.push(performance.now() - started)
    }
    const reply = waiting
    waiting = Buffer.alloc(0)
    needed = -1
    send(reply)
  })
  await once(socket, 'close')
}

const headOf = (load: HttpLoad, line: string) =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${load.key}\r\nAccept: application/json\r\n`
const getOf = (load: HttpLoad, path: string) => `${headOf(load, `GET ${path}`)}\r\n`

/** The paths in turn, on any number of connections. */
function inTurn(load: HttpLoad, end: number): Next {
  let asked = 0
  return () => {
    const path = load.paths[asked++ % load.paths.length]!
    return performance.now() < end ? { request: getOf(load, path), isMeasured: true } : null
  }
}

function walk(load: HttpLoad, end: number, result: HttpResult): Next {
  return (reply) => {
    const [first] = load.paths as [string]
    const cursor = reply === null ? null : /"next_cursor":"([^"]+)"/.exec(reply.toString('latin1', reply.length - 1000))
    if ((reply !== null && cursor === null) || performance.now() > end) return null
    const path = cursor === null ? first : `${first}&cursor=${cursor[1]}`
    result.walked.push(path)
    return { request: getOf(load, path), isMeasured: true }
  }
}

/** A change before each request. */
function changing(load: HttpLoad, change: NonNullable<HttpLoad['change']>, end: number): Next {
  const read = inTurn(load, end)
  let changes = 0
  let isChange = false
  return (reply) => {
    isChange = !isChange
    if (!isChange) return read(reply)
    const body = change.bodies[changes++ % change.bodies.length]!
    const head = `${headOf(load, `PATCH ${change.path}`)}Content-Type: application/json\r\nContent-Length: ${body.length}`
    return { request: `${head}\r\n\r\n${body}`, isMeasured: false }
  }
}

process.send!({ ready: true })
for (;;) {
  const [load] = (await once(process, 'message')) as [HttpLoad | { close: true }]
  if ('close' in load) break
  const result: HttpResult = { requests: 0, elapsed: 0, waits: [], refused: 0, walked: [] }
  const started = performance.now()
  const end = started + load.duration
  const plain = load.isWalk === true ? walk(load, end, result) : inTurn(load, end)
  const next = load.change === undefined ? plain : changing(load, load.change, end)
  await Promise.all(Array.from({ length: load.connections }, () => read(load, next, result)))
  result.elapsed = performance.now() - started
  process.send!(result)
}
process.disconnect!()
