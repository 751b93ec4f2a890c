// What changed between two checks of a domain while a page watched, kept while the tab lives.

import type { DomainCheck } from '../api/types.ts'

export interface SeenChange {
  record: DomainCheck['record']
  what: 'appeared' | 'vanished' | 'changed'
  isGood: boolean
  /** ISO 8601. */
  at: string
}

const MOST_KEPT = 20
const keyOf = (domainId: string) => `mailstead.changes.${domainId}`

export function seenChanges(domainId: string): SeenChange[] {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(domainId)) ?? '[]') as SeenChange[]
  } catch {
    return []
  }
}

/** The records whose answers differ from those of the check before. */
export function changesBetween(before: readonly DomainCheck[], now: readonly DomainCheck[], at: string): SeenChange[] {
  return now.flatMap((check) => {
    const old = before.find(({ record, name, expected }) => {
      return record === check.record && name === check.name && expected === check.expected
    })
    const text = (one: DomainCheck) => [...one.found].sort().join('\n')
    if (old === undefined || (text(old) === text(check) && old.ok === check.ok)) return []
    const what = check.found.length === 0 ? 'vanished' : old.found.length === 0 ? 'appeared' : 'changed'
    return [{ record: check.record, what, isGood: check.ok, at }]
  })
}

export function keepChanges(domainId: string, changes: readonly SeenChange[]): void {
  if (changes.length === 0) return
  try {
    const all = [...changes, ...seenChanges(domainId)].slice(0, MOST_KEPT)
    sessionStorage.setItem(keyOf(domainId), JSON.stringify(all))
  } catch {
    // Storage is off: only what the server knows is shown.
  }
}
