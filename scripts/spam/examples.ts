// Reads messages into examples of the start model: features, label, campaign and weight.

import { parseMessage } from '../../src/mime/parse.ts'
import { type ContentFeatures, contentFeatures } from '../../src/spam/features.ts'
import { readMaterial } from '../../src/spam/material.ts'
import { type FeatureViews, SpamModel } from '../../src/spam/model.ts'
import { campaignsOf, halfOf } from './campaigns.ts'
import type { CorpusMessage } from './corpus.ts'
import { messageIn, modernHam } from './modern-ham.ts'

export interface Example {
  views: FeatureViews
  isSpam: boolean
  half: 0 | 1
  /** Weight in training: campaigns count by the square root of their size. */
  share: number
  isFromCorpus: boolean
}

/** Every fourth good message of the corpus stands in a modern form too, so that HTML alone is no sign of spam. */
const MODERN_EVERY = 4
const REWRITTEN_TEXT_MAX = 6000
const BITS = 19

export function readFeatures(bytes: Uint8Array): ContentFeatures {
  return contentFeatures(readMaterial(bytes, parseMessage(bytes)))
}

/** All examples in a fixed order that mixes their sources. */
export function startExamples(corpus: readonly CorpusMessage[]): Example[] {
  const features = corpus.map(({ bytes }) => readFeatures(bytes))
  const campaigns = campaignsOf(features.map(({ words }) => words))
  const sizes = Map.groupBy(campaigns, (campaign) => campaign)
  const examples: Example[] = []
  for (const [index, { isSpam, bytes }] of corpus.entries()) {
    const campaign = campaigns[index]!
    const common = { isSpam, half: halfOf(campaign), share: 1 / Math.sqrt(sizes.get(campaign)!.length) }
    examples.push({ ...common, views: viewsOf(features[index]!), isFromCorpus: true })
    if (isSpam || index % MODERN_EVERY > 0) continue
    examples.push({ ...common, views: viewsOf(readFeatures(rewritten(bytes, index))), isFromCorpus: false })
  }
  for (const { campaign, bytes } of modernHam()) {
    const common = { isSpam: false, half: halfOf(campaign * 31 + 5), share: 1, isFromCorpus: false }
    examples.push({ ...common, views: viewsOf(readFeatures(bytes)) })
  }
  return mixed(examples)
}

/** The start model reads words and sequences of characters; see StartModel. */
export function viewsOf({ words, grams }: ContentFeatures): FeatureViews {
  return [words, grams]
}

export function trained(examples: readonly Example[]): SpamModel {
  const model = new SpamModel(BITS)
  for (const { views, isSpam, share } of examples) model.learn(views, isSpam, { share })
  return model
}

function rewritten(bytes: Uint8Array, index: number): Buffer {
  const { from, subject, searchText } = parseMessage(bytes)
  const paragraphs = searchText.slice(0, REWRITTEN_TEXT_MAX).split(/\n\s*\n/)
  return messageIn(1 + (index % 3), from[0]?.name ?? '', subject, paragraphs)
}

function mixed(examples: readonly Example[]): Example[] {
  const key = (index: number) => Math.imul(index + 1, 0x9e3779b1) >>> 0
  return examples
    .map((example, index) => ({ example, key: key(index) }))
    .sort((a, b) => a.key - b.key)
    .map(({ example }) => example)
}
