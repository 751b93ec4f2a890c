// How well spam is told from good mail: the own model beside bogofilter, SpamAssassin and rspamd, on the public corpus in a fixed order.

import process from 'node:process'
import { campaignsOf, halfOf } from '../scripts/spam/campaigns.ts'
import { type CorpusMessage, corpusMessages } from '../scripts/spam/corpus.ts'
import { startExamples, trained } from '../scripts/spam/examples.ts'
import { readHeaders } from '../src/mime/headers.ts'
import { parseMessage } from '../src/mime/parse.ts'
import { contentFeatures, originFeatures } from '../src/spam/features.ts'
import { readMaterial } from '../src/spam/material.ts'
import { type FeatureViews, SpamModel } from '../src/spam/model.ts'
import { secondHalf, type Verdicts, worthOf } from './spam-measure.ts'
import { bogofilter, type Rival, rspamd, spamAssassin } from './spam-rivals.ts'
import { printTable, short } from './table.ts'

/** Weights of the measured model. */
const BITS = 19
const LABELS = [0, 20, 50, 200, 1000]

interface Read {
  content: FeatureViews
  all: FeatureViews
  isSpam: boolean
  /** Log-odds by a start model that has learned the other half of the campaigns. */
  start: number
}

/** @param rivalMessages messages that the other programs are asked about */
export async function benchSpam(folder: string, rivalMessages: number): Promise<void> {
  const messages = corpusMessages()
  const before = process.cpuUsage()
  const read = readAll(messages)
  const { user } = process.cpuUsage(before)
  withStart(read, messages)
  console.log(
    `\n${messages.length} messages, ${read.filter(({ isSpam }) => isSpam).length} spam; reading: ${short(user / 1000 / read.length)} ms each`,
  )
  const own = [
    run('all headers', read, ({ all }) => all, false),
    run('all headers, start model', read, ({ all }) => all, true),
    run('no origin', read, ({ content }) => content, false),
    run('no origin, start model', read, ({ content }) => content, true),
    { name: 'start model alone', elapsedMs: 0, verdicts: verdictsOf(read, ({ start }) => start) },
  ]
  print('Predict, then train: all messages / second half', own)
  printCurve(read)
  const few = messages.slice(0, rivalMessages)
  const others = [bogofilter(folder, few), await spamAssassin(folder, few), await rspamd(folder, few)]
  const all = [...own, ...others].filter((rival) => rival !== null)
  print(
    `The first ${few.length} messages: all / second half`,
    all.map((rival) => first(rival, few.length)),
  )
}

function readAll(messages: readonly CorpusMessage[]): Read[] {
  return messages.map(({ bytes, isSpam }) => {
    const message = parseMessage(bytes)
    const { words, grams } = contentFeatures(readMaterial(bytes, message))
    const content = [words, grams]
    return { content, all: [...content, originFeatures(message, readHeaders(bytes).fields)], isSpam, start: 0 }
  })
}

function withStart(read: Read[], messages: readonly CorpusMessage[]): void {
  const examples = startExamples(messages)
  const models = [0, 1].map((half) => trained(examples.filter((example) => example.half !== half)))
  const campaigns = campaignsOf(read.map(({ content }) => content[0]!))
  for (const [index, message] of read.entries())
    message.start = models[halfOf(campaigns[index]!)]!.logOdds(message.content)
}

function run(name: string, read: readonly Read[], viewsOf: (message: Read) => FeatureViews, hasStart: boolean): Rival {
  const model = new SpamModel(BITS)
  const before = process.cpuUsage()
  const verdicts = verdictsOf(read, (message) => {
    const prior = hasStart ? message.start : 0
    const score = prior + model.logOdds(viewsOf(message))
    model.learn(viewsOf(message), message.isSpam, { prior })
    return score
  })
  return { name, elapsedMs: process.cpuUsage(before).user / 1000 / read.length, verdicts }
}

function verdictsOf(read: readonly Read[], scoreOf: (message: Read) => number): Verdicts {
  return { scores: read.map(scoreOf), labels: read.map(({ isSpam }) => isSpam) }
}

/** The second half, by models that have learned so many labels of the first one. */
function printCurve(read: readonly Read[]): void {
  const tests = read.slice(read.length >> 1)
  const rows = LABELS.map((count) => [
    String(count),
    ...[true, false].flatMap((hasAll) =>
      [false, true].map((hasStart) => {
        if (count === 0 && !hasStart) return '–'
        const viewsOf = (message: Read) => (hasAll ? message.all : message.content)
        const priorOf = ({ start }: Read) => (hasStart ? start : 0)
        const model = new SpamModel(BITS)
        for (const message of read.slice(0, count))
          model.learn(viewsOf(message), message.isSpam, { prior: priorOf(message) })
        const { wrongPairs, caught } = worthOf(
          verdictsOf(tests, (message) => priorOf(message) + model.logOdds(viewsOf(message))),
        )
        return `${wrongPairs.toFixed(2)}  ${caught[0].toFixed(1)}  ${caught[1].toFixed(1)}`
      }),
    ),
  ])
  printTable(
    'Second half after so many labels: 1-AUC %, caught % at 0.1 % and at 0.5 % of good mail lost',
    ['Labels', 'all headers', 'all, start model', 'no origin', 'no origin, start model'],
    rows,
  )
}

function print(title: string, rivals: readonly Rival[]): void {
  const rows = rivals.map(({ name, elapsedMs, verdicts }) => {
    const [all, second] = [worthOf(verdicts), worthOf(secondHalf(verdicts))]
    return [
      name,
      `${all.wrongPairs.toFixed(3)} / ${second.wrongPairs.toFixed(3)}`,
      `${all.caught[0].toFixed(1)} / ${second.caught[0].toFixed(1)}`,
      `${all.caught[1].toFixed(1)} / ${second.caught[1].toFixed(1)}`,
      elapsedMs === 0 ? '–' : short(elapsedMs),
    ]
  })
  printTable(title, ['Filter', '1-AUC %', 'caught % at 0.1 %', 'at 0.5 %', 'ms each'], rows)
}

function first({ name, elapsedMs, verdicts: { scores, labels } }: Rival, count: number): Rival {
  return { name, elapsedMs, verdicts: { scores: scores.slice(0, count), labels: labels.slice(0, count) } }
}
