// What a search asks for, as a tree: read from the query language or from the filters of a list.

import type { Flags } from '../records.ts'
import type { AddressPart, PeoplePart } from './text.ts'

/** Where words are looked for; `any` is subject, From, To, Cc, body and file names (decisions §10.4). */
export type TextPart = 'any' | AddressPart | 'subject' | 'body' | 'filename'

/** One thing a message can have or not. */
export type Leaf =
  /** Tokens that stand next to each other; with `prefix` the last one may go on. */
  | { kind: 'words'; part: TextPart; tokens: string[]; prefix: boolean }
  /** A whole address, or everybody at a domain. */
  | { kind: 'address'; part: AddressPart; email: string }
  | { kind: 'domain'; part: AddressPart; domain: string }
  /** A part of the address or name of one of the people. */
  | { kind: 'person'; parts: readonly PeoplePart[]; text: string }
  /** A folder by role, id or name. */
  | { kind: 'folder'; name: string }
  /** Everything, Trash and Junk included. */
  | { kind: 'anywhere' }
  | { kind: 'thread'; id: string }
  | { kind: 'flag'; flag: keyof Flags; on: boolean }
  | { kind: 'attachment'; on: boolean }
  | { kind: 'keyword'; keyword: string }
  /** Times of receipt in ms: `from` is inside, `before` is not. */
  | { kind: 'received'; from: number | null; before: number | null }
  /** Bytes, both inside. */
  | { kind: 'size'; min: number | null; max: number | null }
  /** Internet Message-ID without angle brackets. */
  | { kind: 'messageId'; id: string }

export type Term = Leaf | { kind: 'all' | 'any'; of: Term[] } | { kind: 'not'; of: Term }

/** Every one of them; no terms ask for nothing. */
export function allOf(terms: Term[]): Term {
  return terms.length === 1 ? terms[0]! : { kind: 'all', of: terms }
}

/** At least one of them. */
export function anyOf(terms: Term[]): Term {
  return terms.length === 1 ? terms[0]! : { kind: 'any', of: terms }
}

/** True when the term asks for nothing. */
export function isEmpty(term: Term): boolean {
  return term.kind === 'all' && term.of.length === 0
}
