// Word segmentation, compared with FTS5 itself: the tokens of a segmented text, their positions, and texts that stay unchanged.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it } from 'node:test'
import { foldWord, segmentText, tokensOf, wordGroups, wordPositions } from '../../../src/store/search/words.ts'

const fts = new DatabaseSync(':memory:')
fts.exec(`CREATE VIRTUAL TABLE texts USING fts5 (x, tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE words USING fts5vocab (texts, instance)`)
after(() => fts.close())

/** The tokens of FTS5 in each segmented text. */
function indexed(texts: readonly string[]): string[][] {
  fts.exec('DELETE FROM texts; BEGIN')
  const insert = fts.prepare('INSERT INTO texts (rowid, x) VALUES (?, ?)')
  for (const [at, text] of texts.entries()) insert.run(at, segmentText(text))
  fts.exec('COMMIT')
  const found: string[][] = texts.map(() => [])
  const rows = fts.prepare('SELECT doc, term FROM words ORDER BY doc, offset').all() as { doc: number; term: string }[]
  for (const { doc, term } of rows) found[doc]!.push(term)
  return found
}

/** Texts and their words without vowel marks: these are stored as private use characters. */
function reads(cases: Record<string, string>): void {
  const texts = Object.keys(cases)
  for (const [at, words] of indexed(texts).entries()) {
    const text = texts[at]!
    assert.equal(words.join(' ').replace(/\p{Co}/gu, '~'), cases[text], text)
    assert.deepEqual(
      [...wordPositions(text)].map(({ word }) => word),
      words,
      `${text}: as FTS5 has them`,
    )
    assert.deepEqual(tokensOf(text).map(foldWord), words, `${text}: as a search asks`)
  }
}

describe('words', () => {
  it('are single characters in scripts without spaces', () => {
    reads({
      北京大学的学生: '北 京 大 学 的 学 生',
      iPhone手机壳: 'iphone 手 机 壳',
      'C語言、第2版': 'c 語 言 第 2 版',
      コーヒーと東京都庁: 'コ ー ヒ ー と 東 京 都 庁',
      '내일 회의': '내 일 회 의',
      กรุงเทพ: 'ก ร ~ ง เ ท พ',
      ພາສາລາວ: 'ພ າ ສ າ ລ າ ວ',
      ភាសាខ្មែរ: 'ភ ~ ស ~ ខ ~ ម ~ រ',
      မြန်မာ: 'မ ~ န ~ မ ~',
      𠮷野家𪛟x𰻞: '𠮷 野 家 𪛟 x 𰻞',
      人々〆切〇: '人 々 〆 切 〇',
    })
  })

  it('are the same for all compatibility variants', () => {
    reads({
      ＡＢＣ１２３: 'abc123',
      ｶﾞｰﾄﾞ: 'ガ ー ド',
      'か\u3099き': 'が き',
      ['가각'.normalize('NFD')]: '가 각',
      ㅋㅋ: 'ᄏ ᄏ',
      '㈱山田 ㍿ ㎏': '株 山 田 株 式 会 社 kg',
      '\u2f00\uf900': '一 豈',
      '（株）。！': '株',
    })
    assert.notDeepEqual(indexed(['か']), indexed(['が']), 'voiced kana are other letters')
    assert.notDeepEqual(indexed(['กิน']), indexed(['กัน']), 'Thai vowels count')
  })

  it('ignore case and accents in every script', () => {
    reads({
      'Übergrößen naïve Ệ e\u0323\u0302': 'ubergroßen naive e e',
      'Σίσυφος ΣΙΣΥΦΟΣ ᾳ': 'σισυφοσ σισυφοσ α',
      'Ёлка мой мои\u0306': 'елка мои мои',
      'مُحَمَّد أحمد': 'محمد احمد',
      שָׁלוֹם: 'שלום',
      'हिन्दी में': 'ह~न~द~ म~~',
      'Äffin µm ſo': 'affin μm so',
    })
  })

  it('end at symbols, including those newer than the tables of FTS5', () => {
    const symbols: string[] = []
    for (let code = 0x2000; code < 0x20000; code++) {
      const char = String.fromCodePoint(code)
      const isUsed = code < 0x2e80 || code >= 0x10000
      if (isUsed && /[^\p{L}\p{N}\p{M}\p{Cn}\p{Co}]/u.test(char)) symbols.push(char)
    }
    assert.ok(symbols.length > 5000, String(symbols.length))
    const found = indexed(symbols.map((symbol) => `a${symbol}b`))
    const missed = symbols.filter((_, at) => found[at]!.length !== 2)
    assert.deepEqual(
      missed.map((symbol) => symbol.codePointAt(0)!.toString(16)),
      [],
    )
    reads({ 'hello🙂🤣you': 'hello you', '\u2068Ana\u2069 100₺ 👍🏽ok': 'ana 100 ok' })
  })

  it('have their positions in the text', () => {
    const text = 'Ｔｅａ手机 か\u3099 𠮷x हिन्दी ㍿'
    const places = [...wordPositions(text)].map(({ start, end }) => text.slice(start, end))
    assert.deepEqual(places, ['Ｔｅａ', '手', '机', 'か\u3099', '𠮷', 'x', 'हिन्दी', '㍿', '㍿', '㍿', '㍿'])
  })

  it('form groups separated by spaces and punctuation', () => {
    assert.deepEqual(wordGroups('foo-bar 手机壳, １'), [['foo'], ['bar'], ['手', '机', '壳'], ['1']])
  })
})

describe('texts', () => {
  it('that need no segmentation stay exactly unchanged', () => {
    for (const text of ['', 'Zürich, naïve – “ok” € … ™ ½ e\u0301', 'мама σοφια שלום', '❤️ ☎ 1️⃣', '\ud800\u0000x'])
      assert.equal(segmentText(text), text)
  })

  it('grow to at most four times their length', () => {
    for (const piece of ['北', 'ｶﾞ', 'หัว', '🙂a', 'ё', '가'.normalize('NFD')]) {
      const text = piece.repeat(256 * 1024).slice(0, 256 * 1024)
      assert.ok(segmentText(text).length <= 4 * text.length)
    }
  })
})
