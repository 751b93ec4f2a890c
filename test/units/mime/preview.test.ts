// The first words of a mail.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { previewOf } from '../../../src/mime/preview.ts'

test('white space folds, control and padding characters go', () => {
  assert.equal(previewOf('Hello,\n\n  how\tare\u00a0you?\u0007\n'), 'Hello, how are you?')
  assert.equal(previewOf('Sale\u200c \u200c\u00a0\u034f\u200b now\u00ad\ufeff'), 'Sale now')
  assert.equal(previewOf('👩\u200d👧 می\u200cخواهم'), '👩\u200d👧 می\u200cخواهم')
})

test('quotes, what introduces them, and the signature are left out', () => {
  const cases: [string, string][] = [
    ['> old\nnew\n>> older', 'new'],
    ['Yes.\n\nOn Monday, Ann wrote:\n> old\n\nstray tail', 'Yes.'],
    ['Yes.\nOn Monday, 1 July 2025 at 10:00,\nAnn <ann@x> wrote:\n\nold without marks', 'Yes.'],
    ['On Monday, Ann wrote:\n> old\n\nanswer below', 'answer below'],
    ['Yes.\n-- \nAnn\nHead of things', 'Yes.'],
    ['On the whole, fine.\nNext line.', 'On the whole, fine. Next line.'],
    ['a -- b', 'a -- b'],
  ]
  for (const [text, expected] of cases) assert.equal(previewOf(text), expected, text)
})

test('a text that is nothing but quotes or signature is shown as it is', () => {
  assert.equal(previewOf('> only\n> quotes'), '> only > quotes')
  assert.equal(previewOf('-- \nAnn'), '-- Ann')
})

test('at most 256 code points, none cut in half', () => {
  assert.equal([...previewOf('😀'.repeat(1000))].length, 256)
  assert.equal(previewOf('a b '.repeat(1000)).length, 255)
  assert.equal(previewOf(''), '')
})
