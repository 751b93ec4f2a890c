// The spam score of a message for one mailbox: facts with their points, what its words are worth, and what was learned.

import type { HeaderField } from '../mime/headers.ts'
import { FACTS, type Fact, type FactName, factOf } from './catalog.ts'
import { claimFacts } from './facts/claims.ts'
import { contentFacts } from './facts/content.ts'
import { type SenderCircumstances, senderFacts } from './facts/sender.ts'
import { contentFeatures, originFeatures } from './features.ts'
import type { SenderHistory } from './history.ts'
import { factFeatures, type LearnedModel, learnedLogOdds, type Slots, slotsOf } from './learned-model.ts'
import type { SpamMaterial } from './material.ts'
import { probability } from './model.ts'
import type { StartModel } from './start-model.ts'
import { startModel } from './start-model.ts'

/** What counts: a fact, the words of the message as a whole, or what the mailbox and its team have learned of messages like it. */
export interface SpamPart {
  reason: FactName | 'words' | 'learned'
  points: number
  /** The part of the message that shows it; null when there is none. */
  detail: string | null
}

export interface SpamScore {
  /** Sum of the points, with one decimal; 5 files to Junk by default. */
  score: number
  /** The points of facts about sender and form: content alone never refuses a message. */
  refusalScore: number
  /** Calibrated probability that it is spam, from 0 to 1, with three decimals. */
  probability: number
  /** The heaviest first. */
  parts: SpamPart[]
}

/** Evidence from the content of a message, collected where its bytes are. */
export interface SpamContent {
  facts: Fact[]
  /** Hosts of its links, each once. */
  hosts: string[]
  /** Log-odds by the start model. */
  logOdds: number
  /** For the models of the mailbox and its team. */
  slots: Slots
}

/** What is known beside the message itself. */
export interface SpamKnowledge {
  /** Null where nothing can be known, as for a message without a single author. */
  history: SenderHistory | null
  models: readonly LearnedModel[]
  /** Of services that were asked: blocklists, another filter. */
  opinions: readonly Fact[]
  /** The share of good messages that may go to Junk by their words: `SPAM_JUNK_HAM_LOSS`. */
  hamLoss: number
  /** Of this appliance, for the slots of facts. */
  key: number
}

/** The stated loss that 5 points have by default: 1 in 1,000 good messages. */
export const HAM_LOSS = 0.001

/** A message about whose sender and mailbox nothing is known. */
export const NOTHING_KNOWN: SpamKnowledge = { history: null, models: [], opinions: [], hamLoss: HAM_LOSS, key: 0 }

/** What may be told to every recipient of a message. */
export function withoutMailbox(knowledge: SpamKnowledge): SpamKnowledge {
  return { ...knowledge, history: null, models: [] }
}

/** Points per factor of ten: ten times the stated loss of good messages has 0 points, the stated loss has the 5 that file to Junk. */
const POINTS_PER_TEN = 5
const FREE_FACTOR = 10
/** Words alone file to Junk, and no more; together with what was learned they have more weight. */
const WORDS_MAX = 7
const LEARNED_MAX = 10
const LEARNED_MIN = -5
/** Log-odds of a point: five are a factor of ten. */
export const POINT_LOG_ODDS = Math.LN10 / POINTS_PER_TEN
/** A known sender has at most this score, one whose messages were moved to Junk at least the other. */
const KNOWN_MAX = 2
const JUNKED_MIN = 6
/** A known sender whose account was taken over sends these. */
const DESPITE_HISTORY: ReadonlySet<FactName> = new Set([
  ...(['attachment_program', 'attachment_disguised', 'password_asked', 'virus_found'] as const),
])
/** Log-odds of all evidence together as those of the observed share of spam: measured, docs/design/spam.md §3. */
const CALIBRATION = { factor: 1.4, shift: 0.8 }
/** Of a message whose content was not examined. */
const UNREAD_LOG_ODDS = -4
/** Facts that file to Junk alone stay, whatever was learned. */
const DECISIVE_POINTS = 5

/** @param isList true for a mailing list */
export function examineContent(
  material: SpamMaterial,
  { isList, fields, key }: { isList: boolean; fields: readonly HeaderField[]; key: number },
  model: StartModel,
): SpamContent {
  const { words, grams } = contentFeatures(material)
  const views = [words, grams, originFeatures(material.message, fields)]
  return {
    facts: [...claimFacts(material, isList), ...contentFacts(material)],
    hosts: [...new Set(material.links.map(({ host }) => host))],
    logOdds: model.logOdds({ words, grams }),
    slots: slotsOf(views, key),
  }
}

/** @param content null for a message whose content was not examined */
export function scoreSpam(
  circumstances: SenderCircumstances,
  content: SpamContent | null,
  knowledge: SpamKnowledge = NOTHING_KNOWN,
): SpamScore {
  return scoreFacts(senderFacts(circumstances), content, knowledge)
}

/** The score of the content alone. */
export function scoreContent(content: SpamContent, knowledge: SpamKnowledge): SpamScore {
  return scoreFacts([], content, knowledge)
}

function scoreFacts(sender: readonly Fact[], content: SpamContent | null, knowledge: SpamKnowledge): SpamScore {
  const { history, models, opinions, hamLoss, key } = knowledge
  const known = (history?.facts ?? []).map((name) => factOf(name))
  const facts = [...sender, ...(content?.facts ?? []), ...known, ...opinions]
  const parts: SpamPart[] = facts.map(({ name, points, detail }) => ({ reason: name, points, detail }))
  const factPoints = sumOf(facts)
  let logOdds = factPoints * POINT_LOG_ODDS + (content?.logOdds ?? UNREAD_LOG_ODDS)
  if (content !== null) {
    const learned = models.length === 0 ? 0 : learnedLogOdds([...content.slots, factSlots(facts, key)], models)
    parts.push(...wordParts(content.logOdds, learned, hamLoss))
    logOdds += learned
  }
  const decisive = sumOf(facts.filter(({ points }) => points >= DECISIVE_POINTS))
  const sum = Math.max(sumOf(parts), decisive, 0)
  return {
    score: rounded(withHistory(sum, facts)),
    refusalScore: sumOf(facts.filter(({ name }) => FACTS[name].kind === 'sender' || FACTS[name].kind === 'form')),
    probability: Math.round(1000 * probability(CALIBRATION.factor * logOdds + CALIBRATION.shift)) / 1000,
    parts: parts.sort((a, b) => Math.abs(b.points) - Math.abs(a.points)),
  }
}

function factSlots(facts: readonly Fact[], key: number): Uint32Array {
  return slotsOf([factFeatures(facts.map(({ name }) => name))], key)[0]!
}

/** A clear history decides, unless a known sender sends what they would not. */
function withHistory(score: number, facts: readonly Fact[]): number {
  const has = (name: FactName) => facts.some((fact) => fact.name === name)
  if (has('sender_junked')) return Math.max(score, JUNKED_MIN)
  if (!has('sender_known') || facts.some(({ name }) => DESPITE_HISTORY.has(name))) return score
  return Math.min(score, KNOWN_MAX)
}

/** The points of the words by the start model, and those that what was learned adds or takes away. */
export function wordParts(start: number, learned: number, hamLoss: number): SpamPart[] {
  const pointsFor = (logOdds: number) =>
    POINTS_PER_TEN * Math.log10((FREE_FACTOR * hamLoss) / startModel().hamLoss(logOdds))
  const bounded = (points: number, most: number) => Math.max(LEARNED_MIN, Math.min(most, points))
  const alone = rounded(Math.max(0, bounded(pointsFor(start), WORDS_MAX)))
  const together = bounded(pointsFor(start + learned), LEARNED_MAX)
  const change = learned < 0 ? together - bounded(pointsFor(start), WORDS_MAX) : Math.max(0, together) - alone
  const parts: SpamPart[] = []
  if (alone > 0) parts.push({ reason: 'words', points: alone, detail: null })
  if (rounded(change) !== 0 && Math.sign(change) === Math.sign(learned))
    parts.push({ reason: 'learned', points: rounded(change), detail: null })
  return parts
}

function sumOf(parts: readonly { points: number }[]): number {
  return rounded(parts.reduce((total, { points }) => total + points, 0))
}

function rounded(points: number): number {
  return Math.round(points * 10) / 10
}
