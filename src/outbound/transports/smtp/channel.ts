// The SMTP connection to a mail server: sends commands and reads one reply for each, with a timeout on every wait.

import type { Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import type { Clock } from '../../../base/clock.ts'
import { onAbort } from '../../../base/on-abort.ts'
import type { TlsFailure } from '../../../tls-policy/failures.ts'
import type { RemoteReply } from '../../model/records.ts'
import type { Stage } from '../../model/transport.ts'
import { certificateProblem } from '../../tls/requirement.ts'
import { aborted, insecure, lost, protocolError, SmtpError, timedOut } from './errors.ts'
import { ReplyReader, type ServerReply, toStoredReply } from './reply.ts'

const CRLF = '\r\n'
const CLOSING = 421
/** Bytes of a message written at a time: the write time of each chunk shows whether the server still reads. */
const CHUNK_BYTES = 256 * 1024
/** Time in ms for the server to close after QUIT. */
const QUIT_MS = 2000

/** How the connection is secured. */
export interface Security {
  /** "TLSv1.3". */
  protocol: string
  /** True when the certificate matches the server's name and a trusted CA issued it. */
  verified: boolean
  /** What is wrong with the certificate otherwise. */
  problem: { failure: TlsFailure; text: string } | null
}

/** Examines the certificate of a server. */
export interface PeerCheck {
  /** Sent as SNI. */
  serverName: string
  /** @returns why the connection must not be used; null when it may */
  check(socket: TLSSocket): SmtpError | null
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
  readonly #replies: ServerReply[] = []
  /** Number of outstanding replies. */
  #outstanding = 0
  #error: SmtpError | null = null
  /** Wakes the pending read or write. */
  #pending: (() => void) | null = null
  #ended: () => void = () => {}

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
    return this.#error === null
  }

  /** Why the connection ended; null while it is open. */
  get error(): SmtpError | null {
    return this.#error
  }

  /** Registers a callback that runs once, when the connection ends. */
  onEnd(run: () => void): void {
    this.#ended = run
  }

  /** Writes commands in one piece (several: pipelining, RFC 2920); each expects a reply. */
  send(...commands: string[]): void {
    this.expect(commands.length)
    if (this.isOpen) this.#socket.write(commands.join(CRLF) + CRLF)
  }

  /** The reply to store: without secrets, and with the server's name and address. */
  storedReply(reply: ServerReply): RemoteReply {
    return { ...toStoredReply(reply, this.hide), server: { host: this.peer, address: this.address } }
  }

  /** Expects further replies, for data not written by `say`. */
  expect(replies: number): void {
    this.#outstanding += replies
  }

  /** Reads the next reply. @param ms timeout @throws SmtpError */
  async read(ms: number): Promise<ServerReply> {
    if (this.#replies.length === 0 && this.isOpen) await this.#withTimeout(ms, this.#nextEvent())
    // Return replies that arrived before the connection ended.
    const reply = this.#replies.shift()
    if (reply === undefined) throw this.#error
    return reply
  }

  /**
   * Writes bytes and waits until the socket buffers have drained.
   * @param ms timeout of one chunk
   * @returns false when the server replied early and the rest was not written @throws SmtpError
   */
  async writeContent(bytes: Uint8Array, ms: number): Promise<boolean> {
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      if (this.#replies.length > 0) return false
      if (this.#error !== null) throw this.#error
      if (this.#socket.write(bytes.subarray(start, start + CHUNK_BYTES))) continue
      this.#socket.once('drain', this.#resume)
      await this.#withTimeout(ms, this.#nextEvent())
      this.#socket.off('drain', this.#resume)
    }
    return true
  }

  /** Starts TLS. @param ask `verify` requires a valid certificate @throws SmtpError */
  async secure(
    ask: { host: string; isName: boolean; verify: boolean; peerCheck?: PeerCheck | undefined },
    ms: number,
  ): Promise<void> {
    this.stage = 'tls'
    // RFC 3207 §6: cleartext after the reply to STARTTLS may be injected by a man in the middle.
    if (!this.#reader.isEmpty || this.#replies.length > 0) {
      this.fail(protocolError(this.peer, 'tls', 'sent cleartext after it had agreed to TLS'))
    }
    if (this.#error !== null) throw this.#error
    const plain = this.#socket.on('error', () => {})
    this.#unlisten()
    const { host, isName, verify, peerCheck } = ask
    const secured = connectTls({
      ...{ socket: plain, host, servername: peerCheck?.serverName ?? (isName ? host : ''), rejectUnauthorized: verify },
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
    })
    this.#socket = secured
    await this.#withTimeout(ms, handshake(secured)).catch((error: Error) => {
      this.fail(insecure(this.peer, error))
      throw this.#error
    })
    const problem = certificateProblem(secured)
    this.security = { protocol: secured.getProtocol() ?? 'TLS', verified: problem === null, problem }
    const refusal = peerCheck?.check(secured) ?? null
    if (refusal !== null) this.fail(refusal)
    if (this.#error !== null) throw this.#error
    this.#listen()
  }

  /** Destroys the connection; a pending read or write throws its error. */
  fail(error: SmtpError): void {
    if (this.#error !== null) return
    this.#error = error
    this.#socket.destroy()
    this.#resume()
    this.#ended()
  }

  /** Fails the connection when the signal aborts. @returns removes the abort listener */
  failOn(signal: AbortSignal): () => void {
    const fail = () => this.fail(aborted(this.stage))
    if (signal.aborted) fail()
    return onAbort(signal, fail)
  }

  /** Sends QUIT (RFC 5321 §4.1.1.10) and waits briefly until the connection is closed. */
  async quit(): Promise<void> {
    if (!this.isOpen) return
    const socket = this.#socket
    this.#error = lost(this.peer, this.stage)
    this.#ended()
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.once('close', resolve).end(`QUIT${CRLF}`)
    const timer = this.#clock.after(QUIT_MS, () => socket.destroy())
    await promise
    timer.cancel()
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#error !== null) return
    const problem = this.#reader.push(bytes, (reply) => this.#onReply(reply))
    if (problem !== null) this.fail(protocolError(this.peer, this.stage, problem))
  }

  readonly #end = (): void => this.fail(lost(this.peer, this.stage))

  readonly #resume = (): void => {
    const resume = this.#pending
    this.#pending = null
    resume?.()
  }

  #onReply(reply: ServerReply): void {
    if (this.#error !== null) return
    if (this.#outstanding > 0) {
      this.#outstanding--
      this.#replies.push(reply)
      this.#resume()
      return
    }
    // RFC 5321 §3.8: a server that is closing may send 421 unprompted. Any other extra reply breaks the pairing with commands.
    const closing = reply.code === CLOSING
    this.fail(
      closing
        ? new SmtpError('refused', this.stage, this.storedReply(reply))
        : protocolError(this.peer, this.stage, 'sent an unexpected reply'),
    )
  }

  #listen(): void {
    this.#socket.on('data', this.#onData).on('error', this.#end).on('end', this.#end).on('close', this.#end)
  }

  #unlisten(): void {
    this.#socket.off('data', this.#onData).off('error', this.#end).off('end', this.#end).off('close', this.#end)
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#pending = resolve
    })
  }

  async #withTimeout(ms: number, wait: Promise<void>): Promise<void> {
    const timer = this.#clock.after(ms, () => this.fail(timedOut(this.peer, this.stage, ms)))
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
