// The content of DATA is the same however the network cuts it, and only CRLF.CRLF ends it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ByteError, DataReader } from '../../../src/smtp/data-reader.ts'

interface Read {
  content: string
  fault: ByteError | null
  /** Bytes read when the end was found, -1 when it was not. */
  end: number
}

function read(bytes: Buffer, size = bytes.length): Read {
  const reader = new DataReader()
  const pieces: Buffer[] = []
  for (let start = 0; start < bytes.length; start += size) {
    const end = reader.read(bytes.subarray(start, start + size), (piece) => pieces.push(Buffer.from(piece)))
    if (end >= 0) return outcome(pieces, reader, start + end)
  }
  return outcome(pieces, reader, -1)
}

/** The content is of no use after a fault, so it is not compared. */
function outcome(pieces: Buffer[], { byteError: fault }: DataReader, end: number): Read {
  return { content: fault ? '' : Buffer.concat(pieces).toString('latin1'), fault, end }
}

/** The same outcome for every way to cut the bytes. */
function readAnyhow(text: string): Read {
  const bytes = Buffer.from(text, 'latin1')
  const whole = read(bytes)
  for (let size = 1; size < bytes.length; size++) assert.deepEqual(read(bytes, size), whole, `cut every ${size} bytes`)
  return whole
}

test('reads up to the end mark and leaves what follows', () => {
  assert.deepEqual(readAnyhow('one\r\ntwo\r\n.\r\nQUIT\r\n'), { content: 'one\r\ntwo\r\n', fault: null, end: 13 })
  assert.deepEqual(readAnyhow('.\r\n'), { content: '', fault: null, end: 3 })
  assert.equal(readAnyhow('no end\r\n').end, -1)
})

test('takes one stuffing dot off each line', () => {
  assert.equal(readAnyhow('..\r\n...\r\n.x\r\na.\r\n. \r\n.\r\n').content, '.\r\n..\r\nx\r\na.\r\n \r\n')
})

test('keeps every byte that is no line break', () => {
  const bytes = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1).filter((byte) => byte !== 10 && byte !== 13))
  const { content, fault } = read(Buffer.concat([bytes, Buffer.from('\r\n.\r\n')]))
  assert.equal(fault, null)
  assert.equal(content, `${bytes.toString('latin1')}\r\n`)
})

const faults: [string, ByteError][] = [
  ['a\nb\r\n.\r\n', 'bare_lf'],
  ['\n\r\n.\r\n', 'bare_lf'],
  ['a\rb\r\n.\r\n', 'bare_cr'],
  ['a\r\r\n.\r\n', 'bare_cr'],
  ['a\0b\r\n.\r\n', 'nul'],
  ['a\r\0\r\n.\r\n', 'bare_cr'],
  ['\0\r\n.\r\n', 'nul'],
  ['.\0\r\n.\r\n', 'nul'],
]
for (const [text, fault] of faults) {
  test(`names the fault of ${JSON.stringify(text)}`, () => {
    const found = readAnyhow(text)
    assert.equal(found.fault, fault)
    assert.equal(found.end, text.length)
  })
}

test('no other sequence is an end mark, and none takes a dot for stuffing', () => {
  for (const line of ['\n', '\r', '\r\n', '\n\r', '\r\r\n', '\0\r\n', '\r\0\n']) {
    for (const other of ['\n', '\r', '\r\n', '\r\r\n', '\0\r\n', '\n\r']) {
      const mark = `${line}.${other}`
      // This one holds an end mark; it is a fault all the same, and the session ends after it.
      if (mark.endsWith('\r\n.\r\n')) continue
      const text = `a${mark}MAIL FROM:<b@c.test>\r\n.\r\n`
      const found = readAnyhow(text)
      assert.equal(found.end, text.length, JSON.stringify(mark))
      assert.notEqual(found.fault, null, JSON.stringify(mark))
    }
  }
})
