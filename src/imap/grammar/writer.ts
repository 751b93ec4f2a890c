// Writes the answers of one IMAP connection: gathered per turn, with back-pressure, and strings in the form the grammar asks for.

import type { Writable } from 'node:stream'
import { CORK_BYTES, QUOTED_BYTES, UNSENT_BYTES } from './limits.ts'

/** A piece of an answer: text, written as UTF-8, or bytes. */
export type OutputPart = string | Uint8Array

export interface WriterDeps {
  /** Milliseconds that only grow. */
  monotonic(): number
}

/** Collects output up to 16 KiB or to the end of the turn. */
export class ResponseWriter {
  /** Bytes given to the stream, before compression and TLS. */
  written = 0
  /** Since when the client has taken nothing although output waits; null while none waits. */
  blockedSince: number | null = null
  readonly #deps: WriterDeps
  #stream: Writable
  #parts: OutputPart[] = []
  #size = 0
  #isScheduled = false
  #release: (() => void) | null = null
  readonly #onDrain = () => this.#drained()

  constructor(stream: Writable, deps: WriterDeps) {
    this.#stream = stream
    this.#deps = deps
    this.#listen()
  }

  /** Adds parts to the output; they are sent at the end of the turn at the latest. */
  write(...parts: OutputPart[]): void {
    for (const part of parts) {
      this.#parts.push(part)
      this.#size += part.length
    }
    if (this.#size >= CORK_BYTES) this.flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.flush()
      })
    }
  }

  /** Gives everything to the stream. */
  flush(): void {
    if (this.#parts.length === 0) return
    const bytes = joined(this.#parts)
    this.#parts = []
    this.#size = 0
    this.written += bytes.length
    if (this.#stream.destroyed || this.#stream.writableEnded) return
    if (!this.#stream.write(bytes)) this.blockedSince ??= this.#deps.monotonic()
  }

  /** More than 64 KiB wait for the client: nothing more is to be produced before {@link ready}. */
  get isFull(): boolean {
    return !this.#stream.destroyed && this.#stream.writableLength > UNSENT_BYTES
  }

  /** Resolves when at most 64 KiB wait for the client, or when the connection has ended. */
  async ready(): Promise<void> {
    if (this.#size >= CORK_BYTES) this.flush()
    while (this.isFull) {
      await new Promise<void>((resolve) => (this.#release = resolve))
    }
  }

  /** Writes to another stream from now on. */
  attach(stream: Writable): void {
    this.flush()
    this.detach()
    this.#stream = stream
    this.blockedSince = null
    this.#listen()
  }

  detach(): void {
    for (const event of ['drain', 'close', 'error']) this.#stream.off(event, this.#onDrain)
    this.#drained()
  }

  /** Sends what was written and closes the sending half. */
  end(): void {
    this.flush()
    if (!this.#stream.destroyed) this.#stream.end()
  }

  #listen(): void {
    for (const event of ['drain', 'close', 'error']) this.#stream.on(event, this.#onDrain)
  }

  #drained(): void {
    this.blockedSince = null
    const release = this.#release
    this.#release = null
    release?.()
  }
}

/** One buffer of parts: a write each would be a TLS record each. */
function joined(parts: readonly OutputPart[]): Buffer {
  if (parts.every((part) => typeof part === 'string')) return Buffer.from(parts.join(''))
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}

const QUOTED_SPECIALS = /["\\]/

/**
 * A string as quoted, or as a literal when it is long or has line ends or other bytes that quoting forbids.
 * @param utf8 whether quoted strings may hold UTF-8 (after ENABLE IMAP4rev2 or UTF8=ACCEPT)
 */
export function formatString(value: string | Uint8Array, utf8 = false): OutputPart {
  if (typeof value === 'string') {
    if (canQuote(value, utf8)) return `"${QUOTED_SPECIALS.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
    return formatString(Buffer.from(value), utf8)
  }
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  if (bytes.length <= QUOTED_BYTES && bytes.every((byte) => byte < 0x80 && byte > 0 && byte !== 0x0d && byte !== 0x0a))
    return `"${bytes.toString('latin1').replace(/["\\]/g, '\\$&')}"`
  return Buffer.concat([Buffer.from(`{${bytes.length}}\r\n`), bytes])
}

/** `nstring`: NIL for null. */
export function formatNstring(value: string | Uint8Array | null, utf8 = false): OutputPart {
  return value === null ? 'NIL' : formatString(value, utf8)
}

/** `astring`: an atom where that is possible. */
export function formatAstring(value: string, utf8 = false): OutputPart {
  // NIL as an atom is read as no string by some clients.
  return /^[A-Za-z0-9!#$&'+,./:;<=>?@[\]^_`|}~-]+$/.test(value) && !/^nil$/i.test(value)
    ? value
    : formatString(value, utf8)
}

function canQuote(text: string, utf8: boolean): boolean {
  if (text.length > QUOTED_BYTES) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0 || code === 0x0d || code === 0x0a || (code > 0x7e && !utf8)) return false
  }
  return true
}
