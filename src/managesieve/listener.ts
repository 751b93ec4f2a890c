// The listener of ManageSieve on MANAGESIEVE_PORT (STARTTLS).

import { ProtocolMeters } from '../access/protocol-meters.ts'
import type { Context } from '../context.ts'
import { openClientListener } from '../net/client-listener.ts'
import { ConnectionCounter } from '../net/connections.ts'
import type { MailListener } from '../net/mail-listener.ts'
import { CONNECTIONS, SWEEP_MS } from './limits.ts'

const METERS = {
  connections: 'managesieve_connections',
  logins: 'managesieve_logins_total',
  commands: 'managesieve_commands_total',
}

export function openManageSieve(app: Context): MailListener<'managesieve'> {
  const meters = new ProtocolMeters('ManageSieve', METERS)
  app.metrics.add(meters.registry)
  const connections = new ConnectionCounter(CONNECTIONS)
  return openClientListener(app, {
    name: 'managesieve',
    protocol: 'ManageSieve',
    ports: ['managesieve'],
    counter: connections,
    secure: () => null,
    refusal: () => 'BYE (TRYLATER) "Too many connections."',
    load: async () => {
      const { SieveSessions } = await import('./sessions.ts')
      return new SieveSessions(app, connections, meters)
    },
    sweepMs: SWEEP_MS,
  })
}
