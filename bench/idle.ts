// What the appliance weighs when nothing happens, and what a thousand connections that say nothing add.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDns } from '../test/support/dns.ts'
import type { HouseReady } from './house.ts'
import { startNode } from './processes.ts'
import { applianceEnv } from './settings.ts'
import { megabytes, printTable } from './table.ts'

const CONNECTIONS = 1000
const SETTLE_MS = 3000

async function openIdle(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'data')
  socket.write('EHLO idle.test\r\n')
  await once(socket, 'data')
  return socket
}

export async function benchIdle(folder: string): Promise<void> {
  await using dns = await startDns({})
  await using house = startNode('bench/house.ts', ['box@bench.test'], applianceEnv(join(folder, 'idle'), dns.address))
  const { smtp } = await house.message<HouseReady>()
  await pause(SETTLE_MS)
  const idle = house.usage().memoryBytes
  const sockets: Socket[] = []
  for (let i = 0; i < CONNECTIONS; i += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => openIdle(smtp)))))
  }
  await pause(SETTLE_MS)
  const loaded = house.usage().memoryBytes
  for (const socket of sockets) socket.destroy()
  printTable(
    'Memory (RSS)',
    ['', '', 'aim'],
    [
      ['idle', megabytes(idle), 'below 150 MB'],
      [`${CONNECTIONS.toLocaleString('en')} idle SMTP connections add`, megabytes(loaded - idle), 'below 60 MB'],
    ],
  )
}
