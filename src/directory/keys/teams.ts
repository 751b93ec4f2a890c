// Teams: the owners of domains, mailboxes and keys.

import type { Clock } from '../../base/clock.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import { isMailableName, notMailable } from '../../mime/one-line.ts'
import type { IssuedKey } from './key-record.ts'

export type TeamStatus = 'active' | 'suspended'

export interface Team {
  id: string
  name: string
  status: TeamStatus
  createdAt: number
}

/** `system` is the appliance itself, `agent` the team of one agent: neither is listed. */
export type TeamKind = 'team' | 'system' | 'agent'

/** The team of the appliance itself, which owns the appliance's own domains and has no keys. */
export const SYSTEM_TEAM_ID = 'team_appliance000000000000000'

const NAME_MAX = 100

/** SQL for the time a team was suspended, NULL while it is active; `column` names the column that holds the team's id. */
export function teamSuspendedAt(column: string): string {
  return `(SELECT suspended_at FROM teams WHERE teams.id = ${column})`
}

export class Teams {
  readonly #db: Db
  readonly #clock: Clock

  constructor(deps: { db: Db; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
  }

  /** Names need not be unique. @throws ProductError validation_error for a name outside 1-100 characters */
  create(input: { name: string }): Promise<Team> {
    return this.#db.write((tx) => this.createIn(tx, input.name))
  }

  /** As `create`, inside a unit of work of the caller. */
  createIn(tx: Tx, name: string): Team {
    return this.#insert(tx, name)
  }

  /**
   * Creates the first team of the appliance and runs `also` in the same unit of work; undefined when a team exists, including one that
   * another process created concurrently.
   */
  createFirst(
    name: string,
    also: (tx: Tx, team: Team) => IssuedKey,
  ): Promise<{ team: Team; key: IssuedKey } | undefined> {
    return this.#db.write((tx) => {
      if (tx.get(`SELECT 1 AS found FROM teams WHERE kind = 'team' LIMIT 1`) !== undefined) return undefined
      const team = this.#insert(tx, name)
      return { team, key: also(tx, team) }
    })
  }

  get(id: string): Team | undefined {
    const row = this.#db.read.get('SELECT * FROM teams WHERE id = ?', [id])
    return row && presentTeam(row)
  }

  /** All teams of kind `team`, the oldest first. */
  list(reader: Reader = this.#db.read): Team[] {
    return reader.all(`SELECT * FROM teams WHERE kind = 'team' ORDER BY created_at, id`).map(presentTeam)
  }

  /**
   * @param check receives the current record inside the unit of work; throws to refuse
   * @throws ProductError not_found, validation_error for a name outside 1-100 characters
   */
  rename(id: string, name: string, check?: (current: Team) => void): Promise<Team> {
    return this.#db.write((tx) => this.changeIn(tx, id, { name }, check))
  }

  /** As `rename`, inside a unit of work of the caller. */
  renameIn(tx: Tx, id: string, name: string): Team {
    return this.changeIn(tx, id, { name })
  }

  /**
   * Suspends or reactivates a team: keys of a suspended team are refused and its mail is deferred (docs/design/directory.md §3).
   * @throws ProductError not_found
   */
  setStatus(id: string, status: TeamStatus): Promise<Team> {
    return this.#db.write((tx) => this.changeIn(tx, id, { status }))
  }

  /**
   * Changes a team inside a unit of work of the caller; omitted members stay unchanged.
   * @throws ProductError not_found, validation_error for a name outside 1-100 characters
   */
  changeIn(
    tx: Tx,
    id: string,
    change: { name?: string; status?: TeamStatus },
    check: (current: Team) => void = () => {},
  ): Team {
    const row = tx.get('SELECT * FROM teams WHERE id = ?', [id])
    if (row === undefined) throw notFound('team')
    check(presentTeam(row))
    const name = change.name === undefined ? (row.name as string) : checkTeamName(change.name, row.name as string)
    // Suspending twice must not restart the time after which mail is rejected.
    const since = (row.suspended_at as number | null) ?? this.#clock.now()
    const status = change.status ?? presentTeam(row).status
    const suspendedAt = status === 'suspended' ? since : null
    tx.run('UPDATE teams SET name = ?, suspended_at = ? WHERE id = ?', [name, suspendedAt, id])
    return presentTeam({ ...row, name, suspended_at: suspendedAt })
  }

  /** Creates the team of a new agent, in the unit of work of its registration. */
  createForAgent(tx: Tx, name: string): Team {
    return this.#insert(tx, name, 'agent')
  }

  #insert(tx: Tx, given: string, kind: TeamKind = 'team'): Team {
    // The team of an agent has its address; messages do not show it.
    const name = kind === 'team' ? checkTeamName(given) : checkName(given, NAME_MAX)
    const id = newId('team')
    const at = this.#clock.now()
    tx.insert('teams', { id, name, kind, created_at: at })
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

/** Invitations show the name of a team to any address. @param current a name of an earlier version stays valid */
function checkTeamName(name: string, current?: string): string {
  checkName(name, NAME_MAX)
  if (name !== current && !isMailableName(name)) throw invalid('name', 'forbidden_value', notMailable('name'))
  return name
}

/** Checks a display name: 1 to `max` characters on one line. @throws ProductError validation_error */
export function checkName(name: string, max: number, field = 'name'): string {
  if (name.length < 1) throw invalid(field, 'too_small', `The ${field} must not be empty.`)
  if (name.length > max) throw invalid(field, 'too_big', `The ${field} must have at most ${max} characters.`)
  if (/[\u0000-\u001f\u007f]/.test(name)) {
    throw invalid(field, 'invalid_format', `The ${field} must not contain line breaks or other control characters.`)
  }
  return name
}
