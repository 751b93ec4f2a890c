// What the clock does with the counts: names of others beyond the busiest are put together, days are made of hours, old counts go.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader } from '../../db/db.ts'
import {
  type CountRow,
  HOUR_MS,
  IS_DETAILED,
  isDetailed,
  KEY_COLUMNS,
  removeRow,
  SUMS,
  Tally,
  TRAIT_COLUMNS,
  VOLUME,
  withoutDetail,
} from './tally.ts'

/** Rows that name domains of others, of one team and hour or day. */
export const DETAILED_MAX = 250
/** Decisions §7.2. */
const KEPT_HOURS = 400 * 24
/** An hour is looked at this long after its end: a unit of work that began within it may still be under way. */
const GRACE_MS = 10 * 60 * 1000
const DAY = 24
/** Rows taken in one unit of work. */
const BATCH = 500

interface Deps {
  db: Db
  clock: Clock
}

export class RollUp {
  readonly #deps: Deps
  /** The first hour and day that were not looked at; null before the first look of this life. */
  #next: { hour: number; day: number } | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Looks at the hours and days that are over. Each team's day is made in one unit of work, so it is there or not, however
   * often this is ended in the middle; its hours stay.
   * @returns rows put together, and days made
   */
  async run(signal: AbortSignal): Promise<number> {
    this.#next ??= await this.#begin()
    const end = Math.floor((this.#deps.clock.now() - GRACE_MS) / HOUR_MS)
    let done = 0
    for (let hour = await this.#hourFrom(this.#next.hour); hour < end && !signal.aborted; ) {
      for await (const team of this.#teamsOf(hour)) done += await this.#condense(hour, team)
      this.#next.hour = hour + 1
      hour = await this.#hourFrom(hour + 1)
    }
    for (let day = await this.#dayFrom(this.#next.day); day + DAY <= end && !signal.aborted; ) {
      for (const team of await this.#teamsWithin(day)) done += await this.#makeDay(day, team)
      this.#next.day = day + DAY
      day = await this.#dayFrom(day + DAY)
    }
    return done
  }

  /** Erases what has been kept long enough, some rows at a time. @returns how many */
  async prune(): Promise<number> {
    const first = Math.floor(this.#deps.clock.now() / HOUR_MS) - KEPT_HOURS
    let erased = 0
    for (const hours of [1, DAY]) {
      for (let changes = BATCH; changes === BATCH; erased += changes) {
        ;({ changes } = await this.#deps.db.write((tx) =>
          tx.run(
            `DELETE FROM mail_counts WHERE (${KEY_COLUMNS}) IN
               (SELECT ${KEY_COLUMNS} FROM mail_counts WHERE hours = ? AND start <= ? LIMIT ?)`,
            [hours, first - hours, BATCH],
          ),
        ))
      }
    }
    return erased
  }

  /** The newest day was perhaps made for some teams only. */
  async #begin(): Promise<{ hour: number; day: number }> {
    const newest = await this.#deps.db.read.get<{ start: number }>(
      'SELECT start FROM mail_counts WHERE hours = ? ORDER BY start DESC LIMIT 1',
      [DAY],
    )
    const day = newest?.start ?? 0
    return { hour: day, day }
  }

  /** The first hour at or after that one in which anything was counted. */
  async #hourFrom(hour: number): Promise<number> {
    const row = await this.#deps.db.read.get<{ start: number }>(
      'SELECT start FROM mail_counts WHERE hours = 1 AND start >= ? ORDER BY start LIMIT 1',
      [hour],
    )
    return row?.start ?? Number.POSITIVE_INFINITY
  }

  async #dayFrom(day: number): Promise<number> {
    const hour = await this.#hourFrom(day)
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

  /** Leaves the busiest domains of others their names; the rest of the hour is counted without them. */
  async #condense(hour: number, team: string): Promise<number> {
    const { db } = this.#deps
    const ofHour = `FROM mail_counts WHERE hours = 1 AND start = ? AND team_id = ? AND ${IS_DETAILED}`
    const last = await db.scan.get<{ volume: number }>(
      `SELECT ${VOLUME} AS volume ${ofHour} ORDER BY volume DESC LIMIT 1 OFFSET ?`,
      [hour, team, DETAILED_MAX],
    )
    if (last === undefined) return 0
    for (let done = 0; ; ) {
      const taken = await db.write(async (tx) => {
        const sql = `SELECT * ${ofHour} AND ${VOLUME} <= ? LIMIT ?`
        const rows = await tx.all<CountRow>(sql, [hour, team, last.volume, BATCH])
        const tally = new Tally()
        for (const row of rows) {
          await removeRow(tx, row)
          tally.add(withoutDetail(row))
        }
        await tally.write(tx)
        return rows.length
      })
      done += taken
      if (taken < BATCH) return done
    }
  }

  async #makeDay(day: number, team: string): Promise<number> {
    const { db } = this.#deps
    if (await isMade(db.read, day, team)) return 0
    const hours = Array.from({ length: DAY }, (_, index) => day + index)
    // The hours are over: nothing is added to them any more, so they can be added up elsewhere.
    const rows = await db.scan.all<CountRow>(
      `SELECT ? AS hours, ? AS start, team_id, ${TRAIT_COLUMNS}, max(provider_name) AS provider_name, ${SUMS}
       FROM mail_counts WHERE hours = 1 AND start IN (${hours.map(() => '?').join(', ')}) AND team_id = ?
       GROUP BY ${TRAIT_COLUMNS}`,
      [DAY, day, ...hours, team],
    )
    const detailed = rows.filter(isDetailed).sort((a, b) => volumeOf(b) - volumeOf(a))
    const tally = new Tally()
    for (const row of rows) if (!isDetailed(row)) tally.add(row)
    for (const [place, row] of detailed.entries()) tally.add(place < DETAILED_MAX ? row : withoutDetail(row))
    return db.write(async (tx) => {
      if (await isMade(tx, day, team)) return 0
      await tally.write(tx)
      return 1
    })
  }
}

async function isMade(reader: Reader, day: number, team: string): Promise<boolean> {
  const row = await reader.get('SELECT 1 FROM mail_counts WHERE hours = ? AND start = ? AND team_id = ? LIMIT 1', [
    ...[DAY, day, team],
  ])
  return row !== undefined
}

/** See VOLUME. */
function volumeOf(row: CountRow): number {
  const goes = row.accepted + row.sent + row.delayed + row.complained + row.rejected + row.failed
  return goes + row.received + row.received_spam + row.received_blocked
}
