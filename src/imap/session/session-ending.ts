// How a session ends before its client ends it: what BYE says, and the signal that ends long commands.

import { setMaxListeners } from 'node:events'
import type { Duplex } from 'node:stream'
import { ConnectionEnded } from '../grammar/reader.ts'
import { no, type TaggedAnswer } from './answers.ts'

export class SessionEnding {
  readonly #controller = new AbortController()
  #answer: TaggedAnswer | null = null

  constructor() {
    // Commands that run one after another listen to it.
    setMaxListeners(0, this.#controller.signal)
  }

  /**
   * Aborted when the session shall end, with the failure of the command that runs, or when its connection has ended, with ConnectionEnded.
   * Long commands look at it between two pieces of their work.
   */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What ends the session behind the command that runs; null while nothing does. */
  get answer(): TaggedAnswer | null {
    return this.#answer
  }

  /** The session shall end. */
  expire(text: string, code: string | null): void {
    this.#answer ??= { condition: 'BYE', code, text }
    this.#controller.abort(no(code ?? 'UNAVAILABLE', text))
  }

  /**
   * Watches the stream of the session.
   * @param isCurrent whether the session still uses it @param halfClosed is called when the client has closed its half, or has gone
   */
  watch(stream: Duplex, isCurrent: () => boolean, halfClosed: () => void): void {
    stream.once('close', () => {
      if (isCurrent()) this.#controller.abort(new ConnectionEnded())
    })
    stream.once('end', halfClosed)
  }
}
