// Transfer encodings, character sets and encoded words, good and broken.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody, decodeHeader, decodeText } from '../../../src/mime/decode.ts'
import { fileName } from '../../../src/mime/file-name.ts'
import { parseStructured } from '../../../src/mime/parameters.ts'

const body = (text: string, encoding: string) =>
  Buffer.from(decodeBody(Buffer.from(text, 'latin1'), encoding)).toString('latin1')
const text = (bytes: string, charset: string | null, encoding = '8bit') =>
  decodeText(Buffer.from(bytes, 'latin1'), { charset, encoding })

test('base64: padding in the middle, foreign characters, cut ends', () => {
  const cases: [string, string][] = [
    ['YWJj', 'abc'],
    ['YW Jj\r\nZGVm\r\n', 'abcdef'],
    ['YQ==\r\nYmM=\r\nZA==', 'abcd'],
    ['YWJj-_!#ZGVm', 'abcdef'],
    ['YWJjZ', 'abc'],
    ['YWJjZGU', 'abcde'],
    ['====', ''],
    ['=YWJj', 'abc'],
    ['', ''],
  ]
  for (const [given, expected] of cases) assert.equal(body(given, 'base64'), expected, given)
})

test('quoted-printable: soft breaks, white space at line ends, what is no octet', () => {
  const cases: [string, string][] = [
    ['a=3Db=3d', 'a=b='],
    ['one=\r\ntwo=\nthree', 'onetwothree'],
    ['soft= \t\r\nbreak', 'softbreak'],
    ['trailing  \t\r\nspace \n', 'trailing\r\nspace\n'],
    ['kept=20\r\n', 'kept \r\n'],
    ['a=4', 'a=4'],
    ['=G1 = 41 =', '=G1 = 41 '],
    ['bare\rreturn', 'bare\rreturn'],
    ['', ''],
  ]
  for (const [given, expected] of cases) assert.equal(body(given, 'quoted-printable'), expected, JSON.stringify(given))
})

test('an unknown encoding leaves the bytes as they are', () => {
  assert.equal(body('YWJj', 'x-unknown'), 'YWJj')
})

test('text has LF line ends and no byte order mark', () => {
  assert.equal(text('a\r\nb\rc\nd', 'utf-8'), 'a\nb\nc\nd')
  assert.equal(text('\xef\xbb\xbfhi', 'utf-8'), 'hi')
})

test('charsets by the names mailers give them', () => {
  const cases: [string, string | null, string][] = [
    ['\xe9\x80', 'iso-8859-1', 'é€'],
    ['\xe9', 'LATIN1', 'é'],
    ['\xcf\xf0\xe8', 'win-1251', 'При'],
    ['\xf0\xd2\xc9', 'koi8-r', 'При'],
    ['\xc4\xe3\xba\xc3', 'gb2312', '你好'],
    ['\xb0\xa1', 'ks_c_5601-1987', '가'],
    ['\x1b$B$"\x1b(B', 'iso-2022-jp', 'あ'],
    ['\x82\xa0', 'x-sjis', 'あ'],
    ['+AGEA6Q-', 'utf-7', 'aé'],
    ['\x81', 'cp850', 'ü'],
    ['h\0i\0', 'utf-16le', 'hi'],
  ]
  for (const [bytes, charset, expected] of cases) assert.equal(text(bytes, charset), expected, String(charset))
})

test('no charset, or one nobody knows: the bytes decide', () => {
  for (const charset of [null, '', 'us-ascii', 'unknown-8bit', 'x-nobody', 'base64', 'hex', '__proto__', '../../etc']) {
    assert.equal(text('Gr\xc3\xbc\xc3\x9fe', charset), 'Grüße', String(charset))
    assert.equal(text('Gr\xfc\xdfe', charset), 'Grüße', String(charset))
  }
  assert.equal(text('\x1b$B$"\x1b(B', null), 'あ')
})

test('bytes that are not of their charset never throw and make whole characters', () => {
  const noise = String.fromCharCode(...Array.from({ length: 256 }, (_, at) => (at * 7 + 27) % 256), 27, 36, 66, 255, 27)
  for (const charset of [
    'utf-8',
    'iso-2022-jp',
    'iso-2022-kr',
    'euc-jp',
    'shift_jis',
    'gb18030',
    'big5',
    'hz-gb-2312',
  ]) {
    assert.ok(text(noise, charset).isWellFormed(), charset)
  }
  for (const charset of ['utf-7', 'utf-16', 'utf-32', 'cp437', 'x-nobody'])
    assert.ok(text(noise, charset).isWellFormed())
})

test('plain text that calls itself base64 stays plain text', () => {
  const words = 'lorem  ipsum dolor sit amet\r\nconsectetur adipiscing elit\r\n'
  assert.match(text(words, 'utf-8', 'base64'), /^lorem {2}ipsum/)
})

test('encoded words', () => {
  const cases: [string, string][] = [
    ['=?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
    ['=?ISO-8859-1?q?a_b=5F?= plain', 'a b_ plain'],
    ['=?utf-8*de?B?R3LDvMOfZQ==?=', 'Grüße'],
    ['=?utf-8?B?w?= =?utf-8?B?7w=?=', 'ü'],
    ['=?utf-8?Q?=C3?= =?utf-8?Q?=BC?=', 'ü'],
    ['=?utf-8?Q?=C3?= =?utf-8?B?vA==?=', 'ü'],
    ['=?utf-8?Q?a?= =?iso-8859-1?Q?=FC?=\t=?utf-8?Q?b?=', 'aüb'],
    ['=?utf-8?Q?a?= b =?utf-8?Q?c?=', 'a b c'],
    ['=?iso-2022-jp?B?GyRCJCIbKEI=?= =?iso-2022-jp?B?GyRCJCQbKEI=?=', 'あい'],
    ['=?x-nobody?Q?=FC?=', 'ü'],
    ['a=?utf-8?Q?b?=c', 'abc'],
    ['=?utf-8?X?a?=', '=?utf-8?X?a?='],
    ['=?utf-8?Q?never ends', '=?utf-8?Q?never ends'],
    ['=?utf-8?Q?no =?utf-8?Q?yes?=', '=?utf-8?Q?no yes'],
    ['=?utf-8?Q??=', ''],
    ['=?utf-8?Q?a=0D=0AX-Evil:_1?=', 'a X-Evil: 1'],
    ['=?=?=?', '=?=?=?'],
  ]
  for (const [given, expected] of cases) assert.equal(decodeHeader(given), expected, given)
})

test('parameters: RFC 2231, encoded words, and what mailers forget', () => {
  const cases: [string, string, string | undefined][] = [
    ["a/b; title*=us-ascii'en-us'This%20is%20%2A%2A%2Afun%2A%2A%2A", 'title', 'This is ***fun***'],
    ["a/b; n*0*=utf-8''%C3; n*1*=%BC; n*2=.txt", 'n', 'ü.txt'],
    ['a/b; n*1=b; n*0=a', 'n', 'ab'],
    ["a/b; n=plain; n*=utf-8''ext", 'n', 'ext'],
    ['a/b; n="a;b\\"c"; m=2', 'n', 'a;b"c'],
    ['a/b; n="never ends; m=2', 'n', 'never ends'],
    ['a/b; n="never ends; m=2', 'm', '2'],
    ['a/b; n=two words.txt; m=2', 'n', 'two words.txt'],
    ['a/b; n=first m=2', 'm', '2'],
    ['a/b; n=file (1).txt', 'n', 'file (1).txt'],
    ['a/b; n=value (comment)', 'n', 'value'],
    ['a/b;; ; n = x', 'n', 'x'],
    ['a/b; n=1; n=2', 'n', '1'],
    ['a/b; __proto__=x', '__proto__', 'x'],
    ["a/b; n*=nobody'x'%FC", 'n', 'ü'],
    ["a/b; n*=utf-8''%zz%", 'n', '%zz%'],
  ]
  for (const [given, name, expected] of cases)
    assert.equal(parseStructured(given).parameters.get(name), expected, given)
  assert.equal(parseStructured('TEXT / plain (x); a=b').value, 'text/plain')
})

test('a file name is one step of a path, without marks that mislead', () => {
  const cases: [string, string | null][] = [
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a.doc', 'a.doc'],
    ['=?utf-8?Q?=C3=BC.pdf?=', 'ü.pdf'],
    ['annual\u202efdp.exe', 'annualfdp.exe'],
    ['a\0b\r\n.txt', 'a b .txt'],
    ['..', null],
    ['', null],
    [`${'x'.repeat(500)}.pdf`, `${'x'.repeat(251)}.pdf`],
  ]
  for (const [given, expected] of cases) assert.equal(fileName(given), expected, given)
})
