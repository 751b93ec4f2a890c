// What FTS5 would take for something else than it is to a reader: letters that are words, marks that are letters, symbols that are none.

// Scripts that set no spaces between words. Each of their characters is a word of its own, and a run of them is asked for as a phrase:
// then 京都 is found inside 東京都庁 as any reader would. Korean sets spaces, but its particles hang on the words.
const SCRIPTS = ['Han', 'Hira', 'Kana', 'Bopo', 'Hang', 'Yiii', 'Thai', 'Laoo', 'Khmr', 'Mymr']
const ALONE = new RegExp(
  `[[[${SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')}]&&[\\p{L}\\p{N}\\p{M}]]--[\\u0300-\\u036f]]`,
  'v',
)
// FTS5 drops accents of Latin letters, and those of others where they stand behind the letter, but not where a letter holds them: "ά" and
// "α" with an accent behind it would not find one another. Points over and under letters it takes for the end of a word.
const ACCENTED = /[\u0370-\u06ff\u1f00-\u1fff]/
const POINT = /[[[\p{scx=Hebr}\p{scx=Arab}\p{scx=Syrc}\p{scx=Cyrl}]&&\p{M}]--[\u0300-\u036f]]/v
// All other marks of a script are vowels and the like; FTS5 takes them for the end of a word too.
const VOWEL = /[[\p{M}--[\p{sc=Inherited}\p{sc=Common}]]\u3099\u309a]/v
// What is younger than FTS5's tables (Unicode 6) it takes for letters, and a word with a smiley behind it for another word.
const SYMBOL =
  /[\u058d\u058e\u061c\u061d\u2066-\u2069\u20ba-\u20cf\u218a\u218b\u2427-\u243f\u2700\u23f4-\u23ff\u2b4d-\u2bff\u2e3c-\u2e7f[[\u{10000}-\u{10ffff}]--[\p{L}\p{N}\p{M}\p{Co}]]]/v
const MARK = /\p{M}/u

/** Nothing below can be any of that. */
const FIRST = 0x370
/** Planes in use. */
const END = 0x40000
/** Code points of private use, which FTS5 counts as letters: where marks go that must stay. */
const AS_LETTER = 0xf0000
const SPACE = 0x20
/** Code units one character grows to at most: a mark as a letter between two spaces. */
const GROWTH = 4

const [PLAIN, ALONE_PLAIN, ALONE_MARK, VOWEL_MARK, DROPPED, ENDS, BASE] = [1, 2, 3, 4, 5, 6, 7]

/** Writes texts so that FTS5 cuts them as a reader would. What a character is, is found out once. */
export class Letters {
  readonly #kinds = new Uint8Array(END)

  /** 256 Ki characters take 5 ms at most. */
  write(text: string): string {
    if (!this.#changes(text)) return text
    const units = new Uint16Array(GROWTH * text.length)
    let length = 0
    const put = (code: number) => {
      if (code > 0xffff) units[length++] = 0xd7c0 + (code >> 10)
      units[length++] = code > 0xffff ? 0xdc00 | (code & 0x3ff) : code
    }
    for (let i = 0; i < text.length; i++) {
      const code = text.codePointAt(i)!
      if (code > 0xffff) i++
      const kind = this.#kind(code)
      if (kind === PLAIN) put(code)
      else if (kind === BASE) put(String.fromCodePoint(code).normalize('NFD').codePointAt(0)!)
      else if (kind === VOWEL_MARK) put(AS_LETTER | (code & 0xffff))
      else if (kind === ENDS) put(SPACE)
      else if (kind !== DROPPED) {
        put(SPACE)
        put(kind === ALONE_MARK ? AS_LETTER | (code & 0xffff) : code)
        put(SPACE)
      }
    }
    return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le')
  }

  /** True for a single character that is a word of its own, as it is written. */
  isWord(character: string): boolean {
    const code = character.codePointAt(0)!
    return character.length === (code > 0xffff ? 2 : 1) && this.#kind(code) === ALONE_PLAIN
  }

  #changes(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      if (text.charCodeAt(i) >= FIRST && this.#kind(text.codePointAt(i)!) !== PLAIN) return true
    }
    return false
  }

  #kind(code: number): number {
    if (code < FIRST || code >= END) return PLAIN
    this.#kinds[code] ||= kindOf(String.fromCodePoint(code))
    return this.#kinds[code]!
  }
}

function kindOf(char: string): number {
  if (ALONE.test(char)) return MARK.test(char) ? ALONE_MARK : ALONE_PLAIN
  if (POINT.test(char)) return DROPPED
  if (VOWEL.test(char)) return VOWEL_MARK
  if (SYMBOL.test(char)) return ENDS
  return ACCENTED.test(char) && char.normalize('NFD').length > 1 ? BASE : PLAIN
}
