// Group commit, units that fail alone, and handles that end with their unit.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Db, type Tx } from '../../../src/db/db.ts'
import { DeferredWrites } from '../../../src/db/deferred-writes.ts'
import { migrate, statements } from '../../../src/db/migrate.ts'
import { DbThreads } from '../../../src/db/threads.ts'

let folder: string
let db: Db
let threads: DbThreads

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-db-'))
  threads = new DbThreads(1)
  db = new Db({ file: join(folder, 'a.db'), threads })
  await migrate(db, [
    statements(1, 'first', 'CREATE TABLE things (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;\n'),
  ])
})
after(async () => {
  await threads.close()
  await db.close()
  await rm(folder, { recursive: true })
})

function fail(): never {
  throw new Error('no')
}

const names = () => db.read.all<{ name: string }>('SELECT name FROM things ORDER BY n').map((row) => row.name)

describe('write', () => {
  it('runs follow-ups after the commit, each as a unit of its own, and none of a unit that fails', async () => {
    const seen: string[] = []
    const note = (name: string) => (tx: Tx) => {
      seen.push(`${name} ${tx.get<{ n: number }>(`SELECT count(*) AS n FROM things WHERE name = 'f'`)!.n}`)
    }
    const { promise: last, resolve } = Promise.withResolvers<void>()
    const failed = db.write((tx) => {
      tx.followUp(note('of a failed unit'))
      fail()
    })
    const written = db.write((tx) => {
      tx.followUp(fail)
      tx.followUp(note('unit'))
      tx.atEnd((end) => {
        end.followUp((later) => later.followUp(() => resolve()))
        end.followUp(note('end'))
      })
      seen.push('written')
      tx.insert('things', { name: 'f' })
    })
    await assert.rejects(failed, /no/)
    await written
    await last
    assert.deepEqual(seen, ['written', 'unit 1', 'end 1'])
    await db.write((tx) => tx.run(`DELETE FROM things WHERE name = 'f'`))
  })

  it('reports why follow-ups fail, once for each cause, and goes on', async () => {
    const causes: string[] = []
    const upkeepFailed = (error: unknown) => causes.push((error as Error).message)
    const own = new Db({ file: join(folder, 'upkeep.db'), upkeepFailed })
    for (const cause of ['corrupt', 'corrupt', 'full', 'corrupt']) {
      await own.write((tx) =>
        tx.followUp(() => {
          throw new Error(cause)
        }),
      )
    }
    assert.equal(await own.write((tx) => tx.get<{ one: number }>('SELECT 1 AS one')!.one), 1)
    await own.close()
    assert.deepEqual(causes, ['corrupt', 'full'])
  })

  it('gathers what waits into one transaction and answers everyone after its commit', async () => {
    const before = { ...db.counts }
    await Promise.all(Array.from({ length: 50 }, (_, i) => db.write((tx) => tx.insert('things', { name: `g${i}` }))))
    assert.equal(db.counts.units - before.units, 50)
    assert.ok(db.counts.commits - before.commits <= 2, `${db.counts.commits - before.commits} commits for 50 units`)
  })

  it('lets others have their turn between two transactions', async () => {
    let turns = 0
    const count = () => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    const seen: number[] = []
    const unit = (tx: Tx) => {
      tx.get('SELECT 1')
      seen.push(turns)
      // Longer than a transaction takes units.
      for (const began = performance.now(); performance.now() - began < 10; );
    }
    await Promise.all([1, 2, 3, 4].map(() => db.write(unit)))
    clearImmediate(next)
    assert.equal(new Set(seen).size, 4, seen.join(', '))
  })

  it('rolls a failing unit back alone', async () => {
    const outcomes = await Promise.allSettled([
      db.write((tx) => tx.insert('things', { name: 'before' })),
      db.write((tx) => {
        tx.insert('things', { name: 'half' })
        throw new Error('no')
      }),
      db.write((tx) => tx.insert('things', { name: 'before' })),
      db.write((tx) => tx.insert('things', { name: 'behind' })),
    ])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    )
    const kept = names()
    assert.ok(kept.includes('before') && kept.includes('behind') && !kept.includes('half'))
  })

  it('rolls a unit back that asks for it, runs none of its deferred work, and answers with its value', async () => {
    const ran: string[] = []
    const undone = (name: string) => (tx: Tx) => {
      tx.insert('things', { name })
      tx.atEnd(() => void ran.push('at end'))
      tx.followUp(() => void ran.push('follow-up'))
      tx.afterCommit(() => void ran.push('after commit'))
      return tx.undo(`${name} is undone`)
    }
    const outcomes = await Promise.all([
      db.write(undone('undone first')),
      db.write((tx) => tx.insert('things', { name: 'kept' })),
      db.write(undone('undone second')),
      db.writeInSteps(function* (tx) {
        yield
        return undone('undone in steps')(tx)
      }),
      db.write((tx) => tx.insert('things', { name: 'kept too' })),
    ])
    const texts = outcomes.filter((outcome) => typeof outcome === 'string')
    assert.deepEqual(texts, ['undone first is undone', 'undone second is undone', 'undone in steps is undone'])
    assert.deepEqual(
      names().filter((name) => /kept|undone/.test(name)),
      ['kept', 'kept too'],
    )
    assert.deepEqual(ran, [])
    await db.write((tx) => tx.run(`DELETE FROM things WHERE name LIKE 'kept%'`))
  })

  it('lets others have their turn within a long unit, but no other unit', async () => {
    let turns = 0
    let done = false
    const count = () => {
      turns++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    const seen: number[] = []
    const size = 20_000
    const long = db.writeInSteps(function* (tx) {
      const before = turns
      for (let i = 0; i < size; i++) {
        tx.insert('things', { name: `long${i}` })
        yield
      }
      seen.push(turns - before)
    })
    const rows = db.write((tx) => tx.all("SELECT n FROM things WHERE name LIKE 'long%'").length)
    await long
    done = true
    assert.ok(seen[0]! >= 5, `${seen[0]} turns`)
    assert.equal(await rows, size)
    await db.write((tx) => tx.run("DELETE FROM things WHERE name LIKE 'long%'"))
  })

  it('goes on after a transaction in which every unit failed', { timeout: 30_000 }, async () => {
    await assert.rejects(
      db.write(() => fail()),
      /no/,
    )
    await db.write((tx) => tx.insert('things', { name: 'after failures only' }))
    assert.ok(names().includes('after failures only'))
  })

  it('goes on when every unit of a transaction has failed', async () => {
    await assert.rejects(
      db.write(() => fail()),
      /no/,
    )
    await db.write((tx) => tx.insert('things', { name: 'after all failed' }))
    assert.ok(names().includes('after all failed'))
  })

  it('runs deferred work in its order, across units of work', async () => {
    const seen: number[] = []
    const put = (place?: number) =>
      db.write((tx) => {
        tx.atEnd(async () => {
          seen.push(place ?? 0)
        }, place)
      })
    // A transaction takes units of work for 8 ms: on a busy machine these four may need two.
    for (let commits = 0, rounds = 1; commits !== 1; rounds++) {
      assert.ok(rounds <= 100, 'no transaction took all units of work')
      seen.length = 0
      const before = db.counts.commits
      await Promise.all([put(7), put(2 ** 40), put(), put(3)])
      commits = db.counts.commits - before
    }
    assert.deepEqual(seen, [0, 3, 7, 2 ** 40])
  })

  it('writes what units gathered once for all of a transaction, without that of a failed one', async () => {
    const written: number[][] = []
    const gathered = new DeferredWrites<number>(async (_tx, all) => {
      written.push([...all])
    }, 0)
    const give = (...numbers: number[]) =>
      db.write((tx) => {
        for (const number of numbers) gathered.add(tx, number)
        if (numbers.includes(0)) throw new Error('no')
      })
    for (let commits = 0, rounds = 1; commits !== 1; rounds++) {
      assert.ok(rounds <= 100, 'no transaction took all units of work')
      written.length = 0
      const before = db.counts.commits
      await Promise.allSettled([give(1, 2), give(3, 0), give(), give(4)])
      commits = db.counts.commits - before
    }
    await give(5)
    assert.deepEqual(written, [[1, 2, 4], [5]])
  })

  it('runs hooks after the commit, and none of a failed unit', async () => {
    const seen: string[] = []
    await Promise.allSettled([
      db.write((tx) => {
        tx.afterCommit(() => seen.push('kept'))
        tx.insert('things', { name: 'hooked' })
        assert.deepEqual(seen, [])
      }),
      db.write((tx) => {
        tx.afterCommit(() => seen.push('lost'))
        throw new Error('no')
      }),
    ])
    assert.deepEqual(seen, ['kept'])
  })

  it('ends the handle with its unit', async () => {
    let kept: Tx | undefined
    await db.write((tx) => {
      kept = tx
    })
    await assert.rejects(async () => kept?.insert('things', { name: 'late' }), /after it ended/)
    assert.ok(!names().includes('late'))
  })

  it('binds foreign text, never pastes it', async () => {
    const name = `'); DROP TABLE things; -- ? \u0000`
    await db.write((tx) => tx.insert('things', { name }))
    assert.ok(names().includes(name))
  })

  it('waits for another writer of the same file without an error', async () => {
    const other = new Db({ file: db.file })
    try {
      await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? db : other).write((tx) => tx.insert('things', { name: `two${i}` })),
        ),
      )
      assert.equal(names().filter((name) => name.startsWith('two')).length, 40)
    } finally {
      await other.close()
    }
  })

  it('says when the disk cannot take it, and goes on when it can again', async () => {
    const full = new Db({ file: join(folder, 'full.db') })
    try {
      await full.write((tx) => tx.run('CREATE TABLE t (a BLOB)'))
      await full.write((tx) => tx.get('PRAGMA max_page_count = 10'))
      const big = new Uint8Array(200_000)
      await assert.rejects(
        full.write((tx) => tx.insert('t', { a: big })),
        /full/,
      )
      await full.write((tx) => tx.get('PRAGMA max_page_count = 100000'))
      await full.write((tx) => tx.insert('t', { a: big }))
      assert.deepEqual({ ...full.read.get<{ n: number }>('SELECT count(*) AS n FROM t')! }, { n: 1 })
    } finally {
      await full.close()
    }
  })
})

describe('read and scan', () => {
  it('give the same rows', async () => {
    const sql = 'SELECT name FROM things WHERE name LIKE ? ORDER BY n'
    const [read, scan] = await Promise.all([db.read.all(sql, ['g%']), db.scan.all(sql, ['g%'])])
    assert.deepEqual(
      read.map((row) => ({ ...row })),
      scan,
    )
    assert.equal(scan.length, 50)
  })

  it('cannot write', async () => {
    assert.throws(() => db.read.all("INSERT INTO things (name) VALUES ('x')"), /readonly|query_only|attempt to write/)
    // The result code says whether the disk is full or the file is damaged.
    for (const reader of [db.read, db.scan])
      await assert.rejects(async () => reader.all('SELECT * FROM missing'), {
        errcode: 1,
        message: /no such table: missing/,
      })
    await assert.rejects(db.scan.all("INSERT INTO things (name) VALUES ('x')"), /readonly|query_only|attempt to write/)
  })
})

describe('migrate', () => {
  it('refuses a file of a newer program', async () => {
    const file = join(folder, 'newer.db')
    const newer = new Db({ file })
    await migrate(newer, [statements(7, 'seven', 'CREATE TABLE s (n INTEGER);\n')])
    await assert.rejects(
      migrate(newer, [statements(1, 'one', 'CREATE TABLE o (n INTEGER);\n')]),
      /newer version of Mailstead/,
    )
    await newer.close()
  })

  it('leaves nothing of a step that fails', async () => {
    const broken = new Db({ file: join(folder, 'broken.db') })
    const steps = [statements(1, 'broken', 'CREATE TABLE fine (n INTEGER);\nCREATE TABEL wrong (n INTEGER);\n')]
    await assert.rejects(migrate(broken, steps))
    assert.equal(await broken.read.get("SELECT 1 FROM sqlite_master WHERE name = 'fine'"), undefined)
    await broken.close()
  })
})
