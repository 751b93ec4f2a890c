// A TCP port with an HTTP server: limits, and a shutdown that completes requests under way.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { CLOSING_MS } from '../base/lifecycle.ts'
import { ConnectionCounter } from '../net/connections.ts'

/** Time limit for a whole header (slowloris), ms. */
export const HEADER_TIMEOUT_MS = 10_000
/** Time limit for a whole request, ms: 64 MiB at 5 Mbit/s. */
export const REQUEST_TIMEOUT_MS = 120_000
/** Idle time after which a connection is closed, ms. */
export const SILENCE_TIMEOUT_MS = 300_000
/** Keep-alive time between two requests, ms. */
export const KEEP_ALIVE_MS = 20_000
/** Largest header of a request, bytes. */
export const HEADER_MAX = 16_384
export const CONNECTIONS_MAX = 10_000
const CHECK_MS = 2_000
/** Connections above the share of their source that receive an answer, at a time; further ones are closed without it. */
export const REFUSALS_MAX = 50
const RETRY_SECONDS = 10
/** For how long the client of a malformed request may go on sending after the answer, ms. */
export const DROP_MS = 2_000

type Handler = (req: IncomingMessage, res: ServerResponse) => void

/** The limits of a request of HTTP/1.1, as options of a server. */
export const HTTP1_LIMITS = {
  headersTimeout: HEADER_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: CHECK_MS,
  maxHeaderSize: HEADER_MAX,
  requireHostHeader: false,
}

/** Presents an error that is no answer to a whole request; the response is a whole HTTP response. */
export type Refuse = (socket: Socket, error: ProductError) => string

/** Options of a listener. */
export interface ListenerDeps {
  clock: Clock
  handler: Handler
  refuse: Refuse
  /** Connections a source (IPv4 address, IPv6 /64) may have open. */
  perAddress: number
  /** Whether a peer is a proxy, whose connections are those of many sources. */
  isProxy(address: string): boolean
  /** Creates the server of a port with TLS; without it the port is plain. */
  openServer?(handler: Handler): Server
  /** Receives errors of accepting connections, such as too few file handles; the listener continues. */
  failed(error: unknown): void
}

export class Listener {
  readonly server: Server
  readonly #clock: Clock
  readonly #refuse: Refuse
  /** The responses under way on each connection, in the order of their requests. */
  readonly #under = new Map<Duplex, ServerResponse[]>()
  /** Connections whose bytes are no longer read as requests: each piece that still arrives is an error of the parser again. */
  readonly #ending = new WeakSet<Duplex>()
  /** Connections whose last request may end elsewhere than we read: they are closed behind its response. */
  readonly #faulty = new WeakSet<Duplex>()
  readonly #counter: ConnectionCounter
  readonly #isProxy: ListenerDeps['isProxy']
  readonly #isSecure: boolean
  /** Connections above the share of their source, until they are closed. */
  readonly #refused = new Set<Duplex>()
  #stopping = false

  constructor({ clock, handler, refuse, perAddress, isProxy, openServer, failed }: ListenerDeps) {
    this.#clock = clock
    this.#refuse = refuse
    this.#counter = new ConnectionCounter({ total: CONNECTIONS_MAX, perAddress })
    this.#isProxy = isProxy
    const serve: Handler = (req, res) => {
      const { socket } = req
      if (this.#refused.has(socket) || this.#faulty.has(socket)) return
      if (isFaulty(req)) {
        this.#faulty.add(socket)
        res.shouldKeepAlive = false
      }
      const before = this.#under.get(socket)
      if (before === undefined) this.#under.set(socket, [res])
      else before.push(res)
      res.once('close', () => {
        this.#forget(socket, res)
        // Its header had already promised keep-alive when the shutdown began.
        if (this.#stopping) setImmediate(() => this.server.closeIdleConnections())
      })
      if (this.#stopping) res.shouldKeepAlive = false
      handler(req, res)
    }
    this.#isSecure = openServer !== undefined
    this.server = openServer?.(serve) ?? createServer(HTTP1_LIMITS, serve)
    // A client may close its half after sending its request, and still reads the response.
    Object.assign(this.server, { httpAllowHalfOpen: true })
    this.server.maxConnections = CONNECTIONS_MAX
    this.server.setTimeout(SILENCE_TIMEOUT_MS)
    this.server.on('connection', (socket: Socket) => this.#admit(socket))
    // The handler decides on Expect: 100-continue, because it reads a body only when it needs it.
    this.server.on('checkContinue', serve).on('checkExpectation', serve)
    // Without a listener an error of accepting would end the process.
    this.server.on('error', failed)
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#malformed(error, socket as Socket))
  }

  get port(): number {
    return (this.server.address() as AddressInfo | null)?.port ?? 0
  }

  /**
   * @param port 0 takes any free port
   * @throws Error of Node, with the reason the address cannot be used
   */
  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen(port, host, () => {
        this.server.off('error', reject)
        resolve()
      })
    })
  }

  /** Stops accepting, completes requests under way, and closes idle connections. */
  close(): Promise<void> {
    this.#stopping = true
    for (const [socket, under] of this.#under) {
      const last = under.at(-1)!
      if (!last.headersSent) last.shouldKeepAlive = false
      // A session of HTTP/2 ends by itself once its streams have.
      if (last.req.httpVersionMajor > 1) continue
      // Whether a client that closed its half still waits is unknown: the shutdown waits only for clients that certainly do.
      if (socket.readableEnded) socket.destroy()
      else socket.once('end', () => socket.destroy())
    }
    return new Promise((resolve) => {
      const cut = this.#clock.after(CLOSING_MS, () => this.server.closeAllConnections())
      this.server.close(() => {
        cut.cancel()
        resolve()
      })
      this.server.closeIdleConnections()
    })
  }

  /** Counts a connection for its source: one address must not take the connections of all. */
  #admit(socket: Socket): void {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || this.#isProxy(remoteAddress)) return
    const release = this.#counter.count(remoteAddress)
    if (release !== null) {
      socket.once('close', release)
      return
    }
    // Without a handshake there is no way to say it.
    if (this.#isSecure || this.#refused.size >= REFUSALS_MAX) {
      socket.destroy()
      return
    }
    this.#refused.add(socket)
    this.#ending.add(socket)
    socket.once('close', () => this.#refused.delete(socket))
    this.#end(socket, this.#refuse(socket, tooManyConnections()))
  }

  #forget(socket: Duplex, res: ServerResponse): void {
    const left = this.#under.get(socket)?.filter((one) => one !== res) ?? []
    if (left.length === 0) this.#under.delete(socket)
    else this.#under.set(socket, left)
  }

  #malformed(error: NodeJS.ErrnoException, socket: Socket): void {
    if (this.#ending.has(socket)) return
    // Browsers open spare connections: an answer on one would be taken for that of the next request (RFC 9112 §9.3).
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return void socket.destroy()
    const [last, before] = this.#under.get(socket)?.toReversed() ?? []
    if (last?.req.complete === true) {
      this.#ending.add(socket)
      // The malformed bytes followed a whole request: that one is answered, and it is the last.
      last.shouldKeepAlive = false
      // Its header may have promised keep-alive already: Node would wait for a request that cannot be read.
      if (last.headersSent) last.once('close', () => this.#end(socket))
    } else if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
    } else {
      this.#ending.add(socket)
      const refuse = () => this.#refuseLast(error, socket, last)
      // The client takes responses in the order of its requests (RFC 9112 §9.3.2): the error is not the response to an earlier one.
      if (before === undefined) refuse()
      else before.once('close', refuse)
    }
  }

  /** @param last response to the malformed request, if its header was read */
  #refuseLast(error: NodeJS.ErrnoException, socket: Socket, last: ServerResponse | undefined): void {
    if (last?.headersSent === true || !socket.writable) socket.destroy()
    else this.#end(socket, this.#refuse(socket, new ProductError('invalid_parameter', sentenceOf(error))))
  }

  /** Closes a connection when the client has closed it, or soon: a reset would take the answer from a client that still sends (RFC 9112 §9.6). */
  #end(socket: Socket, answer = ''): void {
    if (socket.destroyed) return
    const cut = this.#clock.after(DROP_MS, () => socket.destroy())
    socket.once('close', () => cut.cancel()).once('end', () => socket.destroy())
    socket.end(answer)
    socket.resume()
  }
}

function tooManyConnections(): ProductError {
  const sentence = 'Too many connections are open from this address. Close some, then try again.'
  return new ProductError('rate_limit_exceeded', sentence, { retryAfter: RETRY_SECONDS })
}

function sentenceOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return `The request header is too large. It has at most ${HEADER_MAX} bytes.`
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request took too long to arrive. Try again.'
  return 'This is not a valid HTTP/1.1 request.'
}

/** RFC 9112 §6.1: HTTP/1.0 has no Transfer-Encoding, and a proxy in front may have read another end of the request. */
function isFaulty({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.0' && headers['transfer-encoding'] !== undefined
}
