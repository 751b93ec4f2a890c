// Evaluates a search for one message with what is known of it so far: true, false, or null while that is not enough (RFC 9051 §6.4.4).

import { DAY_MS } from '../../base/durations.ts'
import { headerText } from '../../mime/headers.ts'
import { KEPT_FIELDS, type KeptHeaders } from '../../mime/message-headers.ts'
import type { FolderEntry } from '../../store/entries/folders-views.ts'
import { ENTRY_FLAGS } from '../../store/entries/keywords.ts'
import type { SystemFlag } from '../grammar/flags.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import type { FieldMatches } from './field-matches.ts'
import { addressesMatch, fieldMatches, matchesSentDay } from './message-text.ts'

/** What is known of a message; members that are absent have not been read. */
export interface MessageFacts {
  entry: FolderEntry
  isRecent: boolean
  labels?: readonly string[]
  ids?: { message: string; thread: string }
  headers?: KeptHeaders
  /** The answers of text keys, by key. */
  texts?: ReadonlyMap<SearchKey, boolean>
}

/** What does not depend on the message. */
export interface SearchSettings {
  /** ms. */
  now: number
  /** UIDs of the sets of a search, by key. */
  sets: ReadonlyMap<SearchKey, (uid: number) => boolean>
  fields: FieldMatches
}

const FLAG_BITS: Record<SystemFlag, number> = {
  seen: ENTRY_FLAGS.seen,
  flagged: ENTRY_FLAGS.flagged,
  answered: ENTRY_FLAGS.answered,
  draft: ENTRY_FLAGS.draft,
  deleted: ENTRY_FLAGS.deleted,
}

/** Whether a message matches; null when more has to be read. */
export function evaluate(key: SearchKey, facts: MessageFacts, settings: SearchSettings): boolean | null {
  switch (key.kind) {
    case 'and':
      return every(key.keys.map((child) => evaluate(child, facts, settings)))
    case 'or':
      return not(every([key.left, key.right].map((child) => not(evaluate(child, facts, settings)))))
    case 'not':
      return not(evaluate(key.key, facts, settings))
    default:
      return evaluateLeaf(key, facts, settings)
  }
}

function every(values: readonly (boolean | null)[]): boolean | null {
  if (values.includes(false)) return false
  return values.includes(null) ? null : true
}

function not(value: boolean | null): boolean | null {
  return value === null ? null : !value
}

function evaluateLeaf(key: SearchKey, facts: MessageFacts, settings: SearchSettings): boolean | null {
  const { entry } = facts
  switch (key.kind) {
    case 'all':
    case 'save-date-supported':
      return true
    case 'flag':
      return ((entry.flags & FLAG_BITS[key.flag]) !== 0) === key.isSet
    case 'recent':
      return facts.isRecent
    case 'set':
      return settings.sets.get(key)!(entry.uid)
    case 'size':
      return key.relation === 'larger' ? entry.sizeBytes > key.bytes : entry.sizeBytes < key.bytes
    case 'within': {
      const isYoung = entry.receivedAt >= settings.now - key.seconds * 1000
      return key.relation === 'younger' ? isYoung : !isYoung
    }
    case 'modseq':
      return entry.modSeq >= key.least
    case 'date':
      return evaluateDate(key, facts)
    default:
      return evaluateContent(key, facts, settings.fields)
  }
}

function evaluateDate(key: Extract<SearchKey, { kind: 'date' }>, { entry, headers }: MessageFacts): boolean | null {
  if (key.date === 'sent')
    return headers === undefined
      ? null
      : matchesSentDay(headerText(headers.fields, 'date') ?? undefined, key.relation, key.day)
  const at = key.date === 'saved' ? (entry.filedAt ?? entry.receivedAt) : entry.receivedAt
  if (key.relation === 'before') return at < key.day
  return key.relation === 'since' ? at >= key.day : at >= key.day && at < key.day + DAY_MS
}

function evaluateContent(
  key: SearchKey,
  { entry, labels, ids, headers, texts }: MessageFacts,
  fields: FieldMatches,
): boolean | null {
  switch (key.kind) {
    case 'keyword': {
      if ((entry.flags & ENTRY_FLAGS.labelled) === 0) return !key.isSet
      return labels === undefined ? null : labels.includes(key.keyword) === key.isSet
    }
    case 'id':
      return ids === undefined ? null : (key.of === 'message' ? ids.message : ids.thread) === key.id
    case 'address':
      return headers === undefined ? null : fields.some(key, headers, key.field, (value) => addressesMatch(value, key))
    case 'subject':
      return headers === undefined ? null : fields.some(key, headers, 'subject', (value) => fieldMatches(value, key))
    case 'header':
      if (isKeptField(key.name)) return headers === undefined ? null : headerMatches(key, headers, fields)
      return texts?.get(key) ?? null
    default:
      return texts?.get(key) ?? null
  }
}

/** Whether HEADER of this name is answered from the kept fields. */
export function isKeptField(name: string): boolean {
  return KEPT_FIELDS.has(name.toLowerCase())
}

function headerMatches(
  key: Extract<SearchKey, { kind: 'header' }>,
  headers: KeptHeaders,
  fields: FieldMatches,
): boolean {
  const name = key.name.toLowerCase()
  // An empty string asks whether the field exists.
  if (key.value === '') return fields.find(headers, name).length > 0
  return fields.some(key, headers, name, (value) => fieldMatches(value, key))
}
