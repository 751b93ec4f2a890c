// A look at a domain: what DNS and Amazon say of it, and what becomes of it by that.

import type { Clock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Db, Row, Tx } from '../db/db.ts'
import type { DkimKeys } from './dkim-keys.ts'
import { checkDomain, type DomainFindings } from './domain-checks.ts'
import { nextState } from './domain-life.ts'
import { isReserved } from './domain-name.ts'
import { type Domain, type LookAtSes, sesColumns, stateColumns, stateOf } from './domain-record.ts'
import { refuseProven, yieldTo } from './domains-claims.ts'
import { SYSTEM_TEAM_ID } from './teams.ts'

/** What a look at a domain gave. */
export type Look = DomainFindings & { ses: Awaited<ReturnType<LookAtSes>> }

interface Parts {
  clock: Clock
  resolver: Resolver
  dkimKeys: DkimKeys
  lookAtSes: LookAtSes
}

export class DomainLooks {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** What DNS says now; nothing is changed by looking. */
  async inspect({ name, records, removable }: Domain): Promise<DomainFindings> {
    return checkDomain(this.#parts.resolver, { records, removable, reserved: isReserved(name) })
  }

  /** A key of a name nobody can own signs before DNS was asked for it: it is asked in the next round. */
  async soon(tx: Tx, { n, name }: Row): Promise<void> {
    if (!isReserved(name as string)) return
    await tx.run('UPDATE domains SET next_check_at = ? WHERE n = ?', [this.#parts.clock.now(), n as number])
  }

  /** The same, and what Amazon says where it is asked. */
  async look(domain: Domain): Promise<Look> {
    const { teamId, name } = domain
    const found = await this.inspect(domain)
    // Nobody has to prove to the appliance that its own name is its own.
    const findings = teamId === SYSTEM_TEAM_ID ? { ...found, verification: 'found' as const } : found
    return { ...findings, ses: await this.#parts.lookAtSes(teamId, name, findings.verification === 'found') }
  }

  /**
   * Moves a domain on by what a look found.
   * @param asked true when a person asked for it, false for the automatic one
   * @returns the row afterwards; undefined when it is gone
   * @throws ProductError conflict when another team was first
   */
  async apply(tx: Tx, n: number, findings: Look, asked: boolean): Promise<Row | undefined> {
    const row = await tx.get('SELECT * FROM domains WHERE n = ?', [n])
    const now = this.#parts.clock.now()
    if (row === undefined) return undefined
    const state = stateOf(row)
    // Somebody else has looked in the meantime: one day must not count twice.
    if (!asked && (state.nextCheckAt === null || state.nextCheckAt > now)) return row
    const next = nextState(state, findings.verification, asked, now)
    const name = row.name as string
    if (next.status === 'verified' && state.status !== 'verified') {
      await refuseProven(tx, row.team_id as string, name)
      await yieldTo(tx, name, row.id as string)
    }
    const changed = {
      ...stateColumns(next),
      receives: next.status === 'verified' ? 1 : row.receives,
      ...sesColumns(row, findings.ses),
    }
    await this.#parts.dkimKeys.settle(tx, { id: row.id as string, name }, findings.dkim)
    const columns = Object.keys(changed).map((column) => `${column} = ?`)
    await tx.run(`UPDATE domains SET ${columns.join(', ')} WHERE n = ?`, [...Object.values(changed), n])
    return { ...row, ...changed }
  }
}

/** No domain pauses longer between two checks than a day. ms */
const CHECK_PAUSE_MAX_MS = 2 * 24 * 60 * 60 * 1000

/** Has domains checked in the next round whose check lies further ahead than any pause: the clock was wrong when it was set. */
export async function recheckLate(db: Db, now: number): Promise<void> {
  const values = [now, now + CHECK_PAUSE_MAX_MS]
  await db.write((tx) => tx.run('UPDATE domains SET next_check_at = ? WHERE next_check_at > ?', values))
}
