// Rows kept in memory while the database does not change: for reads by key that request after request repeats.

import type { Db } from './db.ts'

/** What a cache needs of a database to find its changes. */
export type WatchedDb = Pick<Db, 'changes' | 'foreignVersion'>

/** Detects changes of a database. It is asked once in a turn of the event loop, and after each own commit that may have changed kept rows. */
class ChangeWatch {
  readonly #db: WatchedDb
  #version = 0
  #foreign = -1
  #own = -1
  #isCurrent = false

  constructor(db: WatchedDb) {
    this.#db = db
  }

  /** A number that is another one after each commit of any connection, thread or process, but those of {@link Tx.keepsCaches}. */
  get version(): number {
    const { changes } = this.#db
    if (this.#isCurrent && changes === this.#own) return this.#version
    const foreign = this.#db.foreignVersion
    if (foreign !== this.#foreign || changes !== this.#own) this.#version++
    this.#foreign = foreign
    this.#own = changes
    if (!this.#isCurrent) {
      this.#isCurrent = true
      setImmediate(() => {
        this.#isCurrent = false
      })
    }
    return this.#version
  }
}

const watches = new WeakMap<object, ChangeWatch>()

function watchOf(db: WatchedDb): ChangeWatch {
  const known = watches.get(db)
  if (known !== undefined) return known
  const watch = new ChangeWatch(db)
  watches.set(db, watch)
  return watch
}

/** A number that changes with each commit, but those of {@link Tx.keepsCaches}: at once for those of this process, for others in the next turn of the event loop. */
export function versionOf(db: WatchedDb): number {
  return watchOf(db).version
}

/**
 * Values read from a database, kept until it changes. A commit of this process is seen at once, as by any reader; one of another thread
 * or process in the next turn of the event loop. What is shared must not be modified.
 */
export class RowCache<K, V> {
  readonly #watch: ChangeWatch
  readonly #most: number
  #version = -1
  readonly #values = new Map<K, V>()
  /** Keys that were read before: what is read once costs one statement and is not kept. */
  readonly #repeated = new Set<K>()

  /** @param most values kept */
  constructor(db: WatchedDb, most: number) {
    this.#watch = watchOf(db)
    this.#most = most
  }

  /** @param read reads the value outside a transaction; undefined is not kept */
  get(key: K, read: () => V | undefined): V | undefined {
    if (!this.#repeated.has(key)) {
      const value = read()
      if (this.#repeated.size >= this.#most) {
        this.#repeated.clear()
        // What is read now may be newer than what is kept in this turn: the next read must not go back.
        this.#values.clear()
      }
      if (value !== undefined) this.#repeated.add(key)
      return value
    }
    const { version } = this.#watch
    if (version !== this.#version || this.#values.size >= this.#most) {
      this.#values.clear()
      this.#version = version
    }
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = read()
    if (value !== undefined) this.#values.set(key, value)
    return value
  }
}
