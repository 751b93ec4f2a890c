// Words of commands that are shown for copying.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { shellWord } from '../../../src/cli/frame/shell-word.ts'

test('a shell reads every word as it is', () => {
  const words = [
    '`id`@x.example',
    '"$(id)"@x.example',
    "o'hara@x.example",
    '/my data/$HOME',
    '~',
    '*',
    '',
    'a;b',
    'a\nb',
  ]
  for (const word of words) {
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' }), word)
  }
})

test('plain addresses, ids and paths stay as they are', () => {
  for (const word of ['ana+x@shop.example', 'team_0123abc', '/var/lib/mailstead']) assert.equal(shellWord(word), word)
})
