// The command reader: lines, literals of all kinds, pipelining, cuts at every byte, and each bound of docs/design/mail-programs.md §2.5.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { AFTER_LOGIN, BEFORE_LOGIN } from '../../../src/imap/grammar/limits.ts'
import {
  type CommandSegment,
  ConnectionEnded,
  type ImapReader,
  literalHeader,
  ReadError,
} from '../../../src/imap/grammar/reader.ts'
import { readerOf } from '../../support/imap-grammar.ts'

function shown({ pieces }: CommandSegment): string {
  return pieces.map(({ line, literal }) => `${line}${literal === null ? '' : `<${literal}>`}`).join('')
}

async function readToEnd(reader: ImapReader): Promise<string[]> {
  const read: string[] = []
  for (;;) {
    try {
      read.push(shown(await reader.segment()))
    } catch (error) {
      if (error instanceof ReadError)
        read.push(`${error.problem}${error.isFatal ? '!' : ''} ${error.begin.subarray(0, 8)}`)
      else if (error instanceof ConnectionEnded) return read
      else throw error
      if (error instanceof ReadError && error.isFatal) return read
    }
  }
}

test('commands with literals are read alike wherever the bytes are cut', async () => {
  const text = 'a LOGIN {3}\r\nbob {4+}\r\np\r\nw\r\nb NOOP\nc X ~{2}\r\n\0\0\r\nd "{5}"\r\n'
  const expected = ['a LOGIN <bob> <p\r\nw>', 'b NOOP', 'c X <\0\0>', 'd "{5}"']
  for (let cut = 1; cut < text.length; cut++) {
    assert.deepEqual(await readToEnd(readerOf([text.slice(0, cut), text.slice(cut)])), expected, `cut at ${cut}`)
  }
  assert.deepEqual(await readToEnd(readerOf([...text])), expected)
})

test('the client is asked for synchronising literals only', async () => {
  let asked = 0
  const reader = readerOf(['a {1}\r\nx {1+}\r\ny {1}\r\nz\r\n'], { requestLiteral: () => asked++ })
  await reader.segment()
  assert.equal(asked, 2)
})

test('what looks like a literal is one only with digits in braces at the end of the line', () => {
  for (const line of ['a {-1}', 'a {}', 'a {x}', 'a {1', 'a {+}', 'a {1-}', 'a {1+', 'a 1}', '']) {
    assert.equal(literalHeader(Buffer.from(line)), null, line)
  }
  assert.deepEqual(literalHeader(Buffer.from('~{000012+}')), { bytes: 12, isSync: false, isBinary: true, size: 10 })
  assert.equal(literalHeader(Buffer.from('{9223372036854775808}'))!.bytes, Number.POSITIVE_INFINITY)
})

test('10,000 commands in one packet are read one after the other', async () => {
  const count = 10_000
  const text = Array.from({ length: count }, (_, index) => `t${index} NOOP\r\n`).join('')
  assert.equal((await readToEnd(readerOf([text]))).length, count)
})

test('a bare CR and NUL are refused; the next command is read', async () => {
  assert.deepEqual(await readToEnd(readerOf(['a NO\rOP\r\nb NO\0OP\r\nc NOOP\r\n'])), [
    'bad_character a NO\rOP',
    'bad_character b NO\0OP',
    'c NOOP',
  ])
})

for (const [name, limits] of Object.entries({ BEFORE_LOGIN, AFTER_LOGIN })) {
  test(`bounds ${name}: line, literal, literals together and their number`, async () => {
    const read = async (...texts: string[]) => {
      const reader = readerOf(texts)
      reader.limits = limits
      return (await readToEnd(reader)).map((one) => one.slice(0, 40))
    }
    const { lineBytes, literalBytes, literalsBytes, literals, nonSyncBytes } = limits
    assert.equal((await read(`${'x'.repeat(lineBytes)}\r\n`)).length, 1)
    assert.deepEqual(await read(`x y${'x'.repeat(lineBytes)}\r\n`, 'b NOOP\r\n'), ['line_too_long x yxxxxx', 'b NOOP'])
    assert.deepEqual(await read(`x y${'x'.repeat(lineBytes)} {5+}\r\n`, 'b NOOP\r\n'), ['line_too_long! x yxxxxx'])
    assert.deepEqual(await read(`a {${literalBytes + 1}}\r\n`, 'b NOOP\r\n'), ['literal_too_large a ', 'b NOOP'])
    assert.deepEqual(await read(`a {${nonSyncBytes + 1}+}\r\n`, 'b NOOP\r\n'), ['literal_too_large! a '])
    const many = Math.floor(literalsBytes / literalBytes)
    const full = `{${literalBytes}}\r\n${'x'.repeat(literalBytes)}`
    assert.deepEqual(await read(`a ${full.repeat(many)} {1}\r\n`), ['literal_too_large a '])
    assert.equal((await read(`a ${'{0}\r\n'.repeat(literals)}\r\n`)).length, 1)
    assert.deepEqual(await read(`a ${'{0}\r\n'.repeat(literals + 1)}`), ['literal_too_large a '])
    for (const bytes of ['4294967296', '9223372036854775808']) {
      assert.deepEqual(await read(`a {${bytes}}\r\n`), ['literal_too_large a '])
      assert.deepEqual(await read(`a {${bytes}+}\r\n`), ['literal_too_large! a '])
    }
  })
}

test('a line that arrives byte by byte costs little and is cut off at its bound', async () => {
  const stream = new PassThrough({ highWaterMark: 1 << 20 })
  const bytes = Buffer.alloc(BEFORE_LOGIN.lineBytes + 10, 'x')
  for (const byte of bytes) stream.write(Buffer.from([byte]))
  stream.end('\r\na NOOP\r\n')
  const { ImapReader } = await import('../../../src/imap/grammar/reader.ts')
  const reader = new ImapReader(stream, { requestLiteral: () => {}, isContent: () => false })
  await assert.rejects(reader.segment(), ReadError)
  assert.equal(shown(await reader.segment()), 'a NOOP')
})

test('the content of a message is a stream; the command goes on behind it', async () => {
  const content = Buffer.alloc(300_000, 'm')
  const reader = readerOf(['a APPEND x (\\Seen) {300000}\r\n', content, ' {2+}\r\nhi\r\nb NOOP\r\n'], {
    isContent: (pieces) => pieces.length > 0,
  })
  const first = await reader.segment()
  assert.deepEqual(first.content, { bytes: 300_000, isSync: true, isBinary: false })
  let size = 0
  for await (const piece of reader.content(300_000)) size += piece.length
  assert.equal(size, 300_000)
  const second = await reader.segment()
  assert.equal(second.content!.bytes, 2)
  for await (const piece of reader.content(2)) assert.equal(piece.toString(), 'hi')
  assert.equal(shown(await reader.segment()), '')
  assert.equal(shown(await reader.segment()), 'b NOOP')
})

test('a connection that ends within a line or a literal ends the reading', async () => {
  for (const text of ['', 'a NOO', 'a {5}\r\nab']) await assert.rejects(readerOf([text]).segment(), ConnectionEnded)
})
