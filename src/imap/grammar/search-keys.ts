// Arguments of SEARCH (RFC 9051 §6.4.4, RFC 3501, 5032, 7162, 8474, 8514, 9394, 6203) as a tree.

import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { readDate } from './dates.ts'
import { readKeyword, type SystemFlag } from './flags.ts'
import { SEARCH_DEPTH, SEARCH_KEYS, SEARCH_STRING_BYTES } from './limits.ts'
import { type PartialRange, readPartial } from './partial.ts'
import { readFieldName } from './sections.ts'
import { readSequenceSet, type SequenceSet } from './sets.ts'
import { readString, readText, textOf } from './strings.ts'

/** Fields of envelopes that SEARCH knows by name. */
export type AddressKey = 'from' | 'to' | 'cc' | 'bcc'

export type SearchKey =
  | { kind: 'all' }
  | { kind: 'and'; keys: SearchKey[] }
  | { kind: 'or'; left: SearchKey; right: SearchKey }
  | { kind: 'not'; key: SearchKey }
  | { kind: 'flag'; flag: SystemFlag; isSet: boolean }
  | { kind: 'recent' }
  | { kind: 'keyword'; keyword: string; isSet: boolean }
  | { kind: 'set'; set: SequenceSet; isUid: boolean }
  /** Days in UTC, as the ms of their start. */
  | { kind: 'date'; date: 'received' | 'sent' | 'saved'; relation: 'before' | 'on' | 'since'; day: number }
  | { kind: 'size'; relation: 'larger' | 'smaller'; bytes: number }
  /** Received within, or longer ago than, these seconds. */
  | { kind: 'within'; relation: 'older' | 'younger'; seconds: number }
  | FuzzyKey
  | { kind: 'modseq'; least: number }
  | { kind: 'id'; of: 'message' | 'thread'; id: string }
  | { kind: 'save-date-supported' }

/** Keys for texts: after FUZZY (RFC 6203) words are compared, else substrings. */
export type FuzzyKey =
  | { kind: 'address'; field: AddressKey; value: string; isFuzzy?: true }
  | { kind: 'subject'; value: string; isFuzzy?: true }
  /** Name in upper case. */
  | { kind: 'header'; name: string; value: string; isFuzzy?: true }
  | { kind: 'text'; scope: 'body' | 'text'; value: string; isFuzzy: boolean }

export interface SearchReturn {
  min: boolean
  max: boolean
  all: boolean
  count: boolean
  save: boolean
  partial: PartialRange | null
  /** Scores of the messages that are returned (RFC 6203 §4). */
  relevancy: boolean
}

export interface SearchRequest {
  /** Null without RETURN: answered with untagged SEARCH in sessions without IMAP4rev2. */
  returns: SearchReturn | null
  key: SearchKey
  /** Whether MODSEQ is among the keys: the answer then names the highest one (RFC 7162 §3.1.5). */
  usesModSeq: boolean
  /** Whether sequence numbers are among the keys; `$` is not. */
  usesNumbers: boolean
  usesFuzzy: boolean
}

/** A search without what is returned of it. */
export type SearchProgram = Omit<SearchRequest, 'returns'>

/** The charset is not known: `NO [BADCHARSET]`. */
export class BadCharset extends Error {}

/** Arguments of SEARCH behind its name and a space. @throws BadCharset */
export function readSearchRequest(cursor: Cursor): SearchRequest {
  let returns: SearchReturn | null = null
  if (cursor.skipWord('RETURN')) {
    cursor.space()
    returns = readReturnOptions(cursor)
    cursor.space()
  }
  if (cursor.skipWord('CHARSET')) {
    cursor.space()
    readCharset(cursor)
    cursor.space()
  }
  return { returns, ...readSearchProgram(cursor, returns?.relevancy === true) }
}

/** Search keys up to the end of the command. @param needsFuzzy relevancy is asked for, which only FUZZY has (RFC 6203 §4 and §6) */
export function readSearchProgram(cursor: Cursor, needsFuzzy = false): SearchProgram {
  const reader = new KeyReader(cursor)
  const keys = [reader.read(0)]
  while (cursor.skip(' ')) {
    // Some clients send a space before the line end.
    if (cursor.isAtEnd) break
    keys.push(reader.read(0))
  }
  const { usesModSeq, usesNumbers, usesFuzzy } = reader
  if (needsFuzzy && !usesFuzzy) throw new ImapSyntaxError('RELEVANCY needs FUZZY.')
  return { key: keys.length === 1 ? keys[0]! : { kind: 'and', keys }, usesModSeq, usesNumbers, usesFuzzy }
}

/** UTF-8 and US-ASCII. @throws BadCharset */
export function readCharset(cursor: Cursor): void {
  const charset = readText(cursor, SEARCH_STRING_BYTES).toUpperCase()
  if (!['UTF-8', 'US-ASCII', 'UTF8', 'ASCII'].includes(charset)) throw new BadCharset()
}

/** `RETURN (…)`, at the parenthesis; an empty list means ALL (RFC 4731 §3.1). */
export function readReturnOptions(cursor: Cursor): SearchReturn {
  const plain = { min: false, max: false, all: false, count: false, save: false, relevancy: false }
  const returns: SearchReturn = { ...plain, partial: null }
  const names = cursor.list(
    () => {
      const name = cursor.word()
      if (name === 'PARTIAL') returns.partial = readPartial(cursor, returns.partial)
      else if (name === 'MIN' || name === 'MAX' || name === 'ALL' || name === 'COUNT' || name === 'SAVE') {
        returns[name.toLowerCase() as 'min'] = true
      } else if (name === 'RELEVANCY') returns.relevancy = true
      else throw new ImapSyntaxError('Unknown return option.')
      return name
    },
    { most: 10, least: 0 },
  )
  if (names.length === 0) returns.all = true
  if (returns.partial !== null && returns.all) throw new ImapSyntaxError('PARTIAL excludes ALL.')
  return returns
}

const FLAG_KEYS = new Map<string, { flag: SystemFlag; isSet: boolean }>(
  (['seen', 'flagged', 'answered', 'draft', 'deleted'] as const).flatMap((flag) => [
    [flag.toUpperCase(), { flag, isSet: true }],
    [`UN${flag.toUpperCase()}`, { flag, isSet: false }],
  ]),
)
const DATE_KEYS = new Map<string, ['received' | 'sent' | 'saved', 'before' | 'on' | 'since']>(
  (['before', 'on', 'since'] as const).flatMap((relation) => [
    [relation.toUpperCase(), ['received', relation]],
    [`SENT${relation.toUpperCase()}`, ['sent', relation]],
    [`SAVED${relation.toUpperCase()}`, ['saved', relation]],
  ]),
)

class KeyReader {
  usesModSeq = false
  usesNumbers = false
  usesFuzzy = false
  readonly #cursor: Cursor
  #keys = 0

  constructor(cursor: Cursor) {
    this.#cursor = cursor
  }

  read(depth: number): SearchKey {
    const cursor = this.#cursor
    if (depth > SEARCH_DEPTH) throw new ImapSyntaxError('The search is nested too deeply.')
    if (++this.#keys > SEARCH_KEYS) throw new ImapSyntaxError('The search has too many keys.')
    if (cursor.isAtList) {
      const keys = cursor.list(() => this.read(depth + 1), { most: SEARCH_KEYS })
      return keys.length === 1 ? keys[0]! : { kind: 'and', keys }
    }
    if (cursor.isAtDigit || cursor.isAt('*') || cursor.isAt('$')) {
      this.usesNumbers ||= !cursor.isAt('$')
      return { kind: 'set', set: readSequenceSet(cursor), isUid: false }
    }
    return this.#named(cursor.word(), depth)
  }

  #named(name: string, depth: number): SearchKey {
    const flag = FLAG_KEYS.get(name)
    if (flag !== undefined) return { kind: 'flag', ...flag }
    const date = DATE_KEYS.get(name)
    if (date !== undefined) return { kind: 'date', date: date[0], relation: date[1], day: this.#argument(readDate) }
    return this.#logical(name, depth) ?? this.#textual(name) ?? this.#numeric(name) ?? unknownKey()
  }

  #logical(name: string, depth: number): SearchKey | null {
    switch (name) {
      case 'ALL':
        return { kind: 'all' }
      case 'NOT':
        return { kind: 'not', key: this.#argument(() => this.read(depth + 1)) }
      case 'OR': {
        const left = this.#argument(() => this.read(depth + 1))
        return { kind: 'or', left, right: this.#argument(() => this.read(depth + 1)) }
      }
      case 'FUZZY':
        this.usesFuzzy = true
        return this.#argument(() => fuzzy(this.read(depth + 1)))
      case 'NEW':
        return { kind: 'and', keys: [{ kind: 'recent' }, { kind: 'flag', flag: 'seen', isSet: false }] }
      case 'OLD':
        return { kind: 'not', key: { kind: 'recent' } }
      case 'RECENT':
        return { kind: 'recent' }
      case 'UID':
        return { kind: 'set', set: this.#argument(readSequenceSet), isUid: true }
      case 'SAVEDATESUPPORTED':
        return { kind: 'save-date-supported' }
      default:
        return null
    }
  }

  #textual(name: string): SearchKey | null {
    switch (name) {
      case 'FROM':
      case 'TO':
      case 'CC':
      case 'BCC':
        return { kind: 'address', field: name.toLowerCase() as AddressKey, value: this.#text() }
      case 'SUBJECT':
        return { kind: 'subject', value: this.#text() }
      case 'HEADER': {
        const field = this.#argument(readFieldName)
        return { kind: 'header', name: field, value: this.#text() }
      }
      case 'BODY':
      case 'TEXT':
        return { kind: 'text', scope: name === 'BODY' ? 'body' : 'text', value: this.#text(), isFuzzy: false }
      case 'KEYWORD':
      case 'UNKEYWORD':
        return { kind: 'keyword', keyword: this.#argument(readKeyword), isSet: name === 'KEYWORD' }
      case 'EMAILID':
        return { kind: 'id', of: 'message', id: this.#text() }
      case 'THREADID':
        return { kind: 'id', of: 'thread', id: this.#text() }
      default:
        return null
    }
  }

  #numeric(name: string): SearchKey | null {
    switch (name) {
      case 'LARGER':
      case 'SMALLER':
        return {
          kind: 'size',
          relation: name === 'LARGER' ? 'larger' : 'smaller',
          bytes: this.#argument((cursor) => cursor.number64()),
        }
      case 'OLDER':
      case 'YOUNGER':
        return {
          kind: 'within',
          relation: name === 'OLDER' ? 'older' : 'younger',
          seconds: this.#argument((cursor) => cursor.nzNumber()),
        }
      case 'MODSEQ':
        this.usesModSeq = true
        return { kind: 'modseq', least: this.#argument(readModSeqKey) }
      default:
        return null
    }
  }

  #argument<T>(read: (cursor: Cursor) => T): T {
    this.#cursor.space()
    return read(this.#cursor)
  }

  #text(): string {
    return this.#argument((cursor) => readText(cursor, SEARCH_STRING_BYTES))
  }
}

/** `MODSEQ [entry type] n`: entries are not distinguished (RFC 7162 §3.1.5). */
function readModSeqKey(cursor: Cursor): number {
  if (cursor.isAt('"')) {
    textOf(readString(cursor), SEARCH_STRING_BYTES)
    cursor.space()
    const type = cursor.word()
    if (type !== 'PRIV' && type !== 'SHARED' && type !== 'ALL') throw new ImapSyntaxError('Unknown entry type.')
    cursor.space()
  }
  return cursor.number64()
}

/** FUZZY applies to the texts of its key. */
function fuzzy(key: SearchKey): SearchKey {
  switch (key.kind) {
    case 'and':
      return { ...key, keys: key.keys.map(fuzzy) }
    case 'or':
      return { ...key, left: fuzzy(key.left), right: fuzzy(key.right) }
    case 'not':
      return { ...key, key: fuzzy(key.key) }
    case 'address':
    case 'subject':
    case 'header':
    case 'text':
      return { ...key, isFuzzy: true }
    default:
      return key
  }
}

function unknownKey(): never {
  throw new ImapSyntaxError('Unknown search key.')
}
