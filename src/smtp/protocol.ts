// Options of smtp-server, which handles greeting, EHLO, STARTTLS, RSET, NOOP and QUIT; its own sockets are not used.

import { constants } from 'node:crypto'
import { SMTPServer } from 'smtp-server'
import type { Log } from '../base/log.ts'
import type { CertificatePair } from '../config/certificate.ts'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** The certificate for STARTTLS. */
export interface CurrentCertificate {
  readonly pair: CertificatePair
  /** Calls `listener` with each new one. */
  onChange(listener: (pair: CertificatePair) => void): void
}

export interface ProtocolOptions {
  /** Host name in the greeting. */
  hostName: string
  certificate: CurrentCertificate
  log: Log
  /** Largest message in bytes, announced as SIZE. */
  maxBytes?: number
  /** True where clients sign in: AUTH is a command then, and no TLS session is resumed. */
  signsIn?: boolean
}

/** Creates the server object all sessions share; its own listening socket is never opened. */
export function openProtocol(options: ProtocolOptions): SMTPServer {
  const { hostName, certificate, log, maxBytes = MAX_MESSAGE_BYTES, signsIn = false } = options
  const server = new SMTPServer({
    name: hostName,
    heloResponse: '%s',
    size: maxBytes,
    hideENHANCEDSTATUSCODES: false,
    // The session itself checks who has signed in.
    authOptional: true,
    disabledCommands: [...(signsIn ? [] : ['AUTH']), 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'],
    disableReverseLookup: true,
    // The session enforces its own deadlines by the injected clock; the library restarts its timeout at every byte.
    socketTimeout: 2 ** 31 - 1,
    logger: false,
    ...certificate.pair,
    minVersion: 'TLSv1.2',
    ...(signsIn ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
  })
  // Each connection takes the context at its STARTTLS.
  certificate.onChange((pair) => server.updateSecureContext(pair))
  server.on('error', (error) => log.debug({ event: 'smtp.connection_error', err: error }, 'SMTP connection error'))
  return server
}
