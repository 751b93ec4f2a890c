// Parses an address list as IMAP shows it: groups and routes kept, quotes removed, encoded words not decoded (RFC 5322 §3.4, §4.4).

/** One element of an address list; a group is its start, its members and its end. */
export interface ListedAddress {
  /** Display name, or the comment of an address without one; encoded words not decoded. */
  name: string | null
  /** Source route without the colon, "@a,@b". */
  route: string | null
  /** Local part without quotes; the name of a group at its start; null at its end. */
  mailbox: string | null
  /** Domain; null at the start and the end of a group. */
  host: string | null
}

/** Elements taken from one field. */
export const LISTED_MAX = 1000

/** What stands for a missing half of an address: null means a group (RFC 9051 §7.5.2). The names are those of Dovecot. */
export const MISSING_MAILBOX = 'MISSING_MAILBOX'
export const MISSING_DOMAIN = 'MISSING_DOMAIN'

const GROUP_END: ListedAddress = { name: null, route: null, mailbox: null, host: null }

/** An encoded word is one token, even with commas and colons inside. */
const ENCODED_WORD = /=\?[\w.:+()*-]{1,90}\?[bq]\?[^?]*\?=/iy

/** Characters without syntactic meaning. */
const PLAIN = /[^<>"(=\\:,;\s@[\]]+/y

/** What most addresses are: plain characters, perhaps with a name. Reading them by the scan takes five times as long. */
const SIMPLE = /^(?:(?:([\w'-]+(?: [\w'.-]+)*) )?<([\w.+=-]+)@([\w.-]+)>|([\w.+=-]+)@([\w.-]+))$/

/** Parses the text of a field (unfolded). Linear time, never throws; malformed entries are shown as well as possible. */
export function parseListedAddresses(text: string, max = LISTED_MAX): ListedAddress[] {
  return simpleAddresses(text, max) ?? new ListScan(text, max).run()
}

/** Null when one of the addresses is not simple. No simple address has a comma. */
function simpleAddresses(text: string, max: number): ListedAddress[] | null {
  const found: ListedAddress[] = []
  for (const entry of text.includes(',') ? text.split(', ', max) : [text]) {
    const simple = SIMPLE.exec(entry)
    if (!simple) return null
    const [, name = null, mailbox = simple[4]!, host = simple[5]!] = simple
    found.push({ name, route: null, mailbox, host })
  }
  return found
}

/** One word of an entry: its text without quotes, and whether white space is in front of it. */
interface ListWord {
  text: string
  isSpaced: boolean
  /** True for an "@" that is not quoted. */
  isAt: boolean
}

class ListScan {
  private readonly text: string
  private readonly max: number
  private readonly found: ListedAddress[] = []
  private pos = 0
  private words: ListWord[] = []
  private isSpaced = false
  private comment: string | null = null
  private angle: { route: string | null; words: ListWord[] } | null = null
  private inGroup = false
  /** Set where a closing character is missing in the rest of the text, which keeps the scan linear. */
  private plainQuotes = false
  private plainComments = false

  constructor(text: string, max: number) {
    this.text = text
    this.max = max
  }

  run(): ListedAddress[] {
    while (this.pos < this.text.length && this.found.length < this.max) this.step()
    this.end()
    // A group that does not end would take everything behind it along.
    if (this.inGroup) this.found.push(GROUP_END)
    return this.found
  }

  private step(): void {
    const character = this.text[this.pos]!
    if (character === ',') this.separator(() => this.end())
    else if (character === ';') this.separator(() => this.endGroup())
    else if (character === ':' && this.startGroup()) this.pos++
    else if (character === '<') this.startAngle()
    else if (/\s/.test(character)) this.space()
    else if (character !== '(' || !this.skipComment()) this.word(this.angle === null ? this.words : [])
  }

  private separator(act: () => void): void {
    act()
    this.pos++
  }

  private space(): void {
    this.isSpaced = true
    this.pos++
  }

  /** Reads one word into the list: a quoted string, an encoded word, "@", or a run of other characters. */
  private word(into: ListWord[]): void {
    const { isSpaced } = this
    this.isSpaced = false
    const character = this.text[this.pos]!
    const text = character === '"' ? this.quoted() : this.unquoted()
    const isAt = character === '@'
    const last = into.at(-1)
    // Parts of a word without white space between them are one word: `a."b".c`.
    if (last && !isSpaced && !last.isAt && !isAt) last.text += text
    else into.push({ text, isSpaced, isAt })
  }

  private quoted(): string {
    const end = this.plainQuotes ? -1 : this.endOfQuoted(this.pos)
    if (end < 0) {
      this.plainQuotes = true
      this.pos++
      return '"'
    }
    const inside = this.text.slice(this.pos + 1, end)
    this.pos = end + 1
    return inside.includes('\\') ? inside.replace(/\\(.)/gs, '$1') : inside
  }

  private endOfQuoted(start: number): number {
    for (let at = start + 1; at < this.text.length; at++) {
      if (this.text[at] === '\\') at++
      else if (this.text[at] === '"') return at
    }
    return -1
  }

  private unquoted(): string {
    const start = this.pos
    for (const pattern of [ENCODED_WORD, PLAIN]) {
      pattern.lastIndex = start
      const run = pattern.exec(this.text)?.[0]
      if (run === undefined) continue
      this.pos += run.length
      return run
    }
    if (this.text[start] === '\\') {
      this.pos += 2
      return this.text.slice(start + 1, start + 2)
    }
    this.pos++
    return this.text[start]!
  }

  /** Reads a comment; false where it never ends. The last one of an entry counts. */
  private skipComment(): boolean {
    const end = this.plainComments ? -1 : this.endOfComment()
    if (end < 0) {
      this.plainComments = true
      return false
    }
    this.comment = this.text
      .slice(this.pos + 1, end)
      .replace(/\\(.)/gs, '$1')
      .trim()
    this.pos = end + 1
    this.isSpaced = true
    return true
  }

  private endOfComment(): number {
    let depth = 0
    for (let at = this.pos; at < this.text.length; at++) {
      const character = this.text[at]
      if (character === '\\') at++
      else if (character === '(') depth++
      else if (character === ')' && --depth === 0) return at
    }
    return -1
  }

  /** `<route:local@domain>`; where the ">" is missing, the address ends at the comma. */
  private startAngle(): void {
    this.pos++
    const words: ListWord[] = []
    let route: string | null = null
    this.isSpaced = false
    while (this.pos < this.text.length) {
      const character = this.text[this.pos]!
      if (character === '>') {
        this.pos++
        break
      }
      if (character === ':' && words[0]?.isAt && route === null) {
        route = joined(words.splice(0), '')
        this.pos++
      } else if (character === ',' && !words[0]?.isAt) break
      else if (/\s/.test(character)) this.space()
      else if (character !== '(' || !this.skipComment()) this.word(words)
    }
    this.isSpaced = true
    this.angle ??= { route, words }
  }

  /** The words before a colon are the name of a group; a colon elsewhere has no meaning. */
  private startGroup(): boolean {
    if (this.inGroup || this.angle !== null || this.words.length === 0) return false
    if (this.words.some(({ isAt }) => isAt)) return false
    this.found.push({ name: null, route: null, mailbox: phrase(this.words), host: null })
    this.inGroup = true
    this.clear()
    return true
  }

  private endGroup(): void {
    this.end()
    if (this.inGroup) this.found.push(GROUP_END)
    this.inGroup = false
  }

  private end(): void {
    const { words, angle, comment } = this
    if (angle !== null) {
      const name = words.length > 0 ? phrase(words) : comment
      this.found.push({ name: name || null, route: angle.route, ...addressOf(angle.words) })
    } else if (words.some(({ isAt }) => isAt)) this.found.push(bareAddress(words, comment))
    else if (words.length > 0) this.found.push(withoutAddress(words, comment))
    this.clear()
  }

  private clear(): void {
    this.words = []
    this.angle = null
    this.comment = null
    this.isSpaced = false
  }
}

/** An entry without an address: several words are a name, one is the local part of a local user. */
function withoutAddress(words: readonly ListWord[], comment: string | null): ListedAddress {
  const text = phrase(words)
  if (words.length > 1) return { name: text, route: null, mailbox: MISSING_MAILBOX, host: MISSING_DOMAIN }
  return { name: comment || null, route: null, mailbox: text, host: MISSING_DOMAIN }
}

/** Without "<>": the words around the last "@" are the address, those in front of it the name. */
function bareAddress(words: ListWord[], comment: string | null): ListedAddress {
  const at = words.findLastIndex(({ isAt }) => isAt)
  let start = Math.max(0, at - 1)
  while (start > 0 && (words[start]!.text.startsWith('.') || words[start - 1]!.text.endsWith('.'))) start--
  const name = start > 0 ? phrase(words.slice(0, start)) : comment
  return { name: name || null, route: null, ...addressOf(words.slice(start)) }
}

function addressOf(words: readonly ListWord[]): { mailbox: string; host: string } {
  const at = words.findLastIndex(({ isAt }) => isAt)
  const local = joined(at < 0 ? words : words.slice(0, at), '')
  const host = at < 0 ? '' : joined(words.slice(at + 1), '')
  return { mailbox: local || MISSING_MAILBOX, host: host || MISSING_DOMAIN }
}

function phrase(words: readonly ListWord[]): string {
  return joined(words, ' ').replace(/\s+/g, ' ').trim()
}

function joined(words: readonly ListWord[], space: string): string {
  return words.reduce((text, word) => text + (word.isSpaced && text !== '' ? space : '') + word.text, '')
}
