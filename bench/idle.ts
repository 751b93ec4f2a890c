// Memory of an idle appliance, and what a thousand idle connections add.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDns } from '../test/support/dns.ts'
import type { ApplianceReady } from './appliance.ts'
import { benchBundle } from './bundle.ts'
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
  await benchBundle(folder, dns.address)
  await using appliance = startNode(
    'bench/appliance.ts',
    ['box@bench.test'],
    applianceEnv(join(folder, 'idle'), dns.address),
  )
  const { smtp } = await appliance.message<ApplianceReady>()
  await pause(SETTLE_MS)
  const idle = appliance.usage().memoryBytes
  const sockets: Socket[] = []
  for (let i = 0; i < CONNECTIONS; i += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => openIdle(smtp)))))
  }
  await pause(SETTLE_MS)
  const loaded = appliance.usage().memoryBytes
  for (const socket of sockets) socket.destroy()
  printTable(
    'Memory (RSS)',
    ['', '', 'aim'],
    [
      ['idle, from the sources', megabytes(idle), ''],
      [`${CONNECTIONS.toLocaleString('en')} idle SMTP connections add`, megabytes(loaded - idle), 'below 60 MB'],
    ],
  )
}
