// What SORT and THREAD need of the messages that were found: collected page by page in serialized form, then ordered at once.

import { deserialize } from 'node:v8'
import { envelopeFields } from '../../mime/envelope.ts'
import { headerKeys } from '../../mime/header-keys.ts'
import { type HeaderField, readHeaders } from '../../mime/headers.ts'
import { FieldFinder, type KeptHeaders } from '../../mime/message-headers.ts'
import type { FolderEntry } from '../../store/entries/folders-views.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import { fuzzyKeys, scoreOf } from './relevancy.ts'
import { needsHeaders, type SortCriterion, type SortRow, sortedRows, sortValues } from './sort.ts'
import { type ThreadMessage, threadByOrderedSubject, threadByReferences } from './thread.ts'

/** What a search collects of its hits. */
export type Collection =
  | { kind: 'hits' }
  | { kind: 'sort'; criteria: readonly SortCriterion[]; key: SearchKey }
  | { kind: 'thread'; algorithm: ThreadAlgorithm; isUid: boolean }

export type ThreadAlgorithm = 'REFERENCES' | 'ORDEREDSUBJECT'

/** Serialized rows of the pages of a search. */
export interface OrderTask {
  pages: readonly Uint8Array[]
  collected: Exclude<Collection, { kind: 'hits' }>
}

/** UIDs in order with their modification numbers, or the text of threads. */
export type Ordered =
  | { kind: 'sort'; uids: Uint32Array<ArrayBuffer>; modSeqs: Float64Array<ArrayBuffer> }
  | { kind: 'thread'; text: Uint8Array<ArrayBuffer> }

export function needsHeadersFor(collection: Collection): boolean {
  return collection.kind === 'thread' || (collection.kind === 'sort' && needsHeaders(collection.criteria))
}

interface CollectedHit {
  entry: FolderEntry
  sequence: number
  /** Null when the collection needs none. */
  headers: KeptHeaders | null
}

/** The row of one message: for SORT its values, for THREAD its ids and subject. */
export function collectedRow(collection: Collection, hit: CollectedHit): SortRow | ThreadMessage | null {
  if (collection.kind === 'sort') return sortRow(collection, hit)
  return collection.kind === 'thread' ? threadRow(hit, collection.isUid) : null
}

function sortRow({ criteria, key }: Extract<Collection, { kind: 'sort' }>, { entry, headers }: CollectedHit): SortRow {
  const { uid, modSeq, receivedAt, sizeBytes } = entry
  const fields = headers === null ? {} : envelopeFields(fieldsNamed(headers, sortFields(criteria)))
  const isScored = criteria.some((one) => one.key === 'relevancy')
  const relevancy = isScored ? scoreOf(fields, [...fuzzyKeys(key)]) : undefined
  return { number: uid, modSeq, values: sortValues(criteria, { receivedAt, sizeBytes, fields, relevancy }) }
}

function threadRow({ entry, sequence, headers }: CollectedHit, isUid: boolean): ThreadMessage {
  const { subject, sentAt, threadIds } = headerKeys(headers === null ? [] : fieldsNamed(headers, THREAD_FIELDS))
  return {
    number: isUid ? entry.uid : sequence,
    date: sentAt ?? entry.receivedAt,
    subject: subject.key,
    isReply: subject.isReply,
    threadIds,
  }
}

const THREAD_FIELDS = ['date', 'subject', 'message-id', 'in-reply-to', 'references']
const finders = new Map<string, FieldFinder>()

/** The header fields that the values of criteria are computed from; RELEVANCY has all. */
function sortFields(criteria: readonly SortCriterion[]): readonly string[] | null {
  if (criteria.some(({ key }) => key === 'relevancy')) return null
  return [...new Set(criteria.map(({ key }) => key.replace(/^display/, '')))]
}

/** Fields of some names, which takes a fraction of the time of reading all; all fields for null. */
function fieldsNamed(headers: KeptHeaders, names: readonly string[] | null): HeaderField[] {
  if (names === null) return headers.fields
  const name = names.join()
  const finder = finders.get(name) ?? new FieldFinder(names)
  finders.set(name, finder)
  const text = finder.find(headers).join('')
  // The charset of a Subject in raw 8-bit text is that of Content-Type.
  return /[\x80-\xff]/.test(text) ? headers.fields : readHeaders(Buffer.from(text, 'latin1')).fields
}

/** Orders everything that was collected. */
export function orderCollected({ pages, collected }: OrderTask): Ordered {
  if (collected.kind === 'sort') {
    const rows = sortedRows(
      pages.flatMap((page) => deserialize(page) as SortRow[]),
      collected.criteria,
    )
    const uids = Uint32Array.from(rows, ({ number }) => number)
    return { kind: 'sort', uids, modSeqs: Float64Array.from(rows, ({ modSeq }) => modSeq) }
  }
  const messages = pages.flatMap((page) => deserialize(page) as ThreadMessage[]).sort((a, b) => a.number - b.number)
  const thread = collected.algorithm === 'REFERENCES' ? threadByReferences : threadByOrderedSubject
  return { kind: 'thread', text: new TextEncoder().encode(thread(messages)) }
}
