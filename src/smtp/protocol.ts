// What smtp-server is used for: greeting, EHLO, STARTTLS and the small commands; its options, and nothing of its sockets.

import { SMTPServer } from 'smtp-server'
import type { Log } from '../base/log.ts'
import { MAX_MAIL_BYTES } from './limits.ts'

export interface ProtocolOptions {
  /** Our name in the greeting. */
  hostName: string
  /** What STARTTLS shows, PEM. */
  tls: { key: string; cert: string }
  log: Log
}

/** The options every session has in common. The server's own listening socket is never opened. */
export function openProtocol({ hostName, tls, log }: ProtocolOptions): SMTPServer {
  const server = new SMTPServer({
    name: hostName,
    heloResponse: '%s',
    size: MAX_MAIL_BYTES,
    hideENHANCEDSTATUSCODES: false,
    authOptional: true,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'],
    disableReverseLookup: true,
    // Deadlines are the session's own, by the clock of the house; the library's start anew at every byte.
    socketTimeout: 2 ** 31 - 1,
    logger: false,
    key: tls.key,
    cert: tls.cert,
    minVersion: 'TLSv1.2',
  })
  server.on('error', (error) => log.debug({ err: error }, 'an SMTP connection broke'))
  return server
}
