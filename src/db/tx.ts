// Handles of units of work: they end with their unit, so that nothing can be written outside a transaction by mistake.

import type { Link } from './link.ts'
import type { Reader, Row, SqlValue, Tx } from './sql.ts'
import type { Turns } from './turns.ts'
import type { WriteLog } from './write-log.ts'

/** What a unit of work left to be done by others. */
export interface Left {
  atEnd: { place: number; work: (tx: Tx) => Promise<void> }[]
  afterCommit: (() => void)[]
}

/** A connection that writes, with its log and its sense of others. */
export interface Writing {
  link: Link
  log: WriteLog
  turns: Turns
}

export function readerOf(link: Link): Reader {
  return {
    async all<R>(sql: string, values?: readonly SqlValue[]) {
      return (await link.query(sql, values)) as R[]
    },
    async get<R>(sql: string, values?: readonly SqlValue[]) {
      return ((await link.query(sql, values)) as R[])[0]
    },
  }
}

/** @returns the handle, what is left through it, and the function that ends it */
export function openTx({ link, log, turns }: Writing): { tx: Tx; left: Left; end(): void } {
  const left: Left = { atEnd: [], afterCommit: [] }
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
      const marks = names.map(() => '?').join(', ')
      const { lastId } = await run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, Object.values(row))
      return lastId
    },
    atEnd(work: (tx: Tx) => Promise<void>, place = 0) {
      left.atEnd.push({ place, work })
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
