// The base subject of RFC 5256 §2.1 and the order of RFC 5051.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { baseSubject, casemapKey } from '../../../src/mime/base-subject.ts'
import { Random } from '../../support/random.ts'

const CASES: [subject: string, base: string, isReply: boolean][] = [
  ['', '', false],
  ['hello', 'hello', false],
  ['  hello \t world  ', 'hello world', false],
  ['Re: hello', 'hello', true],
  ['RE  : hello', 'hello', true],
  ['re[4]: hello', 'hello', true],
  ['fw: hello', 'hello', true],
  ['Fwd:hello', 'hello', true],
  ['Re: Fw: RE: hello', 'hello', true],
  ['[list] Re: hello', 'hello', true],
  ['[a] [b] Re [c]: hello', 'hello', true],
  ['[list] hello', 'hello', false],
  ['[a][b] hello', 'hello', false],
  ['[a][b]', '[b]', false],
  ['[a]', '[a]', false],
  ['Re: [a]', '[a]', true],
  ['Re: [a] Re: hello', 'hello', true],
  ['hello (fwd)', 'hello', true],
  ['hello (FWD) (fwd) ', 'hello', true],
  ['(fwd)', '', true],
  ['[fwd: hello]', 'hello', true],
  ['[Fwd: Re: [x] hello (fwd)]', 'hello', true],
  ['[fwd: hello] you', 'you', false],
  ['[fwd:]', '', true],
  ['regards: hello', 'regards: hello', false],
  ['AW: hello', 'AW: hello', false],
  ['Re: =?utf-8?Q?Re:_gr=C3=BCn?=', 'grün', true],
  ['Re:', '', true],
  ['Re: [unclosed hello', '[unclosed hello', true],
]

test('the base subject of RFC 5256 §2.1', () => {
  for (const [subject, text, isReply] of CASES) assert.deepEqual(baseSubject(subject), { text, isReply }, subject)
})

/** The steps of the RFC one by one, each on a new text. */
function modelOf(subject: string): { text: string; isReply: boolean } {
  let text = subject.replace(/[\t ]+/g, ' ').trim()
  let isReply = false
  const replace = (pattern: RegExp, marks: boolean): boolean => {
    const next = text.replace(pattern, '')
    const isChanged = next !== text
    if (isChanged && marks) isReply = true
    text = next
    return isChanged
  }
  for (;;) {
    while (replace(/\(fwd\)$/i, true) || replace(/ $/, false));
    for (;;) {
      if (replace(/^(?:\[[^[\]]*\] *)*(?:re|fwd?) *(?:\[[^[\]]*\] *)?:/i, true) || replace(/^ /, false)) continue
      const rest = text.replace(/^\[[^[\]]*\] */, '')
      if (rest === text || rest === '') break
      text = rest
    }
    const inside = /^\[fwd:(.*)\]$/is.exec(text)
    if (!inside) return { text, isReply }
    text = inside[1]!
    isReply = true
  }
}

test('random subjects agree with the steps of the RFC', () => {
  const random = new Random(3)
  const pieces = ['re', 'Fw', 'fwd', ':', ' ', '[', ']', '(fwd)', '[fwd:', 'a', 'b c', '  ', '[x]', 'Re: ']
  for (let round = 0; round < 20_000; round++) {
    const subject = Array.from({ length: random.below(12) }, () => random.pick(pieces)).join('')
    assert.deepEqual(baseSubject(subject), modelOf(subject), JSON.stringify(subject))
  }
})

test('crafted subjects take linear time', () => {
  const start = process.cpuUsage()
  for (const piece of ['[a]', 're:', '[fwd:', '(fwd)', '[', ']', 're [a]', '[a] re:', ' ', '[]re']) {
    baseSubject(piece.repeat(100_000))
    baseSubject(`${'['.repeat(10)}${piece.repeat(100_000)}${']'.repeat(10)}`)
  }
  // Quadratic time would be minutes.
  assert.ok(process.cpuUsage(start).user < 5_000_000)
})

test('i;unicode-casemap: case and compatibility forms do not matter, the order is that of UTF-8', () => {
  for (const [a, b] of [
    ['hello', 'HELLO'],
    ['grün', 'GRÜN'],
    ['é', 'e\u0301'],
    ['ΑΒΓ', 'αβγ'],
  ] as const) {
    assert.equal(casemapKey(a), casemapKey(b), a)
  }
  assert.notEqual(casemapKey('ß'), casemapKey('ss'))
  const texts = ['b', 'a', 'é', '\u{1f600}', '\ufffd', 'Z', '']
  const byKey = texts.toSorted((a, b) => (casemapKey(a) < casemapKey(b) ? -1 : 1))
  assert.deepEqual(byKey, ['', 'a', 'b', 'é', 'Z', '\ufffd', '\u{1f600}'])
})
