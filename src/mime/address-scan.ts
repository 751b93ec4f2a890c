// Parses an address list leniently, left to right (RFC 5322 §3.4, §4.4 and common mistakes of mailers).

import { decodeHeader } from './decode.ts'
import type { Address } from './message.ts'

/** Longest address and display name that are accepted, in characters. */
const EMAIL_MAX = 320
const NAME_MAX = 512

/** An encoded word is one token, even with commas and colons inside. */
const ENCODED_WORD = /=\?[\w.:+()*-]{1,90}\?[bq]\?[^?]*\?=/iy

/** Characters without syntactic meaning. */
const PLAIN = /[^<>"(=\\:,;\s]+|>/y

/** Stands for a space inside a quoted local part while an address is cut out of its words. */
const QUOTED_SPACE = '\x01'

export class AddressScan {
  private readonly text: string
  private readonly max: number
  private readonly found: Address[] = []
  private pos = 0
  /** Words so far: as a name, and as an address that was written without "<>". */
  private name = ''
  private raw = ''
  /** True after a space: further spaces are skipped. */
  private blank = true
  private comment = ''
  private email: string | null = null
  /** A name without an address before a comma: possibly the first half of `Smith, John <john@x>`. */
  private half = ''
  /** Set when a quote that never closes was found: quotes are plain characters then, which keeps the scan linear. */
  private plainQuotes = false
  private closed = true
  private plainComments = false

  constructor(text: string, max: number) {
    // The marker itself in the input is replaced by another control character.
    this.text = text.replaceAll(QUOTED_SPACE, '\x02')
    this.max = max
  }

  run(): Address[] {
    while (this.pos < this.text.length && this.found.length < this.max) this.step()
    this.end()
    this.dropHalf()
    return this.found.slice(0, this.max)
  }

  private step(): void {
    const character = this.text[this.pos]!
    if (character === '<') this.angle()
    else if (character === '"') this.quoted()
    else if (character === '(') this.skipComment()
    else if (character === '=') this.encodedWord()
    else if (character === '\\') this.escaped()
    else if (!this.separator(character)) this.plain()
  }

  /** Handles "," ";" and ":"; false for any other character. */
  private separator(character: string): boolean {
    if (character === ':') this.startGroup()
    else if (character === ',' || character === ';') this.end()
    else return false
    // The end of a group is never inside "Smith, John".
    if (character === ';') this.dropHalf()
    this.pos++
    return true
  }

  /** Handles a run of characters without syntactic meaning, or white space. */
  private plain(): void {
    PLAIN.lastIndex = this.pos
    const run = PLAIN.exec(this.text)?.[0]
    if (run === undefined) this.space()
    else this.take(run)
    this.pos += run?.length ?? 1
  }

  private escaped(): void {
    this.take(this.text.slice(this.pos + 1, this.pos + 2))
    this.pos += 2
  }

  private take(name: string, raw = name): void {
    this.name += name
    this.raw += raw
    this.blank = false
  }

  private space(): void {
    if (this.blank) return
    this.name += ' '
    this.raw += ' '
    this.blank = true
  }

  /** The text before a colon is the name of a group, which is dropped. */
  private startGroup(): void {
    if (this.email !== null) return
    this.clear()
    this.half = ''
  }

  private clear(): void {
    this.name = ''
    this.raw = ''
    this.comment = ''
    this.blank = true
  }

  private encodedWord(): void {
    ENCODED_WORD.lastIndex = this.pos
    const word = ENCODED_WORD.exec(this.text)?.[0] ?? '='
    this.pos += word.length
    this.take(word)
  }

  private quoted(): void {
    const end = this.plainQuotes ? -1 : this.endOfQuoted(this.pos)
    if (end < 0) {
      this.plainQuotes = true
      this.pos++
      return
    }
    const inside = this.text.slice(this.pos + 1, end)
    this.take(inside.replace(/\\(.)/gs, '$1'), `"${inside.replace(/\s/g, QUOTED_SPACE)}"`)
    this.pos = end + 1
  }

  private endOfQuoted(start: number): number {
    for (let at = start + 1; at < this.text.length; at++) {
      if (this.text[at] === '\\') at++
      else if (this.text[at] === '"') return at
    }
    return -1
  }

  private skipComment(): void {
    const end = this.plainComments ? -1 : this.endOfComment(this.pos)
    if (end < 0) {
      this.plainComments = true
      this.pos++
      this.take('(')
      return
    }
    const inside = this.text.slice(this.pos + 1, end).replace(/\\(.)/gs, '$1')
    this.comment += this.comment === '' ? inside : ` ${inside}`
    this.pos = end + 1
    this.space()
  }

  private endOfComment(start: number): number {
    let depth = 0
    for (let at = start; at < this.text.length; at++) {
      const character = this.text[at]
      if (character === '\\') at++
      else if (character === '(') depth++
      else if (character === ')' && --depth === 0) return at
    }
    return -1
  }

  /** `<address>`; where the ">" is missing, the address ends at the comma. */
  private angle(): void {
    let inside = ''
    if (this.closed && this.text.indexOf('>', this.pos) < 0) this.closed = false
    this.pos++
    for (; this.pos < this.text.length; this.pos++) {
      const character = this.text[this.pos]!
      if (character === '>') break
      const end = this.endOfNested(character)
      if (end > 0) {
        inside += character === '"' ? this.text.slice(this.pos, end + 1).replace(/\s/g, QUOTED_SPACE) : ' '
        this.pos = end
      } else if (character === '<') inside = ''
      else if (character === ',' && !this.closed) break
      else inside += character
    }
    if (this.text[this.pos] === '>') this.pos++
    this.takeInside(inside)
    this.space()
  }

  /** RFC 5322 §4.4: a route is skipped, and so is white space around "@" and "."; other white space makes it no address. */
  private takeInside(inside: string): void {
    const plain = inside
      .replace(/\s+/g, ' ')
      .replace(/ ?([@.]) ?/g, '$1')
      .replace(/^ ?@[^:]*:/, '')
      .trim()
    if (!plain.includes(' ')) this.email ??= plain.replaceAll(QUOTED_SPACE, ' ')
    else if (this.email === null) {
      // Shown as a name: with the spaces removed, it would become an address the author did not write.
      this.take(inside.replaceAll(QUOTED_SPACE, ' ').trim())
      this.email = ''
    }
  }

  /** Offset of the end of a quoted string or comment that starts here; -1 when there is none. */
  private endOfNested(character: string): number {
    if (character === '"' && !this.plainQuotes) {
      const end = this.endOfQuoted(this.pos)
      this.plainQuotes = end < 0
      return end
    }
    if (character === '(' && !this.plainComments) {
      const end = this.endOfComment(this.pos)
      this.plainComments = end < 0
      return end
    }
    return -1
  }

  /** Ends one address of the list. */
  private end(): void {
    if (this.email === null && this.raw.includes('@')) this.cutAddress()
    // RFC 822 style: a comment behind the address is the name; a comment alone is not an entry.
    const name = decodeHeader(this.name.trim() || (this.email === null ? '' : this.comment.trim()))
    if (this.email !== null) this.add(this.email, name)
    else if (name !== '') this.half = this.half === '' ? name : `${this.half}, ${name}`
    this.clear()
    this.email = null
  }

  /** The last word with an "@" is the address, the text before it the name. "B. ann@x" is an initial and an address. */
  private cutAddress(): void {
    const words = this.raw.trim().replace(/ ?@ ?/g, '@').replace(/ \. ?/g, '.').split(' ')
    const at = words.findLastIndex((word) => word.includes('@'))
    this.email = words[at]!.replaceAll(QUOTED_SPACE, ' ')
    this.name = words.toSpliced(at, 1).join(' ').replaceAll(QUOTED_SPACE, ' ')
  }

  private add(email: string, name: string): void {
    const whole = this.half !== '' && name !== '' ? `${this.half}, ${name}` : name
    if (whole === name) this.dropHalf()
    this.half = ''
    const plain = email.toWellFormed()
    // With a control character it is not an address, and without it a different one: it is shown as a name.
    const isAddress = plain.length <= EMAIL_MAX && !/[\x00-\x1f\x7f]/.test(plain)
    const shown = isAddress || whole !== '' ? whole : decodeHeader(plain)
    if (plain === '' && shown === '') return
    this.found.push({ email: isAddress ? plain : '', name: shown.slice(0, NAME_MAX).toWellFormed() })
  }

  private dropHalf(): void {
    if (this.half !== '') this.found.push({ email: '', name: this.half.slice(0, NAME_MAX).toWellFormed() })
    this.half = ''
  }
}
