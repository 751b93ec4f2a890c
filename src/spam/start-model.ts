// The model that comes with the program: what an appliance knows before anybody has labeled a message (docs/design/spam.md §6).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContentFeatures } from './features.ts'
import { logOddsOf } from './model.ts'

/** The first line of the file. */
export interface StartModelHead {
  /** Factor of the weights, which are whole numbers from -127 to 127. */
  scale: number
  /** Log-odds above which lies a share of good messages: pairs of both, the largest share first. */
  hamLoss: [share: number, logOdds: number][]
}

/** Log-odds per factor of ten beyond what was measured, as calibrated odds have it. */
const BEYOND = Math.LN10
const LF = 10

export class StartModel {
  readonly #weights: Int8Array
  readonly #head: StartModelHead

  constructor(file: Uint8Array) {
    const end = file.indexOf(LF)
    this.#head = JSON.parse(Buffer.from(file.subarray(0, end)).toString()) as StartModelHead
    this.#weights = new Int8Array(file.subarray(end + 1))
  }

  /** Log-odds that the message is spam; words alone, since the rest of a header tells who collected the examples. */
  logOdds({ words, grams }: ContentFeatures): number {
    return logOddsOf(this.#weights, [words, grams]) * this.#head.scale
  }

  /** The share of good messages whose log-odds are at least this high, by what was measured on messages the model had not seen. */
  hamLoss(logOdds: number): number {
    const table = this.#head.hamLoss
    const at = table.findIndex(([, limit]) => logOdds < limit)
    if (at === 0) return 1
    const [share, from] = table.at(at < 0 ? -1 : at - 1)!
    if (at < 0) return share * 10 ** (-(logOdds - from) / BEYOND)
    const [next, to] = table[at]!
    return share * (next / share) ** ((logOdds - from) / (to - from))
  }
}

let loaded: StartModel | null = null

/** Read with the first message of a thread: half a megabyte, beside this file and beside the bundle. */
export function startModel(): StartModel {
  loaded ??= new StartModel(readFileSync(join(import.meta.dirname, 'start-model.bin')))
  return loaded
}
