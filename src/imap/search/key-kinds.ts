// What the keys of a search need to be answered.

import type { SearchKey } from '../grammar/search-keys.ts'
import { isKeptField } from './evaluate.ts'
import type { ContentKey } from './message-text.ts'

/** What the keys of a search need beyond entries. */
export interface KeyKinds {
  labels: boolean
  ids: boolean
  headers: boolean
  content: ContentKey[]
}

/** The keys of a tree that have no keys below them. */
export function* leavesOf(key: SearchKey): Generator<SearchKey> {
  if (key.kind === 'and') for (const child of key.keys) yield* leavesOf(child)
  else if (key.kind === 'or') yield* [...leavesOf(key.left), ...leavesOf(key.right)]
  else if (key.kind === 'not') yield* leavesOf(key.key)
  else yield key
}

export function kindsOf(key: SearchKey): KeyKinds {
  const leaves = [...leavesOf(key)]
  const isHeader = (leaf: SearchKey) =>
    leaf.kind === 'address' ||
    leaf.kind === 'subject' ||
    (leaf.kind === 'date' && leaf.date === 'sent') ||
    (leaf.kind === 'header' && isKeptField(leaf.name))
  const isContent = (leaf: SearchKey): leaf is ContentKey =>
    leaf.kind === 'text' || (leaf.kind === 'header' && !isKeptField(leaf.name))
  return {
    labels: leaves.some(({ kind }) => kind === 'keyword'),
    ids: leaves.some(({ kind }) => kind === 'id'),
    headers: leaves.some(isHeader),
    content: leaves.filter(isContent),
  }
}
