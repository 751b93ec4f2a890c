// The database: reads on the calling thread, scans in worker threads, writes batched into one durable transaction (group commit).

import { setTimeout as pause } from 'node:timers/promises'
import { stopwatch } from '../base/clock.ts'
import { DatabaseConnection } from './connection.ts'
import { EventLoopTurns } from './event-loop-turns.ts'
import { readPragmas, writePragmas } from './pragmas.ts'
import type { Reader, Tx } from './sql.ts'
import type { DbThreads } from './threads.ts'
import { type DeferredWork, openTx, readerOf, type WriteContext } from './tx.ts'
import { WriteLog } from './write-log.ts'

export type { Reader, Row, SqlValue, Tx } from './sql.ts'

export interface DbOptions {
  file: string
  /** Worker threads for scans; without it, scans run on the calling thread. */
  threads?: DbThreads
  /** Uses small caches: for a thread that works row by row. */
  lean?: boolean
}

interface UnitOfWork {
  work(tx: Tx): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** A unit of work that is committed and not yet durable. */
interface CommittedUnit {
  unit: UnitOfWork
  value: unknown
  left: DeferredWork
  /** Settles when its transaction has been flushed. */
  flushed: PromiseWithResolvers<void>
}

// Larger batches increase the latency of the first caller; smaller ones commit more often.
const BATCH_MAX = 128
const BUSY_WAIT_MS = 2
const BUSY_TRIES = 5000

/** One SQLite file. */
export class Db {
  readonly file: string
  readonly read: Reader
  /** Reads that may examine many rows: they run in a worker thread, so that they do not block the calling thread. */
  readonly scan: Reader
  /** Metrics: committed transactions, units of work in them, flushes that made them durable, and the time of both. */
  readonly counts = { commits: 0, units: 0, flushes: 0, commitMs: 0, flushMs: 0 }
  /** Resolves with the cause when a flush has failed: all writes are rejected until a restart has checked the file. */
  readonly broken: Promise<unknown>
  readonly #writer: DatabaseConnection
  readonly #reader: DatabaseConnection
  readonly #log: WriteLog
  readonly #writing: WriteContext
  readonly #waiting: UnitOfWork[] = []
  #committed: CommittedUnit[] = []
  /** One for each transaction that is visible to readers but could be lost in a power failure. */
  readonly #unflushed = new Set<Promise<void>>()
  #draining: Promise<void> | undefined
  #flushing: Promise<void> | undefined
  #broken: unknown
  #resolveBroken: (error: unknown) => void = () => {}
  #closed = false

  constructor({ file, threads, lean = false }: DbOptions) {
    this.file = file
    this.broken = new Promise((resolve) => {
      this.#resolveBroken = resolve
    })
    this.#writer = new DatabaseConnection({
      filename: file,
      readOnly: false,
      pragmas: writePragmas(threads === undefined, lean),
    })
    this.#reader = new DatabaseConnection({ filename: file, readOnly: false, pragmas: readPragmas(lean) })
    this.read = readerOf(this.#reader)
    this.scan = threads?.reader(file) ?? this.read
    this.#log = new WriteLog(file, threads && (() => threads.checkpoint(file)))
    this.#writing = { link: this.#writer, log: this.#log, turns: new EventLoopTurns() }
  }

  /**
   * Runs `work` inside the next transaction and answers after its commit is durable. A unit that throws is rolled back
   * alone; the others in the same transaction are not affected.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('The database is closed.'))
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  /**
   * Resolves when everything this process has committed is durable, immediately when nothing is pending. To be awaited before a number
   * that must not be assigned twice (UIDs, states) is sent to a client: readers see a commit before it is flushed.
   * @throws Error when the flush failed
   */
  async durable(): Promise<void> {
    if (this.#unflushed.size > 0) await Promise.all(this.#unflushed)
  }

  /** Waits for pending units of work, checkpoints the write-ahead log, and closes the file. Its threads must be closed before. */
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
    // Units of work of this turn of the event loop share a transaction.
    await new Promise(setImmediate)
    try {
      while (this.#waiting.length > 0) {
        if (this.#broken !== undefined) throw this.#broken
        await this.#log.tend()
        await this.#batch(this.#waiting.splice(0, BATCH_MAX))
      }
    } catch (error) {
      // The file cannot be opened or can no longer be trusted: all waiting callers get the cause.
      for (const unit of this.#waiting.splice(0)) unit.reject(error)
    } finally {
      this.#draining = this.#waiting.length > 0 ? this.#drain() : undefined
    }
  }

  async #batch(units: UnitOfWork[]): Promise<void> {
    const done: CommittedUnit[] = []
    const elapsed = stopwatch()
    const flushed = this.#expectFlush()
    try {
      await this.#begin()
      for (const unit of units) {
        const finished = await this.#unit(unit)
        if (finished) done.push({ ...finished, flushed })
      }
      await this.#runEnds(done)
      // From here on readers see the transaction, before any other code of this thread runs.
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
    // Nothing to flush when every unit failed: the promise would never settle otherwise.
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

  async #unit(unit: UnitOfWork): Promise<Omit<CommittedUnit, 'flushed'> | undefined> {
    const { tx, left, end } = openTx(this.#writing)
    await this.#writer.query('SAVEPOINT unit')
    try {
      const value = await unit.work(tx)
      await this.#writer.query('RELEASE unit')
      return { unit, value, left }
    } catch (error) {
      // A full disk rolls back the whole transaction: callers then get that cause, not the error about a missing savepoint.
      await this.#writer.query('ROLLBACK TO unit').catch(() => Promise.reject(error))
      await this.#writer.query('RELEASE unit')
      unit.reject(error)
      return undefined
    } finally {
      end()
    }
  }

  async #runEnds(done: readonly Pick<CommittedUnit, 'left'>[]): Promise<void> {
    const { tx, end } = openTx(this.#writing)
    try {
      const ends = done.flatMap(({ left }) => left.atEnd).sort((a, b) => a.order - b.order)
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

  /** One flush makes all transactions durable that were committed before it began; the next ones run meanwhile. */
  async #flush(): Promise<void> {
    while (this.#committed.length > 0) {
      const done = this.#committed
      this.#committed = []
      try {
        // After a failed flush the content of the disk is unknown: no write is confirmed until a restart has checked the file. The next
        // flush may succeed although earlier pages were lost.
        if (this.#broken !== undefined) throw this.#broken
        const elapsed = stopwatch()
        await this.#log.flush()
        this.counts.flushMs += elapsed()
      } catch (error) {
        this.#broken = error
        this.#resolveBroken(error)
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

  // The busy timeout of SQLite would block the whole thread; this wait does not.
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
