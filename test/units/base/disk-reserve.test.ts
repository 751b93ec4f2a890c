// The reserve of the disk: made where there is plenty of room, released for deleting, and made again of what is left.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DiskReserve, RESERVE_BYTES } from '../../../src/base/disk-reserve.ts'

const MIB = 2 ** 20

test('is made, released, and made again of what is free, then whole', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-reserve-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'reserve')
  let free = 3 * RESERVE_BYTES
  const reserve = new DiskReserve(file, async () => free)
  const size = async () => (await stat(file)).size
  await reserve.keep()
  assert.deepEqual(await readdir(folder), [], 'it would take too much of the disk')
  assert.deepEqual([reserve.isReleased, reserve.release()], [false, false])
  free = 4 * RESERVE_BYTES
  await Promise.all([reserve.keep(), reserve.keep()])
  assert.deepEqual([await size(), reserve.isReleased], [RESERVE_BYTES, false])
  // On the disk, not a hole in a file.
  assert.ok((await stat(file)).blocks * 512 >= RESERVE_BYTES)
  assert.deepEqual([reserve.release(), reserve.isReleased, await size()], [true, true, 0])
  free = 4 * MIB
  await reserve.keep()
  assert.equal(reserve.isReleased, true, 'too little is left')
  free = 10 * MIB
  await reserve.keep()
  assert.deepEqual([await size(), reserve.isReleased], [9 * MIB, false])
  free = 4 * RESERVE_BYTES
  await reserve.keep()
  assert.equal(await size(), RESERVE_BYTES)
  assert.deepEqual(await readdir(folder), ['reserve'])
})
