// Translates the filters of a list to search terms, so that both become SQL in the same way.

import type { MessageFilter } from '../rows/records.ts'
import { readQuery } from './parse-query.ts'
import { allOf, type Term } from './terms.ts'
import type { CorrespondentField } from './text.ts'
import { wordGroups } from './words.ts'

const CORRESPONDENT_FIELDS: readonly CorrespondentField[] = ['from', 'to', 'cc']

/**
 * All filters as one term; nested AND groups are flattened at the top level.
 * @param now ms
 * @throws ProductError invalid_parameter if `q` exceeds a limit
 */
export function filterTerm(filter: MessageFilter, now: number): Term {
  const terms: Term[] = []
  const add = (term: Term) => {
    if (term.kind === 'all') terms.push(...term.of.flatMap((child) => (child.kind === 'all' ? child.of : [child])))
    else terms.push(term)
  }
  if (filter.q !== undefined) add(readQuery(filter.q, now))
  if (filter.threadId !== undefined) add({ kind: 'thread', id: filter.threadId })
  if (filter.folderId !== undefined) add({ kind: 'folder', name: filter.folderId })
  person(filter.participant, CORRESPONDENT_FIELDS, add)
  person(filter.from, ['from'], add)
  person(filter.to, ['to'], add)
  if (filter.subject !== undefined) add(subjectWords(filter.subject))
  const { after = null, before = null, minSize = null, maxSize = null } = filter
  if (after !== null || before !== null) add({ kind: 'received', from: after, before })
  if (minSize !== null || maxSize !== null) add({ kind: 'size', min: minSize, max: maxSize })
  if (filter.hasAttachment !== undefined) add({ kind: 'attachment', on: filter.hasAttachment })
  if (filter.isUnread !== undefined) add({ kind: 'flag', flag: 'seen', on: !filter.isUnread })
  if (filter.isFlagged !== undefined) add({ kind: 'flag', flag: 'flagged', on: filter.isFlagged })
  if (filter.keyword !== undefined) add({ kind: 'keyword', keyword: filter.keyword.toLowerCase() })
  if (filter.notKeyword !== undefined) {
    add({ kind: 'not', of: { kind: 'keyword', keyword: filter.notKeyword.toLowerCase() } })
  }
  if (filter.inTrashOrJunk) add({ kind: 'anywhere' })
  return allOf(terms)
}

/** True if the result of the filter depends on the current time. */
export function dependsOnNow({ q }: MessageFilter): boolean {
  return q !== undefined && /(?:newer|older)_than:/i.test(q)
}

function person(text: string | undefined, parts: readonly CorrespondentField[], add: (term: Term) => void): void {
  if (text !== undefined && text.trim() !== '') add({ kind: 'person', parts, text })
}

/** All words, anywhere in the subject. */
function subjectWords(text: string): Term {
  return allOf(wordGroups(text).map((tokens) => ({ kind: 'words', part: 'subject', tokens, prefix: false }) as const))
}
