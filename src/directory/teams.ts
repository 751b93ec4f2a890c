// Teams: who owns domains, mailboxes and keys.

import type { Clock } from '../base/clock.ts'
import { invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Db, Row, Tx } from '../db/db.ts'

export type TeamStatus = 'active' | 'suspended'

export interface Team {
  id: string
  name: string
  status: TeamStatus
  createdAt: number
}

/** `system` is the appliance itself, `agent` the team of one agent: neither stands in lists of teams. */
export type TeamKind = 'team' | 'system' | 'agent'

/** The team of the appliance itself: it owns the domains its own mail comes from, and has no keys. */
export const SYSTEM_TEAM_ID = 'team_appliance000000000000000'

const NAME_MAX = 100

/** SQL for the time a team was suspended, NULL while it is active; `column` names the column that holds the team's id. */
export function teamSuspendedAt(column: string): string {
  return `(SELECT suspended_at FROM teams WHERE teams.id = ${column})`
}

export class Teams {
  readonly #db: Db
  readonly #clock: Clock

  constructor(parts: { db: Db; clock: Clock }) {
    this.#db = parts.db
    this.#clock = parts.clock
  }

  /** Two teams may bear the same name. @throws ProductError validation_error for a name outside 1-100 characters */
  create(input: { name: string }): Promise<Team> {
    return this.#db.write((tx) => this.createIn(tx, input.name))
  }

  /** The same inside a unit of work of the caller. */
  createIn(tx: Tx, name: string): Promise<Team> {
    return this.#insert(tx, name)
  }

  /**
   * Creates the first team of the appliance, and with it what `also` makes; undefined when there is a team already, also
   * one another process made at the same time.
   */
  createFirst<T>(name: string, also: (tx: Tx, team: Team) => Promise<T>): Promise<T | undefined> {
    return this.#db.write(async (tx) => {
      if ((await tx.get(`SELECT 1 AS found FROM teams WHERE kind = 'team' LIMIT 1`)) !== undefined) return undefined
      return also(tx, await this.#insert(tx, name))
    })
  }

  async get(id: string): Promise<Team | undefined> {
    const row = await this.#db.read.get('SELECT * FROM teams WHERE id = ?', [id])
    return row && presentTeam(row)
  }

  /** Every team that was made by somebody, the oldest first. */
  async list(): Promise<Team[]> {
    return (await this.#db.read.all(`SELECT * FROM teams WHERE kind = 'team' ORDER BY created_at, id`)).map(presentTeam)
  }

  /**
   * @param check sees the current record inside the unit of work and throws to refuse
   * @throws ProductError not_found, validation_error for a name outside 1-100 characters
   */
  rename(id: string, name: string, check?: (current: Team) => void): Promise<Team> {
    return this.#db.write((tx) => this.changeIn(tx, id, { name }, check))
  }

  /** Keys of a suspended team are refused and its mail is deferred (decisions §2.3). @throws ProductError not_found */
  setStatus(id: string, status: TeamStatus): Promise<Team> {
    return this.#db.write((tx) => this.changeIn(tx, id, { status }))
  }

  /**
   * Changes a team as part of a unit of work; what is left out stays.
   * @throws ProductError not_found, validation_error for a name outside 1-100 characters
   */
  async changeIn(
    tx: Tx,
    id: string,
    change: { name?: string; status?: TeamStatus },
    check: (current: Team) => void = () => {},
  ): Promise<Team> {
    const row = await tx.get('SELECT * FROM teams WHERE id = ?', [id])
    if (row === undefined) throw notFound('team')
    check(presentTeam(row))
    const name = change.name === undefined ? (row.name as string) : checkName(change.name, NAME_MAX)
    // Suspending twice must not start the time after which mail is refused anew.
    const since = (row.suspended_at as number | null) ?? this.#clock.now()
    const status = change.status ?? presentTeam(row).status
    const suspendedAt = status === 'suspended' ? since : null
    await tx.run('UPDATE teams SET name = ?, suspended_at = ? WHERE id = ?', [name, suspendedAt, id])
    return presentTeam({ ...row, name, suspended_at: suspendedAt })
  }

  /** The team of a new agent, as part of its registration. */
  createForAgent(tx: Tx, name: string): Promise<Team> {
    return this.#insert(tx, name, 'agent')
  }

  async #insert(tx: Tx, given: string, kind: TeamKind = 'team'): Promise<Team> {
    const name = checkName(given, NAME_MAX)
    const id = newId('team')
    const at = this.#clock.now()
    await tx.insert('teams', { id, name, kind, created_at: at })
    return { id, name, status: 'active', createdAt: at }
  }
}

function presentTeam(row: Row): Team {
  return {
    id: row.id as string,
    name: row.name as string,
    status: row.suspended_at === null ? 'active' : 'suspended',
    createdAt: row.created_at as number,
  }
}

/** A name a person gives to a thing: 1 to `max` characters on one line. @throws ProductError validation_error */
export function checkName(name: string, max: number, field = 'name'): string {
  if (name.length < 1) throw invalid(field, 'too_small', `The ${field} must not be empty.`)
  if (name.length > max) throw invalid(field, 'too_big', `The ${field} must have at most ${max} characters.`)
  if (/[\u0000-\u001f\u007f]/.test(name)) {
    throw invalid(field, 'invalid_format', `The ${field} must not hold line breaks or other control characters.`)
  }
  return name
}
