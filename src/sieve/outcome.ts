// Input and outcome of a script run for one message.

import type { HeaderEdits } from './header-edits.ts'
import type { ScriptNotification, ScriptVacation } from './script.ts'
import { levelAnswer } from './spam-level.ts'

/** The script of one recipient. */
export interface ScriptCall {
  content: string
  /** Recipient address of the envelope. */
  rcptTo: string
  /** Texts of the scripts that it includes, by name. */
  includes?: Readonly<Record<string, string>>
  /** Existing folders among those the script tests for. */
  folders: string[]
}

/** Where a copy is filed: into the default folder, or into the folder with that id, or else with that path. */
export type FilingTarget = { kind: 'default' } | { kind: 'folder'; path: string; id?: string; create: boolean }

/** Redirects of one run: also what ManageSieve announces (RFC 5804 §1.7). */
export const REDIRECTS_MAX = 5

/** Addresses that one message notifies (RFC 5435 §8). */
export const NOTIFICATIONS_MAX = 5

/** The outcome of a script for a message. */
export interface SieveOutcome {
  /** Empty: no copy is stored. */
  targets: FilingTarget[]
  keywords: string[]
  /** Addresses the message is redirected to (RFC 5228 §4.2), each once; at most REDIRECTS_MAX. Absent without any. */
  redirects?: string[]
  /** Why the message is refused, one line (RFC 5429). Where it cannot be refused any more it is kept: `targets` is the default folder. */
  reject?: string
  /** The automatic reply it asks for. Absent without one. */
  vacation?: ScriptVacation
  /** Notifications of the message (RFC 5435), one for each address; at most NOTIFICATIONS_MAX. Absent without any. */
  notifications?: ScriptNotification[]
  /** Why the script was aborted, one sentence; the message then goes to the default folder. */
  error: string | null
  /** What the script changes in the header. Absent when nothing. */
  edits?: HeaderEdits
  /** Index of the changed message in `Inspection.edited`, once the changes are made. */
  edited?: number
  /** Ids of the message that are remembered with this outcome (RFC 7352). Absent without any. */
  ids?: TrackedId[]
  /**
   * The script asks whether an id was seen before, or for the level of spam, which is known when the message is stored: one of these outcomes holds then. The
   * members of the outcome itself are those of an id that was not.
   */
  question?: { id: string; seen: SieveOutcome; unseen: SieveOutcome }
}

/** An id of a message that a script has seen. */
export interface TrackedId {
  /** Digest of what the script calls it, in hexadecimal. */
  id: string
  /** How long it is remembered. */
  seconds: number
}

/** Different ids that one run of a script asks for: each doubles the outcomes. */
export const QUESTIONS_MAX = 3

/** Why a script refuses the message, as far as that is known before it is stored: ids count as new. @param level of spam */
export function rejectionOf(outcome: SieveOutcome | null, level: number): string | null {
  return outcome && (decidedOutcome(outcome, (id) => levelAnswer(id, level) ?? false).reject ?? null)
}

/** The outcome that holds. @param wasSeen whether an id was seen before */
export function decidedOutcome(outcome: SieveOutcome, wasSeen: (id: string) => boolean): SieveOutcome {
  let decided = outcome
  while (decided.question !== undefined) {
    const { id, seen, unseen } = decided.question
    decided = wasSeen(id) ? seen : unseen
  }
  return decided
}

/** The outcome of a script that was aborted (RFC 5228 §2.10.6: implicit keep). @param error one sentence */
export function failedOutcome(error: string): SieveOutcome {
  return { targets: [{ kind: 'default' }], keywords: [], error }
}
