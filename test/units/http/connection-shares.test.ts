// One address cannot take the connections of all: each source has a share, and proxies are the connections of many.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { REFUSALS_MAX } from '../../../src/http/listener.ts'
import { openHttpFixture } from './http-fixture.ts'

const SHARE = 3
const PROXY = '127.0.0.9'
const REQUEST = 'GET /api/v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n'
const fixture = await openHttpFixture([], {
  env: { HTTP_MAX_PER_ADDRESS: String(SHARE), TRUSTED_PROXIES: PROXY, APP_ORIGIN: 'http://localhost:1' },
})
after(() => fixture[Symbol.asyncDispose]())

async function open(localAddress: string): Promise<Socket> {
  const socket = connect({ port: fixture.port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** The status of one request; null where the connection is closed without an answer. */
async function ask(socket: Socket): Promise<number | null> {
  if (socket.destroyed) return null
  socket.write(REQUEST)
  const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  return Buffer.isBuffer(first) ? Number(first.toString().split(' ')[1]) : null
}

/** Asks in new connections until one is served: the server sees the end of others at its own pace. */
async function served(address: string): Promise<void> {
  let status: number | null
  do {
    const socket = await open(address)
    status = await ask(socket)
    if (status !== 401) socket.destroy()
  } while (status !== 401)
}

test('a source beyond its share is refused with an answer, and the others are served', async () => {
  const sockets = [await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.2')]
  for (const socket of sockets) assert.equal(await ask(socket), 401)
  const fourth = await open('127.0.0.2')
  const [answer] = await once(fourth, 'data')
  assert.match(
    String(answer),
    /^HTTP\/1\.1 429 [\s\S]*Retry-After: 10[\s\S]*Too many connections are open from this address/,
  )
  await once(fourth, 'close')
  assert.equal(await ask(await open('127.0.0.3')), 401, 'another address')
  sockets[0]!.destroy()
  await served('127.0.0.2')
})

test('a flood of one address is closed, and nothing of it stays counted', async () => {
  const flood = await Promise.all(Array.from({ length: REFUSALS_MAX + SHARE + 20 }, () => open('127.0.0.4')))
  assert.equal(await ask(await open('127.0.0.5')), 401)
  const statuses = await Promise.all(flood.map(ask))
  assert.equal(statuses.filter((status) => status === 401).length, SHARE)
  for (const socket of flood) socket.destroy()
  await served('127.0.0.4')
})

test('connections of a trusted proxy are not counted', async () => {
  const sockets = await Promise.all(Array.from({ length: 10 * SHARE }, () => open(PROXY)))
  assert.deepEqual(new Set(await Promise.all(sockets.map(ask))), new Set([401]))
})
