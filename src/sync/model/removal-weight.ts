// How large a removal at a server is, as far as it decides whether it is followed: a pure function of counts of the account and the day.

import { DAY_MS } from '../../base/durations.ts'
import type { FolderRole } from '../../store/rows/records.ts'

/** Removals within this time count as one, ms. */
export const REMOVAL_WINDOW_MS = DAY_MS
/** Messages that are gone in a day: as many wait for a confirmation, whatever share of the account they are. */
export const MASS_MESSAGES = 1_000
/** ... also more than this, when they are more than half of the account. */
const HALF_MESSAGES = 250
/** ... and more than this, when nothing is left: a person seldom empties an account. */
const EMPTIED_MESSAGES = 10
/** More than this, and more than half of the account or of a folder, are followed only when they are still gone some minutes later. */
export const LARGE_MESSAGES = 100
/** A folder that has other numbers now may lose so many at the same time without a doubt. */
const RENUMBERED_MESSAGES = 10

/** `large`: followed when it is still so some minutes later; `mass`: waits for a confirmation, or a day. */
export type RemovalWeight = 'small' | 'large' | 'mass'

/** Counts of an account, without Trash and Junk. */
export interface RemovalCounts {
  /** Messages that are gone and still here. */
  gone: number
  /** Messages taken out here in the last day. */
  taken: number
  /** Messages that are still at the server. */
  present: number
}

export function weightOf({ gone, taken, present }: RemovalCounts): RemovalWeight {
  const day = gone + taken
  if (gone === 0) return 'small'
  if (day >= MASS_MESSAGES) return 'mass'
  if (present === 0 && day > EMPTIED_MESSAGES) return 'mass'
  const isHalf = day > present
  if (isHalf && day > HALF_MESSAGES) return 'mass'
  return isHalf && day > LARGE_MESSAGES ? 'large' : 'small'
}

/** Whether so few are gone that they need not be compared with the size of the account. */
export function isFew({ gone, taken }: Pick<RemovalCounts, 'gone' | 'taken'>): boolean {
  return gone + taken <= EMPTIED_MESSAGES
}

/**
 * Why what is gone from a folder may not have been removed: `restored`: the server went back to an earlier state of it, and lost what came
 * later; `renumbered`: its UIDs mean other messages now, as after a move to another server.
 */
export type FolderDoubt = 'restored' | 'renumbered'

/** Whether what is gone from a folder may have been lost by the server, rather than removed. */
export function isLost(doubt: FolderDoubt | null, gone: number): boolean {
  return doubt !== null && gone > (doubt === 'restored' ? 0 : RENUMBERED_MESSAGES)
}

/** Whether removals from a folder count: what is in Trash and Junk is there to be removed. */
export function isCounted({ role }: { role: FolderRole | null }): boolean {
  return role !== 'trash' && role !== 'junk'
}
