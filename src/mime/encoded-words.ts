// Decodes RFC 2047 encoded words; adjacent words are joined first, since some mailers split multi-byte characters between them.

import { Buffer } from 'node:buffer'
import { decodeCharset } from './charset.ts'
import { decodeBase64, decodeQuotedPrintable } from './transfer.ts'

/** RFC 2047 2: charset, RFC 2231 5 language tag, encoding. Charset names are short; the bound keeps the match short too. */
const START = /=\?([\w.:+()-]{1,60})(?:\*[^?\s]{0,30})?\?([bq])\?/iy

/** One encoded word and the offset behind it. */
interface Word {
  charset: string
  base64: boolean
  text: string
  end: number
}

/** Text with every encoded word decoded; other text stays unchanged. Never throws; linear time. */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value
  const words = new WordFinder(value)
  const run = new WordRun()
  let text = ''
  let pos = 0
  for (let word = words.next(); word; word = words.next()) {
    const between = value.slice(pos, words.start)
    // RFC 2047 §6.2: white space between two encoded words is dropped.
    if (!run.open || between.trim() !== '') text += run.close() + between
    text += run.add(word)
    pos = word.end
  }
  return text + run.close() + value.slice(pos)
}

/** Finds encoded words from left to right; the next "?=" is remembered, so that no text is searched twice. */
class WordFinder {
  start = 0
  private readonly value: string
  private pos = 0
  private close = -1

  constructor(value: string) {
    this.value = value
  }

  next(): Word | null {
    for (;;) {
      this.start = this.value.indexOf('=?', this.pos)
      if (this.start < 0) return null
      START.lastIndex = this.start
      const match = START.exec(this.value)
      const word = match && this.wordAt(START.lastIndex, match[1]!, match[2]!)
      this.pos = word ? word.end : this.start + 1
      if (word) return word
    }
  }

  private wordAt(from: number, charset: string, encoding: string): Word | null {
    if (this.close < from) {
      this.close = this.value.indexOf('?=', from)
      if (this.close < 0) this.close = Number.POSITIVE_INFINITY
    }
    if (this.close === Number.POSITIVE_INFINITY) return null
    const text = this.value.slice(from, this.close)
    // Another word begins before the end: this one is unterminated.
    if (text.includes('=?')) return null
    return { charset: charset.toLowerCase(), base64: encoding === 'b' || encoding === 'B', text, end: this.close + 2 }
  }
}

/** Adjacent words of one charset: their bytes are joined before they are decoded. */
class WordRun {
  open = false
  private charset = ''
  private bytes: Uint8Array[] = []
  /** Base64 of a word that ended inside a group of four: the next word continues it. */
  private rest = ''

  /** Adds a word; returns the text of the previous words when it does not join them. */
  add(word: Word): string {
    const before = this.open && this.charset !== word.charset ? this.close() : ''
    this.open = true
    this.charset = word.charset
    if (word.base64) this.addBase64(word.text)
    else {
      this.flush()
      this.bytes.push(decodeQ(word.text))
    }
    return before
  }

  /** Ends the run and returns its text. */
  close(): string {
    if (!this.open) return ''
    this.flush()
    const text = decodeCharset(this.bytes.length === 1 ? this.bytes[0]! : Buffer.concat(this.bytes), this.charset)
    this.open = false
    this.bytes = []
    return text
  }

  private addBase64(text: string): void {
    const whole = this.rest + text.replace(/\s/g, '')
    this.rest = ''
    if (whole.length % 4 !== 0 && !whole.endsWith('=')) {
      const cut = whole.length - (whole.length % 4)
      this.rest = whole.slice(cut)
      this.bytes.push(decodeBase64(Buffer.from(whole.slice(0, cut))))
    } else this.bytes.push(decodeBase64(Buffer.from(whole)))
  }

  private flush(): void {
    if (this.rest === '') return
    this.bytes.push(decodeBase64(Buffer.from(this.rest)))
    this.rest = ''
  }
}

/** RFC 2047 4.2: quoted-printable with "_" for a space. */
function decodeQ(text: string): Uint8Array {
  return decodeQuotedPrintable(Buffer.from(text.replaceAll('_', ' ')), true)
}
