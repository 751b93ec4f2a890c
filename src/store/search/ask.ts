// The filters of a list as terms, so that there is one way from what is asked to SQL.

import type { MessageFilter } from '../records.ts'
import { readQuery } from './query.ts'
import { allOf, type Term } from './terms.ts'
import type { PeoplePart } from './text.ts'
import { wordGroups } from './words.ts'

const EVERYBODY: readonly PeoplePart[] = ['from', 'to', 'cc']

/**
 * Everything a list is filtered by, in one term without groups of groups at its top.
 * @param now ms
 * @throws ProductError invalid_parameter when `q` is out of bounds
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
  person(filter.participant, EVERYBODY, add)
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

/** True when the same filter may find something else a moment later although nothing changed. */
export function dependsOnNow({ q }: MessageFilter): boolean {
  return q !== undefined && /(?:newer|older)_than:/i.test(q)
}

function person(text: string | undefined, parts: readonly PeoplePart[], add: (term: Term) => void): void {
  if (text !== undefined && text.trim() !== '') add({ kind: 'person', parts, text })
}

/** All the words, wherever they stand in the subject. */
function subjectWords(text: string): Term {
  return allOf(wordGroups(text).map((tokens) => ({ kind: 'words', part: 'subject', tokens, prefix: false }) as const))
}
