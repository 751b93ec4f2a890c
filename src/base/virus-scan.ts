// Scans a stream with a ClamAV daemon while it passes through (INSTREAM command of clamd).

import { connect, type Socket } from 'node:net'
import { type Clock, systemClock } from './clock.ts'
import { invalid, ProductError } from './errors.ts'

/** Timeout of the whole scan. */
const TIMEOUT_MS = 30_000
const DEFAULT_PORT = 3310
/** Bytes of the response that are read. */
const ANSWER_MAX = 4096

export class VirusScan {
  readonly #host: string
  readonly #port: number
  readonly #clock: Clock

  /** @param address `host:port`, or a host alone */
  constructor(address: string, clock: Clock = systemClock) {
    const found = /^\[?(.*?)\]?(?::(\d{1,5}))?$/.exec(address)!
    this.#host = found[1]!
    this.#port = Number(found[2] ?? DEFAULT_PORT)
    this.#clock = clock
  }

  /**
   * Yields the chunks and sends each to the daemon.
   * @param field request field named in the error
   * @throws ProductError validation_error after the last chunk when a virus was found; service_unavailable when the scan failed
   */
  async *watch(
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    field: string,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const name = yield* this.#scan(pieces, TIMEOUT_MS)
    if (name === null) return
    throw invalid(field, 'forbidden_value', `The file contains the virus ${name} and was not stored.`)
  }

  /** @returns the name of the virus; null when there is none @throws ProductError service_unavailable when the scan fails or takes too long */
  async find(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, timeoutMs: number): Promise<string | null> {
    const scan = this.#scan(pieces, timeoutMs)
    for (;;) {
      const step = await scan.next()
      if (step.done) return step.value
    }
  }

  async *#scan(
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    timeoutMs: number,
  ): AsyncGenerator<Uint8Array, string | null, undefined> {
    const socket = connect(this.#port, this.#host)
    const watch = this.#clock.after(timeoutMs, () => socket.destroy(new Error('The daemon does not answer.')))
    const answer = answerOf(socket)
    try {
      socket.write('zINSTREAM\0')
      for await (const piece of pieces) {
        yield piece
        await send(socket, piece)
      }
      await send(socket, new Uint8Array(0))
      return virusIn(await answer)
    } finally {
      watch.cancel()
      socket.destroy()
    }
  }
}

/** Sends a chunk after its length; an empty chunk ends the stream. */
async function send(socket: Socket, piece: Uint8Array): Promise<void> {
  if (socket.destroyed) throw unavailable()
  const length = Buffer.alloc(4)
  length.writeUInt32BE(piece.length)
  socket.write(length)
  if (socket.write(piece)) return
  await new Promise<void>((resolve) => {
    socket.once('drain', resolve).once('close', resolve)
  })
}

/** The response of the daemon up to a NUL or the end of the connection; "" when there is none. */
function answerOf(socket: Socket): Promise<string> {
  let text = ''
  return new Promise((resolve) => {
    const done = () => resolve(text.replace(/\0.*$/s, '').trim())
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1', 0, ANSWER_MAX)
      if (text.includes('\0') || text.length > ANSWER_MAX) done()
    })
    socket.on('error', done).on('close', done)
  })
}

/** @returns null for a clean file @throws ProductError for any other answer */
function virusIn(answer: string): string | null {
  const name = /^stream: (.{1,200}) FOUND$/.exec(answer)?.[1]
  if (name !== undefined) return name.replace(/[^\w.-]/g, '_')
  if (answer !== 'stream: OK') throw unavailable()
  return null
}

function unavailable(): ProductError {
  return new ProductError('service_unavailable', 'The file could not be scanned for viruses. Try again later.')
}
