// Has a ClamAV daemon look at bytes as they come by (clamd's INSTREAM).

import { connect, type Socket } from 'node:net'
import { type Clock, systemClock } from './clock.ts'
import { invalid, ProductError } from './errors.ts'

/** How long the daemon may take for an answer once it has everything, and to take a piece. */
const PATIENCE_MS = 30_000
const DEFAULT_PORT = 3310
/** Bytes of its answer that are read. */
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
   * Hands the pieces on, and to the daemon beside.
   * @param field what the refusal names
   * @throws ProductError validation_error behind the last piece for what carries a virus; service_unavailable when nobody can tell
   */
  async *watch(
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    field: string,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const socket = connect(this.#port, this.#host)
    const watch = this.#clock.after(PATIENCE_MS, () => socket.destroy(new Error('The daemon does not answer.')))
    const answer = answerOf(socket)
    try {
      socket.write('zINSTREAM\0')
      for await (const piece of pieces) {
        yield piece
        await send(socket, piece)
      }
      await send(socket, new Uint8Array(0))
      judge(await answer, field)
    } finally {
      watch.cancel()
      socket.destroy()
    }
  }
}

/** A piece behind its length; one of no length says that this was all. */
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

/** What the daemon says until it closes or ends its word; "" when it says nothing. */
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

function judge(answer: string, field: string): void {
  const name = /^stream: (.{1,200}) FOUND$/.exec(answer)?.[1]
  if (name !== undefined) {
    throw invalid(field, 'forbidden_value', `The file carries ${name.replace(/[^\w.-]/g, '_')} and is not kept.`)
  }
  if (answer !== 'stream: OK') throw unavailable()
}

function unavailable(): ProductError {
  return new ProductError('service_unavailable', 'The file could not be scanned for viruses now.')
}
