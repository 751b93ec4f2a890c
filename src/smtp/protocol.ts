// Options of smtp-server, which handles greeting, EHLO, STARTTLS, RSET, NOOP and QUIT; its own sockets are not used.

import { SMTPServer } from 'smtp-server'
import type { Log } from '../base/log.ts'
import type { CertificatePair } from '../config/certificate.ts'
import { MAX_MESSAGE_BYTES } from './limits.ts'

export interface ProtocolOptions {
  /** Host name in the greeting. */
  hostName: string
  /** Key and certificate for STARTTLS, PEM; and how to learn of new ones. */
  certificate: { pair: CertificatePair; onChange(listener: (pair: CertificatePair) => void): void }
  log: Log
}

/** Creates the server object all sessions share; its own listening socket is never opened. */
export function openProtocol({ hostName, certificate, log }: ProtocolOptions): SMTPServer {
  const server = new SMTPServer({
    name: hostName,
    heloResponse: '%s',
    size: MAX_MESSAGE_BYTES,
    hideENHANCEDSTATUSCODES: false,
    authOptional: true,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'],
    disableReverseLookup: true,
    // The session enforces its own deadlines by the injected clock; the library restarts its timeout at every byte.
    socketTimeout: 2 ** 31 - 1,
    logger: false,
    ...certificate.pair,
    minVersion: 'TLSv1.2',
  })
  // Each connection takes the context at its STARTTLS.
  certificate.onChange((pair) => server.updateSecureContext(pair))
  server.on('error', (error) => log.debug({ event: 'smtp.connection_error', err: error }, 'SMTP connection error'))
  return server
}
