// The database: reads on the asking thread, scans in threads, writes gathered into one durable transaction.

import { setTimeout as pause } from 'node:timers/promises'
import { stopwatch } from '../base/clock.ts'
import { Link } from './link.ts'
import { readPragmas, writePragmas } from './pragmas.ts'
import type { Reader, Tx } from './sql.ts'
import type { DbThreads } from './threads.ts'
import { Turns } from './turns.ts'
import { type Left, openTx, readerOf, type Writing } from './tx.ts'
import { WriteLog } from './write-log.ts'

export type { Reader, Row, SqlValue, Tx } from './sql.ts'

export interface DbOptions {
  file: string
  /** Threads for reads that may scan; left out, scans run on the asking thread. */
  threads?: DbThreads
  /** Keeps little in memory: for a thread that works row by row. */
  lean?: boolean
}

interface Unit {
  work(tx: Tx): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** A unit of work that is committed and waits to be durable. */
interface Done {
  unit: Unit
  value: unknown
  left: Left
  /** Settles the transaction it was committed in. */
  flushed: PromiseWithResolvers<void>
}

// More would make the first caller of a batch wait long for its answer; fewer would commit more often.
const BATCH_MAX = 128
const BUSY_WAIT_MS = 2
const BUSY_TRIES = 5000

/** One SQLite file. */
export class Db {
  readonly file: string
  readonly read: Reader
  /** Reads that may look at many rows: run in a thread, so that nothing else waits for them. */
  readonly scan: Reader
  /** Counts for the operator: transactions committed, units in them, flushes that made them durable, and how long both took. */
  readonly counts = { commits: 0, units: 0, flushes: 0, commitMs: 0, flushMs: 0 }
  /** Resolves with the cause when a flush has failed: nothing can be written before a restart has looked at the file. */
  readonly broken: Promise<unknown>
  readonly #writer: Link
  readonly #reader: Link
  readonly #log: WriteLog
  readonly #writing: Writing
  readonly #waiting: Unit[] = []
  #committed: Done[] = []
  /** One for each transaction that readers may see and a power cut may still take away. */
  readonly #unflushed = new Set<Promise<void>>()
  #draining: Promise<void> | undefined
  #flushing: Promise<void> | undefined
  #broken: unknown
  #tellBroken: (error: unknown) => void = () => {}
  #closed = false

  constructor({ file, threads, lean = false }: DbOptions) {
    this.file = file
    this.broken = new Promise((resolve) => {
      this.#tellBroken = resolve
    })
    this.#writer = new Link({ filename: file, readOnly: false, pragmas: writePragmas(threads === undefined, lean) })
    this.#reader = new Link({ filename: file, readOnly: false, pragmas: readPragmas(lean) })
    this.read = readerOf(this.#reader)
    this.scan = threads?.reader(file) ?? this.read
    this.#log = new WriteLog(file, threads && (() => threads.bringHome(file)))
    this.#writing = { link: this.#writer, log: this.#log, turns: new Turns() }
  }

  /**
   * Runs `work` inside the next transaction and answers after its commit is durable. A unit that throws is rolled back
   * alone; its neighbours in the same transaction are not touched.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('The database is closed.'))
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  /**
   * Resolves when everything this process has committed is on the disk, at once when nothing is pending. Awaited before a number is
   * told that must not be given again (UIDs, states): a reader sees a commit before it is flushed.
   * @throws Error when the flush failed
   */
  async durable(): Promise<void> {
    if (this.#unflushed.size > 0) await Promise.all(this.#unflushed)
  }

  /** Waits for what was asked, writes the log back into the file, and closes it. Its threads must be closed before. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
    while (this.#flushing !== undefined) await this.#flushing
    await this.#log.close()
    await this.#reader.close()
    await this.#writer.query('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => {})
    await this.#writer.close()
  }

  async #drain(): Promise<void> {
    // Callers of this turn of the event loop travel together.
    await new Promise(setImmediate)
    try {
      while (this.#waiting.length > 0) {
        if (this.#broken !== undefined) throw this.#broken
        await this.#log.tend()
        await this.#batch(this.#waiting.splice(0, BATCH_MAX))
      }
    } catch (error) {
      // The file cannot be opened or is no longer to be trusted: whoever waits hears why.
      for (const unit of this.#waiting.splice(0)) unit.reject(error)
    } finally {
      this.#draining = this.#waiting.length > 0 ? this.#drain() : undefined
    }
  }

  async #batch(units: Unit[]): Promise<void> {
    const done: Done[] = []
    const elapsed = stopwatch()
    const flushed = this.#expectFlush()
    try {
      await this.#begin()
      for (const unit of units) {
        const finished = await this.#unit(unit)
        if (finished) done.push({ ...finished, flushed })
      }
      await this.#runEnds(done)
      // Readers see the transaction from here on, before anything else of this thread runs.
      this.#unflushed.add(flushed.promise)
      await this.#writer.query('COMMIT')
    } catch (error) {
      await this.#writer.query('ROLLBACK').catch(() => {})
      flushed.resolve()
      for (const unit of units) unit.reject(error)
      return
    }
    this.counts.commits++
    this.counts.commitMs += elapsed()
    // Nothing to flush when every unit failed; a flush that ended before it began would count as under way for ever.
    if (done.length === 0) return flushed.resolve()
    this.counts.units += done.length
    this.#committed.push(...done)
    this.#startFlush()
  }

  #expectFlush(): PromiseWithResolvers<void> {
    const flushed = Promise.withResolvers<void>()
    const forget = () => this.#unflushed.delete(flushed.promise)
    flushed.promise.then(forget, forget)
    return flushed
  }

  async #unit(unit: Unit): Promise<Omit<Done, 'flushed'> | undefined> {
    const { tx, left, end } = openTx(this.#writing)
    await this.#writer.query('SAVEPOINT unit')
    try {
      const value = await unit.work(tx)
      await this.#writer.query('RELEASE unit')
      return { unit, value, left }
    } catch (error) {
      // A full disk ends the whole transaction by itself: then the cause, not the missing savepoint, is what callers hear.
      await this.#writer.query('ROLLBACK TO unit').catch(() => Promise.reject(error))
      await this.#writer.query('RELEASE unit')
      unit.reject(error)
      return undefined
    } finally {
      end()
    }
  }

  async #runEnds(done: readonly Pick<Done, 'left'>[]): Promise<void> {
    const { tx, end } = openTx(this.#writing)
    try {
      const ends = done.flatMap(({ left }) => left.atEnd).sort((a, b) => a.place - b.place)
      for (const { work } of ends) await work(tx)
    } finally {
      end()
    }
  }

  #startFlush(): void {
    if (this.#flushing !== undefined || this.#committed.length === 0) return
    this.#flushing = this.#flush().finally(() => {
      this.#flushing = undefined
      this.#startFlush()
    })
  }

  /** One flush serves every transaction committed before it began; meanwhile the next ones are worked on. */
  async #flush(): Promise<void> {
    while (this.#committed.length > 0) {
      const done = this.#committed
      this.#committed = []
      try {
        // After a failed flush nobody can say what is on the disk: nothing more is promised until a restart has looked. The next
        // flush may well succeed, but what it stands on is lost.
        if (this.#broken !== undefined) throw this.#broken
        const elapsed = stopwatch()
        await this.#log.flush()
        this.counts.flushMs += elapsed()
      } catch (error) {
        this.#broken = error
        this.#tellBroken(error)
        for (const { unit, flushed } of done) {
          flushed.reject(error)
          unit.reject(error)
        }
        continue
      }
      this.counts.flushes++
      for (const { unit, value, left, flushed } of done) {
        flushed.resolve()
        unit.resolve(value)
        for (const hook of left.afterCommit) hook()
      }
    }
  }

  // The busy timeout of SQLite would block the whole thread; waiting here blocks nobody else.
  async #begin(): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await this.#writer.query('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isBusy(error) || tries >= BUSY_TRIES) throw error
        await pause(BUSY_WAIT_MS)
      }
    }
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode
  // SQLITE_BUSY and its extended forms share the low byte.
  return code !== undefined && (code & 0xff) === 5
}
