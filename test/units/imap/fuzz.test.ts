// Ten thousand random commands, whole and damaged: each is read or refused in a known manner, and none holds the reader up.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../../../src/imap/commands/commands.ts'
import { Cursor, ImapSyntaxError } from '../../../src/imap/grammar/cursor.ts'
import { AFTER_LOGIN } from '../../../src/imap/grammar/limits.ts'
import { type CommandSegment, ConnectionEnded, ReadError } from '../../../src/imap/grammar/reader.ts'
import { BadCharset } from '../../../src/imap/grammar/search-keys.ts'
import { CommandMaker } from '../../support/imap-fuzz.ts'
import { readerOf } from '../../support/imap-grammar.ts'
import { Random } from '../../support/random.ts'

const COUNT = 10_000

/** Reads one command as a session does. @returns whether it follows the grammar */
function parse(segment: CommandSegment): boolean {
  try {
    const cursor = new Cursor(segment.pieces, segment.content !== null)
    cursor.tag()
    cursor.space()
    let name = cursor.word()
    const isUid = name === 'UID'
    if (isUid) {
      cursor.space()
      name = cursor.word()
    }
    const found = COMMANDS.get(name)
    if (found === undefined) return false
    found.read(cursor, isUid)
    if (!cursor.isAtContent) cursor.end()
    return true
  } catch (error) {
    if (error instanceof ImapSyntaxError || error instanceof BadCharset) return false
    throw error
  }
}

for (const seed of [1, 2]) {
  test(`random commands are read or refused (seed ${seed})`, async () => {
    const random = new Random(seed)
    const maker = new CommandMaker(random)
    const counts = { read: 0, refused: 0, unreadable: 0 }
    for (let i = 0; i < COUNT / 2; i++) {
      const bytes = random.chance(0.6) ? Buffer.from(maker.make(), 'latin1') : maker.damaged()
      const cut = random.below(bytes.length)
      const reader = readerOf([bytes.subarray(0, cut), bytes.subarray(cut)])
      reader.limits = AFTER_LOGIN
      for (let left = bytes.length + 2; ; left--) {
        // Each call consumes at least a byte.
        assert.ok(left > 0, bytes.toString('latin1'))
        try {
          counts[parse(await reader.segment()) ? 'read' : 'refused']++
        } catch (error) {
          if (error instanceof ConnectionEnded) break
          assert.ok(error instanceof ReadError, `${bytes.toString('latin1')}: ${error}`)
          counts.unreadable++
          if (error.isFatal) break
        }
      }
    }
    // The generator makes all three kinds.
    assert.ok(counts.read > 1500 && counts.refused > 1500 && counts.unreadable > 100, JSON.stringify(counts))
  })
}
