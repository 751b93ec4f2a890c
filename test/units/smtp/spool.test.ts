// Arriving messages: small ones in memory, large ones in a file, and no file remains however the transaction ends.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { after, test } from 'node:test'
import { Spool, SpoolFull, type SpoolLimits } from '../../../src/smtp/spool.ts'

const root = await mkdtemp(join(tmpdir(), 'mailstead-spool-'))
after(() => rm(root, { recursive: true }))

let count = 0
async function openSpool(limits: SpoolLimits = { memoryEach: 10, memory: 15, disk: 1000 }) {
  const folder = join(root, String(count++))
  const spool = new Spool(folder, limits)
  await spool.open()
  return { spool, folder }
}

const stream = (...pieces: string[]) => Readable.from(pieces.map((piece) => Buffer.from(piece)))

async function contentOf(held: { source: { bytes: Uint8Array } | { file: string } }): Promise<string> {
  return 'bytes' in held.source ? Buffer.from(held.source.bytes).toString() : readFile(held.source.file, 'utf8')
}

test('a short mail stays in memory, a long one goes to a file until it is released', async () => {
  const { spool, folder } = await openSpool()
  const short = await spool.receive(stream('0123', '456789'))
  assert.ok('bytes' in short.source)
  assert.equal(await contentOf(short), '0123456789')
  const long = await spool.receive(stream('0123', '456789', 'x'))
  assert.ok('file' in long.source)
  assert.equal(await contentOf(long), '0123456789x')
  assert.equal(long.sizeBytes, 11)
  await short.release()
  await long.release()
  await long.release()
  assert.deepEqual(await readdir(folder), [])
})

test('a short mail goes to a file when the others fill the memory', async () => {
  const { spool } = await openSpool()
  const first = await spool.receive(stream('0123456789'))
  const second = await spool.receive(stream('012345'))
  assert.ok('file' in second.source)
  await first.release()
  const third = await spool.receive(stream('0123456789'))
  assert.ok('bytes' in third.source)
  await second.release()
  await third.release()
})

test('a full spool says so after the mail was read to its end, and has room again afterwards', async () => {
  const { spool, folder } = await openSpool()
  const source = stream('x'.repeat(600), 'y'.repeat(600), 'z')
  await assert.rejects(spool.receive(source), SpoolFull)
  assert.equal(source.readableEnded, true)
  assert.deepEqual(await readdir(folder), [])
  const held = await spool.receive(stream('x'.repeat(1000)))
  await held.release()
})

test('the files of one owner are limited, and leave room for others', async () => {
  const { spool, folder } = await openSpool({ memoryEach: 10, memory: 15, disk: 1000, diskEach: 600 })
  const first = await spool.receive(stream('x'.repeat(500)), 1)
  await assert.rejects(spool.receive(stream('y'.repeat(60), 'z'.repeat(60)), 1), SpoolFull)
  const second = await spool.receive(stream('y'.repeat(450)), 2)
  // All together are limited as before, and what one gives back it can use again.
  await assert.rejects(spool.receive(stream('y'.repeat(60)), 1), SpoolFull)
  await second.release()
  const third = await spool.receive(stream('y'.repeat(100)), 1)
  await first.release()
  const fourth = await spool.receive(stream('y'.repeat(500)), 1)
  await third.release()
  await fourth.release()
  const last = await spool.receive(stream('y'.repeat(600)), 1)
  await last.release()
  assert.deepEqual(await readdir(folder), [])
})

test('a missing folder is an error after the mail was read, and no lasting one', async () => {
  const { spool, folder } = await openSpool()
  await rm(folder, { recursive: true })
  const source = stream('0123456789', 'x', 'y')
  await assert.rejects(spool.receive(source), { code: 'ENOENT' })
  assert.equal(source.readableEnded, true)
  await spool.open()
  await (await spool.receive(stream('0123456789', 'x'))).release()
})

test('a peer that goes away leaves nothing', async () => {
  const { spool, folder } = await openSpool()
  const source = new PassThrough()
  const held = spool.receive(source)
  source.write('x'.repeat(20))
  source.destroy(new Error('gone'))
  await assert.rejects(held, /gone/)
  assert.deepEqual(await readdir(folder), [])
})

test('what a killed process left is removed at the start', async () => {
  const { spool, folder } = await openSpool()
  await writeFile(join(folder, 'left.eml'), 'x')
  await spool.open()
  assert.deepEqual(await readdir(folder), [])
})
