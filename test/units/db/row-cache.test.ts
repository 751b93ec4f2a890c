// Rows are kept in memory until any connection changes the database.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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

test('a commit that keeps caches costs no read, and hides no commit of another connection', async () => {
  await rename(db, 7, 'before')
  const { get, counts } = openCache()
  for (let n = 0; n < 3; n++) assert.equal(get(7), 'before')
  await db.write((tx) => {
    tx.keepsCaches()
    tx.run(`INSERT INTO things VALUES (1000, 'not kept')`)
  })
  assert.equal(get(7), 'before')
  assert.equal(counts.reads, 2)
  await rename(other, 7, 'after')
  await db.write((tx) => tx.keepsCaches())
  await new Promise(setImmediate)
  assert.equal(get(7), 'after')
  await Promise.all([db.write((tx) => tx.keepsCaches()), rename(db, 7, 'with another')])
  assert.equal(get(7), 'with another')
})

test('the first commit of a process hides no commit of another one', async () => {
  await using own = Object.assign(new Db({ file: join(folder, 'a.db') }), {
    [Symbol.asyncDispose]: () => own.close(),
  })
  await rename(db, 8, 'before')
  const cache = new RowCache<number, string>(own, 10)
  const get = () => cache.get(8, () => own.read.get<{ name: string }>('SELECT name FROM things WHERE n = 8')?.name)
  for (let n = 0; n < 3; n++) assert.equal(get(), 'before')
  await rename(other, 8, 'after')
  await own.write((tx) => tx.keepsCaches())
  await new Promise(setImmediate)
  assert.equal(get(), 'after')
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

test('a value is not followed by an older one in a turn of the event loop, however many are read', async () => {
  for (const n of [10, 11, 12]) await rename(db, n, 'before')
  const { get } = openCache(2)
  using writer = new DatabaseSync(join(folder, 'a.db'))
  assert.deepEqual([get(10), get(10), get(11)], ['before', 'before', 'before'])
  writer.exec(`UPDATE things SET name = 'after' WHERE n = 10`)
  get(12)
  assert.deepEqual([get(10), get(10)], ['after', 'after'])
})

test('reads through the writing connection see no transaction that is open, and keep nothing of one', async () => {
  await rename(db, 7, 'before')
  const cache = new RowCache<number, string>(db, 10)
  const sql = 'SELECT name FROM things WHERE n = 7'
  const get = () => cache.get(7, () => db.readWarm.get<{ name: string }>(sql)?.name)
  const seen: (string | undefined)[] = [get(), get(), get()]
  const writing = db.writeInSteps(function* (tx) {
    tx.run(`UPDATE things SET name = 'undone' WHERE n = 7`)
    // Work in steps gives way after some milliseconds.
    for (const began = performance.now(); performance.now() - began < 10; ) yield
    seen.push(get())
    throw new Error('no')
  })
  const failed = assert.rejects(writing, /no/)
  for (let turn = 0; turn < 5; turn++) {
    seen.push(get())
    await new Promise(setImmediate)
  }
  await failed
  assert.deepEqual([...new Set([...seen, get()])], ['before'])
  await rename(other, 7, 'by another')
  await new Promise(setImmediate)
  assert.equal(get(), 'by another')
})
