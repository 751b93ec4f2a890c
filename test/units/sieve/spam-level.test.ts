// The scale of RFC 5235, and how a script asks for the level of a message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decidedOutcome } from '../../../src/sieve/outcome.ts'
import { askedLevel, levelAnswer, spamLevel } from '../../../src/sieve/spam-level.ts'
import { bytesOf, outcome, problemsOf, runScriptOn } from '../../support/sieve.ts'

test('a level of 6 or more is that of Junk, whatever the score says', () => {
  const cases: [score: number, isSpam: boolean, expected: number][] = [
    [-3, false, 1],
    [0, false, 1],
    [1, false, 2],
    [4.9, false, 5],
    [5, true, 6],
    [9.9, true, 10],
    [100, true, 10],
    // An author that is unclear is spam without the score.
    [0, true, 6],
    // A mailbox that accepts the sender.
    [7, false, 5],
  ]
  for (const [score, isSpam, expected] of cases) assert.equal(spamLevel({ score, isSpam }, 5), expected, String(score))
})

test('four questions find each level', () => {
  for (let level = 1; level <= 10; level++) {
    const answers = new Map<string, boolean>()
    for (let asked = askedLevel(answers); ; asked = askedLevel(answers)) {
      if ('level' in asked) {
        assert.equal(asked.level, level)
        break
      }
      answers.set(asked.ask, levelAnswer(asked.ask, level)!)
    }
    assert.ok(answers.size <= 4)
  }
  assert.equal(levelAnswer('0123456789abcdef', 5), null)
})

test('a script tests the level beside ids of messages', () => {
  const script = `require ["spamtest", "duplicate", "fileinto", "relational", "comparator-i;ascii-numeric"];
    if anyof (duplicate, duplicate :uniqueid "a", duplicate :uniqueid "b") { fileinto "Again"; }
    elsif spamtest :value "gt" :comparator "i;ascii-numeric" "5" { fileinto "Spam"; }`
  const asked = runScriptOn(script, bytesOf('Message-ID: <a@b>', '', 'x'))
  for (const [level, expected] of [
    [5, 'default'],
    [6, 'folder'],
  ] as const) {
    const { targets, error } = decidedOutcome(asked, (id) => levelAnswer(id, level) ?? false)
    assert.deepEqual([targets.map(({ kind }) => kind), error], [[expected], null])
  }
})

test('what the tests and tags of spam and folder ids need', () => {
  assert.deepEqual(problemsOf('if spamtest :is "1" { discard; }'), [
    '1:4 "spamtest" needs require "spamtest" at the start of the script.',
  ])
  assert.deepEqual(problemsOf('require "fileinto"; fileinto :mailboxid "fld_x" "A";'), [
    '1:30 ":mailboxid" needs require "mailboxid" at the start of the script.',
  ])
  const both = 'require ["fileinto", "mailboxid", "special-use"]; fileinto :mailboxid "x" :specialuse "\\\\Junk" "A";'
  assert.equal(problemsOf(both).length, 1)
  assert.equal(outcome('require ["fileinto", "mailboxid"]; fileinto :mailboxid "fld_x" "A";', bytesOf('', '')), 'A')
})
