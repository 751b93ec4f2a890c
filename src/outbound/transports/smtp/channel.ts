// The SMTP connection to a mail server: sends commands and reads one reply for each, with a timeout on every wait.

import type { Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Clock } from '../../../base/clock.ts'
import type { RemoteReply } from '../../records.ts'
import type { Stage } from '../transport.ts'
import { aborted, insecure, lost, protocolError, SmtpError, tooSlow } from './errors.ts'
import { keptReply, ReplyReader, type ServerReply } from './reply.ts'

const CRLF = '\r\n'
const CLOSING = 421
/** Bytes of a message written at a time: the write time of each chunk shows whether the server still reads. */
const STRETCH = 256 * 1024
/** Time in ms for the server to close after QUIT. */
const QUIT_MS = 2000

/** How the connection is secured. */
export interface Security {
  /** "TLSv1.3". */
  protocol: string
  /** True when the certificate matches the server's name and a trusted CA issued it. */
  verified: boolean
}

export class SmtpChannel {
  /** Name of the server, for error texts. */
  readonly peer: string
  /** Current stage of the session; errors carry it. */
  stage: Stage
  security: Security | null = null
  /** IP address of the server. */
  readonly address: string | null
  /** Removes secrets from a reply text. */
  hide: (text: string) => string = (text) => text
  #socket: Socket
  readonly #clock: Clock
  #reader = new ReplyReader()
  readonly #said: ServerReply[] = []
  /** Number of outstanding replies. */
  #owed = 0
  #fault: SmtpError | null = null
  /** Wakes the pending read or write. */
  #waiting: (() => void) | null = null
  #over: () => void = () => {}

  /** @param socket connected */
  constructor(socket: Socket, deps: { clock: Clock; peer: string; stage: Stage }) {
    this.#socket = socket
    this.#clock = deps.clock
    this.peer = deps.peer
    this.address = socket.remoteAddress ?? null
    this.stage = deps.stage
    this.#listen()
  }

  get isOpen(): boolean {
    return this.#fault === null
  }

  /** Why the connection ended; null while it is open. */
  get fault(): SmtpError | null {
    return this.#fault
  }

  /** Registers a callback that runs once, when the connection ends. */
  onOver(run: () => void): void {
    this.#over = run
  }

  /** Writes commands in one piece (several: pipelining, RFC 2920); each expects a reply. */
  say(...commands: string[]): void {
    this.expect(commands.length)
    if (this.isOpen) this.#socket.write(commands.join(CRLF) + CRLF)
  }

  /** The reply to store: without secrets, and with the server's name and address. */
  kept(reply: ServerReply): RemoteReply {
    return { ...keptReply(reply, this.hide), server: { host: this.peer, address: this.address } }
  }

  /** Expects further replies, for data not written by `say`. */
  expect(replies: number): void {
    this.#owed += replies
  }

  /** Reads the next reply. @param ms timeout @throws Fault */
  async read(ms: number): Promise<ServerReply> {
    if (this.#said.length === 0 && this.isOpen) await this.#within(ms, this.#news())
    // Return replies that arrived before the connection ended.
    const said = this.#said.shift()
    if (said === undefined) throw this.#fault
    return said
  }

  /**
   * Writes bytes and waits until the socket buffers have drained.
   * @param ms timeout of one chunk
   * @returns false when the server replied early and the rest was not written @throws Fault
   */
  async pour(bytes: Uint8Array, ms: number): Promise<boolean> {
    for (let start = 0; start < bytes.length; start += STRETCH) {
      if (this.#said.length > 0) return false
      if (this.#fault !== null) throw this.#fault
      if (this.#socket.write(bytes.subarray(start, start + STRETCH))) continue
      this.#socket.once('drain', this.#wake)
      await this.#within(ms, this.#news())
      this.#socket.off('drain', this.#wake)
    }
    return true
  }

  /** Starts TLS. @param ask `verify` requires a valid certificate @throws Fault */
  async secure(ask: { host: string; isName: boolean; verify: boolean }, ms: number): Promise<void> {
    this.stage = 'tls'
    // RFC 3207 §6: cleartext after the reply to STARTTLS may be injected by a man in the middle.
    if (!this.#reader.isEmpty || this.#said.length > 0) {
      this.fail(protocolError(this.peer, 'tls', 'sent more in clear after it had agreed to TLS'))
    }
    if (this.#fault !== null) throw this.#fault
    const plain = this.#socket.on('error', () => {})
    this.#unlisten()
    const { host, isName, verify } = ask
    const secured = connectTls({ socket: plain, host, servername: isName ? host : '', rejectUnauthorized: verify })
    this.#socket = secured
    await this.#within(ms, handshake(secured)).catch((error: Error) => {
      this.fail(insecure(this.peer, error))
      throw this.#fault
    })
    this.security = { protocol: secured.getProtocol() ?? 'TLS', verified: secured.authorized }
    this.#listen()
  }

  /** Destroys the connection; a pending read or write throws the fault. */
  fail(fault: SmtpError): void {
    if (this.#fault !== null) return
    this.#fault = fault
    this.#socket.destroy()
    this.#wake()
    this.#over()
  }

  /** Fails the connection when the signal aborts. @returns removes the abort listener */
  failOn(signal: AbortSignal): () => void {
    const fail = () => this.fail(aborted(this.stage))
    if (signal.aborted) fail()
    signal.addEventListener('abort', fail, { once: true })
    return () => signal.removeEventListener('abort', fail)
  }

  /** Sends QUIT (RFC 5321 §4.1.1.10) and waits briefly until the connection is closed. */
  async quit(): Promise<void> {
    if (!this.isOpen) return
    const socket = this.#socket
    this.#fault = lost(this.peer, this.stage)
    this.#over()
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.once('close', resolve).end(`QUIT${CRLF}`)
    const timer = this.#clock.after(QUIT_MS, () => socket.destroy())
    await promise
    timer.cancel()
  }

  readonly #take = (bytes: Buffer): void => {
    if (this.#fault !== null) return
    const problem = this.#reader.push(bytes, (reply) => this.#hear(reply))
    if (problem !== null) this.fail(protocolError(this.peer, this.stage, problem))
  }

  readonly #end = (): void => this.fail(lost(this.peer, this.stage))

  readonly #wake = (): void => {
    const wake = this.#waiting
    this.#waiting = null
    wake?.()
  }

  #hear(reply: ServerReply): void {
    if (this.#fault !== null) return
    if (this.#owed > 0) {
      this.#owed--
      this.#said.push(reply)
      this.#wake()
      return
    }
    // RFC 5321 §3.8: a server that is closing may send 421 unprompted. Any other extra reply breaks the pairing with commands.
    const closing = reply.code === CLOSING
    this.fail(
      closing
        ? new SmtpError('refused', this.stage, this.kept(reply))
        : protocolError(this.peer, this.stage, 'answered to something that was not asked'),
    )
  }

  #listen(): void {
    this.#socket.on('data', this.#take).on('error', this.#end).on('end', this.#end).on('close', this.#end)
  }

  #unlisten(): void {
    this.#socket.off('data', this.#take).off('error', this.#end).off('end', this.#end).off('close', this.#end)
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  async #within(ms: number, wait: Promise<void>): Promise<void> {
    const timer = this.#clock.after(ms, () => this.fail(tooSlow(this.peer, this.stage, ms)))
    try {
      await wait
    } finally {
      timer.cancel()
    }
  }
}

/** @throws the error of the handshake */
function handshake(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const broken = () => reject(Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' }))
    // The error listener stays: errors of a secured connection also surface as its end.
    socket.once('secureConnect', resolve).on('error', reject).once('close', broken).once('end', broken)
  })
}
