// An answer means "on the disk": flushes, work put off to the end of a transaction, and the log that is brought home.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Db } from '../../../src/db/db.ts'
import { DbThreads } from '../../../src/db/threads.ts'
import { WriteLog } from '../../../src/db/write-log.ts'
import { holdFlushes } from '../../support/held-flushes.ts'

let folder: string
let count = 0
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-durable-'))
})
after(() => rm(folder, { recursive: true }))

async function openDb(threads?: DbThreads): Promise<Db> {
  const db = new Db({ file: join(folder, `${++count}.db`), threads })
  await db.write((tx) => tx.run('CREATE TABLE things (n INTEGER PRIMARY KEY, name ANY UNIQUE)'))
  return db
}

type Callback = (error: Error | null) => void

/** Collects the inodes of the files that this thread flushes. */
function noteFlushes() {
  const files = new Set<number>()
  const flush = fs.fdatasync
  const mocked = mock.method(fs, 'fdatasync', (descriptor: number, done: Callback) => {
    files.add(fs.fstatSync(descriptor).ino)
    flush(descriptor, done)
  })
  syncBuiltinESMExports()
  return {
    files,
    end() {
      mocked.mock.restore()
      syncBuiltinESMExports()
    },
  }
}

/** What waits for the wrong flush waits without end. */
const TIMEOUT = { timeout: 120_000 }

describe('an answer', TIMEOUT, () => {
  it('waits for the flush that follows the commit', async (t) => {
    const db = await openDb()
    const flushes = holdFlushes(t)
    try {
      let answered = false
      let hooked = false
      const writing = db.write((tx) => {
        tx.afterCommit(() => {
          hooked = true
        })
        tx.insert('things', { name: 'kept' })
      })
      void writing.then(() => {
        answered = true
      })
      while (flushes.held.length === 0) await turn()
      assert.equal(db.read.all('SELECT name FROM things').length, 1, 'committed')
      for (let i = 0; i < 20; i++) await turn()
      assert.deepEqual([answered, hooked], [false, false])
      flushes.held.shift()!(null)
      await writing
      assert.ok(hooked)
    } finally {
      flushes.end()
      await db.close()
    }
  })

  it('about numbers waits for every flush that is pending, and for none when all is on the disk', async (t) => {
    const db = await openDb()
    await db.durable()
    const flushes = holdFlushes(t)
    try {
      const writing = db.write((tx) => tx.insert('things', { name: 'seen' }))
      const ends: string[] = []
      // A reader can see the commit before anybody is told of it.
      while (db.read.all('SELECT name FROM things').length === 0) await turn()
      const durable = db.durable().then(() => ends.push('durable'))
      const later = db.write((tx) => tx.insert('things', { name: 'later' }))
      while (flushes.held.length === 0) await turn()
      for (let i = 0; i < 20; i++) await turn()
      assert.deepEqual(ends, [])
      flushes.held.shift()!(null)
      await Promise.all([writing, durable])
      const failing = (): never => {
        throw new Error('no')
      }
      await assert.rejects(db.write(failing))
      while (flushes.held.length === 0) await turn()
      flushes.held.shift()!(null)
      await later
      await db.durable()
    } finally {
      flushes.end()
      await db.close()
    }
  })

  it('about numbers of an account waits for what assigns them, and for nothing else', async (t) => {
    const db = await openDb()
    const flushes = holdFlushes(t)
    try {
      const ends: string[] = []
      const writing = db.write((tx) => {
        tx.assignsNumbersOf(1)
        tx.insert('things', { name: 'numbered' })
      })
      while (flushes.held.length === 0) await turn()
      const waiting = [1, undefined].map((account) => db.durable(account).then(() => ends.push(`${account}`)))
      void db.durable(2).then(() => ends.push('2'))
      for (let i = 0; i < 20; i++) await turn()
      assert.deepEqual(ends, ['2'])
      flushes.held.shift()!(null)
      await Promise.all([writing, ...waiting])
      assert.equal(ends.length, 3)
      const all = db.write((tx) => tx.atEnd((end) => end.assignsNumbersOf('all')))
      while (flushes.held.length === 0) await turn()
      let isOther = false
      const other = db.durable(2).then(() => {
        isOther = true
      })
      for (let i = 0; i < 20; i++) await turn()
      assert.equal(isOther, false)
      flushes.held.shift()!(null)
      await Promise.all([all, other])
    } finally {
      flushes.end()
      await db.close()
    }
  })

  it('about numbers fails with the flush they hang on', async (t) => {
    const db = await openDb()
    const flushes = holdFlushes(t)
    try {
      const writing = assert.rejects(db.write((tx) => tx.insert('things', { name: 'lost' })))
      while (flushes.held.length === 0) await turn()
      const durable = assert.rejects(db.durable(), /broken disk/)
      flushes.held.shift()!(new Error('broken disk'))
      await Promise.all([writing, durable])
    } finally {
      flushes.end()
      await db.close()
    }
  })

  it('of what is committed during a flush waits for the next one', async (t) => {
    const db = await openDb()
    const flushes = holdFlushes(t)
    try {
      const answered: string[] = []
      const write = (name: string) => db.write((tx) => tx.insert('things', { name })).then(() => answered.push(name))
      const first = write('first')
      while (flushes.held.length === 0) await turn()
      const others = [write('second'), write('third')]
      while (db.read.all('SELECT name FROM things').length < 3) await turn()
      flushes.held.shift()!(null)
      await first
      assert.deepEqual(answered, ['first'])
      while (flushes.held.length === 0) await turn()
      flushes.held.shift()!(null)
      await Promise.all(others)
      assert.equal(flushes.held.length, 0, 'one flush for both')
    } finally {
      flushes.end()
      await db.close()
    }
  })

  it('is an error when the flush fails, and nothing more is promised afterwards', async (t) => {
    const db = await openDb()
    const flushes = holdFlushes(t)
    try {
      const writing = db.write((tx) => tx.insert('things', { name: 'lost' }))
      while (flushes.held.length === 0) await turn()
      flushes.held.shift()!(new Error('EIO: the disk is broken'))
      await assert.rejects(writing, /EIO/)
    } finally {
      flushes.end()
    }
    await assert.rejects(
      db.write((tx) => tx.insert('things', { name: 'later' })),
      /EIO/,
    )
    assert.match(String(await db.broken), /EIO/)
    // Readers still see it.
    assert.equal(db.read.all('SELECT name FROM things').length, 1)
    await assert.rejects(db.durable(), /EIO/)
    assert.equal(db.isDurable, false)
    await db.close()
  })
})

describe('after a failed flush', TIMEOUT, () => {
  it('what was committed meanwhile is not answered either, though the next flush would succeed', async (t) => {
    const db = await openDb()
    const flushes = holdFlushes(t)
    try {
      const first = db.write((tx) => tx.insert('things', { name: 'first' }))
      while (flushes.held.length === 0) await turn()
      const second = db.write((tx) => tx.insert('things', { name: 'second' }))
      while (db.read.all('SELECT name FROM things').length < 2) await turn()
      const outcomes = Promise.allSettled([first, second])
      flushes.held.shift()!(new Error('EIO: the disk is broken'))
      for (let i = 0; i < 20; i++) await turn()
      for (const done of flushes.held) done(null)
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ['rejected', 'rejected'],
      )
    } finally {
      flushes.end()
      await db.close()
    }
  })
})

describe('an error of a statement', () => {
  it('names the statement and none of its values, because it goes to the log', async () => {
    const db = await openDb()
    const write = () => db.write((tx) => tx.insert('things', { name: 'a line of mail' }))
    await write()
    await assert.rejects(write(), ({ message }: Error) => {
      assert.match(message, /INSERT INTO things .* UNIQUE constraint failed/)
      assert.doesNotMatch(message, /a line of mail/)
      return true
    })
    await db.close()
  })
})

describe('work put off to the end', () => {
  it('runs after every unit of the transaction, and not for one that failed', async () => {
    const db = await openDb()
    const order: string[] = []
    const unit = (name: string, fails = false) =>
      db.write((tx) => {
        tx.atEnd((end) => {
          order.push(`end ${name}`)
          end.insert('things', { name: `end ${name}` })
        })
        order.push(name)
        tx.insert('things', { name })
        if (fails) throw new Error('no')
      })
    const outcomes = await Promise.allSettled([unit('a'), unit('b', true), unit('c')])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(order, ['a', 'b', 'c', 'end a', 'end c'])
    assert.equal(db.read.all('SELECT 1 FROM things').length, 4)
    await db.close()
  })

  it('fails the whole transaction when it fails', async () => {
    const db = await openDb()
    const outcomes = await Promise.allSettled([
      db.write((tx) => tx.insert('things', { name: 'innocent' })),
      db.write((tx) => {
        tx.atEnd(() => {
          throw new Error('no')
        })
      }),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.deepEqual(db.read.all('SELECT 1 FROM things'), [])
    await db.close()
  })
})

describe('the log', () => {
  it('stays as it is when what was copied of it to the file cannot be flushed, and nothing more is promised', async () => {
    const threads = new DbThreads(1)
    const db = await openDb(threads)
    const { ino } = await stat(db.file)
    const flush = fs.fdatasync
    const mocked = mock.method(fs, 'fdatasync', (descriptor: number, done: Callback) => {
      if (fs.fstatSync(descriptor).ino === ino) done(new Error('EIO: the file is broken'))
      else flush(descriptor, done)
    })
    syncBuiltinESMExports()
    const value = new Uint8Array(1024 * 1024)
    const sql = 'INSERT OR REPLACE INTO things (n, name) VALUES (1, ?)'
    try {
      const writing = async () => {
        for (let round = 0; round < 100; round++) await db.write((tx) => tx.run(sql, [value.fill(round)]))
      }
      await assert.rejects(writing, /EIO: the file/)
      assert.match(String(await db.broken), /EIO/)
    } finally {
      mocked.mock.restore()
      syncBuiltinESMExports()
      await threads.close()
      await db.close()
    }
  })

  it('is not trusted after a checkpoint of SQLite whose flush failed, but after a full disk', async () => {
    const db = await openDb()
    for (const [cause, expected] of [
      [1034, /disk I\/O error/],
      [13, null],
    ] as const) {
      const log = new WriteLog(db.file, () => Promise.reject(new Error('disk I/O error', { cause })))
      log.note(64 * 1024 * 1024)
      await log.tend((work) => work())
      for (let i = 0; i < 20; i++) await turn()
      if (expected === null) await log.flush()
      else await assert.rejects(log.flush(), expected)
      await log.close()
    }
    await db.close()
  })

  it('is brought home while writing goes on, so that it stays short', async () => {
    const threads = new DbThreads(1)
    const db = await openDb(threads)
    const flushed = noteFlushes()
    const value = new Uint8Array(64 * 1024)
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 32 }, (_, i) =>
          db.write((tx) =>
            tx.run('INSERT OR REPLACE INTO things (n, name) VALUES (?, ?)', [
              i,
              Buffer.concat([value, Buffer.from([round, i])]),
            ]),
          ),
        ),
      )
    }
    const { size } = await stat(`${db.file}-wal`)
    const written = 40 * 32 * value.length
    assert.ok(size < written / 2, `${size} of ${written} bytes`)
    assert.ok(
      flushed.files.has((await stat(db.file)).ino),
      'The file itself is flushed before writing pauses for the last checkpoint.',
    )
    flushed.end()
    await threads.close()
    await db.close()
  })

  it('stays short while another thread writes all the time', async () => {
    const [threads, others] = [new DbThreads(1), new DbThreads(1)]
    const db = await openDb(threads)
    const other = new Db({ file: db.file, threads: others })
    const value = new Uint8Array(1024 * 1024)
    let isWriting = true
    const writeOther = async () => {
      while (isWriting)
        await other.write((tx) => tx.run('INSERT OR REPLACE INTO things VALUES (1000, ?)', [Date.now()]))
    }
    const writing = writeOther()
    const write = (n: number) => db.write((tx) => tx.run('INSERT OR REPLACE INTO things VALUES (?, ?)', [n, value]))
    for (let round = 0; round < 20; round++) {
      value.fill(round)
      await Promise.all(Array.from({ length: 8 }, (_, n) => write(n)))
    }
    isWriting = false
    await writing
    const { size } = await stat(`${db.file}-wal`)
    assert.ok(size < 80 * value.length, `${size} bytes`)
    await Promise.all([threads.close(), others.close()])
    await Promise.all([other.close(), db.close()])
  })

  it('comes home while every reading thread is at work', async () => {
    const threads = new DbThreads(1)
    const db = await openDb(threads)
    let reading = true
    const long =
      'WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 30000000) SELECT max(x) FROM c'
    const read = db.scan.all(long).then(() => {
      reading = false
    })
    await threads.checkpoint(db.file)
    assert.ok(reading)
    await read
    await threads.close()
    await db.close()
  })
})
