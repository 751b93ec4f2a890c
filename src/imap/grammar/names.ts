// Names of mailboxes: INBOX, hierarchy, the encoding of the session (RFC 9051 §5.1), and patterns of LIST (RFC 9051 §6.3.9).

import { isUtf8 } from 'node:buffer'
import { decodeUtf7, encodeUtf7 } from '../../mime/utf7.ts'
import type { Cursor } from './cursor.ts'
import { DQUOTE } from './cursor.ts'
import { readAstring } from './strings.ts'
import { formatAstring, type OutputPart } from './writer.ts'

export const DELIMITER = '/'
export const INBOX = 'INBOX'

/** `mailbox`: an astring; bytes above 127 are taken without quotes as well, as old clients send them. */
export function readMailboxName(cursor: Cursor): Buffer {
  return cursor.peek() === DQUOTE || cursor.isAtLiteral ? readAstring(cursor) : cursor.utf8Atom('astring')
}

/** A space and a mailbox name: the arguments of commands on one mailbox. */
export function readNameArgument(cursor: Cursor): Buffer {
  cursor.space()
  return readMailboxName(cursor)
}

/**
 * The path of a name in NFC: levels joined by `/`, with `INBOX` in capitals as the first level.
 * @returns null when the bytes are no valid form of the encoding of the session
 */
export function decodeName(bytes: Buffer, utf8: boolean): string | null {
  const text = decodeText(bytes, utf8)
  return text === null ? null : normalizePath(text)
}

function decodeText(bytes: Buffer, utf8: boolean): string | null {
  return utf8 ? (isUtf8(bytes) ? bytes.toString() : null) : decodeUtf7(bytes)
}

/**
 * The extended data item OLDNAME behind a LIST response of IMAP4rev2, when the client wrote the name of the mailbox in another form
 * (RFC 9051 §6.3.4 and §6.3.9.7). Capitals of INBOX and a delimiter at the end are no other form (RFC 9051 §5.1 and §6.3.4).
 * @param written the name in the command
 */
export function oldNameOf(path: string, written: Buffer, utf8: boolean): OutputPart[] {
  const text = decodeText(written, utf8)?.replace(/\/$/, '')
  if (text === undefined || text === path || path === INBOX) return []
  return [' ("OLDNAME" (', formatName(text, utf8), '))']
}

/** A path with its Inbox in capitals and in NFC. */
function normalizePath(path: string): string {
  const [first, ...rest] = path.normalize('NFC').split(DELIMITER)
  return [first!.toUpperCase() === INBOX ? INBOX : first!, ...rest].join(DELIMITER)
}

/** A path as the session shows it, as an astring. */
export function formatName(path: string, utf8: boolean): OutputPart {
  return formatAstring(utf8 ? path : encodeUtf7(path), utf8)
}

/** The ancestors of the path of a folder or subscription, the outermost first. Not for what a client sends: it grows as its square. */
export function ancestorsOf(path: string): string[] {
  const levels = path.split(DELIMITER)
  return levels.slice(1).map((_, index) => levels.slice(0, index + 1).join(DELIMITER))
}

/** A pattern of LIST: `*` matches anything, `%` anything but the delimiter. Work is bounded by its length times that of a name. */
export class NamePattern {
  readonly #pattern: string
  readonly #least: number

  /** @param pattern reference and pattern, decoded and joined */
  constructor(pattern: string) {
    this.#pattern = withoutRepeats(normalizePath(pattern))
    this.#least = [...this.#pattern].filter((one) => one !== '*' && one !== '%').length
  }

  matches(name: string): boolean {
    const pattern = this.#pattern
    if (name.length < this.#least) return false
    // reached[i]: the first i characters of the pattern match what has been read of the name.
    let reached = new Uint8Array(pattern.length + 1)
    reached[0] = 1
    this.#passWildcards(reached)
    for (let at = 0; at < name.length; at++) {
      const next = new Uint8Array(pattern.length + 1)
      let isAlive = false
      for (let i = 0; i < pattern.length; i++) {
        if (reached[i] === 0) continue
        const one = pattern[i]!
        if (one === '*' || (one === '%' && name[at] !== DELIMITER)) next[i] = 1
        else if (one === name[at]) next[i + 1] = 1
        else continue
        isAlive = true
      }
      if (!isAlive) return false
      this.#passWildcards(next)
      reached = next
    }
    return reached[pattern.length] === 1
  }

  /** A wildcard also matches nothing. */
  #passWildcards(reached: Uint8Array): void {
    for (let i = 0; i < this.#pattern.length; i++) {
      if (reached[i] === 1 && (this.#pattern[i] === '*' || this.#pattern[i] === '%')) reached[i + 1] = 1
    }
  }
}

/** A run of wildcards matches what its strongest one does. */
function withoutRepeats(pattern: string): string {
  let shorter = ''
  for (const one of pattern) {
    const last = shorter.at(-1)
    const isWild = one === '*' || one === '%'
    if (isWild && last === '*') continue
    if (one === '%' && last === '%') continue
    if (one === '*' && last === '%') shorter = shorter.slice(0, -1)
    shorter += one
  }
  return shorter
}
