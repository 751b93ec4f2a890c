// The compressed form of a connection: everything arrives in order, in both directions.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { constants, createDeflateRaw, createInflateRaw } from 'node:zlib'
import { Compressor } from '../../../src/imap/session/compressor.ts'

const PIECES = Array.from({ length: 300 }, (_, n) => Buffer.from(`${n} `.repeat((n % 7) * 400 + 1)))

test('output that waits is compressed together, in order, up to the end', async () => {
  const [near, far] = duplexPair()
  const compressor = new Compressor(near)
  const packets: Buffer[] = []
  far.on('data', (bytes: Buffer) => packets.push(bytes))
  for (const piece of PIECES) if (!compressor.write(piece)) await once(compressor, 'drain')
  compressor.end()
  await once(far, 'end')
  const inflate = createInflateRaw()
  inflate.end(Buffer.concat(packets))
  assert.equal((await inflate.toArray()).join(''), PIECES.join(''))
  assert.ok(packets.length < PIECES.length, `${packets.length} packets`)
})

test('input is inflated in order, however it is cut', async () => {
  const [near, far] = duplexPair()
  const compressor = new Compressor(near)
  const deflate = createDeflateRaw({ flush: constants.Z_SYNC_FLUSH })
  deflate.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += 100) far.write(bytes.subarray(at, at + 100))
  })
  deflate.on('end', () => far.end())
  for (const piece of PIECES) deflate.write(piece)
  deflate.end()
  let text = ''
  for await (const bytes of compressor.iterator({ destroyOnReturn: false })) text += bytes
  assert.equal(text, PIECES.join(''))
})

test('a client that ends its half behind a flush is answered all the same', async () => {
  const [near, far] = duplexPair()
  const compressor = new Compressor(near)
  const deflate = createDeflateRaw({ flush: constants.Z_SYNC_FLUSH })
  deflate.write('a1 LOGOUT\r\n')
  const [command] = await once(deflate, 'data')
  far.end(command)
  let text = ''
  for await (const bytes of compressor.iterator({ destroyOnReturn: false })) text += bytes
  assert.equal(text, 'a1 LOGOUT\r\n')
  compressor.end('a1 OK\r\n')
  const inflate = createInflateRaw()
  inflate.end(Buffer.concat(await far.toArray()))
  assert.equal((await inflate.toArray()).join(''), 'a1 OK\r\n')
})
