// Character sets decoded piece by piece: wherever the bytes are cut, the same text as of the whole.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeCharset } from '../../../src/mime/charset.ts'
import { charsetStream } from '../../../src/mime/charset-stream.ts'

const utf8 = Buffer.from('grün 漢字 \u{1f600} ende')
const japanese = Buffer.from('a \x1b$BF|K\\8l\x1b(B\x1b(J b \x1b(B\x1b$BF|\x1b(B', 'latin1')

const WHOLES: [charset: string | null, bytes: Buffer, text: string | null][] = [
  ['utf-8', utf8, 'grün 漢字 \u{1f600} ende'],
  [null, utf8, 'grün 漢字 \u{1f600} ende'],
  ['us-ascii', Buffer.from('caf\xe9 \xfcber \xe9', 'latin1'), 'café über é'],
  ['iso-2022-jp', japanese, null],
  [null, japanese, null],
  ['shift_jis', Buffer.from('a\x93\xfa\x96\x7b\x8c\xea', 'latin1'), 'a日本語'],
  ['gb2312', Buffer.from('\xd6\xd0\xce\xc4 x', 'latin1'), '中文 x'],
  ['utf-16le', Buffer.from('ünd \u{1f600}', 'utf16le'), 'ünd \u{1f600}'],
  ['cp437', Buffer.from('caf\x82\r\n\x81ber', 'latin1'), 'café\r\nüber'],
  ['utf-32le', Buffer.from('g\0\0\0\xfc\0\0\0\n\0\0\0', 'latin1'), 'gü\n'],
  ['utf-8', Buffer.from('cut \xe6\xbc', 'latin1'), 'cut \ufffd'],
  ['no-such-charset', Buffer.from('plain'), 'plain'],
]

test('two pieces are the text of the whole, wherever it is cut; so are single bytes', () => {
  for (const [charset, bytes, text] of WHOLES) {
    const whole = decodeCharset(bytes, charset)
    if (text !== null) assert.equal(whole, text, `${charset}`)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const stream = charsetStream(charset)
      const joined = stream.push(bytes.subarray(0, cut)) + stream.push(bytes.subarray(cut)) + stream.end()
      assert.equal(joined, whole, `${charset} cut at ${cut}`)
    }
    const stream = charsetStream(charset)
    const pieces = Array.from(bytes, (_, at) => stream.push(bytes.subarray(at, at + 1)))
    assert.equal(pieces.join('') + stream.end(), whole, `${charset} in bytes`)
  }
})

test('lines of UTF-7 are read whole', () => {
  const bytes = Buffer.from('one\r\ncaf+AOk- and +AOk-\r\n')
  for (let cut = 5; cut <= bytes.length; cut++) {
    const stream = charsetStream('utf-7')
    const joined = stream.push(bytes.subarray(0, cut)) + stream.push(bytes.subarray(cut)) + stream.end()
    assert.equal(joined, 'one\r\ncafé and é\r\n', `cut at ${cut}`)
  }
})
