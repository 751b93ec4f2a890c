// The spam score of a message: facts with their points, and what its words are worth by the model.

import { FACTS, type Fact, type FactName } from './catalog.ts'
import { claimFacts } from './facts/claims.ts'
import { contentFacts } from './facts/content.ts'
import { type SenderCircumstances, senderFacts } from './facts/sender.ts'
import { contentFeatures } from './features.ts'
import type { SpamMaterial } from './material.ts'
import type { StartModel } from './start-model.ts'

/** What counts: a fact, or the words of the message as a whole. */
export interface SpamPart {
  reason: FactName | 'words'
  points: number
}

export interface SpamScore {
  /** Sum of the points, with one decimal; 5 files to Junk by default. */
  score: number
  /** The points of facts about sender and form: content alone never refuses a message. */
  refusalScore: number
  parts: SpamPart[]
}

/** Evidence from the content of a message, collected where its bytes are. */
export interface SpamContent {
  facts: Fact[]
  /** Points of the words. */
  points: number
}

/** Points per factor of ten: 1 in 100 good messages has more than 0 points, 1 in 1,000 has the 5 that file to Junk. */
const POINTS_PER_TEN = 5
const FREE_SHARE = 0.01
/** Words alone file to Junk, and no more. */
const WORDS_MAX = 7

/** @param isList true for a mailing list */
export function examineContent(material: SpamMaterial, isList: boolean, model: StartModel): SpamContent {
  const loss = model.hamLoss(model.logOdds(contentFeatures(material)))
  return { facts: [...claimFacts(material, isList), ...contentFacts(material)], points: pointsOf(loss) }
}

/** Points for a score that this share of good messages reaches. */
function pointsOf(hamLoss: number): number {
  if (hamLoss >= FREE_SHARE) return 0
  return rounded(Math.min(POINTS_PER_TEN * Math.log10(FREE_SHARE / hamLoss), WORDS_MAX))
}

/** @param content null for a message whose content was not examined */
export function scoreSpam(circumstances: SenderCircumstances, content: SpamContent | null): SpamScore {
  const facts = [...senderFacts(circumstances), ...(content?.facts ?? [])]
  const parts: SpamPart[] = facts.map(({ name, points }) => ({ reason: name, points }))
  if (content !== null && content.points > 0) parts.push({ reason: 'words', points: content.points })
  return {
    score: sumOf(parts),
    refusalScore: sumOf(facts.filter(({ name }) => FACTS[name].kind === 'sender' || FACTS[name].kind === 'form')),
    parts,
  }
}

function sumOf(parts: readonly { points: number }[]): number {
  return rounded(parts.reduce((total, { points }) => total + points, 0))
}

function rounded(points: number): number {
  return Math.round(points * 10) / 10
}
