// Whether a mail whose time has come may still leave: much can happen to its sender between the wish and the try.

import type { Email } from '../records.ts'
import type { RunnerParts, Standing } from './deps.ts'
import { endOf, isExpired } from './schedule.ts'

export type Admission =
  /**
   * @property isProven true when the From domain is verified by the sending team
   * @property domain what was found of it, for whoever asks at once
   */
  | { kind: 'go'; isProven: boolean; domain: Standing }
  /** It stays where it is, no try is counted; what it waits for may come at any time. */
  | { kind: 'hold'; why: string }
  | { kind: 'expired' }
  | { kind: 'cancelled' }

/** Reads by key only. */
export async function admit(parts: RunnerParts, email: Email): Promise<Admission> {
  const { directory, db, clock } = parts
  // Also of what is held: nobody waits for ever.
  if (isExpired(clock.now(), endOf(parts, email))) return { kind: 'expired' }
  if (email.mailboxId !== null) {
    const mailbox = await directory.mailboxes.byId(email.mailboxId)
    // Decisions §5.4.
    if (mailbox === undefined || mailbox.status === 'deleted') return { kind: 'cancelled' }
    if (mailbox.status === 'suspended') return { kind: 'hold', why: 'The mailbox is suspended.' }
  }
  const team = await directory.teams.get(email.teamId)
  if (team?.status !== 'active') return { kind: 'hold', why: 'The team is suspended.' }
  // Reports of our own are for mailboxes here, from a name that is no team's.
  if (email.source === 'system') return { kind: 'go', isProven: true, domain: null }
  const found = await directory.domains.standingFor(db.read, email, email.from.email)
  return { kind: 'go', isProven: found?.verificationStatus === 'verified', domain: { found } }
}
