// Damaged commands: the reader answers each or ends the connection, never waits for what is there, and keeps its bounds.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { LITERAL_BEFORE_LOGIN, LITERAL_BYTES } from '../../../src/managesieve/limits.ts'
import { ConnectionEnd, GrammarError, SieveReader } from '../../../src/managesieve/reader.ts'
import { formatString } from '../../../src/managesieve/replies.ts'
import { Random } from '../../support/random.ts'

const COMMANDS = 10_000
const PARTS = [
  'PUTSCRIPT',
  'noop',
  'FOO',
  ' ',
  '  ',
  '"',
  '"a b"',
  '"\\"x\\\\"',
  '{3+}\r\nabc',
  '{0+}\r\n',
  '{5}\r\nhello',
  '{1+}\r\n\0',
  '{2+}\r\nü',
  '12',
  '4294967296',
  '{-1+}',
  '{99999999999+}',
  '\\',
  '*',
  '(',
  'ü',
  '\r',
  '\0',
  `"${'y'.repeat(1030)}"`,
]

function commandOf(random: Random): Buffer {
  const parts = Array.from({ length: random.below(6) }, () => PARTS[random.below(PARTS.length)]!)
  if (random.chance(0.8)) parts.unshift(random.chance(0.5) ? 'PUTSCRIPT' : 'noop')
  const bytes = Buffer.from(`${parts.join(random.below(2) === 0 ? ' ' : '')}\r\n`)
  for (let times = random.below(3); times > 0; times--) bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}

test(`${COMMANDS} damaged commands, in pieces of any size`, async () => {
  const random = new Random(41)
  const counts = { read: 0, wrong: 0, ended: 0 }
  for (let n = 0; n < COMMANDS; ) {
    const stream = new PassThrough()
    const reader = new SieveReader(stream)
    reader.isSignedIn = random.below(2) === 0
    const batch = Array.from({ length: 20 }, () => commandOf(random))
    n += batch.length
    const all = Buffer.concat(batch)
    for (let at = 0; at < all.length; ) {
      const piece = 1 + random.below(200)
      stream.write(all.subarray(at, at + piece))
      at += piece
    }
    stream.end()
    for (;;) {
      try {
        const { name, args } = await reader.command()
        counts.read++
        assert.match(name, /^[A-Z][A-Z0-9_]*$/)
        for (const arg of args) {
          if (arg.kind === 'string') assert.ok(Buffer.byteLength(arg.text) <= LITERAL_BYTES && !arg.text.includes('\0'))
        }
      } catch (error) {
        if (error instanceof ConnectionEnd) break
        assert.ok(error instanceof GrammarError, String(error))
        counts.wrong++
      }
    }
    counts.ended++
  }
  assert.ok(counts.read > 500 && counts.wrong > 5000, JSON.stringify(counts))
})

test('before the login little is read ahead, and a literal is read whole all the same', async () => {
  const stream = new PassThrough({ highWaterMark: 1 << 20 })
  const reader = new SieveReader(stream)
  const literal = 'x'.repeat(LITERAL_BEFORE_LOGIN)
  for (let n = 0; n < 32; n++) stream.write(`NOOP {${literal.length}+}\r\n${literal}\r\n`)
  await new Promise(setImmediate)
  assert.ok(reader.buffered < 4 * LITERAL_BEFORE_LOGIN, `${reader.buffered}`)
  for (let n = 0; n < 32; n++) {
    assert.deepEqual(await reader.command(), { name: 'NOOP', args: [{ kind: 'string', text: literal }] })
  }
})

test('a string that is written is read again as it was', async () => {
  const stream = new PassThrough()
  const reader = new SieveReader(stream)
  reader.isSignedIn = true
  for (const text of ['', 'a b', '"\\', 'ü', 'line\r\nline', 'x'.repeat(2000), '{5+}']) {
    stream.write(`NOOP ${formatString(text)}\r\n`)
    assert.deepEqual((await reader.command()).args, [{ kind: 'string', text }])
  }
})
