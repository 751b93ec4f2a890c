// Scheduled maintenance of the counts: merges rarely used foreign domains, rolls hours up to days, and deletes old counts.

import type { Clock } from '../../base/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Db, Reader } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { TagCounts } from './tags.ts'
import {
  type CountRow,
  DIMENSION_COLUMNS,
  IS_DETAILED,
  isDetailed,
  KEY_COLUMNS,
  removeRow,
  SUMS,
  Tally,
  VOLUME,
  withoutDetail,
} from './tally.ts'

/** Maximum number of rows with foreign domain names, per team and hour or day. */
export const DETAILED_MAX = 250
/** docs/design/sending.md §10. */
const RETENTION_HOURS = 400 * 24
/** An hour is processed this long after its end: a unit of work that began in it may still be running. */
const GRACE_MS = 10 * MINUTE_MS
const DAY = 24
/** Rows processed in one unit of work. */
const BATCH = 500

interface Deps {
  db: Db
  clock: Clock
}

export class RollUp {
  readonly #deps: Deps
  /** The first hour and day not yet processed; null before the first run of this process. */
  #next: { hour: number; day: number } | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Processes the hours and days that have ended. Each team's day is written in one unit of work, so that an interruption leaves no
   * partial day; its hours are kept.
   * @returns number of merged rows and written days
   */
  async run(signal: AbortSignal): Promise<number> {
    this.#next ??= this.#firstPending()
    const end = Math.floor((this.#deps.clock.now() - GRACE_MS) / HOUR_MS)
    let done = 0
    for (let hour = this.#hourFrom(this.#next.hour); hour < end && !signal.aborted; ) {
      for await (const team of this.#teamsOf(hour)) done += await this.#dropDetail(hour, team)
      this.#next.hour = hour + 1
      hour = this.#hourFrom(hour + 1)
    }
    for (let day = this.#dayFrom(this.#next.day); day + DAY <= end && !signal.aborted; ) {
      for (const team of await this.#teamsWithin(day)) done += await this.#rollUpDay(day, team)
      this.#next.day = day + DAY
      day = this.#dayFrom(day + DAY)
    }
    return done
  }

  /** Deletes expired counts in batches. @returns how many */
  async prune(): Promise<number> {
    const first = Math.floor(this.#deps.clock.now() / HOUR_MS) - RETENTION_HOURS
    let deleted = 0
    for (const hours of [1, DAY]) {
      for (let changes = BATCH; changes === BATCH; deleted += changes) {
        ;({ changes } = await this.#deps.db.write((tx) =>
          tx.run(
            `DELETE FROM mail_counts WHERE (${KEY_COLUMNS}) IN
               (SELECT ${KEY_COLUMNS} FROM mail_counts WHERE hours = ? AND start <= ? LIMIT ?)`,
            [hours, first - hours, BATCH],
          ),
        ))
      }
    }
    return deleted + (await new TagCounts(this.#deps.db).prune(this.#deps.clock.now()))
  }

  /** Starts with the newest day, which may have been written for some teams only. */
  #firstPending(): { hour: number; day: number } {
    const newest = this.#deps.db.read.get<{ start: number }>(
      'SELECT start FROM mail_counts WHERE hours = ? ORDER BY start DESC LIMIT 1',
      [DAY],
    )
    const day = newest?.start ?? 0
    return { hour: day, day }
  }

  /** The first hour with counts at or after `hour`. */
  #hourFrom(hour: number): number {
    const row = this.#deps.db.read.get<{ start: number }>(
      'SELECT start FROM mail_counts WHERE hours = 1 AND start >= ? ORDER BY start LIMIT 1',
      [hour],
    )
    return row?.start ?? Number.POSITIVE_INFINITY
  }

  #dayFrom(day: number): number {
    const hour = this.#hourFrom(day)
    return hour - (hour % DAY)
  }

  async *#teamsOf(hour: number): AsyncGenerator<string> {
    for (let team = ''; ; ) {
      const next = await this.#deps.db.read.get<{ team_id: string }>(
        'SELECT team_id FROM mail_counts WHERE hours = 1 AND start = ? AND team_id > ? ORDER BY team_id LIMIT 1',
        [hour, team],
      )
      if (next === undefined) return
      team = next.team_id
      yield team
    }
  }

  async #teamsWithin(day: number): Promise<Set<string>> {
    const teams = new Set<string>()
    for (let hour = day; hour < day + DAY; hour++) for await (const team of this.#teamsOf(hour)) teams.add(team)
    return teams
  }

  /** Keeps the names of the busiest foreign domains; the other rows of the hour are merged under {@link OTHERS}. */
  async #dropDetail(hour: number, team: string): Promise<number> {
    const { db } = this.#deps
    const ofHour = `FROM mail_counts WHERE hours = 1 AND start = ? AND team_id = ? AND ${IS_DETAILED}`
    const last = await db.scan.get<{ volume: number }>(
      `SELECT ${VOLUME} AS volume ${ofHour} ORDER BY volume DESC LIMIT 1 OFFSET ?`,
      [hour, team, DETAILED_MAX],
    )
    if (last === undefined) return 0
    for (let done = 0; ; ) {
      const merged = await db.write((tx) => {
        const sql = `SELECT * ${ofHour} AND ${VOLUME} <= ? LIMIT ?`
        const rows = tx.all<CountRow>(sql, [hour, team, last.volume, BATCH])
        const tally = new Tally()
        for (const row of rows) {
          removeRow(tx, row)
          tally.add(withoutDetail(row))
        }
        tally.write(tx)
        return rows.length
      })
      done += merged
      if (merged < BATCH) return done
    }
  }

  async #rollUpDay(day: number, team: string): Promise<number> {
    const { db } = this.#deps
    if (isRolledUp(db.read, day, team)) return 0
    const hours = Array.from({ length: DAY }, (_, index) => day + index)
    // No more counts are added to ended hours, so they can be summed outside the write.
    const rows = await db.scan.all<CountRow>(
      `SELECT ? AS hours, ? AS start, team_id, ${DIMENSION_COLUMNS}, max(provider_name) AS provider_name, ${SUMS}
       FROM mail_counts WHERE hours = 1 AND start IN (${placeholders(hours)}) AND team_id = ?
       GROUP BY ${DIMENSION_COLUMNS}`,
      [DAY, day, ...hours, team],
    )
    const detailed = rows.filter(isDetailed).sort((a, b) => volumeOf(b) - volumeOf(a))
    const tally = new Tally()
    for (const row of rows) if (!isDetailed(row)) tally.add(row)
    for (const [rank, row] of detailed.entries()) tally.add(rank < DETAILED_MAX ? row : withoutDetail(row))
    return db.write((tx) => {
      if (isRolledUp(tx, day, team)) return 0
      tally.write(tx)
      return 1
    })
  }
}

function isRolledUp(reader: Reader, day: number, team: string): boolean {
  const row = reader.get('SELECT 1 FROM mail_counts WHERE hours = ? AND start = ? AND team_id = ? LIMIT 1', [
    ...[DAY, day, team],
  ])
  return row !== undefined
}

/** See VOLUME. */
function volumeOf(row: CountRow): number {
  const outbound = row.accepted + row.sent + row.delayed + row.complained + row.rejected + row.failed
  return outbound + row.received + row.received_spam + row.received_blocked
}
