// Memory of an idle appliance, and what a thousand idle connections add.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDns } from '../test/support/dns.ts'
import { benchBundle } from './bundle.ts'
import { startMailstead } from './mailstead.ts'
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
  const { child: appliance, smtp } = await startMailstead('bundle', applianceEnv(join(folder, 'idle'), dns.address))
  await using _ = appliance
  // The first connection starts a receive thread: that is no cost of a connection.
  const first = await openIdle(smtp)
  await pause(SETTLE_MS)
  const idle = appliance.usage().memoryBytes
  const sockets: Socket[] = []
  for (let i = 0; i < CONNECTIONS; i += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => openIdle(smtp)))))
  }
  await pause(SETTLE_MS)
  const loaded = appliance.usage().memoryBytes
  for (const socket of [first, ...sockets]) socket.destroy()
  printTable(
    'Memory (RSS)',
    ['', '', 'aim'],
    [
      ['idle, with a receive thread', megabytes(idle), ''],
      [`${CONNECTIONS.toLocaleString('en')} idle SMTP connections add`, megabytes(loaded - idle), 'below 60 MB'],
    ],
  )
}
