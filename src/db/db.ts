// The database: reads on the calling thread, scans in worker threads, writes batched into one durable transaction (group commit).

import { setTimeout as pause } from 'node:timers/promises'
import { stopwatch } from '../base/clock.ts'
import { isDiskFull } from '../base/storage-error.ts'
import { DatabaseConnection } from './connection.ts'
import { readPragmas, writePragmas } from './pragmas.ts'
import { type Reader, type ScanReader, scanHere, type Tx } from './sql.ts'
import { runSteps, type Steps } from './steps.ts'
import type { DbThreads } from './threads.ts'
import { type DeferredWork, openTx, readerOf, type WriteContext } from './tx.ts'
import type { CommittedUnit, UnitOfWork } from './unit-of-work.ts'
import { WriteLog } from './write-log.ts'

export type { AnyReader, DbReads, Reader, Row, ScanReader, SqlValue, Tx } from './sql.ts'
export type { Steps } from './steps.ts'

export interface DbOptions {
  file: string
  /** Worker threads for scans; without it, scans run on the calling thread. */
  threads?: DbThreads
  /** Uses small caches: for a thread that works row by row. */
  lean?: boolean
  /** Space on the disk for units of work that free some. */
  reserve?: { readonly isReleased: boolean; release(): boolean }
  /** Receives why a follow-up failed ({@link Tx.followUp}), once for each cause: one that fails always does so after each commit. */
  upkeepFailed?(error: unknown): void
}

/** Nothing for a promise: a unit of work is done when its function returns. */
export type Settled<T> = T extends PromiseLike<unknown> ? never : T

// Larger batches increase the latency of the first caller; smaller ones commit more often.
const BATCH_MAX = 128
/** A transaction takes no further unit of work after this time, ms: the thread of the listeners must not stand still for long. */
const BATCH_MS = 8
const BUSY_WAIT_MS = 2
const BUSY_TRIES = 5000
/** Causes for which a follow-up failed that are remembered; further ones are not reported. */
const UPKEEP_CAUSES_MAX = 20

/** One SQLite file. */
export class Db {
  readonly file: string
  readonly read: Reader
  /**
   * The same through the connection that writes, while it has no transaction open: its pages stay in memory over its own commits, which
   * empty the cache of the other one. For a few rows that are read again after each commit.
   */
  readonly readWarm: Reader
  /** Reads that may examine many rows: they run in a worker thread, so that they do not block the calling thread. */
  readonly scan: ScanReader
  /** Metrics: committed transactions, units of work in them without follow-ups, flushes that made them durable, and the time of both. */
  readonly counts = { commits: 0, units: 0, flushes: 0, commitMs: 0, flushMs: 0 }
  /** How many transactions of this process may have changed rows that others keep: all but those of {@link Tx.keepsCaches}. */
  changes = 0
  /** Resolves with the cause when a flush has failed: all writes are rejected until a restart has checked the file. */
  readonly broken: Promise<unknown>
  readonly #writer: DatabaseConnection
  readonly #reader: DatabaseConnection
  readonly #log: WriteLog
  readonly #writing: WriteContext
  readonly #waiting: UnitOfWork[] = []
  readonly #upkeepFailed: (error: unknown) => void
  readonly #reserve: DbOptions['reserve']
  readonly #upkeepCauses = new Set<string>()
  #committed: CommittedUnit[] = []
  /** Transactions that are visible to readers but could be lost in a power failure, with the accounts whose numbers they assign. */
  readonly #unflushed = new Map<Promise<void>, ReadonlySet<number | 'all'>>()
  #draining: Promise<void> | undefined
  #flushing: Promise<void> | undefined
  #broken: unknown
  #resolveBroken: (error: unknown) => void = () => {}
  #isInTransaction = false
  #closed = false

  constructor({ file, threads, lean = false, upkeepFailed = () => {}, reserve }: DbOptions) {
    this.file = file
    this.#reserve = reserve
    this.#upkeepFailed = upkeepFailed
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
    const warm = readerOf(this.#writer)
    this.readWarm = {
      all: (sql, values) => (this.#isInTransaction ? this.read : warm).all(sql, values),
      get: (sql, values) => (this.#isInTransaction ? this.read : warm).get(sql, values),
    }
    this.scan = threads?.reader(file) ?? scanHere(this.read)
    this.#log = new WriteLog(file, threads && (() => threads.checkpoint(file)))
    this.#writing = { connection: this.#writer, log: this.#log }
  }

  /**
   * Runs `work` inside the next transaction and answers after its commit is durable. A unit that throws, or that asks for it
   * ({@link Tx.undo}), is rolled back alone; the others in the same transaction are not affected. Nothing is awaited inside: SQLite answers in the calling thread.
   */
  write<T>(work: (tx: Tx) => T & Settled<T>): Promise<T> {
    return this.#enqueue<T>(work, { isStepwise: false })
  }

  /** {@link write} for work that frees space: on a full disk it is done with the reserve, and must bear being run again. */
  writeFreeing<T>(work: (tx: Tx) => T & Settled<T>): Promise<T> {
    return this.#enqueue<T>(work, { isStepwise: false, mayUseReserve: true })
  }

  /** Whether the disk was full, and only what frees space may be written. */
  get isOnReserve(): boolean {
    return this.#reserve?.isReleased ?? false
  }

  /** The same for work that may run long: it yields between its statements, and other code of the thread gets its turn. */
  writeInSteps<T>(work: (tx: Tx) => Steps<T>, { mayUseReserve = false } = {}): Promise<T> {
    return this.#enqueue<T>(work, { isStepwise: true, mayUseReserve })
  }

  /**
   * Resolves when everything this process has committed is durable, immediately when nothing is pending. To be awaited before a number
   * that must not be assigned twice (UIDs, states) is sent to a client: readers see a commit before it is flushed.
   * @param account waits only for transactions that assign numbers of this account ({@link Tx.assignsNumbersOf}): on a slow disk a
   *   mailbox does not wait for the flushes of others
   * @throws Error when a flush has failed, now or earlier: readers still see what it may have lost
   */
  async durable(account?: number): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken
    if (this.#unflushed.size === 0) return
    const pending = [...this.#unflushed].filter(([, of]) => account === undefined || of.has(account) || of.has('all'))
    if (pending.length > 0) await Promise.all(pending.map(([flushed]) => flushed))
  }

  /** A number that is another one after commits of other connections: of other threads and processes, and until the first commit our own. */
  get foreignVersion(): number {
    const connection = this.counts.commits === 0 ? this.#reader : this.#writer
    // https://sqlite.org/pragma.html#pragma_data_version: commits of the same connection do not change it, and reading writes nothing.
    return connection.all<{ data_version: number }>('PRAGMA data_version')[0]!.data_version
  }

  /** Whether everything this process has committed is durable; see {@link durable}. */
  get isDurable(): boolean {
    return this.#unflushed.size === 0 && this.#broken === undefined
  }

  /** Waits for pending units of work, checkpoints the write-ahead log, and closes the file. Its threads must be closed before. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
    while (this.#flushing !== undefined) await this.#flushing
    await this.#log.close()
    this.#reader.close()
    try {
      // After a failed flush the file may lack what was copied to it: only the log has it.
      if ((this.#broken ?? this.#log.failure) === undefined) this.#writer.all('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The log stays and is read at the next start.
    }
    this.#writer.close()
  }

  #enqueue<T>(
    work: UnitOfWork['work'],
    { isStepwise, mayUseReserve = false }: { isStepwise: boolean; mayUseReserve?: boolean },
  ): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('The database is closed.'))
    return new Promise<T>((resolve, reject) => {
      const caller = { resolve: resolve as (value: unknown) => void, reject }
      this.#waiting.push({ work, isStepwise, isUpkeep: false, mayUseReserve, ...caller })
      this.#draining ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        // Units of work of this turn of the event loop share a transaction, and between two transactions other code gets its turn.
        await new Promise(setImmediate)
        if (this.#broken !== undefined) throw this.#broken
        await this.#log.tend((work) => this.#withoutWriters(work))
        await this.#begin()
        await this.#transaction().finally(() => {
          this.#isInTransaction = false
        })
      }
    } catch (error) {
      // The file cannot be opened or can no longer be trusted: all waiting callers get the cause.
      for (const unit of this.#waiting.splice(0)) unit.reject(error)
    } finally {
      this.#draining = this.#waiting.length > 0 ? this.#drain() : undefined
    }
  }

  /** Runs units of work that wait in the transaction that was begun, and commits it. */
  async #transaction(): Promise<void> {
    const taken: UnitOfWork[] = []
    const done: CommittedUnit[] = []
    const elapsed = stopwatch()
    const flushed = this.#expectFlush()
    try {
      while (this.#waiting.length > 0 && taken.length < BATCH_MAX && (taken.length === 0 || elapsed() < BATCH_MS)) {
        const unit = this.#waiting.shift()!
        taken.push(unit)
        const finished = await this.#unit(unit, taken.length === 1)
        if (finished) done.push({ ...finished, flushed })
        else if (taken.length === 1) {
          this.#rollback()
          return flushed.resolve()
        }
      }
      const { followUps, accounts } = this.#runEnds(done)
      // From here on readers see the transaction, before any other code of this thread runs.
      this.#unflushed.set(flushed.promise, accounts)
      this.#writer.run('COMMIT')
      for (const work of followUps) this.#waiting.push(this.#upkeep(work))
    } catch (error) {
      this.#rollback()
      flushed.resolve()
      for (const unit of taken) this.#fail(unit, error)
      return
    }
    // With the first commit `foreignVersion` is that of another connection.
    if (this.counts.commits++ === 0 || !done.every(({ deferred }) => deferred.keepsCaches)) this.changes++
    this.counts.commitMs += elapsed()
    // Nothing to flush when every unit failed: the promise would never settle otherwise.
    if (done.length === 0) return flushed.resolve()
    this.counts.units += done.filter(({ unit }) => !unit.isUpkeep).length
    this.#committed.push(...done)
    this.#startFlush()
  }

  #upkeep(work: (tx: Tx) => void): UnitOfWork {
    const caller = { resolve() {}, reject: (error: unknown) => this.#noteUpkeep(error) }
    return { work, isStepwise: false, isUpkeep: true, mayUseReserve: false, ...caller }
  }

  #noteUpkeep(error: unknown): void {
    const cause = String(error)
    // Why nothing is written any more is reported by `broken`.
    if (error === this.#broken || this.#upkeepCauses.has(cause) || this.#upkeepCauses.size === UPKEEP_CAUSES_MAX) return
    this.#upkeepCauses.add(cause)
    this.#upkeepFailed(error)
  }

  #rollback(): void {
    try {
      this.#writer.run('ROLLBACK')
    } catch {
      // A full disk has rolled it back already.
    }
  }

  #expectFlush(): PromiseWithResolvers<void> {
    const flushed = Promise.withResolvers<void>()
    const forget = () => this.#unflushed.delete(flushed.promise)
    flushed.promise.then(forget, forget)
    return flushed
  }

  /**
   * @param isFirst it is the first one of the transaction, which is rolled back when it fails: it needs no savepoint, which would cost a
   *   copy of every page it changes
   * @returns undefined when nothing of it is to be committed
   */
  async #unit(unit: UnitOfWork, isFirst: boolean): Promise<Omit<CommittedUnit, 'flushed'> | undefined> {
    const { tx, deferred, end } = openTx(this.#writing)
    if (!isFirst) this.#writer.run('SAVEPOINT unit')
    try {
      const value = unit.isStepwise ? await runSteps(unit.work(tx) as Steps<unknown>) : unit.work(tx)
      if (deferred.isUndone) {
        if (!isFirst) this.#undoUnit(new Error('A unit of work could not be rolled back.'))
        unit.resolve(value)
        return undefined
      }
      if (!isFirst) this.#writer.run('RELEASE unit')
      return { unit, value, deferred }
    } catch (error) {
      if (!isFirst) this.#undoUnit(error)
      this.#fail(unit, error)
      return undefined
    } finally {
      end()
    }
  }

  /** A unit that frees space is run again, once, with the reserve of the disk. */
  #fail(unit: UnitOfWork, error: unknown): void {
    const mayRetry = unit.mayUseReserve && isDiskFull(error) && this.#reserve?.release()
    if (!mayRetry) unit.reject(error)
    else this.#waiting.push({ ...unit, mayUseReserve: false })
  }

  #undoUnit(cause: unknown): void {
    try {
      this.#writer.run('ROLLBACK TO unit')
      this.#writer.run('RELEASE unit')
    } catch {
      // A full disk rolls back the whole transaction: callers then get that cause, not the error about a missing savepoint.
      throw cause
    }
  }

  /** @returns the follow-ups and the accounts of all units, and of the work at the end */
  #runEnds(done: readonly Pick<CommittedUnit, 'deferred'>[]): Pick<DeferredWork, 'followUps' | 'accounts'> {
    const { tx, deferred: atEnd, end } = openTx(this.#writing)
    try {
      const ends = done.flatMap(({ deferred }) => deferred.atEnd).sort((a, b) => a.order - b.order)
      for (const { work } of ends) work(tx)
      const all = [...done.map(({ deferred }) => deferred), atEnd]
      return {
        followUps: all.flatMap(({ followUps }) => followUps),
        accounts: new Set(all.flatMap(({ accounts }) => [...accounts])),
      }
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
      for (const { unit, value, deferred, flushed } of done) {
        flushed.resolve()
        unit.resolve(value)
        for (const hook of deferred.afterCommit) hook()
      }
    }
  }

  /** Runs work while no connection writes, of this process or another one. */
  async #withoutWriters(work: () => Promise<void>): Promise<void> {
    await this.#begin()
    try {
      await work()
    } finally {
      this.#rollback()
      this.#isInTransaction = false
    }
  }

  // The busy timeout of SQLite would block the whole thread; this wait does not.
  async #begin(): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        this.#writer.run('BEGIN IMMEDIATE')
        this.#isInTransaction = true
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
