// Reads the commands of a client (RFC 5804 §4): words, numbers, quoted strings and literals, within bounds.

import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import {
  ARGUMENTS_MAX,
  DISCARDED_BYTES,
  LINE_BYTES,
  LITERAL_BEFORE_LOGIN,
  LITERAL_BYTES,
  QUOTED_BYTES,
} from './limits.ts'

/** An argument of a command. A string that is too long was read and dropped. */
export type SieveArg = { kind: 'string'; text: string } | { kind: 'number'; value: number } | { kind: 'too_long' }

export interface ReadCommand {
  /** In upper case. */
  name: string
  args: SieveArg[]
}

/** The command breaks the grammar; the next line begins another one. The message is one sentence. */
export class GrammarError extends Error {}

/** The connection has ended, or must: `text` is what is still said. */
export class ConnectionEnd extends Error {
  readonly text: string | null

  constructor(text: string | null = null) {
    super(text ?? 'The connection has ended.')
    this.text = text
  }
}

const LF = 10
const CR = 13
const WORD = /[A-Za-z][A-Za-z0-9_]*/y
const NUMBER = /[0-9]{1,10}(?![A-Za-z0-9])/y
const QUOTED = /"((?:[^"\\]|\\["\\])*)"/y
const LITERAL = /\{([0-9]{1,10})\+?\}$/y
/** What a line ends with when a literal follows, whatever is in front. */
const FOLLOWED = /\{([0-9]{1,10})\+?\}$/

export class SieveReader {
  /** After the login longer literals are read. */
  isSignedIn = false
  /** Bytes received so far. */
  received = 0
  #stream: Readable
  #buffers: Buffer[] = []
  #length = 0
  #hasEnded = false
  #hasBegun = false
  #resume: (() => void) | null = null
  readonly #onData = (data: Buffer) => this.#take(data)
  readonly #onEnd = () => this.#end()

  constructor(stream: Readable) {
    this.#stream = stream
    this.attach(stream)
  }

  /** Bytes that were received and not read yet. */
  get buffered(): number {
    return this.#length
  }

  /** The beginning of a command has arrived, and its end has not. */
  get isWaitingForMore(): boolean {
    return this.#hasBegun || this.#length > 0
  }

  attach(stream: Readable): void {
    this.#stream = stream
    stream.on('data', this.#onData)
    for (const event of ['end', 'close', 'error']) stream.on(event, this.#onEnd)
  }

  detach(): void {
    this.#stream.off('data', this.#onData)
    for (const event of ['end', 'close', 'error']) this.#stream.off(event, this.#onEnd)
    this.#stream.pause()
  }

  /** Ends the read that waits. */
  interrupt(): void {
    this.#end()
  }

  /** @throws GrammarError, ConnectionEnd */
  async command(): Promise<ReadCommand> {
    const line = new CommandLine(this, LINE_BYTES)
    this.#hasBegun = false
    await line.next()
    this.#hasBegun = true
    return line.guard(async () => {
      const name = line.match(WORD)?.[0]?.toUpperCase()
      if (name === undefined) throw new GrammarError('A command is missing.')
      const args: SieveArg[] = []
      while (!line.isAtEnd) {
        if (args.length === ARGUMENTS_MAX) throw new GrammarError('The command has too many arguments.')
        line.space()
        args.push(await line.argument())
      }
      return { name, args }
    })
  }

  /** A response of AUTHENTICATE: one string on its own line. @throws GrammarError, ConnectionEnd */
  async response(): Promise<string> {
    const line = new CommandLine(this, LINE_BYTES)
    await line.next()
    return line.guard(async () => {
      const given = await line.argument()
      if (given.kind !== 'string' || !line.isAtEnd) throw new GrammarError('The response is one string.')
      return given.text
    })
  }

  /** A line without its end. @throws ConnectionEnd when it is longer */
  async line(most: number): Promise<string> {
    for (let from = 0; ; ) {
      const whole = this.#joined()
      const end = whole.indexOf(LF, from)
      const length = end < 0 ? whole.length : end
      if (length > most) throw new ConnectionEnd('The line is too long.')
      if (end >= 0) {
        const text = whole.toString('latin1', 0, end > 0 && whole[end - 1] === CR ? end - 1 : end)
        this.#skip(end + 1)
        return text
      }
      from = whole.length
      await this.#more()
    }
  }

  /** @param most bytes that are kept @returns null when there are more, which are dropped @throws ConnectionEnd */
  async literal(bytes: number): Promise<Buffer | null> {
    if (!this.isSignedIn && bytes > LITERAL_BEFORE_LOGIN) throw new ConnectionEnd('The literal is too long.')
    if (bytes > DISCARDED_BYTES) throw new ConnectionEnd('The literal is too long.')
    const isKept = bytes <= LITERAL_BYTES
    if (!isKept) {
      await this.drop(bytes)
      return null
    }
    while (this.#length < bytes) await this.#more()
    const content = Buffer.from(this.#joined().subarray(0, bytes))
    this.#skip(bytes)
    return content
  }

  async drop(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; ) {
      if (this.#length === 0) await this.#more()
      const some = Math.min(left, this.#length)
      this.#joined()
      this.#skip(some)
      left -= some
    }
  }

  #take(data: Buffer): void {
    this.received += data.length
    this.#buffers.push(data)
    this.#length += data.length
    // What a client sends ahead waits in the socket.
    if (this.#length > (this.isSignedIn ? DISCARDED_BYTES : LITERAL_BEFORE_LOGIN)) this.#stream.pause()
    this.#notify()
  }

  #end(): void {
    this.#hasEnded = true
    this.#notify()
  }

  #notify(): void {
    const resume = this.#resume
    this.#resume = null
    resume?.()
  }

  async #more(): Promise<void> {
    const before = this.received
    if (this.#hasEnded) throw new ConnectionEnd()
    this.#stream.resume()
    await new Promise<void>((resolve) => (this.#resume = resolve))
    if (this.#hasEnded && this.received === before) throw new ConnectionEnd()
  }

  #joined(): Buffer {
    if (this.#buffers.length !== 1) this.#buffers = [Buffer.concat(this.#buffers)]
    return this.#buffers[0]!
  }

  #skip(bytes: number): void {
    const whole = this.#joined()
    this.#buffers = whole.length === bytes ? [] : [whole.subarray(bytes)]
    this.#length -= bytes
  }
}

/** The lines of one command, with a place in the current one. */
class CommandLine {
  readonly #reader: SieveReader
  #left: number
  #text = ''
  #at = 0

  constructor(reader: SieveReader, bytes: number) {
    this.#reader = reader
    this.#left = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  async next(): Promise<void> {
    this.#text = await this.#reader.line(this.#left)
    this.#left -= this.#text.length
    this.#at = 0
  }

  /** Runs `read`; behind an error the rest of the command is read and dropped, literals included. */
  async guard<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error
      for (let follows = FOLLOWED.exec(this.#text); follows !== null; follows = FOLLOWED.exec(this.#text)) {
        // A literal that was read already is not on the line any more.
        await this.#reader.literal(Number(follows[1]))
        await this.next()
      }
      throw error
    }
  }

  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found !== null) this.#at = pattern.lastIndex
    return found
  }

  space(): void {
    if (this.#text[this.#at] !== ' ') throw new GrammarError('A space is missing.')
    this.#at++
  }

  async argument(): Promise<SieveArg> {
    const quoted = this.match(QUOTED)
    if (quoted !== null) {
      if (quoted[1]!.length > QUOTED_BYTES) throw new GrammarError(`A quoted string has at most ${QUOTED_BYTES} bytes.`)
      return { kind: 'string', text: textOf(Buffer.from(quoted[1]!.replace(/\\(.)/g, '$1'), 'latin1')) }
    }
    const literal = this.match(LITERAL)
    if (literal !== null) {
      const content = await this.#reader.literal(Number(literal[1]))
      await this.next()
      return content === null ? { kind: 'too_long' } : { kind: 'string', text: textOf(content) }
    }
    const number = this.match(NUMBER)
    if (number === null) throw new GrammarError('A string in quotes, a literal or a number is missing.')
    return { kind: 'number', value: Number(number[0]) }
  }
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes) || bytes.includes(0)) throw new GrammarError('Strings are UTF-8 without NUL.')
  return bytes.toString()
}
