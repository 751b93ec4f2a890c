// Counts of sent messages by tag and day. Tags are words of the sender: their number is limited for each day.

import { DAY_MS } from '../../base/durations.ts'
import type { Db, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { additionsOf, type Counts, OTHERS, SENT_COUNTS, sumsOf, zeroCounts } from './tally.ts'

/** Different tags of a team that are counted in a day; the others are counted together. */
export const TAGS_A_DAY_MAX = 500
/** As long as all counts (docs/design/sending.md §10). */
const RETENTION_DAYS = 400
const PRUNE_BATCH = 500
const DAY_HOURS = 24

const SUMS = sumsOf(SENT_COUNTS)
const UPSERT = `INSERT INTO tag_counts (day, team_id, tag, ${SENT_COUNTS.join(', ')}) VALUES (${placeholders(['', '', '', ...SENT_COUNTS])})
  ON CONFLICT (team_id, day, tag) DO UPDATE SET ${additionsOf(SENT_COUNTS)}`

export interface TaggedEvent {
  teamId: string
  /** ms */
  at: number
  /** JSON. */
  tags: string
  counts: Partial<Counts>
}

/** Adds events to the counts of their tags, in the unit of work in which they happened. */
export function countTags(tx: Tx, events: readonly TaggedEvent[]): void {
  for (const { teamId, at, tags, counts } of events) {
    const day = Math.floor(at / DAY_MS)
    const values = SENT_COUNTS.map((name) => counts[name] ?? 0)
    for (const [name, value] of Object.entries(JSON.parse(tags) as Record<string, string>)) {
      tx.run(UPSERT, [day, teamId, countedTag(tx, teamId, day, `${name}:${value}`), ...values])
    }
  }
}

function countedTag(tx: Tx, teamId: string, day: number, tag: string): string {
  const of = [teamId, day]
  if (tx.get('SELECT 1 FROM tag_counts WHERE team_id = ? AND day = ? AND tag = ?', [...of, tag])) return tag
  const known = tx.get<{ count: number }>('SELECT count(*) AS count FROM tag_counts WHERE team_id = ? AND day = ?', of)
  return known!.count < TAGS_A_DAY_MAX ? tag : OTHERS
}

/** Counts of one tag. */
export interface TagRow {
  /** `name:value` */
  tag: string
  counts: Counts
}

export class TagCounts {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** The largest tags of a span in hours, which covers whole days, and the total of the rest. */
  async breakdown(
    teamId: string,
    span: { from: number; to: number },
    limit: number,
  ): Promise<{ rows: TagRow[]; other: Counts }> {
    const all = await this.#db.scan.all<Partial<Counts> & { tag: string }>(
      `SELECT tag, ${SUMS} FROM tag_counts WHERE team_id = ? AND day >= ? AND day < ? GROUP BY tag
       ORDER BY sum(accepted) DESC, tag`,
      [teamId, span.from / DAY_HOURS, span.to / DAY_HOURS],
    )
    const named = all.filter(({ tag }) => tag !== OTHERS)
    const rows = named.slice(0, limit).map(({ tag, ...counts }) => ({ tag, counts: { ...zeroCounts(), ...counts } }))
    const other = zeroCounts()
    const rest = [...named.slice(limit), ...all.filter(({ tag }) => tag === OTHERS)]
    for (const row of rest) for (const name of SENT_COUNTS) other[name] += row[name] ?? 0
    return { rows, other }
  }

  /** Totals of a tag (`name:value`) in spans of whole days, in their order. */
  async sums(teamId: string, spans: readonly { from: number; to: number }[], tag: string): Promise<Counts[]> {
    const days = await this.#db.scan.all<Counts & { day: number }>(
      `SELECT day, ${SENT_COUNTS.join(', ')} FROM tag_counts WHERE team_id = ? AND day >= ? AND day < ? AND tag = ?`,
      [
        teamId,
        Math.min(...spans.map(({ from }) => from)) / DAY_HOURS,
        Math.max(...spans.map(({ to }) => to)) / DAY_HOURS,
        tag,
      ],
    )
    return spans.map(({ from, to }) => {
      const sum = zeroCounts()
      const within = days.filter(({ day }) => day * DAY_HOURS >= from && day * DAY_HOURS < to)
      for (const row of within) for (const name of SENT_COUNTS) sum[name] += row[name]
      return sum
    })
  }

  /** Deletes expired counts in batches. @param now ms @returns how many */
  async prune(now: number): Promise<number> {
    const first = Math.floor(now / DAY_MS) - RETENTION_DAYS
    for (let deleted = 0; ; ) {
      const { changes } = await this.#db.write((tx) =>
        tx.run(
          'DELETE FROM tag_counts WHERE (team_id, day, tag) IN (SELECT team_id, day, tag FROM tag_counts WHERE day < ? LIMIT ?)',
          [first, PRUNE_BATCH],
        ),
      )
      deleted += changes
      if (changes < PRUNE_BATCH) return deleted
    }
  }
}
