// The server of HTTPS: HTTP/1.1 and HTTP/2 on one port, the certificate by the name the client asks for, and the answer of TLS-ALPN-01.

import { constants as tls } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import type { Socket } from 'node:net'
import { createSecureContext, type TLSSocket } from 'node:tls'
import { ALPN_CHALLENGE, alpnCertificate } from '../acme/challenges.ts'
import type { Clock } from '../base/clock.ts'
import { HANDSHAKE_MS, type ServerCertificate, TLS_MIN } from '../net/tls.ts'

/** Open streams of a connection; further ones wait. */
export const STREAMS_MAX = 100
/** Header of an HTTP/2 request, uncompressed, bytes; as that of HTTP/1.1. */
const HEADER_MAX = 16_384

type Handler = (req: IncomingMessage, res: ServerResponse) => void

export interface SecureServerDeps {
  clock: Clock
  certificate: ServerCertificate
  /** The key authorization of an open TLS-ALPN-01 challenge of a name. */
  challengeOf(name: string): string | undefined
  /** Time for a whole request, ms. */
  requestMs: number
  /** Idle time after which a connection is closed, ms. */
  silenceMs: number
  /** Options of HTTP/1.1, which the server of HTTP/2 passes on. */
  http1: object
}

/** A server that behaves as one of node:http, for both versions. */
export function openSecureServer(deps: SecureServerDeps, handler: Handler): Server {
  const { certificate, silenceMs } = deps
  /** Connections that were given the certificate of a challenge: with TLS 1.3 the certificate of the name is asked for after that. */
  const challenged = new WeakSet<TLSSocket>()
  const server = createSecureServer(
    {
      ...deps.http1,
      ...certificate.pair,
      allowHTTP1: true,
      minVersion: TLS_MIN,
      secureOptions: tls.SSL_OP_NO_TICKET,
      handshakeTimeout: HANDSHAKE_MS,
      settings: { maxConcurrentStreams: STREAMS_MAX, maxHeaderListSize: HEADER_MAX, enablePush: false },
      SNICallback(this: TLSSocket, name, done) {
        done(null, challenged.has(this) ? undefined : certificate.contextFor(name.toLowerCase()))
      },
      ALPNCallback: protocolChooser(deps, challenged),
    },
    (req, res) => serve(deps, handler, req, res),
  )
  certificate.onChange((pair) => server.setSecureContext({ ...pair, minVersion: TLS_MIN }))
  server.on('secureConnection', (socket) => {
    // RFC 8737 §3: the handshake is the answer; nothing is sent.
    if (socket.alpnProtocol === ALPN_CHALLENGE) socket.end()
  })
  server.on('unknownProtocol', (socket) => socket.end())
  return asHttpServer(server, silenceMs)
}

/** HTTP/2 where it is offered. @returns undefined for an alert */
function protocolChooser({ challengeOf, clock }: SecureServerDeps, challenged: WeakSet<TLSSocket>) {
  return function choose(this: TLSSocket, { servername, protocols }: { servername: string; protocols: string[] }) {
    if (protocols.includes(ALPN_CHALLENGE)) {
      const name = servername.toLowerCase()
      // RFC 8737 §3: the protocol is offered alone, and only while a challenge of the name is open.
      const keyAuthorization = protocols.length === 1 ? challengeOf(name) : undefined
      if (keyAuthorization === undefined) return undefined
      challenged.add(this)
      this.setKeyCert(createSecureContext(alpnCertificate(name, keyAuthorization, clock.now())))
      return ALPN_CHALLENGE
    }
    return ['h2', 'http/1.1'].find((known) => protocols.includes(known))
  }
}

function serve(
  { clock, requestMs }: SecureServerDeps,
  handler: Handler,
  req: Http2ServerRequest | IncomingMessage,
  res: Http2ServerResponse | ServerResponse,
): void {
  if ('stream' in req && 'stream' in res) {
    // As HTTP/1.1 has them: all that follows reads them there. A body needs no length in HTTP/2.
    req.headers.host ??= req.authority
    if (!req.stream.endAfterHeaders && req.headers['content-length'] === undefined) {
      req.headers['transfer-encoding'] = 'chunked'
    }
    tolerateEnd(res)
    // Node has no timer for a request of HTTP/2.
    const late = clock.after(requestMs, () => {
      if (!req.complete) req.stream.close(constants.NGHTTP2_CANCEL)
    })
    req.stream.once('close', () => late.cancel())
  }
  handler(req as unknown as IncomingMessage, res as unknown as ServerResponse)
}

/** A response of HTTP/1.1 takes headers after its client has left; one of HTTP/2 would throw. */
function tolerateEnd(res: Http2ServerResponse): void {
  const setHeader = res.setHeader.bind(res)
  const removeHeader = res.removeHeader.bind(res)
  const isOpen = () => !res.stream.destroyed
  res.setHeader = (name, value) => {
    // Connection-specific fields do not exist in HTTP/2 (RFC 9113 §8.2.2).
    if (isOpen() && name.toLowerCase() !== 'connection') setHeader(name, value)
  }
  res.removeHeader = (name) => {
    if (isOpen()) removeHeader(name)
  }
}

/** Ends sessions with GOAWAY when it is closed, and all connections where node:http does. */
function asHttpServer(server: Http2SecureServer, silenceMs: number): Server {
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<Socket>()
  server.on('session', (session) => {
    sessions.add(session)
    session.setTimeout(silenceMs, () => session.close())
    session.once('close', () => sessions.delete(session))
    // Without a listener a broken connection would end the process.
    session.on('error', () => {})
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const close = server.close.bind(server)
  return Object.assign(server, {
    close(done?: (error?: Error) => void) {
      for (const session of sessions) session.close()
      return close(done)
    },
    closeAllConnections() {
      for (const socket of sockets) socket.destroy()
    },
  }) as unknown as Server
}
