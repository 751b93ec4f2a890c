// The last check of each domain, kept while the tab lives: the server checks a domain once in ten seconds at most.

import type { ClientDnsCheck, DomainCheck, DomainCheckChange } from '../api/types.ts'

/** Seconds between two checks of a domain, with a margin for clocks that differ. */
export const CHECK_SECONDS = 11

export interface LastCheck {
  checks: DomainCheck[]
  /** Of the records that mail programs ask for. */
  client: ClientDnsCheck[]
  /** What the last checks found changed, newest first. */
  changes: DomainCheckChange[]
  /** ISO 8601. */
  at: string
}

const keyOf = (domainId: string) => `mailstead.last-check.${domainId}`

export function lastCheck(domainId: string): LastCheck | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(domainId)) ?? 'null') as LastCheck | null
  } catch {
    return null
  }
}

export function keepCheck(domainId: string, check: LastCheck): void {
  try {
    sessionStorage.setItem(keyOf(domainId), JSON.stringify(check))
  } catch {
    // Storage is off: the next page checks again.
  }
}

/** Seconds until the server checks again. */
export function secondsLeft(check: LastCheck | null, now = Date.now()): number {
  return check === null ? 0 : Math.max(0, Math.ceil(CHECK_SECONDS - (now - Date.parse(check.at)) / 1000))
}
