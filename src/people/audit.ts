// The audit log: every change that people, keys and commands make to a team, to themselves or to the appliance. Never a secret.

import type { Clock } from '../base/clock.ts'
import type { WrongSpan } from '../base/clock-guard.ts'
import { newId } from '../base/ids.ts'
import type { Db, SqlValue, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import { redateRows } from '../db/redate.ts'
import { Where } from '../db/sql-text.ts'
import { key, type RecordOf, type RowOf, table, text, time } from '../db/table.ts'

const LABEL_MAX = 200
const OPENS_MAX = 500
const PRUNED_AT_ONCE = 1000
/** Entries that are kept of a team, and of what concerns no team. */
export const AUDIT_ENTRIES_MAX = 100_000
/** Entries that are removed beyond it, in one piece. */
export const TRIMMED_AT_ONCE = 5000
/** The bound is checked with every so many entries. */
const CHECKED_EVERY = 100
/** The action of an entry that says that others were removed, and its actor. */
export const TRIM_ACTION = 'removeAuditEntries'
const APPLIANCE = 'appliance'
/** Whose an entry is. What concerns no team has the session of a person as its actor: another one for each sign-in. */
const ACTOR = "CASE WHEN actor_kind = 'person' THEN actor_label ELSE actor_id END"

/** Who made a change: a signed-in person, a key, or a command of the operator. */
export type AuditActorKind = 'person' | 'key' | 'command'

export const AUDIT_ENTRIES = table('audit_entries', {
  n: key(),
  /** `aud_…` */
  id: text(),
  /** The team that was changed; null for the appliance, and for what concerns the person alone. */
  team_id: text().orNull(),
  at: time(),
  actor_kind: text<AuditActorKind>(),
  actor_id: text(),
  actor_label: text(),
  /** The operation, as the OpenAPI document names it. */
  action: text(),
  target_type: text().orNull(),
  target_id: text().orNull(),
  target_label: text().orNull(),
  source: text(),
  request_id: text(),
  /** What the change gives access to, in words; null where it gives none. */
  opens: text().orNull(),
})
type Stored = RecordOf<typeof AUDIT_ENTRIES>

export interface AuditEntry extends Omit<Stored, `actor${string}` | `target${string}`> {
  actor: { kind: AuditActorKind; id: string; label: string }
  target: { type: string | null; id: string | null; label: string | null }
}

/** A change to be recorded. */
export type NewAuditEntry = Omit<AuditEntry, 'n' | 'id' | 'at' | 'opens'> & Partial<Pick<AuditEntry, 'opens'>>

export interface AuditFilter {
  from?: number
  to?: number
  /** Id or label of the actor. */
  actor?: string
  /** A part of the action, or of a label or id. */
  search?: string
  limit: number
  after: PageKey | null
}

export class AuditLog {
  readonly #db: Db
  readonly #clock: Clock

  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  record(entry: NewAuditEntry): Promise<void> {
    return this.#db.write((tx) => this.recordIn(tx, entry))
  }

  /** Records a change; beyond `AUDIT_ENTRIES_MAX` entries of the team the oldest of its busiest actor are removed. */
  recordIn(tx: Tx, entry: NewAuditEntry): void {
    const n = this.#insert(tx, entry)
    if (n % CHECKED_EVERY === 0) this.#trim(tx, entry.teamId)
  }

  #insert(tx: Tx, { actor, target, opens, ...entry }: NewAuditEntry): number {
    return AUDIT_ENTRIES.insert(tx, {
      ...entry,
      id: newId('auditEntry'),
      at: this.#clock.now(),
      actorKind: actor.kind,
      actorId: actor.id,
      actorLabel: actor.label.slice(0, LABEL_MAX),
      targetType: target.type,
      targetId: target.id,
      targetLabel: target.label?.slice(0, LABEL_MAX),
      opens: opens?.slice(0, OPENS_MAX),
    })
  }

  /** A key or person that makes one change after the other removes their own entries, not those of others, and an entry says so. */
  #trim(tx: Tx, teamId: string | null): void {
    const sum = tx.get<{ count: number }>('SELECT count(*) AS count FROM audit_entries WHERE team_id IS ?', [teamId])
    if (sum!.count <= AUDIT_ENTRIES_MAX) return
    const busiest = tx.get<{ actor: string }>(
      `SELECT ${ACTOR} AS actor FROM audit_entries WHERE team_id IS ? AND actor_id <> ?
       GROUP BY ${ACTOR} ORDER BY count(*) DESC LIMIT 1`,
      [teamId, APPLIANCE],
    )
    if (busiest === undefined) return
    const sql = `DELETE FROM audit_entries WHERE n IN
      (SELECT n FROM audit_entries WHERE team_id IS ? AND ${ACTOR} = ? ORDER BY n LIMIT ?)
      RETURNING actor_kind AS kind, actor_id AS id, actor_label AS label`
    const removed = tx.all<{ kind: string; id: string; label: string }>(sql, [teamId, busiest.actor, TRIMMED_AT_ONCE])
    const [{ kind, id, label: name }] = removed as [(typeof removed)[number]]
    const label = `the ${removed.length} oldest of ${name || kind}`
    this.#insert(tx, {
      teamId,
      actor: { kind: 'command', id: APPLIANCE, label: 'Mailstead' },
      action: TRIM_ACTION,
      target: { type: 'auditEntry', id, label },
      ...{ source: '', requestId: '' },
    })
  }

  /** Number of the newest entry; 0 without entries. */
  newest(): number {
    return this.#db.read.get<{ n: number | null }>('SELECT max(n) AS n FROM audit_entries')?.n ?? 0
  }

  /** What was done in these teams after an entry, at most `limit` entries. */
  actionsAfter(n: number, teamIds: readonly string[], limit: number): { teamId: string; action: string }[] {
    const sql = `SELECT team_id AS teamId, action FROM audit_entries
      WHERE n > ? AND team_id IN (SELECT value FROM json_each(?)) ORDER BY n LIMIT ?`
    return this.#db.read.all<{ teamId: string; action: string }>(sql, [n, JSON.stringify(teamIds), limit])
  }

  /** Newest first. @param teamId null for the whole appliance */
  async list(teamId: string | null, { from, to, actor, search, limit, after }: AuditFilter): Promise<Page<AuditEntry>> {
    const where = new Where()
    const add = (condition: string, ...values: (SqlValue | undefined)[]) => {
      if (values.every((value) => value !== undefined)) where.add(condition, ...(values as SqlValue[]))
    }
    add('team_id = ?', teamId ?? undefined)
    add('at >= ?', from)
    add('at < ?', to)
    add('(actor_id = ? OR actor_label = ?)', actor, actor)
    const text = search?.toLowerCase()
    add(
      `instr(lower(action || ' ' || actor_label || ' ' || coalesce(target_label, '') || ' ' || coalesce(target_id, '')), ?) > 0`,
      text,
    )
    if (after !== null) where.add('(at, n) < (?, ?)', ...after)
    const sql = `SELECT ${AUDIT_ENTRIES.columns} FROM audit_entries WHERE ${where.sql} ORDER BY at DESC, n DESC LIMIT ?`
    const rows = await this.#db.scan.all<RowOf<typeof AUDIT_ENTRIES>>(sql, [...where.values, limit + 1])
    const keyOf = ({ at, n }: Stored) => [at, n]
    return pageOf(rows.map(AUDIT_ENTRIES.record), limit, keyOf, entryOf)
  }

  /** Deletes entries before a time, ms. @returns how many */
  async prune(before: number): Promise<number> {
    let pruned = 0
    for (;;) {
      if (this.#db.read.get('SELECT 1 AS due FROM audit_entries WHERE at < ? LIMIT 1', [before]) === undefined)
        return pruned
      const sql = 'DELETE FROM audit_entries WHERE n IN (SELECT n FROM audit_entries WHERE at < ? ORDER BY at LIMIT ?)'
      pruned += (await this.#db.write((tx) => tx.run(sql, [before, PRUNED_AT_ONCE]))).changes
    }
  }

  /** Dates entries as of now that a wrong clock dated; see `redateRows`. */
  redate(wrong: WrongSpan, now: number): Promise<number> {
    return redateRows(this.#db, { table: 'audit_entries', column: 'at' }, wrong, now)
  }
}

function entryOf(stored: Stored): AuditEntry {
  const { actorKind, actorId, actorLabel, targetType, targetId, targetLabel, ...entry } = stored
  return {
    ...entry,
    actor: { kind: actorKind, id: actorId, label: actorLabel },
    target: { type: targetType, id: targetId, label: targetLabel },
  }
}
