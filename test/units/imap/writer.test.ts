// Output: the form of strings, gathering of a turn, back-pressure; and the compressed stream.

import assert from 'node:assert/strict'
import { Duplex, duplexPair, PassThrough } from 'node:stream'
import { test } from 'node:test'
import { constants, createDeflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'
import { CORK_BYTES, UNSENT_BYTES } from '../../../src/imap/grammar/limits.ts'
import { ImapReader } from '../../../src/imap/grammar/reader.ts'
import { formatAstring, formatNstring, formatString, ResponseWriter } from '../../../src/imap/grammar/writer.ts'
import { CompressionSlots, Compressor } from '../../../src/imap/session/compressor.ts'

test('strings are quoted where they can be, else literals', () => {
  assert.equal(formatString('a"b\\c'), '"a\\"b\\\\c"')
  assert.equal(formatString('\u00fc', true), '"\u00fc"')
  assert.equal(formatString('\u00fc').toString(), '{2}\r\n\u00fc')
  assert.equal(formatString('a\r\nb').toString(), '{4}\r\na\r\nb')
  assert.equal(formatString('x'.repeat(1001)).toString(), `{1001}\r\n${'x'.repeat(1001)}`)
  assert.equal(formatString(Buffer.from('plain')), '"plain"')
  assert.deepEqual(formatString(Buffer.from([0xff])), Buffer.concat([Buffer.from('{1}\r\n'), Buffer.from([0xff])]))
  assert.equal(formatNstring(null), 'NIL')
  assert.deepEqual(
    ['a]b', 'a b', '', 'NIL', '*'].map((one) => formatAstring(one)),
    ['a]b', '"a b"', '""', '"NIL"', '"*"'],
  )
})

/** A stream that takes nothing until it is released. */
function slowStream() {
  const taken: Buffer[] = []
  let release: (() => void) | null = null
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      taken.push(chunk)
      release = () => done()
    },
  })
  return { stream, taken, release: () => release?.() }
}

test('the output of a turn is one write; 16 KiB are written at once', async () => {
  const { stream, taken, release } = slowStream()
  const writer = new ResponseWriter(stream, { monotonic: () => 5 })
  writer.write('* a\r\n', Buffer.from('b'))
  writer.write('\r\n')
  assert.equal(taken.length, 0)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(taken.map(String), ['* a\r\nb\r\n'])
  release()
  writer.write('x'.repeat(CORK_BYTES))
  assert.equal(taken.length, 2)
})

test('a client that does not read holds back the producer, and the time of it is known', async () => {
  const { stream, release } = slowStream()
  const writer = new ResponseWriter(stream, { monotonic: () => 5 })
  await writer.ready()
  writer.write('x'.repeat(UNSENT_BYTES + 1))
  let isReady = false
  const ready = writer.ready().then(() => (isReady = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isReady, false)
  assert.equal(writer.blockedSince, 5)
  release()
  await ready
  assert.equal(writer.blockedSince, null)
  writer.write('x'.repeat(UNSENT_BYTES + 1))
  const closed = writer.ready()
  stream.destroy()
  await closed
})

test('a compressed connection: both directions, flushed with each write', async () => {
  const [client, server] = duplexPair()
  const compressed = new Compressor(server)
  const reader = new ImapReader(compressed, { requestLiteral: () => {}, isContent: () => false })
  const deflate = createDeflateRaw()
  deflate.on('data', (bytes) => client.write(bytes))
  deflate.write('a NOOP\r\n')
  deflate.flush(constants.Z_SYNC_FLUSH)
  assert.equal((await reader.segment()).pieces[0]!.line.toString(), 'a NOOP')
  const answer = new Promise<Buffer>((resolve) => client.once('data', resolve))
  compressed.write('a OK done\r\n')
  assert.equal(inflateRawSync(await answer, { finishFlush: constants.Z_SYNC_FLUSH }).toString(), 'a OK done\r\n')
})

test('a bomb is inflated only as far as it is read', async () => {
  const under = new PassThrough()
  const compressed = new Compressor(under)
  // A line that never ends, 200 MiB of it, in 200 KB.
  under.write(deflateRawSync(Buffer.alloc(200 << 20, 'x')))
  let inflated = 0
  await new Promise<void>((resolve) => {
    compressed.on('readable', () => {
      inflated += compressed.read()?.length ?? 0
      if (inflated > 100_000) resolve()
    })
  })
  const before = process.memoryUsage().rss
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(compressed.readableLength <= 256 << 10, `${compressed.readableLength}`)
  assert.ok(process.memoryUsage().rss - before < 32 << 20)
  compressed.destroy()
})

test('bytes that are no deflate stream end the connection', async () => {
  const under = new PassThrough()
  const compressed = new Compressor(under)
  const closed = new Promise((resolve) => compressed.once('close', resolve))
  under.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
  await closed
})

test('slots for compression are given back once', () => {
  const slots = new CompressionSlots(1)
  const free = slots.take()!
  assert.equal(slots.take(), null)
  free()
  free()
  assert.equal(slots.used, 0)
})
