// The models of a mailbox and of a team: made from labels alone, and made again without a label that is taken back.

import { hashText, mix } from './feature-set.ts'
import { type FeatureViews, logOddsOf, SpamModel } from './model.ts'

/** 65,536 weights: 64 KiB for each model in use. */
export const SLOT_BITS = 16
const SLOT_MASK = 2 ** SLOT_BITS - 1
/** Features of each view that are learned and compared; the first parts of a message count. */
export const LEARNED_FEATURES_MAX = 4096
const WEIGHT_MAX = 127
/** Log-odds that the models of a mailbox and its team add at most: what was learned can decide, but no label outweighs everything else. */
const LEARNED_MAX = 12
/** Labels of the rarer kind with which a model counts half. */
const HALF_CONFIDENT = 30
/** Scale and shift, 32-bit floats, stand before the weights. */
const HEAD_BYTES = 8

/** Slots of the features of one message, by view: words, sequences, origin, facts. */
export type Slots = FeatureViews

/** One label of a person, with the features of the message. */
export interface LabeledExample {
  slots: Slots
  isSpam: boolean
  /** Log-odds of everything that is not learned: the start model and the points of the facts. */
  prior: number
}

/** @param key of the appliance: a secret, so that strangers cannot compute which words share a weight */
export function slotsOf(views: readonly Uint32Array[], key: number): Slots {
  return views.map((features) =>
    features.subarray(0, LEARNED_FEATURES_MAX).map((feature) => mix(feature ^ key) & SLOT_MASK),
  )
}

/** Features of the facts of a message, and of its sender's history. */
export function factFeatures(names: readonly string[]): Uint32Array {
  return Uint32Array.from(new Set(names), (name) => hashText(`fact:${name}`))
}

/** Sorted slots as the distances between them, seven bits a byte; views are separated by their lengths. */
export function packSlots(views: Slots): Uint8Array {
  const bytes: number[] = []
  const put = (value: number) => {
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
    bytes.push(rest)
  }
  for (const slots of views) {
    put(slots.length)
    let last = 0
    for (const slot of slots.slice().sort()) {
      put(slot - last)
      last = slot
    }
  }
  return Uint8Array.from(bytes)
}

export function unpackSlots(bytes: Uint8Array): Slots {
  const views: Uint32Array[] = []
  let at = 0
  const take = () => {
    let [value, shift] = [0, 0]
    for (;;) {
      const byte = bytes[at++]!
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
      shift += 7
    }
  }
  while (at < bytes.length) {
    const slots = new Uint32Array(take())
    let last = 0
    for (let index = 0; index < slots.length; index++) {
      last += take()
      slots[index] = last
    }
    views.push(slots)
  }
  return views
}

/** Learns the labels in their order. Two labels of one kind say little without some of the other: both are needed to be confident. */
export function trainedOn(examples: readonly LabeledExample[]): LearnedModel {
  const model = new SpamModel(SLOT_BITS)
  const before: [ham: number[], spam: number[]] = [[], []]
  for (const { slots, isSpam, prior } of examples) {
    before[Number(isSpam) as 0 | 1].push(model.logOdds(slots))
    model.learn(slots, isSpam, { prior })
  }
  const fewer = Math.min(...before.map(({ length }) => length))
  const confidence = fewer / (fewer + HALF_CONFIDENT)
  return LearnedModel.rounded(model.weights, {
    factor: confidence,
    shift: -(laterMean(before[0]) + laterMean(before[1])) / 2,
  })
}

/** What a model thought of the second half of messages before it learned them: the mean of both kinds is what it adds to any message. */
function laterMean(values: readonly number[]): number {
  const later = values.slice(values.length >> 1)
  return later.length === 0 ? 0 : later.reduce((sum, value) => sum + value, 0) / later.length
}

/** The mean of the models of the mailboxes of a team: each mailbox has one voice, however much it labels. */
export function meanOf(models: readonly LearnedModel[]): LearnedModel {
  const sum = new Float32Array(2 ** SLOT_BITS)
  let shift = 0
  for (const model of models) {
    const factor = model.scale / models.length
    shift += model.shift / models.length
    for (let slot = 0; slot < sum.length; slot++) sum[slot]! += model.weights[slot]! * factor
  }
  return LearnedModel.rounded(sum, { factor: 1, shift })
}

export class LearnedModel {
  /** Log-odds of a weight of 1. */
  readonly scale: number
  /** Log-odds that are added to every message. */
  readonly shift: number
  readonly weights: Int8Array

  private constructor(scale: number, shift: number, weights: Int8Array) {
    this.scale = scale
    this.shift = shift
    this.weights = weights
  }

  /** One byte for each weight. */
  static rounded(weights: Float32Array, { factor, shift }: { factor: number; shift: number }): LearnedModel {
    const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
    const step = largest === 0 ? 1 : largest / WEIGHT_MAX
    const rounded = Int8Array.from(weights, (weight) => Math.round(weight / step))
    return new LearnedModel(Math.fround(step * factor), Math.fround(shift * factor), rounded)
  }

  /** @throws RangeError for other bytes than those of `encode` */
  static decode(bytes: Uint8Array): LearnedModel {
    if (bytes.length !== HEAD_BYTES + 2 ** SLOT_BITS) throw new RangeError('Not a model of this version.')
    const head = new DataView(bytes.buffer, bytes.byteOffset)
    return new LearnedModel(
      head.getFloat32(0, true),
      head.getFloat32(4, true),
      Int8Array.from(bytes.subarray(HEAD_BYTES)),
    )
  }

  encode(): Uint8Array {
    const bytes = new Uint8Array(HEAD_BYTES + this.weights.length)
    const head = new DataView(bytes.buffer)
    head.setFloat32(0, this.scale, true)
    head.setFloat32(4, this.shift, true)
    bytes.set(new Uint8Array(this.weights.buffer, this.weights.byteOffset, this.weights.length), HEAD_BYTES)
    return bytes
  }

  logOdds(slots: Slots): number {
    return logOddsOf(this.weights, slots) * this.scale + this.shift
  }
}

/** The log-odds that the models of a mailbox and its team add. */
export function learnedLogOdds(slots: Slots, models: readonly LearnedModel[]): number {
  const sum = models.reduce((total, model) => total + model.logOdds(slots), 0)
  return Math.max(-LEARNED_MAX, Math.min(LEARNED_MAX, sum))
}
