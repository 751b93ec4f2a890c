// Verification of domains: checks against DNS, the resulting state, and exclusive claims to a name.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { conflict } from '../../base/errors.ts'
import type { Resolver } from '../../base/resolver.ts'
import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import { SYSTEM_TEAM_ID } from '../keys/teams.ts'
import { isReserved } from '../names/domain-name.ts'
import { dateChecks } from './check-changes.ts'
import type { DkimKeys } from './dkim-keys.ts'
import { checkDomain, type DomainFindings } from './domain-checks.ts'
import { nextState } from './domain-lifecycle.ts'
import {
  changesOf,
  checksOf,
  type Domain,
  type SesFinding,
  sesColumns,
  stateColumns,
  stateOf,
} from './domain-record.ts'

/** The result of checking a domain in DNS and at Amazon SES. */
export type DomainInspection = DomainFindings & { ses: SesFinding }

interface Deps {
  clock: Clock
  resolver: Resolver
  dkimKeys: DkimKeys
}

export class DomainVerifier {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Checks DNS without changing the domain. */
  async inspect({ name, records, removable }: Domain): Promise<DomainFindings> {
    return checkDomain(this.#deps.resolver, { records, removable, reserved: isReserved(name) })
  }

  /** Schedules a check of a reserved name in the next round: its new key signs before DNS was checked. */
  recheckSoon(tx: Tx, { n, name }: Row): void {
    if (!isReserved(name as string)) return
    tx.run('UPDATE domains SET next_check_at = ? WHERE n = ?', [this.#deps.clock.now(), n as number])
  }

  /** Checks DNS; the appliance's own names count as proven. */
  async findings(domain: Domain): Promise<DomainFindings> {
    const found = await this.inspect(domain)
    return domain.teamId === SYSTEM_TEAM_ID ? { ...found, verification: 'found' } : found
  }

  /**
   * Applies the findings of a check to a domain.
   * @param requested true for a check requested by a user, false for an automatic one
   * @returns the row afterwards; undefined when the domain was deleted
   * @throws ProductError conflict when another team has verified the name
   */
  apply(tx: Tx, id: string, findings: DomainInspection, requested: boolean): Row | undefined {
    const row = tx.get('SELECT * FROM domains WHERE id = ?', [id])
    const now = this.#deps.clock.now()
    if (row === undefined) return undefined
    const state = stateOf(row)
    // Another check ran in the meantime: one day must not count twice.
    if (!requested && (state.nextCheckAt === null || state.nextCheckAt > now)) return row
    const next = nextState(state, findings.verification, requested, now)
    const name = row.name as string
    if (next.status === 'verified' && state.status !== 'verified') {
      refuseProven(tx, row.team_id as string, name)
      failOtherClaims(tx, name, id)
    }
    const changed = {
      ...stateColumns(next),
      receives: next.status === 'verified' ? 1 : row.receives,
      ...sesColumns(row, findings.ses),
      ...checkColumns(row, findings.checks, now),
    }
    this.#deps.dkimKeys.applyFindings(tx, { id, name }, findings.dkim)
    const columns = Object.keys(changed).map((column) => `${column} = ?`)
    tx.run(`UPDATE domains SET ${columns.join(', ')} WHERE id = ?`, [...Object.values(changed), id])
    return { ...row, ...changed }
  }
}

/** The findings beside those of the check before, and the last changes, newest first. */
function checkColumns(row: Row, found: DomainFindings['checks'], now: number) {
  const { checks, changes } = dateChecks(checksOf(row), changesOf(row), found, now)
  return { checks: JSON.stringify(checks), check_changes: JSON.stringify(changes), checked_at: now }
}

/** Longer than any pause between two checks. ms */
const CHECK_PAUSE_MAX_MS = 2 * DAY_MS

/** Makes checks due that are scheduled further ahead than any pause: the clock was wrong when they were scheduled. */
export async function recheckLate(db: Db, now: number): Promise<void> {
  const values = [now, now + CHECK_PAUSE_MAX_MS]
  await db.write((tx) => tx.run('UPDATE domains SET next_check_at = ? WHERE next_check_at > ?', values))
}

/** @throws ProductError conflict when the team has a domain of this name, or another team has verified it */
export function refuseTaken(reader: Reader, teamId: string, name: string): void {
  const own = reader.get('SELECT 1 AS taken FROM domains WHERE team_id = ? AND name = ?', [teamId, name])
  if (own !== undefined) throw conflict('The team already has this domain.', 'domain')
  refuseProven(reader, teamId, name)
}

/** @throws ProductError conflict when another team has verified the name */
function refuseProven(reader: Reader, teamId: string, name: string): void {
  const other = reader.get(
    `SELECT 1 AS taken FROM domains WHERE name = ? AND verification_status = 'verified' AND team_id <> ?`,
    [name, teamId],
  )
  if (other !== undefined) throw conflict('The domain is verified by another team.', 'domain')
}

/** The first team to verify a name wins: pending claims of others fail, and a lapsed domain of another team stops receiving. */
export function failOtherClaims(tx: Tx, name: string, winnerId: string): void {
  tx.run(
    `UPDATE domains SET verification_status = 'failed', receives = 0, next_check_at = NULL WHERE name = ? AND id <> ?`,
    [name, winnerId],
  )
}

export interface LapsedDomain {
  id: string
  teamId: string
  name: string
  /** When it was last verified, ms: distinguishes this lapse from a later one. */
  verifiedAt: number
}

/** The names of at most `limit` verified domains of teams, the oldest first. */
export function verifiedNames(reader: Reader, limit: number): string[] {
  const rows = reader.all<{ name: string }>(
    "SELECT name FROM domains WHERE verification_status = 'verified' AND team_id <> ? ORDER BY created_at, id LIMIT ?",
    [SYSTEM_TEAM_ID, limit],
  )
  return rows.map(({ name }) => name)
}

/** Domains that were verified once and have failed since (docs/design/directory.md §5.3). */
export function lapsedDomains(reader: Reader): LapsedDomain[] {
  const rows = reader.all<{ id: string; team_id: string; name: string; verified_at: number }>(
    `SELECT id, team_id, name, verified_at FROM domains
     WHERE verification_status = 'failed' AND verified_at IS NOT NULL AND missing_days > 0`,
  )
  return rows.map(({ id, team_id: teamId, name, verified_at: verifiedAt }) => ({ id, teamId, name, verifiedAt }))
}
