// Character classes that FTS5's unicode61 tokenizer treats wrongly: letters that are words, marks that are letters, unknown symbols.

// Scripts without spaces between words. Each character is indexed as a word, and a run of them is searched for as a phrase, so that
// 京都 is found inside 東京都庁. Korean uses spaces, but particles are attached to the words.
const SCRIPTS = ['Han', 'Hira', 'Kana', 'Bopo', 'Hang', 'Yiii', 'Thai', 'Laoo', 'Khmr', 'Mymr']
const ALONE = new RegExp(
  `[[[${SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')}]&&[\\p{L}\\p{N}\\p{M}]]--[\\u0300-\\u036f]]`,
  'v',
)
// FTS5 removes combining accents, but decomposes only Latin letters: precomposed "ά" and "α" with a combining accent would not match.
// It treats vowel points as the end of a word.
const ACCENTED = /[\u0370-\u06ff\u1f00-\u1fff]/
const POINT = /[[[\p{scx=Hebr}\p{scx=Arab}\p{scx=Syrc}\p{scx=Cyrl}]&&\p{M}]--[\u0300-\u036f]]/v
// Other marks of a script are vowel signs and the like; FTS5 treats them as the end of a word, too.
const VOWEL = /[[\p{M}--[\p{sc=Inherited}\p{sc=Common}]]\u3099\u309a]/v
// FTS5's tables are of Unicode 6: it treats newer symbols as letters, so that a word followed by an emoji would be another word.
const SYMBOL =
  /[\u058d\u058e\u061c\u061d\u2066-\u2069\u20ba-\u20cf\u218a\u218b\u2427-\u243f\u2700\u23f4-\u23ff\u2b4d-\u2bff\u2e3c-\u2e7f[[\u{10000}-\u{10ffff}]--[\p{L}\p{N}\p{M}\p{Co}]]]/v
const MARK = /\p{M}/u

/** Code points below are never changed. */
const FIRST = 0x370
/** Planes in use. */
const END = 0x40000
/** Private use code points, which FTS5 treats as letters: marks that must be kept are mapped there. */
const PRIVATE_USE = 0xf0000
const SPACE = 0x20
/** Maximum code units per character in the output: a mapped mark between two spaces. */
const GROWTH = 4

const [PLAIN, ALONE_PLAIN, ALONE_MARK, VOWEL_MARK, DROPPED, ENDS, BASE] = [1, 2, 3, 4, 5, 6, 7]

/** Rewrites texts so that FTS5 splits them into words correctly. The class of each character is cached. */
export class CharacterClasses {
  readonly #kinds = new Uint8Array(END)

  /** Takes at most 5 ms for 256 Ki characters. */
  normalise(text: string): string {
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
      else if (kind === VOWEL_MARK) put(PRIVATE_USE | (code & 0xffff))
      else if (kind === ENDS) put(SPACE)
      else if (kind !== DROPPED) {
        put(SPACE)
        put(kind === ALONE_MARK ? PRIVATE_USE | (code & 0xffff) : code)
        put(SPACE)
      }
    }
    return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le')
  }

  /** True for a single character that is indexed as a word of its own, unchanged. */
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
