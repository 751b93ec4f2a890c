// A handle of a unit of work that reports each statement run through it.

import type { Tx } from '../../src/db/db.ts'

const STATEMENTS = new Set<PropertyKey>(['all', 'get', 'run', 'insert'])

/** @param seen is called with the method and its SQL, or the table for `insert` */
export function watchedTx(tx: Tx, seen: (method: string, sql: string) => void): Tx {
  return new Proxy(tx, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        if (STATEMENTS.has(name)) seen(String(name), String(given[0]))
        return Reflect.apply(value, target, given)
      }
    },
  })
}
