// Arguments of LIST, LSUB and STATUS (RFC 9051 §6.3.9 and §6.3.11, RFC 5258, RFC 5819, RFC 6154, RFC 9590).

import { type Cursor, DQUOTE, ImapSyntaxError } from './cursor.ts'
import { LIST_PATTERNS, PATTERN_BYTES } from './limits.ts'
import { readEntries } from './metadata.ts'
import { readString } from './strings.ts'

export type StatusItem =
  | ('MESSAGES' | 'RECENT' | 'UIDNEXT' | 'UIDVALIDITY' | 'UNSEEN' | 'DELETED' | 'DELETED-STORAGE' | 'SIZE')
  | ('HIGHESTMODSEQ' | 'MAILBOXID' | 'APPENDLIMIT')

const STATUS_ITEMS = new Set<string>([
  ...['MESSAGES', 'RECENT', 'UIDNEXT', 'UIDVALIDITY', 'UNSEEN', 'DELETED', 'DELETED-STORAGE', 'SIZE'],
  ...['HIGHESTMODSEQ', 'MAILBOXID', 'APPENDLIMIT'],
])

export interface ListSelection {
  subscribed: boolean
  remote: boolean
  recursiveMatch: boolean
  specialUse: boolean
}

export interface ListReturn {
  subscribed: boolean
  children: boolean
  specialUse: boolean
  /** Items of RETURN (STATUS (…)); null when not requested. */
  status: StatusItem[] | null
  /** Entries of RETURN (METADATA (…)); null when not requested. */
  metadata: string[] | null
}

export interface ListRequest {
  selection: ListSelection
  reference: Buffer
  patterns: Buffer[]
  returns: ListReturn
  /** Whether the command uses the syntax of RFC 5258. */
  isExtended: boolean
}

/** Arguments of LIST behind its name and a space. */
export function readListRequest(cursor: Cursor): ListRequest {
  const selection: ListSelection = { subscribed: false, remote: false, recursiveMatch: false, specialUse: false }
  const returns: ListReturn = { subscribed: false, children: false, specialUse: false, status: null, metadata: null }
  let isExtended = cursor.isAtList
  if (isExtended) {
    cursor.list(() => readSelectionOption(cursor, selection), { most: 10, least: 0 })
    cursor.space()
  }
  if (selection.recursiveMatch && !selection.subscribed) throw new ImapSyntaxError('RECURSIVEMATCH needs SUBSCRIBED.')
  const reference = readPattern(cursor)
  cursor.space()
  const several = cursor.isAtList
  const patterns = several ? cursor.list(() => readPattern(cursor), { most: LIST_PATTERNS }) : [readPattern(cursor)]
  if (cursor.skip(' ')) {
    isExtended = true
    if (!cursor.skipWord('RETURN')) throw new ImapSyntaxError('Expected RETURN.')
    cursor.space()
    cursor.list(() => readReturnOption(cursor, returns), { most: 10, least: 0 })
  }
  return { selection, reference, patterns, returns, isExtended: isExtended || several }
}

function readSelectionOption(cursor: Cursor, selection: ListSelection): void {
  switch (cursor.word()) {
    case 'SUBSCRIBED':
      selection.subscribed = true
      return
    case 'REMOTE':
      selection.remote = true
      return
    case 'RECURSIVEMATCH':
      selection.recursiveMatch = true
      return
    case 'SPECIAL-USE':
      selection.specialUse = true
      return
    default:
      throw new ImapSyntaxError('Unknown selection option.')
  }
}

function readReturnOption(cursor: Cursor, returns: ListReturn): void {
  switch (cursor.word()) {
    case 'SUBSCRIBED':
      returns.subscribed = true
      return
    case 'CHILDREN':
      returns.children = true
      return
    case 'SPECIAL-USE':
      returns.specialUse = true
      return
    case 'STATUS':
      cursor.space()
      returns.status = readStatusItems(cursor)
      return
    case 'METADATA':
      cursor.space()
      returns.metadata = readEntries(cursor)
      return
    default:
      throw new ImapSyntaxError('Unknown return option.')
  }
}

/** A reference or a pattern: list-chars, or a string. */
export function readPattern(cursor: Cursor): Buffer {
  const isString = cursor.peek() === DQUOTE || cursor.isAtLiteral
  const pattern = isString ? readString(cursor) : cursor.utf8Atom('list')
  if (pattern.length > PATTERN_BYTES) throw new ImapSyntaxError('The pattern is too long.')
  return pattern
}

/** STATUS items in parentheses. */
export function readStatusItems(cursor: Cursor): StatusItem[] {
  const read = () => {
    const item = cursor.word()
    if (!STATUS_ITEMS.has(item)) throw new ImapSyntaxError('Unknown STATUS item.')
    return item as StatusItem
  }
  return [...new Set(cursor.list(read, { most: 2 * STATUS_ITEMS.size }))]
}
