// The listener of submission on SUBMISSIONS_PORT (TLS) and SUBMISSION_PORT (STARTTLS).

import { join } from 'node:path'
import { ProtocolMeters } from '../access/protocol-meters.ts'
import type { Context } from '../context.ts'
import { type NotAccepted, openClientListener } from '../net/client-listener.ts'
import { ConnectionCounter } from '../net/connections.ts'
import type { MailListener } from '../net/mail-listener.ts'
import { SWEEP_MS } from '../smtp/limits.ts'
import { line, replies } from '../smtp/replies.ts'
import { Spool } from '../smtp/spool.ts'
import { CONNECTIONS_MAX, CONNECTIONS_PER_MAILBOX_MAX, SPOOL_LIMITS } from './limits.ts'

/** What a client of the STARTTLS listener hears that is not served; with TLS there is no way to say it. */
const REFUSALS: Record<NotAccepted, string | null> = {
  too_many: line(replies.tooMany),
  too_many_here: line(replies.tooManyHere),
  bad_proxy: line(replies.badProxy),
  closed: null,
}

const METERS = { connections: 'submission_connections', logins: 'submission_logins_total' }

export function openSubmission(app: Context): MailListener<'submissions' | 'submission'> {
  const { certificate, clock, config, folder } = app
  const meters = new ProtocolMeters('Submission', METERS)
  app.metrics.add(meters.registry)
  const spool = new Spool(join(folder.path, 'spool-submission'), SPOOL_LIMITS)
  const connections = new ConnectionCounter({
    total: CONNECTIONS_MAX,
    perAddress: config.SUBMISSION_MAX_PER_ADDRESS,
    perMailbox: CONNECTIONS_PER_MAILBOX_MAX,
  })
  return openClientListener(app, {
    name: 'submission',
    protocol: 'submission',
    ports: ['submissions', 'submission'],
    counter: connections,
    secure: (port) => (port === 'submissions' ? (socket) => certificate.secure(socket, { clock }) : null),
    refusal: (why, port) => (port === 'submission' ? REFUSALS[why] : null),
    open: () => spool.open(),
    load: async () => {
      const { SubmissionSessions } = await import('./sessions.ts')
      return new SubmissionSessions(app, { connections, spool, meters })
    },
    sweepMs: SWEEP_MS,
  })
}
