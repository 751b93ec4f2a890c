// Which backups are kept: the newest one of each of the last days, weeks and months that have one. Without input or output.

import { DAY_MS } from '../../base/durations.ts'

/** How many days, weeks and months with a backup keep their newest one. */
export interface KeepRule {
  days: number
  weeks: number
  months: number
}

/** A Monday: 1970-01-05. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** @param text a value of BACKUP_KEEP @returns null where all are kept */
export function keepRuleOf(text: string): KeepRule | null {
  if (text === 'all') return null
  const count = (unit: string) => Number(new RegExp(`([0-9]+)${unit}`).exec(text)?.[1] ?? 0)
  return { days: count('d'), weeks: count('w'), months: count('m') }
}

/** The value of BACKUP_KEEP that says so. */
export function keepText(rule: KeepRule | null): string {
  if (rule === null) return 'all'
  const parts = [`${rule.days}d`, rule.weeks > 0 && `${rule.weeks}w`, rule.months > 0 && `${rule.months}m`]
  return parts.filter(Boolean).join(' ')
}

/**
 * The backups that no part of the rule keeps. Days without a backup do not count, so that neither a pause nor a clock that jumped
 * deletes what is left.
 * @param backups with the time of each, ms
 */
export function outdated<T extends { startedAt: number }>(backups: readonly T[], rule: KeepRule): T[] {
  const newestFirst = [...backups].sort((a, b) => b.startedAt - a.startedAt)
  const kept = new Set<T>(newestFirst.slice(0, 1))
  const periods = [
    { most: rule.days, of: (time: number) => String(Math.floor(time / DAY_MS)) },
    { most: rule.weeks, of: (time: number) => String(Math.floor((time - FIRST_MONDAY_MS) / (7 * DAY_MS))) },
    { most: rule.months, of: (time: number) => new Date(time).toISOString().slice(0, 7) },
  ]
  for (const { most, of } of periods) {
    const seen = new Set<string>()
    for (const backup of newestFirst) {
      const period = of(backup.startedAt)
      if (seen.has(period) || seen.size === most) continue
      seen.add(period)
      kept.add(backup)
    }
  }
  return newestFirst.filter((backup) => !kept.has(backup))
}
