// The API requests of teams by their keys: what was called, when, and how it ended. Never a body, a query or a path with ids.

import type { Clock, Timer } from '../../base/clock.ts'
import type { WrongSpan } from '../../base/clock-guard.ts'
import type { Db, Steps, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { redateRows } from '../../db/redate.ts'
import { Where } from '../../db/sql-text.ts'

export interface ApiRequest {
  n: number
  /** `req_…` */
  id: string
  teamId: string
  /** When it arrived, ms. */
  at: number
  method: string
  /** Path with parameters as `{name}`; null for a path that is none of the API. */
  route: string | null
  /** As the OpenAPI document names it. */
  operation: string | null
  status: number
  /** Until the response was ready. */
  ms: number
  /** `key_…`, or `areg_…` for an agent. */
  keyId: string
  /** Of the error; null for a success. */
  errorCode: string | null
}

export interface RequestFilter {
  from?: number
  to?: number
  keyId?: string
  method?: string
  /** Status codes from the first to the last, both included. */
  status?: readonly [number, number]
  /** A part of the route, the operation, the error code or the id. */
  search?: string
  limit: number
  after: PageKey | null
}

/** Rows of a team that are kept, the newest. */
export const REQUESTS_KEPT = 10_000
/** Rows that a team may have beyond those before they are deleted. */
const SURPLUS_MAX = 2000
/** Requests that wait to be written; more within a second are not recorded. */
export const WAITING_MAX = 2000
/** Those of one team. */
export const WAITING_OF_TEAM_MAX = 500
const FLUSH_MS = 1000
const ROWS_PER_STATEMENT = 50
const PRUNED_AT_ONCE = 1000
/** Rows that one step of a unit of work deletes. */
const PRUNED_IN_STEP = 100

export class RequestLog {
  readonly #db: Db
  readonly #clock: Clock
  #waiting: Omit<ApiRequest, 'n'>[] = []
  readonly #waitingOf = new Map<string, number>()
  #timer: Timer | undefined
  #flushing: Promise<void> = Promise.resolve()
  /** Rows written since the surplus of a team was deleted last. */
  readonly #written = new Map<string, number>()

  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** Records a request within a second. @param failed is called when it cannot be written */
  add(request: Omit<ApiRequest, 'n'>, failed: (error: unknown) => void): void {
    const ofTeam = this.#waitingOf.get(request.teamId) ?? 0
    if (this.#waiting.length >= WAITING_MAX || ofTeam >= WAITING_OF_TEAM_MAX) return
    this.#waiting.push(request)
    this.#waitingOf.set(request.teamId, ofTeam + 1)
    this.#timer ??= this.#clock.after(FLUSH_MS, () => void this.flush().catch(failed))
  }

  /** Writes what waits, after any write that is still under way. */
  flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write())
    return this.#flushing
  }

  async #write(): Promise<void> {
    const rows = this.#waiting
    if (rows.length === 0) return
    this.#waiting = []
    this.#waitingOf.clear()
    // In steps: the requests of a busy second would stop the thread that answers the next ones for 10 ms.
    await this.#db.writeInSteps((tx) => this.#writeRows(tx, rows))
  }

  *#writeRows(tx: Tx, rows: readonly Omit<ApiRequest, 'n'>[]): Steps<void> {
    for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
      const group = rows.slice(from, from + ROWS_PER_STATEMENT)
      tx.run(
        `INSERT INTO api_requests (id, team_id, at, method, route, operation, status, ms, key_id, error_code)
         VALUES ${group.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
        group.flatMap((one) => [
          ...[one.id, one.teamId, one.at, one.method, one.route, one.operation, one.status, one.ms, one.keyId],
          one.errorCode,
        ]),
      )
      yield
    }
    yield* this.#deleteSurplus(tx, rows)
  }

  /** A team that calls without pause has no more rows for that: the job alone would come too late. */
  *#deleteSurplus(tx: Tx, rows: readonly Pick<ApiRequest, 'teamId'>[]): Steps<void> {
    for (const { teamId } of rows) this.#written.set(teamId, (this.#written.get(teamId) ?? 0) + 1)
    for (const [teamId, written] of this.#written) {
      if (written < SURPLUS_MAX) continue
      this.#written.delete(teamId)
      const last = tx.get<{ n: number }>(
        'SELECT n FROM api_requests WHERE team_id = ? ORDER BY n DESC LIMIT 1 OFFSET ?',
        [teamId, REQUESTS_KEPT],
      )
      if (last === undefined) continue
      const sql = `DELETE FROM api_requests WHERE n IN
        (SELECT n FROM api_requests WHERE team_id = ? AND n <= ? ORDER BY n LIMIT ?)`
      while (tx.run(sql, [teamId, last.n, PRUNED_IN_STEP]).changes === PRUNED_IN_STEP) yield
    }
  }

  close(): Promise<void> {
    return this.flush()
  }

  /** Newest first. */
  async list(teamId: string, filter: RequestFilter): Promise<Page<ApiRequest>> {
    await this.flush()
    const where = new Where().add('team_id = ?', teamId)
    if (filter.from !== undefined) where.add('at >= ?', filter.from)
    if (filter.to !== undefined) where.add('at < ?', filter.to)
    if (filter.keyId !== undefined) where.add('key_id = ?', filter.keyId)
    if (filter.method !== undefined) where.add('method = ?', filter.method)
    if (filter.status !== undefined) where.add('status BETWEEN ? AND ?', ...filter.status)
    if (filter.search !== undefined) {
      const text = `lower(coalesce(route, '') || ' ' || coalesce(operation, '') || ' ' || coalesce(error_code, '') || ' ' || id)`
      where.add(`instr(${text}, ?) > 0`, filter.search.toLowerCase())
    }
    if (filter.after !== null) where.add('n < ?', filter.after[0] as number)
    const sql = `SELECT * FROM api_requests WHERE ${where.sql} ORDER BY n DESC LIMIT ?`
    const rows = await this.#db.scan.all<RequestRow>(sql, [...where.values, filter.limit + 1])
    return pageOf(rows, filter.limit, ({ n }) => [n], present)
  }

  /** Deletes requests before a time (ms), and those above the maximum of a team. @returns how many */
  async prune(before: number): Promise<number> {
    const old = await this.#delete('at < ?', [before])
    const teams = await this.#db.scan.all<{ team_id: string }>(
      'SELECT team_id FROM api_requests GROUP BY team_id HAVING count(*) > ?',
      [REQUESTS_KEPT],
    )
    let above = 0
    for (const { team_id: teamId } of teams) {
      const sql = 'SELECT n FROM api_requests WHERE team_id = ? ORDER BY n DESC LIMIT 1 OFFSET ?'
      const last = await this.#db.scan.get<{ n: number }>(sql, [teamId, REQUESTS_KEPT])
      if (last !== undefined) above += await this.#delete('team_id = ? AND n <= ?', [teamId, last.n])
    }
    return old + above
  }

  /** Dates requests as of now that a wrong clock dated; see `redateRows`. */
  redate(wrong: WrongSpan, now: number): Promise<number> {
    return redateRows(this.#db, { table: 'api_requests', column: 'at' }, wrong, now)
  }

  async #delete(condition: string, values: (string | number)[]): Promise<number> {
    let deleted = 0
    for (;;) {
      // No write transaction when nothing is due.
      const due = `SELECT 1 AS due FROM api_requests WHERE ${condition} LIMIT 1`
      if (this.#db.read.get(due, values) === undefined) return deleted
      const sql = `DELETE FROM api_requests WHERE n IN (SELECT n FROM api_requests WHERE ${condition} LIMIT ?)`
      deleted += (await this.#db.write((tx) => tx.run(sql, [...values, PRUNED_AT_ONCE]))).changes
    }
  }
}

interface RequestRow {
  n: number
  id: string
  team_id: string
  at: number
  method: string
  route: string | null
  operation: string | null
  status: number
  ms: number
  key_id: string
  error_code: string | null
}

function present(row: RequestRow): ApiRequest {
  const { n, id, team_id: teamId, at, method, route, operation, status, ms, key_id: keyId, error_code: errorCode } = row
  return { n, id, teamId, at, method, route, operation, status, ms, keyId, errorCode }
}
