// The runner: takes what is due from the queue and sees to it until its fate is written down.

import type { Service } from '../../base/loop.ts'
import type { RunnerParts } from './parts.ts'

export class Runner implements Service {
  readonly name = 'deliver'
  readonly #parts: RunnerParts

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  /** Takes back what runners before it had in hand, and begins. There is one runner per data folder. */
  async start(): Promise<void> {
    throw new Error(`not built ${this.#parts.config.DATA_DIR}`)
  }

  /** Takes nothing new, lets what is in hand end, and gives the rest back. */
  async stop(): Promise<void> {}

  /** Resolves when nothing is in hand and nothing that is due could be taken. */
  settle(): Promise<void> {
    throw new Error('not built')
  }
}
