// Reads the bytes of one IMAP connection as commands: lines, literals within bounds, and message literals as streams (RFC 9051 §4.3, RFC 7888).

import type { Readable } from 'node:stream'
import type { CommandPiece } from './cursor.ts'
import { BEFORE_LOGIN, ID_LINE_BYTES, type ReadLimits } from './limits.ts'

const CR = 0x0d
const LF = 0x0a
const EMPTY = Buffer.alloc(0)
// `{`, 20 digits, `+}` and the `~` of literal8.
const HEADER_BYTES = 25
/** Larger than any bound, and than 2^53. */
const MOST_DIGITS = 15

/** The literal of a message: read by {@link ImapReader.content}, never collected. */
export interface ContentHeader {
  bytes: number
  /** The client waits for `+`. */
  isSync: boolean
  /** Sent as literal8 (RFC 3516): may hold NUL. */
  isBinary: boolean
}

/** A command, or a part of one that ends before a message literal. */
export interface CommandSegment {
  pieces: CommandPiece[]
  content: ContentHeader | null
}

/** Why a command was not read. */
export type ReadProblem = 'line_too_long' | 'literal_too_large' | 'bad_character'

/** A command outside the bounds. Its remaining bytes have been consumed unless `isFatal`: then the next command cannot be found. */
export class ReadError extends Error {
  readonly problem: ReadProblem
  readonly isFatal: boolean
  /** What was read of the command: the tag can be found in it. */
  readonly begin: Buffer

  constructor(problem: ReadProblem, isFatal: boolean, begin: Buffer) {
    super(problem)
    this.problem = problem
    this.isFatal = isFatal
    this.begin = begin
  }
}

/** The client closed the connection, or it failed. */
export class ConnectionEnded extends Error {}

export interface ReaderDeps {
  /** Sends `+` for a synchronising literal. */
  requestLiteral(): void
  /** Whether a literal behind these pieces is the content of a message. */
  isContent(pieces: readonly CommandPiece[]): boolean
}

/**
 * Collects commands from a stream in paused mode: nothing is read, and little kept, while a command runs or the session is idle.
 * One call at a time.
 */
export class ImapReader {
  limits: ReadLimits = BEFORE_LOGIN
  /** Bytes received so far: the deadlines of literals are computed from it. */
  received = 0
  readonly #deps: ReaderDeps
  #stream: Readable
  /** Bytes of the stream that no command has consumed: `#buffer[#start, #end)`. */
  #buffer: Buffer = EMPTY
  #start = 0
  #end = 0
  #resume: (() => void) | null = null
  #isInterrupted = false
  readonly #onEvent = () => this.#resume?.()

  constructor(stream: Readable, deps: ReaderDeps) {
    this.#deps = deps
    this.#stream = stream
    this.#listen()
  }

  /** Bytes that were received and not consumed. */
  get buffered(): number {
    return this.#end - this.#start + this.#stream.readableLength
  }

  /** Whether a command has begun to arrive. */
  get hasBegun(): boolean {
    return this.#end > this.#start
  }

  /** Reads from another stream from now on: TLS or compression on top of the current one. What is buffered is dropped. */
  attach(stream: Readable): void {
    this.detach()
    this.#buffer = EMPTY
    this.#start = this.#end = 0
    this.#stream = stream
    this.#listen()
  }

  /** Stops listening to the stream. */
  detach(): void {
    for (const event of ['readable', 'end', 'close', 'error']) this.#stream.off(event, this.#onEvent)
  }

  /** Ends a pending read as if the client had closed the connection. */
  interrupt(): void {
    this.#isInterrupted = true
    this.#resume?.()
  }

  /**
   * The next command, or the next part of it behind a message literal.
   * @throws ReadError outside the bounds
   * @throws ConnectionEnded
   */
  async segment(): Promise<CommandSegment> {
    const pieces: CommandPiece[] = []
    const begin = () => pieces[0]?.line ?? EMPTY
    let [lineBytes, literalBytes] = [0, 0]
    for (;;) {
      const line = await this.#line(this.limits.lineBytes - lineBytes, begin)
      lineBytes += line.length
      const header = literalHeader(line)
      if (line.includes(CR) || line.includes(0)) throw new ReadError('bad_character', header?.isSync === false, line)
      if (header === null) {
        pieces.push({ line, literal: null, isBinary: false })
        return { pieces, content: null }
      }
      const { isSync, isBinary, bytes, size } = header
      const text = line.subarray(0, line.length - size)
      const withText = [...pieces, { line: text, literal: null, isBinary }]
      if (this.#deps.isContent(withText)) return { pieces: withText, content: { bytes, isSync, isBinary } }
      literalBytes += bytes
      if (!this.#isAllowed(bytes, literalBytes, pieces.length, isSync))
        throw new ReadError('literal_too_large', !isSync, pieces.length === 0 ? text : begin())
      if (isSync) this.#deps.requestLiteral()
      pieces.push({ line: text, literal: await this.#bytes(bytes), isBinary })
    }
  }

  /** Whether the buffer begins with ID, whose pairs alone may need more than a line has before login (RFC 2971 §3.3). */
  #isId(): boolean {
    return /^[^ ]{1,64} ID /i.test(this.#buffer.toString('latin1', this.#start, Math.min(this.#end, this.#start + 70)))
  }

  #isAllowed(bytes: number, together: number, literals: number, isSync: boolean): boolean {
    const { limits } = this
    if (literals >= limits.literals || together > limits.literalsBytes) return false
    return bytes <= (isSync ? limits.literalBytes : Math.min(limits.literalBytes, limits.nonSyncBytes))
  }

  /**
   * One line without its end: DONE, or a response of AUTHENTICATE.
   * @throws ReadError when it is longer than `most` bytes
   * @throws ConnectionEnded
   */
  async line(most: number): Promise<Buffer> {
    const line = await this.#line(most, () => EMPTY)
    if (line.includes(CR) || line.includes(0)) throw new ReadError('bad_character', false, EMPTY)
    return line
  }

  /** The bytes of a message literal, in pieces. The caller reads all of them. @throws ConnectionEnded */
  async *content(bytes: number): AsyncGenerator<Buffer> {
    let left = bytes
    while (left > 0) {
      if (this.#end === this.#start) await this.#receive()
      const piece = Buffer.from(this.#buffer.subarray(this.#start, Math.min(this.#end, this.#start + left)))
      this.#consume(piece.length)
      left -= piece.length
      yield piece
    }
  }

  async #line(most: number, begin: () => Buffer): Promise<Buffer> {
    let searched = 0
    for (;;) {
      const at = this.#buffer.subarray(0, this.#end).indexOf(LF, this.#start + searched)
      const length = (at < 0 ? this.#end : at) - this.#start
      // The line end may have two bytes.
      const isTooLong = length > most + 1 && !(length <= ID_LINE_BYTES && this.#isId())
      if (isTooLong) return await this.#skipLine(most, begin)
      if (at >= 0) return this.#takeLine(at)
      searched = length
      await this.#receive()
    }
  }

  #takeLine(at: number): Buffer {
    const hasCr = at > this.#start && this.#buffer[at - 1] === CR
    const line = Buffer.from(this.#buffer.subarray(this.#start, hasCr ? at - 1 : at))
    this.#consume(at + 1 - this.#start)
    return line
  }

  /** Consumes a line that is too long. Behind a literal that is sent without waiting the next command cannot be found. */
  async #skipLine(most: number, begin: () => Buffer): Promise<never> {
    const kept = begin()
    const head =
      kept.length > 0 ? kept : Buffer.from(this.#buffer.subarray(this.#start, this.#start + Math.min(most, 256)))
    let tail: Buffer = EMPTY
    for (;;) {
      const at = this.#buffer.subarray(0, this.#end).indexOf(LF, this.#start)
      const end = at < 0 ? this.#end : at
      tail = Buffer.concat([tail, this.#buffer.subarray(Math.max(this.#start, end - HEADER_BYTES), end)])
      tail = tail.subarray(Math.max(0, tail.length - HEADER_BYTES - 1))
      this.#consume((at < 0 ? end : end + 1) - this.#start)
      if (at >= 0) break
      await this.#receive()
    }
    const header = literalHeader(tail.at(-1) === CR ? tail.subarray(0, -1) : tail)
    throw new ReadError('line_too_long', header?.isSync === false, head)
  }

  async #bytes(count: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(count)
    let size = 0
    for await (const piece of this.content(count)) size += piece.copy(bytes, size)
    return bytes
  }

  /** Waits for bytes and adds them to the buffer. */
  async #receive(): Promise<void> {
    for (;;) {
      if (this.#isInterrupted) throw new ConnectionEnded()
      const chunk: Buffer | null = this.#stream.read()
      if (chunk !== null) return this.#append(chunk)
      if (this.#stream.readableEnded || this.#stream.destroyed) throw new ConnectionEnded()
      await new Promise<void>((resolve) => (this.#resume = resolve))
      this.#resume = null
    }
  }

  #append(chunk: Buffer): void {
    this.received += chunk.length
    const size = this.#end - this.#start
    if (size === 0) {
      this.#buffer = chunk
      this.#start = 0
      this.#end = chunk.length
      return
    }
    if (this.#end + chunk.length > this.#buffer.length) {
      // Doubled, so that lines that arrive byte by byte are copied a bounded number of times.
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * size, size + chunk.length))
      this.#buffer.copy(larger, 0, this.#start, this.#end)
      this.#buffer = larger
      this.#start = 0
      this.#end = size
    }
    chunk.copy(this.#buffer, this.#end)
    this.#end += chunk.length
  }

  #consume(count: number): void {
    this.#start += count
    if (this.#start < this.#end) return
    this.#buffer = EMPTY
    this.#start = this.#end = 0
  }

  #listen(): void {
    for (const event of ['readable', 'end', 'close', 'error']) this.#stream.on(event, this.#onEvent)
  }
}

interface LiteralHeader {
  bytes: number
  isSync: boolean
  isBinary: boolean
  /** Bytes of the header itself. */
  size: number
}

/** The header `{n}`, `{n+}`, `~{n}` or `~{n+}` that ends a line; null when there is none. `{n-}` of LITERAL- does not exist (RFC 7888 §4). */
export function literalHeader(line: Buffer): LiteralHeader | null {
  let at = line.length - 1
  if (line[at] !== 0x7d) return null
  at--
  const isSync = line[at] !== 0x2b
  if (!isSync) at--
  const digitsEnd = at + 1
  while (at >= 0 && line[at]! >= 0x30 && line[at]! <= 0x39) at--
  const digits = line.toString('latin1', at + 1, digitsEnd)
  if (digits === '' || line[at] !== 0x7b) return null
  const isBinary = at > 0 && line[at - 1] === 0x7e
  const from = isBinary ? at - 1 : at
  // Leading zeros do not make a number large.
  const significant = digits.replace(/^0+(?=\d)/, '')
  const bytes = significant.length > MOST_DIGITS ? Number.POSITIVE_INFINITY : Number(significant)
  return { bytes, isSync, isBinary, size: line.length - from }
}
