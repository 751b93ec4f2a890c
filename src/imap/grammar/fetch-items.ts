// Data items and modifiers of FETCH (RFC 9051 §6.4.5, RFC 7162, RFC 3516, RFC 8474, RFC 8514, RFC 8970, RFC 9394).

import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { FETCH_ITEMS } from './limits.ts'
import { type PartialRange, readPartial } from './partial.ts'
import { type BodySection, readBinarySection, readSection, readSectionRange, type SectionRange } from './sections.ts'

/** Items without arguments, by their name in the protocol. */
export type PlainItem =
  | ('UID' | 'FLAGS' | 'INTERNALDATE' | 'RFC822.SIZE' | 'MODSEQ' | 'SAVEDATE' | 'EMAILID' | 'THREADID')
  | ('ENVELOPE' | 'BODYSTRUCTURE' | 'BODY' | 'PREVIEW' | 'RFC822' | 'RFC822.HEADER' | 'RFC822.TEXT')

export type FetchItem =
  | { kind: 'plain'; name: PlainItem }
  | { kind: 'body'; section: BodySection; range: SectionRange | null; isPeek: boolean }
  | { kind: 'binary'; part: readonly number[]; range: SectionRange | null; isPeek: boolean }
  | { kind: 'binary-size'; part: readonly number[] }

/** Modifiers of FETCH. */
export interface FetchModifiers {
  changedSince: number | null
  vanished: boolean
  partial: PartialRange | null
}

const PLAIN = new Set<string>([
  ...['UID', 'FLAGS', 'INTERNALDATE', 'RFC822.SIZE', 'MODSEQ', 'SAVEDATE', 'EMAILID', 'THREADID', 'ENVELOPE'],
  ...['BODYSTRUCTURE', 'BODY', 'PREVIEW', 'RFC822', 'RFC822.HEADER', 'RFC822.TEXT'],
])
const FAST: PlainItem[] = ['FLAGS', 'INTERNALDATE', 'RFC822.SIZE']
const MACROS = new Map<string, PlainItem[]>([
  ['FAST', FAST],
  ['ALL', [...FAST, 'ENVELOPE']],
  ['FULL', [...FAST, 'ENVELOPE', 'BODY']],
])

/** The items of FETCH: a macro, one item, or a list. */
export function readFetchItems(cursor: Cursor): FetchItem[] {
  if (cursor.isAtList) return cursor.list(() => readItem(cursor), { most: FETCH_ITEMS })
  for (const [name, items] of MACROS) {
    if (cursor.skipWord(name)) return items.map((item): FetchItem => ({ kind: 'plain', name: item }))
  }
  return [readItem(cursor)]
}

function readItem(cursor: Cursor): FetchItem {
  const name = readItemName(cursor)
  if (cursor.isAt('[')) return readSectionItem(cursor, name)
  if (!PLAIN.has(name)) throw new ImapSyntaxError('Unknown data item.')
  // PREVIEW (LAZY): every preview is stored, so there is nothing to be lazy about (RFC 8970 §3.1).
  if (name === 'PREVIEW' && cursor.skipText(' (')) {
    if (!cursor.skipWord('LAZY')) throw new ImapSyntaxError('Unknown modifier of PREVIEW.')
    cursor.expect(')')
  }
  return { kind: 'plain', name: name as PlainItem }
}

/** The name before a bracket: `[` is an atom character. */
function readItemName(cursor: Cursor): string {
  let name = ''
  for (let byte = cursor.peek(); isNameByte(byte); byte = cursor.peek()) {
    const character = String.fromCharCode(byte)
    cursor.expect(character)
    name += character
  }
  return name.toUpperCase()
}

function isNameByte(byte: number): boolean {
  return (
    (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x2e
  )
}

function readSectionItem(cursor: Cursor, name: string): FetchItem {
  switch (name) {
    case 'BODY':
    case 'BODY.PEEK':
      return { kind: 'body', section: readSection(cursor), range: readSectionRange(cursor), isPeek: name !== 'BODY' }
    case 'BINARY':
    case 'BINARY.PEEK':
      return {
        kind: 'binary',
        part: readBinarySection(cursor),
        range: readSectionRange(cursor),
        isPeek: name !== 'BINARY',
      }
    case 'BINARY.SIZE':
      return { kind: 'binary-size', part: readBinarySection(cursor) }
    default:
      throw new ImapSyntaxError('Unknown data item.')
  }
}

/** Modifiers in parentheses behind the items, when there are any. */
export function readFetchModifiers(cursor: Cursor): FetchModifiers {
  const modifiers: FetchModifiers = { changedSince: null, vanished: false, partial: null }
  if (!cursor.skip(' ')) return modifiers
  cursor.list(
    () => {
      if (cursor.skipWord('CHANGEDSINCE')) {
        cursor.space()
        modifiers.changedSince = readModSeq(cursor)
      } else if (cursor.skipWord('VANISHED')) modifiers.vanished = true
      else if (cursor.skipWord('PARTIAL')) modifiers.partial = readPartial(cursor, modifiers.partial)
      else throw new ImapSyntaxError('Unknown modifier.')
    },
    { most: 3 },
  )
  if (modifiers.vanished && modifiers.changedSince === null) throw new ImapSyntaxError('VANISHED needs CHANGEDSINCE.')
  return modifiers
}

/** `mod-sequence-value` of a command; 0 is taken as well, as clients send it. */
function readModSeq(cursor: Cursor): number {
  return cursor.number64()
}
