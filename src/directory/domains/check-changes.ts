// What changed between two DNS checks of a domain: since when a record is as it is, and the last changes.

import type { DomainCheck } from './domain-checks.ts'

/** A check as it is stored. */
export interface DatedCheck extends DomainCheck {
  /** Since when DNS has these values, ms; null before an answer, and when an earlier version of the appliance checked them. */
  since: number | null
  /** The values before, while no name server answers. */
  last?: Pick<DomainCheck, 'found' | 'ok'>
}

/** A record that a check found otherwise than the one before. */
export interface CheckChange {
  record: DomainCheck['record']
  name: string
  what: 'appeared' | 'vanished' | 'changed'
  ok: boolean
  at: number
}

/** Changes that are kept of a domain. */
export const CHANGES_MAX = 20

/**
 * The findings of a check beside those of the check before.
 * @param earlier changes that are known, newest first
 * @param now ms
 */
export function dateChecks(
  before: readonly DatedCheck[],
  earlier: readonly CheckChange[],
  found: readonly DomainCheck[],
  now: number,
): { checks: DatedCheck[]; changes: CheckChange[] } {
  const changes = new Map<string, CheckChange>()
  const checks = found.map((check): DatedCheck => {
    const old = before.find(({ record, name, expected }) => {
      return record === check.record && name === check.name && expected === check.expected
    })
    // What no name server has answered yet cannot have changed.
    if (old === undefined || (!old.definite && old.last === undefined))
      return { ...check, since: check.definite ? now : null }
    const last = old.last ?? { found: old.found, ok: old.ok }
    if (!check.definite) return { ...check, since: old.since, last }
    if (isSame(last, check)) return { ...check, since: old.since }
    const { record, name, ok } = check
    const what = check.found.length === 0 ? 'vanished' : last.found.length === 0 ? 'appeared' : 'changed'
    changes.set(`${record} ${name}`, { record, name, what, ok, at: now })
    return { ...check, since: now }
  })
  return { checks, changes: [...changes.values(), ...earlier].slice(0, CHANGES_MAX) }
}

function isSame(one: Pick<DomainCheck, 'found' | 'ok'>, other: Pick<DomainCheck, 'found' | 'ok'>): boolean {
  const text = ({ found }: { found: readonly string[] }) => JSON.stringify([...found].sort())
  return one.ok === other.ok && text(one) === text(other)
}
