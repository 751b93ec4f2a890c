// Reads shared by the messages of one claim: most of them have the same team, sender domain and recipient domains.

import type { DomainStatus } from '../../directory/domains/domains.ts'
import { domainOf } from '../../mime/address.ts'
import type { Email } from '../model/records.ts'
import type { KnownDomainStatus } from '../routing/decision.ts'
import type { RunnerDeps } from './deps.ts'
import { expiryOf, isExpired } from './outcomes.ts'

/** For one turn of the event loop only: what is read may change after it. */
export class BatchReads {
  readonly #deps: Pick<RunnerDeps, 'db' | 'directory'>
  readonly #statuses = new Map<string, DomainStatus | undefined>()
  readonly #teams = new Map<string, boolean>()
  readonly #local: ReadonlySet<string>

  /** @param lanes the recipient domains of the messages */
  constructor(deps: Pick<RunnerDeps, 'db' | 'directory'>, lanes: readonly string[]) {
    this.#deps = deps
    this.#local = deps.directory.domains.receivingAmong(lanes)
  }

  /** The status of the From domain of a message; undefined when the team has no such domain. */
  statusOf(email: Email): DomainStatus | undefined {
    const { db, directory } = this.#deps
    const { teamId, mailboxId, from } = email
    // An agent's own domain depends on its mailbox.
    const key = JSON.stringify([teamId, mailboxId, domainOf(from.email)])
    return remember(this.#statuses, key, () => directory.domains.statusFor(db.read, email, from.email))
  }

  isActive(teamId: string): boolean {
    return remember(this.#teams, teamId, () => this.#deps.directory.teams.get(teamId)?.status === 'active')
  }

  /** True when the appliance receives for the domain. */
  isLocal(domain: string): boolean {
    return this.#local.has(domain)
  }
}

function remember<T>(known: Map<string, T>, key: string, read: () => T): T {
  if (!known.has(key)) known.set(key, read())
  return known.get(key)!
}

type Admission =
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
