// Child process: sends one request after another over one connection and reports the duration of each response.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import process from 'node:process'

export interface Turn {
  method: 'GET' | 'POST'
  path: string
  /** JSON, "" for none. */
  body: string
}

export interface Turns {
  port: number
  key: string
  turns: readonly Turn[]
}

export interface TurnsResult {
  /** ms, in the order of the turns. */
  waits: number[]
  /** Bytes of the last response. */
  bytes: number
  /** The first response that was not 200. */
  refused: string | null
}

/** Raw sockets: a client library would cost more than the servers that are measured. */
async function answer(socket: Socket, request: string): Promise<{ head: string; bytes: number }> {
  socket.write(request)
  let got: Buffer = Buffer.alloc(0)
  for (;;) {
    const [part] = (await once(socket, 'data')) as [Buffer]
    got = got.length === 0 ? part : Buffer.concat([got, part])
    const end = got.indexOf('\r\n\r\n')
    if (end < 0) continue
    const head = got.toString('latin1', 0, end)
    const bytes = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (got.length >= end + 4 + bytes) return { head, bytes }
  }
}

function requestText({ method, path, body }: Turn, key: string): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nAccept: application/json\r\n`
  if (method === 'GET') return `${head}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

async function take({ port, key, turns }: Turns): Promise<TurnsResult> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const result: TurnsResult = { waits: [], bytes: 0, refused: null }
  for (const turn of turns) {
    const request = requestText(turn, key)
    const started = performance.now()
    const { head, bytes } = await answer(socket, request)
    result.waits.push(performance.now() - started)
    result.bytes = bytes
    if (!head.startsWith('HTTP/1.1 200')) result.refused ??= `${turn.path}: ${head.slice(0, 40)}`
  }
  socket.destroy()
  return result
}

process.send!({ ready: true })
for (;;) {
  const [turns] = (await once(process, 'message')) as [Turns | { close: true }]
  if ('close' in turns) break
  process.send!(await take(turns))
}
process.disconnect!()
