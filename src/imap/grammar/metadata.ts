// Arguments of GETMETADATA and SETMETADATA (RFC 5464 §5), and of LIST RETURN (METADATA …) (RFC 9590).

import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { ENTRY_BYTES, METADATA_ENTRIES } from './limits.ts'
import { readMailboxName } from './names.ts'
import { readAstring, readNstring } from './strings.ts'

export interface MetadataRequest {
  /** Empty: the server. */
  mailbox: Buffer
  /** In lower case, as written otherwise. */
  entries: string[]
  /** Larger values are not returned, bytes; null: all are. */
  maxSize: number | null
  /** Levels below the entries that are returned as well. */
  depth: 0 | 1 | 'infinity'
}

export interface MetadataChange {
  mailbox: Buffer
  /** Null removes an entry. */
  values: Map<string, Buffer | null>
}

type Options = Pick<MetadataRequest, 'maxSize' | 'depth'>

/** Options are read before and behind the name: the grammar of RFC 5464 has them in front, its examples behind. */
export function readMetadataRequest(cursor: Cursor): MetadataRequest {
  cursor.space()
  let options: Options | null = cursor.isAtList ? readOptions(cursor) : null
  if (options !== null) cursor.space()
  const mailbox = readMailboxName(cursor)
  cursor.space()
  if (options === null && cursor.isAtText('(M', '(D')) {
    options = readOptions(cursor)
    cursor.space()
  }
  const entries = cursor.isAtList ? readEntries(cursor) : [readEntry(cursor)]
  return { mailbox, entries, ...(options ?? { maxSize: null, depth: 0 }) }
}

function readOptions(cursor: Cursor): Options {
  let maxSize: number | null = null
  let depth: Options['depth'] | null = null
  cursor.list(
    () => {
      if (maxSize === null && cursor.skipWord('MAXSIZE')) {
        cursor.space()
        maxSize = cursor.number()
      } else if (depth === null && cursor.skipWord('DEPTH')) {
        cursor.space()
        depth = readDepth(cursor)
      } else throw new ImapSyntaxError('Unknown option, or one that was there before.')
    },
    { most: 2 },
  )
  return { maxSize, depth: depth ?? 0 }
}

function readDepth(cursor: Cursor): Options['depth'] {
  const word = cursor.word()
  if (word === 'INFINITY') return 'infinity'
  if (word !== '0' && word !== '1') throw new ImapSyntaxError('DEPTH is 0, 1 or infinity.')
  return word === '0' ? 0 : 1
}

/** Names of entries in parentheses. */
export function readEntries(cursor: Cursor): string[] {
  return [...new Set(cursor.list(() => readEntry(cursor), { most: METADATA_ENTRIES }))]
}

/** The name of an entry, in lower case (RFC 5464 §3.2): printable ASCII in levels, without wildcards. */
function readEntry(cursor: Cursor): string {
  const name = readAstring(cursor).toString('latin1').toLowerCase()
  if (name.length > ENTRY_BYTES || !/^(\/[!-$&-)+-.0-~]+)+$/.test(name))
    throw new ImapSyntaxError('Expected the name of an entry.')
  return name
}

export function readMetadataChange(cursor: Cursor): MetadataChange {
  cursor.space()
  const mailbox = readMailboxName(cursor)
  cursor.space()
  const values = new Map<string, Buffer | null>()
  cursor.list(
    () => {
      const entry = readEntry(cursor)
      cursor.space()
      values.set(entry, cursor.isAtLiteral ? cursor.literal({ binary: true }) : readNstring(cursor))
    },
    { most: METADATA_ENTRIES },
  )
  return { mailbox, values }
}
