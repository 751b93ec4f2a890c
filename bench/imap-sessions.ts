// What an idle IMAP session takes in memory, beside a bare TLS connection.

import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import { MeasuringClient } from './imap-client.ts'
import { type Child, startNode } from './processes.ts'
import { printTable } from './table.ts'

const SESSIONS = 1000
const AT_ONCE = 50
const SETTLE_MS = 4000
const AIM_KB = 10

/** Bytes that each of the connections adds to the memory of a process. */
async function perConnection(child: Child, open: () => Promise<Disposable>): Promise<number> {
  // The first ones load what all of them use.
  const connections = await Promise.all(Array.from({ length: AT_ONCE }, open))
  await pause(SETTLE_MS)
  const before = child.usage().memoryBytes
  for (let i = 0; i < SESSIONS; i += AT_ONCE)
    connections.push(...(await Promise.all(Array.from({ length: AT_ONCE }, open))))
  await pause(SETTLE_MS)
  const added = child.usage().memoryBytes - before
  for (const connection of connections) connection[Symbol.dispose]()
  return added / SESSIONS
}

async function bareTls(port: number): Promise<Disposable> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'data')
  return { [Symbol.dispose]: () => socket.destroy() }
}

interface Target {
  port: number
  child: Child
  user: string
  secret: string
}

export async function benchIdleSessions({ port, child, user, secret }: Target): Promise<void> {
  await using bare = startNode('bench/tls-server.ts')
  const ready = await bare.message<{ port: number }>()
  const alone = await perConnection(bare, () => bareTls(ready.port))
  const sessions = await perConnection(child, async () => {
    const client = await MeasuringClient.open(port, user, secret)
    await client.run('SELECT INBOX')
    client.write('i IDLE\r\n')
    await client.until(/\+ /)
    return client
  })
  const kb = (bytes: number) => `${Math.round(bytes / 1024)} KB`
  printTable(
    `Memory of a connection, of ${SESSIONS.toLocaleString('en')}`,
    ['', '', 'aim'],
    [
      ['TLS alone', kb(alone), ''],
      ['IMAP, signed in, a folder selected, IDLE', kb(sessions), `TLS and ${AIM_KB} KB: ${kb(alone + AIM_KB * 1024)}`],
    ],
  )
}
