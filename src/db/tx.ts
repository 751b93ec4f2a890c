// Transaction handles of units of work: they become invalid with their unit, so that nothing is written outside a transaction.

import type { DatabaseConnection } from './connection.ts'
import type { EventLoopTurns } from './event-loop-turns.ts'
import type { Reader, Row, SqlValue, Tx } from './sql.ts'
import { placeholders } from './sql-text.ts'
import type { WriteLog } from './write-log.ts'

/** Work that a unit of work deferred. */
export interface DeferredWork {
  atEnd: { order: number; work: (tx: Tx) => Promise<void> }[]
  afterCommit: (() => void)[]
}

/** The writing connection, with its write-ahead log and its counter of event loop turns. */
export interface WriteContext {
  link: DatabaseConnection
  log: WriteLog
  turns: EventLoopTurns
}

export function readerOf(link: DatabaseConnection): Reader {
  return {
    async all<R>(sql: string, values?: readonly SqlValue[]) {
      return (await link.query(sql, values)) as R[]
    },
    async get<R>(sql: string, values?: readonly SqlValue[]) {
      return ((await link.query(sql, values)) as R[])[0]
    },
  }
}

/** @returns the handle, the work deferred through it, and the function that ends it */
export function openTx({ link, log, turns }: WriteContext): { tx: Tx; left: DeferredWork; end(): void } {
  const left: DeferredWork = { atEnd: [], afterCommit: [] }
  let open = true
  const query = (sql: string, values: readonly SqlValue[] = []): Promise<unknown> => {
    const bytes = sizeOf(values)
    const work = () => {
      if (!open) throw new Error('A unit of work used its handle after it ended.')
      log.note(bytes)
      return link.query(sql, values)
    }
    return turns.next(bytes)?.then(work) ?? work()
  }
  const run = async (sql: string, values?: readonly SqlValue[]) => {
    const result = (await query(sql, values)) as { changes: number | bigint; lastInsertRowid: number | bigint }
    return { changes: Number(result.changes), lastId: Number(result.lastInsertRowid) }
  }
  const tx = {
    async all<R>(sql: string, values?: readonly SqlValue[]) {
      return (await query(sql, values)) as R[]
    },
    async get<R>(sql: string, values?: readonly SqlValue[]) {
      return ((await query(sql, values)) as R[])[0]
    },
    run,
    async insert(table: string, row: Row) {
      const names = Object.keys(row)
      const marks = placeholders(names)
      const { lastId } = await run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, Object.values(row))
      return lastId
    },
    atEnd(work: (tx: Tx) => Promise<void>, order = 0) {
      left.atEnd.push({ order, work })
    },
    afterCommit(hook: () => void) {
      left.afterCommit.push(hook)
    },
  } as unknown as Tx
  return {
    tx,
    left,
    end: () => {
      open = false
    },
  }
}

function sizeOf(values: readonly SqlValue[]): number {
  let bytes = 0
  for (const value of values) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  return bytes
}
