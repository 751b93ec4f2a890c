// Whether a due message may still be sent: its sender can be suspended or deleted after the submission.

import type { Email } from '../model/records.ts'
import type { KnownDomainStatus } from '../routing/decision.ts'
import type { BatchReads } from './batch-reads.ts'
import type { RunnerDeps } from './deps.ts'
import { expiryOf, isExpired } from './schedule.ts'

export type Admission =
  /**
   * @property isProven true when the From domain is verified by the sending team
   * @property domain its status as just read, so that the router does not read it again
   */
  | { kind: 'go'; isProven: boolean; domain: KnownDomainStatus }
  /** It stays queued and no attempt is counted; the sender can be reactivated at any time. */
  | { kind: 'hold'; why: string }
  | { kind: 'expired' }
  | { kind: 'cancelled' }

/** Reads by key only. */
export function admit(deps: RunnerDeps, reads: BatchReads, email: Email): Admission {
  const { directory, clock } = deps
  // Applies to held messages, too: none stays queued forever.
  if (clock.now() > email.expiresAt && isExpired(clock.now(), expiryOf(deps, email))) return { kind: 'expired' }
  if (email.mailboxId !== null) {
    const mailbox = directory.mailboxes.byId(email.mailboxId)
    // docs/design/directory.md §6.3.
    if (mailbox === undefined || mailbox.status === 'deleted') return { kind: 'cancelled' }
    if (mailbox.status === 'suspended') return { kind: 'hold', why: 'The mailbox is suspended.' }
  }
  if (!reads.isActive(email.teamId)) return { kind: 'hold', why: 'The team is suspended.' }
  // Messages of the appliance itself are from its own host names, which belong to no team.
  if (email.source === 'system') return { kind: 'go', isProven: true, domain: null }
  const found = reads.statusOf(email)
  return { kind: 'go', isProven: found?.verificationStatus === 'verified', domain: { found } }
}
