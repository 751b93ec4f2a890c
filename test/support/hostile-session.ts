// A connection of the program under test to the hostile server.

import type { Clock } from '../../src/base/clock.ts'
import { openImapServer } from '../../src/sync/imap/imap-server.ts'
import { type ConnectionMemory, ResponseMemory } from '../../src/sync/imap/response-memory.ts'
import type { RemoteProtocol } from '../../src/sync/model/records.ts'
import type { AccountServer } from '../../src/sync/model/server.ts'
import { ManualClock } from './clock.ts'
import type { HostileServer } from './hostile-imap.ts'

export const PASSWORD = 'open-sesame-4711'

export function openHostile(
  { port }: HostileServer,
  options: { clock?: Clock; protocol?: RemoteProtocol; signal?: AbortSignal; memory?: ConnectionMemory } = {},
): Promise<AccountServer> {
  const { clock = new ManualClock(), protocol = 'none', signal = new AbortController().signal } = options
  const memory = options.memory ?? new ResponseMemory(clock).connection('team')
  const server = { host: '127.0.0.1', address: '127.0.0.1', port, protocol }
  const sign = { user: 'ana@remote.test', secret: { password: PASSWORD } }
  return openImapServer(
    { ...server, ...sign },
    { clock, signal, memory, day: { day: 0, bytes: 0 }, mailPerDay: 0, isThrottled: false },
  )
}
