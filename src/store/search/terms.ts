// Search terms: the tree that the query language and the filters of a list are translated to.

import type { Flags } from '../rows/records.ts'
import type { AddressField, CorrespondentField } from './text.ts'

/** Part of a message to search for words; `any`: subject, From, To, Cc, body and file names (docs/design/mailbox.md §4). */
export type TextPart = 'any' | AddressField | 'subject' | 'body' | 'filename'

/** A single condition on a message. */
export type Leaf =
  /** Adjacent tokens; with `prefix` the last one is a prefix. */
  | { kind: 'words'; part: TextPart; tokens: string[]; prefix: boolean }
  /** A whole address, or all addresses at a domain. */
  | { kind: 'address'; part: AddressField; email: string }
  | { kind: 'domain'; part: AddressField; domain: string }
  /** A part of the address or name of a correspondent. */
  | { kind: 'person'; parts: readonly CorrespondentField[]; text: string }
  /** A folder by role, id or name. */
  | { kind: 'folder'; name: string }
  /** Everything, Trash and Junk included. */
  | { kind: 'anywhere' }
  | { kind: 'thread'; id: string }
  | { kind: 'flag'; flag: keyof Flags; on: boolean }
  | { kind: 'attachment'; on: boolean }
  | { kind: 'keyword'; keyword: string }
  /** Times of receipt, ms: `from` inclusive, `before` exclusive. */
  | { kind: 'received'; from: number | null; before: number | null }
  /** Bytes, both inclusive. */
  | { kind: 'size'; min: number | null; max: number | null }
  /** Internet Message-ID without angle brackets. */
  | { kind: 'messageId'; id: string }

export type Term = Leaf | { kind: 'all' | 'any'; of: Term[] } | { kind: 'not'; of: Term }

/** AND of terms; matches everything without terms. */
export function allOf(terms: Term[]): Term {
  return terms.length === 1 ? terms[0]! : { kind: 'all', of: terms }
}

/** OR of terms. */
export function anyOf(terms: Term[]): Term {
  return terms.length === 1 ? terms[0]! : { kind: 'any', of: terms }
}

/** True if the term has no conditions. */
export function isEmpty(term: Term): boolean {
  return term.kind === 'all' && term.of.length === 0
}
