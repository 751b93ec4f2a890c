// Flags of RFC 9051 §2.3.2 and their lists: the five system flags and keywords.

import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { KEYWORD_BYTES, STORE_FLAGS } from './limits.ts'

/** The system flags that a client may set, in lower case without the backslash. */
export type SystemFlag = 'seen' | 'flagged' | 'answered' | 'draft' | 'deleted'

const SYSTEM_FLAGS = new Set<string>(['seen', 'flagged', 'answered', 'draft', 'deleted'])

/** Flags of a command: keywords in lower case. */
export interface FlagSet {
  system: SystemFlag[]
  keywords: string[]
}

/** `flag-list`, or flags without parentheses (`store-att-flags`). `\Recent` is ignored: clients cannot change it. */
export function readFlags(cursor: Cursor): FlagSet {
  const names: string[] = []
  const read = () => {
    if (names.length === STORE_FLAGS) throw new ImapSyntaxError('Too many flags.')
    names.push(readFlag(cursor))
  }
  if (cursor.isAtList) cursor.list(read, { most: STORE_FLAGS, least: 0 })
  else
    do read()
    while (cursor.skip(' '))
  return flagSet(names)
}

/** Flags in parentheses. */
export function readFlagList(cursor: Cursor): FlagSet {
  if (!cursor.isAtList) throw new ImapSyntaxError('Expected a list of flags.')
  return readFlags(cursor)
}

/** @returns a system flag with its backslash or a keyword, in lower case */
function readFlag(cursor: Cursor): string {
  if (cursor.skip('\\')) {
    const name = cursor.atom().toLowerCase()
    if (!SYSTEM_FLAGS.has(name) && name !== 'recent') throw new ImapSyntaxError(`\\${name} is not a flag.`)
    return `\\${name}`
  }
  return readKeyword(cursor)
}

/** A keyword in lower case. */
export function readKeyword(cursor: Cursor): string {
  const keyword = cursor.atom().toLowerCase()
  if (keyword.length > KEYWORD_BYTES) throw new ImapSyntaxError('The keyword is too long.')
  return keyword
}

function flagSet(names: readonly string[]): FlagSet {
  const unique = [...new Set(names)]
  const system = unique.filter((name) => name.startsWith('\\') && name !== '\\recent').map((name) => name.slice(1))
  return { system: system as SystemFlag[], keywords: unique.filter((name) => !name.startsWith('\\')) }
}
