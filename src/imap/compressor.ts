// COMPRESS=DEFLATE (RFC 4978): a duplex stream that inflates what the client sends, within bounds, and deflates what it is sent.

import { Duplex } from 'node:stream'
import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib'

/** Output of one inflating step: a bomb fills this and then waits for the command reader. */
const INFLATED_BYTES = 64 * 1024
// 16 KiB each for the window and the state, outwards; a client may use any window.
const DEFLATE = { level: 3, windowBits: 12, memLevel: 5, flush: constants.Z_NO_FLUSH }

/** Limits how many connections compress at a time. */
export class CompressionSlots {
  readonly #most: number
  #used = 0

  constructor(most: number) {
    this.#most = most
  }

  get used(): number {
    return this.#used
  }

  /** @returns frees the slot; null when none is free */
  take(): (() => void) | null {
    if (this.#used >= this.#most) return null
    this.#used++
    let isFree = false
    return () => {
      if (!isFree) this.#used--
      isFree = true
    }
  }
}

/** The compressed form of a connection. Each write is flushed, so that the client can read it. */
export class Compressor extends Duplex {
  readonly #under: Duplex
  readonly #inflate: InflateRaw
  readonly #deflate: DeflateRaw

  constructor(under: Duplex) {
    super({ readableHighWaterMark: 16 * 1024, writableHighWaterMark: 16 * 1024 })
    this.#under = under
    this.#inflate = createInflateRaw({ chunkSize: INFLATED_BYTES })
    this.#deflate = createDeflateRaw(DEFLATE)
    under.on('end', () => this.#inflate.end())
    under.on('close', () => this.destroy())
    under.on('error', () => this.destroy())
    under.on('readable', () => this.#pump())
    this.#inflate.on('drain', () => this.#pump())
    this.#inflate.on('readable', () => this.#deliver())
    this.#inflate.on('end', () => this.push(null))
    // Bytes that are no deflate stream: nothing behind them can be read.
    this.#inflate.on('error', () => this.destroy())
    this.#deflate.on('data', (bytes: Buffer) => {
      if (!under.write(bytes)) this.#deflate.pause()
    })
    under.on('drain', () => this.#deflate.resume())
    this.#deflate.on('error', () => this.destroy())
    this.#pump()
  }

  #isWanted = false

  #pump(): void {
    while (!this.#inflate.writableNeedDrain && !this.#inflate.writableEnded && !this.#inflate.destroyed) {
      const chunk: Buffer | null = this.#under.read()
      if (chunk === null) return
      this.#inflate.write(chunk)
    }
  }

  #deliver(): void {
    while (this.#isWanted) {
      const chunk: Buffer | null = this.#inflate.read()
      if (chunk === null) return
      this.#isWanted = this.push(chunk)
    }
  }

  override _read(): void {
    this.#isWanted = true
    this.#deliver()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#deflate.write(chunk)
    this.#deflate.flush(constants.Z_SYNC_FLUSH, () => done())
  }

  override _final(done: (error?: Error | null) => void): void {
    // What is compressed last has to be sent before the connection is closed.
    this.#deflate.once('end', () => this.#under.end(() => done()))
    this.#deflate.end()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inflate.destroy()
    this.#deflate.destroy()
    this.#under.destroy()
    done(error)
  }
}
