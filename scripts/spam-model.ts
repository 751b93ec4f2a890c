// Builds the start model of the spam score, src/spam/start-model.bin: node scripts/run.js scripts/spam-model.ts [--check]
//
// docs/design/spam.md §6 says what it is made from. With --check it compares instead of writing: the result is the same on every machine.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { StartModelHead } from '../src/spam/start-model.ts'
import { corpusMessages } from './spam/corpus.ts'
import { type Example, startExamples, trained } from './spam/examples.ts'

const FILE = join(import.meta.dirname, '../src/spam/start-model.bin')
/** Shares of good messages whose log-odds the file holds. */
const SHARES = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
const WEIGHT_MAX = 127
const DIGITS = 4

const examples = startExamples(corpusMessages())
const file = encode(trained(examples).weights, hamLossOf(examples))
if (!process.argv.includes('--check')) writeFileSync(FILE, file)
else if (!file.equals(readFileSync(FILE))) throw new Error('The start model is not the one that the script builds.')
console.log(`${examples.length} examples, ${file.length} bytes`)

/** Of models that have learned the other half of the campaigns. */
function hamLossOf(all: readonly Example[]): StartModelHead['hamLoss'] {
  const logOdds = [0, 1].flatMap((half) => {
    const model = trained(all.filter((example) => example.half !== half))
    return all.filter((example) => example.half === half && !example.isSpam).map(({ views }) => model.logOdds(views))
  })
  logOdds.sort((a, b) => b - a)
  return SHARES.map((share) => [share, Number(logOdds[Math.floor(share * logOdds.length)]!.toFixed(DIGITS))])
}

function encode(weights: Float32Array, hamLoss: StartModelHead['hamLoss']): Buffer {
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
  const scale = Number((largest / WEIGHT_MAX).toPrecision(6))
  const head: StartModelHead = { scale, hamLoss }
  const rounded = Int8Array.from(weights, (weight) => Math.round(weight / scale))
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), new Uint8Array(rounded.buffer)])
}
