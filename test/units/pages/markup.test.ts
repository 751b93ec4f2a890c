// Values in templates of pages: text, and nothing that hides in it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../../../src/pages/markup.ts'

test('characters that cannot be seen or turn the text around are shown by their code points', () => {
  const name = 'Quay\u202e<x>\u200b\u0007\ufeff\ud800\u2028'
  assert.equal(html`<b>${name}</b>`.text, '<b>Quay[U+202E]&lt;x&gt;[U+200B][U+0007][U+FEFF][U+D800][U+2028]</b>')
  const plain = 'Ana Müller\r\n\t👩\u200d👧 نمی\u200cخواهم'
  assert.equal(html`${plain}`.text, plain)
})
