// Relevancy of messages for a FUZZY search (RFC 6203 §4): words in the subject count most, then those in addresses.

import { piecesOfRanges } from '../../base/number-ranges.ts'
import { type EnvelopeFields, envelopeFields } from '../../mime/envelope.ts'
import { foldedText } from '../../mime/header-keys.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import type { FolderViews } from '../../store/entries/folders-views.ts'
import { type MailSource, MessagePage } from '../fetch/message-content.ts'
import type { FuzzyKey, SearchKey } from '../grammar/search-keys.ts'
import { rangesOf } from '../grammar/sets.ts'
import { fieldContains, hasWords } from './message-text.ts'

/** Scores are from 1 to 100. */
const BEST = 100
/** The words are in addresses of the message. */
const IN_ADDRESSES = 75
/** The words are elsewhere, or not in the order of the search. */
const ELSEWHERE = 50

/** Where scores are read. */
export interface ScoredSource extends MailSource {
  readonly app: MailSource['app'] & {
    readonly store: { readonly programs: { readonly views: Pick<FolderViews, 'entries'> } }
  }
}

const AT_ONCE = 100

/** Scores by UID; messages that are gone have the lowest. Gives way to others between two pieces. */
export async function scoresOf(
  source: ScoredSource,
  folder: number,
  uids: readonly number[],
  key: SearchKey,
): Promise<Map<number, number>> {
  const wanted = [...fuzzyKeys(key)]
  const scores = new Map(uids.map((uid) => [uid, 1]))
  for (const ranges of piecesOfRanges(rangesOf(uids.toSorted((a, b) => a - b)), AT_ONCE)) {
    const wantedRanges = ranges.map(([first, last]) => ({ first, last }))
    const entries = source.app.store.programs.views.entries(folder, wantedRanges, AT_ONCE)
    const needs = { rows: false, labels: false, headers: true, structure: false }
    const content = new MessagePage(source, entries, needs, new Map())
    for (const { uid, message } of entries) {
      // A damaged message is no reason to score none of the others.
      const headers = await content.headers(message).catch((error: unknown) => {
        if (!(error instanceof DamagedContent)) throw error
      })
      if (headers !== undefined) scores.set(uid, scoreOf(envelopeFields(headers.fields), wanted))
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return scores
}

/** Keys for texts that a message may match fuzzily; NOT makes no message more relevant. */
export function* fuzzyKeys(key: SearchKey): Generator<FuzzyKey> {
  if (key.kind === 'and') for (const child of key.keys) yield* fuzzyKeys(child)
  else if (key.kind === 'or') yield* [...fuzzyKeys(key.left), ...fuzzyKeys(key.right)]
  else if ('isFuzzy' in key && key.isFuzzy) yield key
}

/** The mean over all keys. */
export function scoreOf(fields: EnvelopeFields, wanted: readonly FuzzyKey[]): number {
  if (wanted.length === 0) return BEST
  const sum = wanted.reduce((total, key) => total + scoreFor(fields, key), 0)
  return Math.max(1, Math.round(sum / wanted.length))
}

function scoreFor(fields: EnvelopeFields, key: FuzzyKey): number {
  const contains = (text: string | undefined) => text !== undefined && fieldContains(text, foldedText(key.value))
  if (key.kind === 'subject') return contains(fields.subject) ? BEST : ELSEWHERE
  if (key.kind === 'address') return contains(fields[key.field]) ? BEST : ELSEWHERE
  if (key.kind === 'header') return ELSEWHERE
  if (contains(fields.subject) && key.scope === 'text') return BEST
  const { from, to, cc } = fields
  return [from, to, cc].some((text) => text !== undefined && hasWords(text, key.value)) ? IN_ADDRESSES : ELSEWHERE
}
