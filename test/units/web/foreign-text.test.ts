// Text of strangers: what is marked in it, and what stays as it is.

import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { legible, partsOf } from '../../../web/src/base/foreign-text.ts'

test('text that people write stays as it is', () => {
  const texts = [
    'Keel bolts, 4 × M8\n\tand more',
    'Ana Müller <ana@bücher.example>',
    'почта@пример.рф',
    'Москва, IT-отдел, SMSка, 5 μm',
    'Πρόγραμμα',
    '東京の天気, ソウル 서울',
    // Joiners between letters that join, in emoji, and the other invisible parts of emoji.
    'نمی\u200cخواهم क्\u200dष',
    '👩‍👩‍👧 ❤️ 1️⃣ 👍🏽 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '葛\u{e0100}城',
    'a\r\nb',
  ]
  for (const text of texts) assert.deepEqual([partsOf(text), legible(text)], [[{ kind: 'text', text }], text])
})

test('characters that cannot be seen, and those that turn the text around, are found with their code points', () => {
  const cases: [text: string, shown: string][] = [
    ['invoice_\u202egpj.exe', 'invoice_[U+202E]gpj.exe'],
    ['\u2067a\u2069\u200f', '[U+2067]a[U+2069][U+200F]'],
    ['pay\u200bpal\u00ad\ufeff', 'pay[U+200B]pal[U+00AD][U+FEFF]'],
    ['a\u0000b\u001b[31m\u007f\u0085', 'a[U+0000]b[U+001B][31m[U+007F][U+0085]'],
    ['one\u2028two\rthree', 'one[U+2028]two[U+000D]three'],
    ['x\u200cy 1\ufe0f', 'x[U+200C]y 1[U+FE0F]'],
    // Letters that are blank, half a character, and tags that carry text nobody sees.
    ['\u3164\u2800\u1160', '[U+3164][U+2800][U+1160]'],
    ['\ud800x', '[U+D800]x'],
    ['x\u{e0041}\u{e0042}', 'x[U+E0041][U+E0042]'],
  ]
  for (const [text, shown] of cases) assert.equal(legible(text), shown)
  assert.deepEqual(partsOf('a\u202eb'), [
    { kind: 'text', text: 'a' },
    { kind: 'hidden', codes: ['202E'] },
    { kind: 'text', text: 'b' },
  ])
})

test('a domain that looks like another one is shown as DNS knows it, a word of two alphabets that look alike is marked', () => {
  const shown = (text: string) => partsOf(text).map((part) => `${part.kind} ${part.kind === 'hidden' ? '' : part.text}`)
  // Cyrillic а; all Cyrillic; Greek ο; full width.
  assert.deepEqual(shown('bob@аpple.com'), ['text bob@', 'domain xn--pple-43d.com'])
  assert.deepEqual(shown('see https://аррӏе.com/x'), ['text see https://', 'domain xn--80ak6aa92e.com', 'text /x'])
  assert.deepEqual(shown('gοοgle.example'), ['domain xn--ggle-0nda.example'])
  assert.deepEqual(shown('ｐａｙｐａｌ.com'), ['domain paypal.com'])
  assert.deepEqual(shown('PаyPal Support'), ['mixed PаyPal', 'text  Support'])
  assert.deepEqual(shown('xn--pple-43d.com'), ['text xn--pple-43d.com'])
})

test('a long hostile text is read in linear time', () => {
  const before = process.cpuUsage().user
  for (const piece of ['\u202e', 'a.', 'а', '👩\u200d', '\u{e0041}', 'a\u200c']) partsOf(piece.repeat(20_000))
  assert.ok(process.cpuUsage().user - before < 3_000_000)
})
