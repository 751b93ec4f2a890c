// Rows kept in memory while the database does not change: for reads by key that request after request repeats.

import type { Db } from './db.ts'

/** Detects changes of a database. The database is asked once in a turn of the event loop, and after each commit of its own process. */
class ChangeWatch {
  readonly #db: Pick<Db, 'read' | 'counts'>
  #version = -1
  #commits = -1
  #isCurrent = false

  constructor(db: Pick<Db, 'read' | 'counts'>) {
    this.#db = db
  }

  /** A number that is another one after each commit of any connection, thread or process. */
  get version(): number {
    const { commits } = this.#db.counts
    if (this.#isCurrent && commits === this.#commits) return this.#version
    this.#commits = commits
    // https://sqlite.org/pragma.html#pragma_data_version: it changes with the commits of other connections, and reading writes nothing.
    this.#version = this.#db.read.get<{ data_version: number }>('PRAGMA data_version')!.data_version
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

function watchOf(db: Pick<Db, 'read' | 'counts'>): ChangeWatch {
  const known = watches.get(db)
  if (known !== undefined) return known
  const watch = new ChangeWatch(db)
  watches.set(db, watch)
  return watch
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
  constructor(db: Pick<Db, 'read' | 'counts'>, most: number) {
    this.#watch = watchOf(db)
    this.#most = most
  }

  /** @param read reads the value outside a transaction; undefined is not kept */
  get(key: K, read: () => V | undefined): V | undefined {
    if (!this.#repeated.has(key)) {
      const value = read()
      if (this.#repeated.size >= this.#most) this.#repeated.clear()
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
