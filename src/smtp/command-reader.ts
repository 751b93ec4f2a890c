// Reads the bytes of one SMTP connection: command lines, and the content of DATA; only CRLF ends a line (RFC 5321 §2.3.8).

import type { SMTPServerDataStream } from 'smtp-server'
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { type ByteError, DataReader } from './data-reader.ts'

/** Longest command in bytes with its CRLF: RFC 5321 §4.5.3.1.4 requires 512; RFC 1870, 6152 and 6531 add to it. */
export const MAX_COMMAND_BYTES = 2048
// Yields to the event loop after this many pipelined commands, so that one client does not block the others.
const COMMANDS_AT_ONCE = 100

const CR = 0x0d
const LF = 0x0a
const NUL = 0x00
const EMPTY = Buffer.alloc(0)

/** Why a command line was refused; the connection is closed after it. */
export type LineError = ByteError | 'too_long'

/** The content of a message without dot-stuffing; no bytes after a byte error or above the size limit. */
export interface MessageStream extends SMTPServerDataStream {
  byteError: ByteError | null
}

type Next = (error?: Error | null) => void

/**
 * Replaces the parser of smtp-server, which accepts commands that end in a bare LF, keeps bare CR, LF and NUL in messages,
 * treats a dot after a bare LF as stuffing, and runs an unfinished line when the client closes.
 */
export class CommandReader extends SMTPStream {
  /** Called for a malformed line; nothing is read after it. */
  onlineerror: (error: LineError) => void = () => {}
  /** Called whenever bytes of a message arrive. */
  onprogress: () => void = () => {}
  readonly #maxBytes: number
  #partial: Buffer = EMPTY
  #reader = new DataReader()

  /** @param maxBytes of one command with its CRLF */
  constructor(maxBytes: number = MAX_COMMAND_BYTES) {
    super()
    this.#maxBytes = maxBytes
  }

  override startDataMode(maxBytes: number): MessageStream {
    this.#reader = new DataReader()
    return Object.assign(super.startDataMode(maxBytes), { byteError: null })
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding | 'buffer', next: Next): void {
    if (this.isClosed || chunk.length === 0) next()
    else if (this._dataMode) this.#readContent(chunk, next)
    else this.#readLines(chunk, next)
  }

  /** One command at a time: the next line is read when the previous command has been answered. */
  #readLines(chunk: Buffer, next: Next): void {
    let rest = chunk
    let atOnce = 0
    let running = false
    let answered = false
    const step = () => {
      // A command answered synchronously calls `step` recursively: loop instead, to bound the stack.
      answered = true
      if (running) return
      running = true
      while (answered) {
        answered = false
        if (this.isClosed || this._dataMode || rest.length === 0) {
          this._write(rest, 'buffer', next)
          return
        }
        if (++atOnce % COMMANDS_AT_ONCE === 0) {
          setImmediate(step)
          break
        }
        const end = rest.indexOf(LF) + 1
        const line = this.#takeLine(end > 0 ? rest.subarray(0, end) : rest, end > 0)
        rest = end > 0 ? rest.subarray(end) : EMPTY
        if (line) this.oncommand(line, step)
        else answered = true
      }
      running = false
    }
    step()
  }

  /** @returns the whole line without its CRLF, or null when it is incomplete or malformed */
  #takeLine(piece: Buffer, complete: boolean): Buffer | null {
    if (this.#partial.length + piece.length > this.#maxBytes) return this.#refuse('too_long')
    const line = this.#partial.length > 0 ? Buffer.concat([this.#partial, piece]) : piece
    // A copy: a slice would keep the whole chunk in memory until the line is complete.
    this.#partial = complete ? EMPTY : Buffer.from(line)
    if (!complete) return null
    const text = line.subarray(0, -2)
    if (line.at(-2) !== CR) return this.#refuse('bare_lf')
    if (text.includes(CR)) return this.#refuse('bare_cr')
    if (text.includes(NUL)) return this.#refuse('nul')
    return text
  }

  #refuse(error: LineError): null {
    this.isClosed = true
    this.#partial = EMPTY
    this.onlineerror(error)
    return null
  }

  #readContent(chunk: Buffer, next: Next): void {
    const stream = this._dataStream as MessageStream
    const pieces: Uint8Array[] = []
    const end = this.#reader.read(chunk, (piece) => pieces.push(piece))
    const content = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    this._countDataBytes(content.length)
    stream.byteError = this.#reader.byteError
    this.onprogress()
    const room = stream.writable && !stream.byteError && !stream.sizeExceeded ? stream.write(content) : true
    if (end >= 0) this._endDataMode(false, chunk.subarray(end), next)
    else if (room) next()
    else whenRoom(stream, next)
  }
}

// A destroyed stream emits 'close' but never 'drain'.
function whenRoom(stream: MessageStream, next: Next): void {
  const go = () => {
    stream.off('drain', go)
    stream.off('close', go)
    next()
  }
  stream.once('drain', go)
  stream.once('close', go)
}
