// COMPRESS=DEFLATE (RFC 4978): a duplex stream that inflates what the client sends, within bounds, and deflates what it is sent.

import { Duplex } from 'node:stream'
import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib'

/** Output of one inflating step: a bomb fills this and then waits for the command reader. */
const INFLATED_BYTES = 64 * 1024
/** Output that waits while the thread pool compresses what came before, bytes; it is then compressed together. */
const WAITING_BYTES = 64 * 1024
/** 32 KiB each for the window and the state, outwards; a client may use any window. Each write is flushed in one task of the thread pool. */
const DEFLATE = { level: 1, windowBits: 13, memLevel: 6, flush: constants.Z_SYNC_FLUSH }

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

/** The compressed form of a connection. All output is flushed, so that the client can read it. */
export class Compressor extends Duplex {
  readonly #under: Duplex
  readonly #inflate: InflateRaw
  readonly #deflate: DeflateRaw

  constructor(under: Duplex) {
    super({ readableHighWaterMark: 16 * 1024, writableHighWaterMark: 16 * 1024 })
    this.#under = under
    // A client may end its half behind a flush, without a last block.
    this.#inflate = createInflateRaw({ chunkSize: INFLATED_BYTES, finishFlush: constants.Z_SYNC_FLUSH })
    this.#deflate = createDeflateRaw(DEFLATE)
    under.on('end', () => this.#inflate.end())
    under.on('close', () => this.destroy())
    under.on('error', () => this.destroy())
    under.on('readable', () => this.#pump())
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
  #isInflating = false
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isCompressing = false
  /** Accepts more output; set while too much waits. */
  #accept: (() => void) | null = null

  /** Inflates all that has arrived: one task of the thread pool at a time, however many packets the commands came in. */
  #pump(): void {
    if (this.#isInflating || this.#inflate.writableEnded || this.#inflate.destroyed) return
    const chunk: Buffer | null = this.#under.read()
    if (chunk === null) return
    this.#isInflating = true
    this.#inflate.write(chunk, () => {
      this.#isInflating = false
      this.#pump()
    })
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
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (!this.#isCompressing) this.#compress()
    if (this.#waitingBytes < WAITING_BYTES) done()
    else this.#accept = done
  }

  /** Compresses all that waits. */
  #compress(): void {
    this.#isCompressing = true
    this.#deflate.write(this.#taken(), () => {
      this.#isCompressing = false
      if (this.#waitingBytes > 0) this.#compress()
    })
    const accept = this.#accept
    this.#accept = null
    accept?.()
  }

  #taken(): Buffer {
    const [first, ...others] = this.#waiting
    const bytes = others.length === 0 ? first! : Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    return bytes
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#waitingBytes > 0) this.#deflate.write(this.#taken())
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
