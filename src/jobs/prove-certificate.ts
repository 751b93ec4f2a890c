// Proves a new certificate before it stays in use: on a listener of its own, then on those that serve (docs/design/internet.md §2).

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createServer, connect as tlsConnect } from 'node:tls'
import type { Version } from '../certificates/records.ts'
import type { CertificatePair } from '../config/certificate.ts'
import type { Context } from '../context.ts'
import { TLS_MIN } from '../net/tls.ts'

/** Longest time of one connection, ms. */
const CONNECT_MS = 10_000
/** A listener takes the certificate while connections come: it is asked again before it is said to serve another one. */
const TRIES = 5
const DIALOGUE_MAX = 8192
const ISSUER_NOT_TRUSTED = /UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|SELF_SIGNED_CERT_IN_CHAIN/

/** A listener that serves the certificate. */
export interface ProvedListener {
  name: string
  host: string
  port: number
  /** What is sent to begin TLS, after the greeting; null where TLS comes first. */
  starttls: readonly string[] | null
  /** Whether the server name selects the certificate; else only that of the mail hosts is served. */
  selects: boolean
}

/** @returns why it is not served as it should be, one sentence; null when it is */
export async function proveCertificate(
  app: Context,
  { version, pair, listeners }: { version: Version; pair: CertificatePair; listeners: readonly ProvedListener[] },
): Promise<string | null> {
  const alone = await provePrivately(pair, version.names)
  if (alone !== null) return alone
  await app.certificate.look()
  const expected = new X509Certificate(pair.cert).fingerprint256
  const isHost = app.certificate.pair.cert === pair.cert
  for (const listener of listeners.filter(({ selects }) => selects || isHost)) {
    const complaint = await proveListener(listener, version.names[0]!, expected)
    if (complaint !== null) return complaint
  }
  return null
}

/** A handshake with nothing but the new pair: the chain and the names are checked as others check them. */
async function provePrivately({ cert, key }: CertificatePair, names: readonly string[]): Promise<string | null> {
  const server = createServer({ cert, key, minVersion: TLS_MIN })
  // A handshake that fails is what the client says.
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as { port: number }
    for (const name of names) {
      const error = await handshake(connect({ host: '127.0.0.1', port }), name, true)
      if (typeof error !== 'string' && 'failure' in error) return `${name}: ${error.failure}`
    }
    return null
  } finally {
    server.close()
  }
}

async function proveListener(listener: ProvedListener, name: string, expected: string): Promise<string | null> {
  let last = ''
  for (let tries = 0; tries < TRIES; tries++) {
    const served = await fingerprintAt(listener, name)
    if (served === expected) return null
    last = typeof served === 'string' ? 'it serves another certificate' : served.failure
  }
  return `the listener ${listener.name} on port ${listener.port} does not serve it: ${last}.`
}

async function fingerprintAt({ host, port, starttls }: ProvedListener, name: string) {
  const socket = connect({ host, port })
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('it did not answer in time')))
  try {
    if (starttls !== null) await beginTls(socket, starttls)
  } catch (error) {
    socket.destroy()
    return { failure: (error as Error).message }
  }
  return handshake(socket, name, false)
}

/** Sends each line after the answer to the one before; the last answer is "go ahead". */
async function beginTls(socket: Socket, lines: readonly string[]): Promise<void> {
  await answerOf(socket)
  for (const line of lines) {
    socket.write(line)
    await answerOf(socket)
  }
}

/** Waits until the last line is whole and no continuation (`250-`, or an IMAP and ManageSieve line without a tag or status). */
function answerOf(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const end = (error: Error | null) => {
      socket.off('data', onData).off('error', end).off('close', onClose)
      if (error === null) resolve()
      else reject(error)
    }
    const onClose = () => end(new Error('it closed the connection'))
    const onData = (part: Buffer) => {
      text += part.toString('latin1')
      if (text.length > DIALOGUE_MAX) end(new Error('it does not answer as it should'))
      else if (/^(?:\d{3} |\* OK |a |OK\b)[^\n]*\n$/m.test(text.slice(text.lastIndexOf('\n', text.length - 2) + 1)))
        end(null)
    }
    socket.on('data', onData).once('error', end).once('close', onClose)
  })
}

/** @returns the fingerprint of the certificate that is served */
function handshake(socket: Socket, name: string, verify: boolean): Promise<string | { failure: string }> {
  return new Promise((resolve) => {
    const tls = tlsConnect({ socket, servername: name, rejectUnauthorized: false })
    const end = (result: string | { failure: string }) => {
      tls.destroy()
      socket.destroy()
      resolve(result)
    }
    const closed = () => end({ failure: 'it closed the connection' })
    tls.setTimeout(CONNECT_MS, () => end({ failure: 'it did not answer in time' }))
    tls.once('error', (error: NodeJS.ErrnoException) => end({ failure: error.code ?? error.message }))
    tls.once('close', closed)
    tls.once('secureConnect', () => {
      const { fingerprint256 } = tls.getPeerX509Certificate()!
      const failure = verify ? complaintOf(tls.authorizationError) : null
      const result = failure === null ? fingerprint256 : { failure }
      // In order, so that the session at the other end ends with the connection.
      tls.off('close', closed).once('close', () => end(result))
      tls.end()
      tls.resume()
    })
  })
}

/** An authority that this machine does not trust may be one of a closed network, or one for tests: others decide whom they trust. */
function complaintOf(error: Error | null | string): string | null {
  if (!error) return null
  const code = typeof error === 'string' ? error : ((error as NodeJS.ErrnoException).code ?? error.message)
  return ISSUER_NOT_TRUSTED.test(code) ? null : code
}
