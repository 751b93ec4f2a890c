// Rows are kept in memory until any connection changes the database.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import { migrate, statements } from '../../../src/db/migrate.ts'
import { RowCache } from '../../../src/db/row-cache.ts'

let folder: string
let db: Db
let other: Db

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-row-cache-'))
  db = new Db({ file: join(folder, 'a.db') })
  other = new Db({ file: join(folder, 'a.db') })
  await migrate(db, [
    statements(1, 'first', 'CREATE TABLE things (n INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;\n'),
  ])
})
after(async () => {
  await other.close()
  await db.close()
  await rm(folder, { recursive: true })
})

/** A cache of names, and how often it read one. */
function openCache(most = 10) {
  const cache = new RowCache<number, string>(db, most)
  const counts = { reads: 0 }
  const get = (n: number) =>
    cache.get(n, () => {
      counts.reads++
      return db.read.get<{ name: string }>('SELECT name FROM things WHERE n = ?', [n])?.name
    })
  return { get, counts }
}

const rename = (by: Db, n: number, name: string) =>
  by.write((tx) => tx.run('INSERT OR REPLACE INTO things (n, name) VALUES (?, ?)', [n, name]))

test('what is read repeatedly is kept, across turns of the event loop', async () => {
  await rename(db, 1, 'one')
  const { get, counts } = openCache()
  for (let turn = 0; turn < 5; turn++) {
    assert.equal(get(1), 'one')
    assert.equal(get(1), 'one')
    await new Promise(setImmediate)
  }
  assert.equal(counts.reads, 2)
})

test('a commit of the same process is seen as soon as readers see it', async () => {
  await rename(db, 2, 'before')
  const { get } = openCache()
  let current = ''
  for (let turn = 0; turn < 20; turn++) {
    const written = rename(db, 2, `${turn}`)
    for (let isDone = false; !isDone; ) {
      current = db.read.get<{ name: string }>('SELECT name FROM things WHERE n = 2')!.name
      assert.equal(get(2), current)
      isDone = await Promise.race([written.then(() => true), new Promise<boolean>((next) => setImmediate(next, false))])
    }
    assert.equal(get(2), `${turn}`)
  }
})

test('a commit of another connection is seen in the next turn of the event loop', async () => {
  await rename(db, 3, 'before')
  const { get } = openCache()
  for (let n = 0; n < 3; n++) assert.equal(get(3), 'before')
  await rename(other, 3, 'after')
  await new Promise(setImmediate)
  assert.equal(get(3), 'after')
})

test('what is not there is not kept, and the number of kept values is bounded', async () => {
  const { get, counts } = openCache(2)
  for (let n = 0; n < 3; n++) assert.equal(get(99), undefined)
  assert.equal(counts.reads, 3)
  await rename(db, 99, 'there')
  assert.equal(get(99), 'there')
  for (const n of [4, 5, 6]) await rename(db, n, `name ${n}`)
  for (let round = 0; round < 3; round++) for (const n of [4, 5, 6, 99]) assert.ok(get(n))
})
