// The bytes of one SMTP connection: strict lines while commands are read, strict content while a mail is.

import type { SMTPServerDataStream } from 'smtp-server'
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { type ByteFault, DataReader } from './data-reader.ts'

/** Longest command in bytes with its CRLF: RFC 5321 4.5.3.1.4 asks for 512, RFC 1870, 6152 and 6531 add to it. */
export const MAX_COMMAND_BYTES = 2048
// A client that pipelines thousands of commands must not hold up the others.
const COMMANDS_AT_ONCE = 100

const CR = 0x0d
const LF = 0x0a
const NUL = 0x00
const EMPTY = Buffer.alloc(0)

/** Why a command line was not accepted; the connection is of no use after it. */
export type LineFault = ByteFault | 'too_long'

/** What the reader of a mail gets: its bytes without stuffing, none of them after a fault or above the limit. */
export interface MailStream extends SMTPServerDataStream {
  fault: ByteFault | null
}

type Next = (error?: Error | null) => void

/**
 * Stands in for the line and content reading of smtp-server, which takes commands that end in a bare LF, keeps bare CR, LF
 * and NUL in mails, takes a dot after a bare LF for stuffing, and runs an unfinished line when the peer closes.
 */
export class Wire extends SMTPStream {
  /** Called for a line that breaks the rules; nothing is read after it. */
  onfault: (fault: LineFault) => void = () => {}
  /** Called whenever bytes of a mail arrive. */
  onprogress: () => void = () => {}
  #partial: Buffer = EMPTY
  #reader = new DataReader()

  override startDataMode(maxBytes: number): MailStream {
    this.#reader = new DataReader()
    return Object.assign(super.startDataMode(maxBytes), { fault: null })
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding | 'buffer', next: Next): void {
    if (this.isClosed || chunk.length === 0) next()
    else if (this._dataMode) this.#readContent(chunk, next)
    else this.#readLines(chunk, next)
  }

  /** One command at a time: the next line is looked at when the one before has been answered. */
  #readLines(chunk: Buffer, next: Next): void {
    let rest = chunk
    let atOnce = 0
    let running = false
    let answered = false
    const step = () => {
      // A command that is answered at once comes back here from inside: loop, because the stack is not endless.
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

  /** @returns the whole line without its CRLF, or null when it goes on or breaks the rules */
  #takeLine(piece: Buffer, complete: boolean): Buffer | null {
    if (this.#partial.length + piece.length > MAX_COMMAND_BYTES) return this.#refuse('too_long')
    const line = this.#partial.length > 0 ? Buffer.concat([this.#partial, piece]) : piece
    // A copy, because a piece of a chunk would keep the whole chunk alive for as long as the peer likes.
    this.#partial = complete ? EMPTY : Buffer.from(line)
    if (!complete) return null
    const text = line.subarray(0, -2)
    if (line.at(-2) !== CR) return this.#refuse('bare_lf')
    if (text.includes(CR)) return this.#refuse('bare_cr')
    if (text.includes(NUL)) return this.#refuse('nul')
    return text
  }

  #refuse(fault: LineFault): null {
    this.isClosed = true
    this.#partial = EMPTY
    this.onfault(fault)
    return null
  }

  #readContent(chunk: Buffer, next: Next): void {
    const stream = this._dataStream as MailStream
    const pieces: Uint8Array[] = []
    const end = this.#reader.read(chunk, (piece) => pieces.push(piece))
    const content = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    this._countDataBytes(content.length)
    stream.fault = this.#reader.fault
    this.onprogress()
    const room = stream.writable && !stream.fault && !stream.sizeExceeded ? stream.write(content) : true
    if (end >= 0) this._endDataMode(false, chunk.subarray(end), next)
    else if (room) next()
    else whenRoom(stream, next)
  }
}

// A stream its reader gave up never drains, it only closes.
function whenRoom(stream: MailStream, next: Next): void {
  const go = () => {
    stream.off('drain', go)
    stream.off('close', go)
    next()
  }
  stream.once('drain', go)
  stream.once('close', go)
}
