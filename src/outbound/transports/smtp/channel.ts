// The line to a mail server: commands go out, replies come in, one for each, and every wait has an end.

import type { Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Clock } from '../../../base/clock.ts'
import type { Reply } from '../../records.ts'
import type { Stage } from '../transport.ts'
import { aborted, babble, Fault, insecure, lost, tooSlow } from './errors.ts'
import { keptReply, ReplyReader, type ServerReply } from './reply.ts'

const CRLF = '\r\n'
const CLOSING = 421
/** Bytes of a mail written at a time: how long a stretch takes shows whether the other side still reads. */
const STRETCH = 256 * 1024
/** How long a server may take to close behind our goodbye, in ms. */
const QUIT_MS = 2000

/** How the connection is secured. */
export interface Security {
  /** "TLSv1.3". */
  protocol: string
  /** True when the certificate is for the server's name and by an authority that is trusted here. */
  verified: boolean
}

export class Wire {
  /** Whose faults are told: the server by its name. */
  readonly peer: string
  /** Where the conversation stands: faults bear it. */
  stage: Stage
  security: Security | null = null
  /** IP address of the server. */
  readonly address: string | null
  /** Takes secrets out of what the server said. */
  hide: (text: string) => string = (text) => text
  #socket: Socket
  readonly #clock: Clock
  #reader = new ReplyReader()
  readonly #said: ServerReply[] = []
  /** Commands whose reply is still to come. */
  #owed = 0
  #fault: Fault | null = null
  /** Whoever waits for something to happen. */
  #waiting: (() => void) | null = null
  #over: () => void = () => {}

  /** @param socket connected */
  constructor(socket: Socket, parts: { clock: Clock; peer: string; stage: Stage }) {
    this.#socket = socket
    this.#clock = parts.clock
    this.peer = parts.peer
    this.address = socket.remoteAddress ?? null
    this.stage = parts.stage
    this.#listen()
  }

  get isOpen(): boolean {
    return this.#fault === null
  }

  /** What ended it; null while it is open. */
  get fault(): Fault | null {
    return this.#fault
  }

  /** Called once, when the connection is gone. */
  onOver(run: () => void): void {
    this.#over = run
  }

  /** Writes commands in one piece (RFC 2920 where there are several); each is owed a reply. */
  say(...commands: string[]): void {
    this.expect(commands.length)
    if (this.isOpen) this.#socket.write(commands.join(CRLF) + CRLF)
  }

  /** A reply as it is kept: without secrets, and with who said it. */
  kept(reply: ServerReply): Reply {
    return { ...keptReply(reply, this.hide), server: { host: this.peer, address: this.address } }
  }

  /** Replies to come for what is written otherwise. */
  expect(replies: number): void {
    this.#owed += replies
  }

  /** The next reply. @param ms how long it is waited for @throws Fault */
  async read(ms: number): Promise<ServerReply> {
    if (this.#said.length === 0 && this.isOpen) await this.#within(ms, this.#news())
    // What was said before the end is heard before the end.
    const said = this.#said.shift()
    if (said === undefined) throw this.#fault
    return said
  }

  /**
   * Writes bytes and waits until the system has taken them, but for what fits into its buffers.
   * @param ms how long one stretch may take
   * @returns false when the server has said something meanwhile, and the rest was not written @throws Fault
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

  /** Talks on inside TLS. @param ask `verify` ends in a fault unless the certificate is right @throws Fault */
  async secure(ask: { host: string; isName: boolean; verify: boolean }, ms: number): Promise<void> {
    this.stage = 'tls'
    // RFC 3207 6: what came in clear behind the consent may have been put there by somebody in between.
    if (!this.#reader.isEmpty || this.#said.length > 0) {
      this.fail(babble(this.peer, 'tls', 'sent more in clear after it had agreed to TLS'))
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

  /** Ends the conversation in the middle: whoever waits gets the fault. */
  fail(fault: Fault): void {
    if (this.#fault !== null) return
    this.#fault = fault
    this.#socket.destroy()
    this.#wake()
    this.#over()
  }

  /** Ends it when the house has no more patience. @returns what ends the listening */
  failOn(signal: AbortSignal): () => void {
    const fail = () => this.fail(aborted(this.stage))
    if (signal.aborted) fail()
    signal.addEventListener('abort', fail, { once: true })
    return () => signal.removeEventListener('abort', fail)
  }

  /** Says goodbye (RFC 5321 4.1.1.10) and waits until the connection is closed, but not for long. */
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
    if (problem !== null) this.fail(babble(this.peer, this.stage, problem))
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
    // RFC 5321 3.8: a server that is about to close may say so unasked. After anything else nobody knows what answers what.
    const closing = reply.code === CLOSING
    this.fail(
      closing
        ? new Fault('refused', this.stage, this.kept(reply))
        : babble(this.peer, this.stage, 'answered to something that was not asked'),
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
    // The listener stays: an error of a secured connection is told by its end, too.
    socket.once('secureConnect', resolve).on('error', reject).once('close', broken).once('end', broken)
  })
}
