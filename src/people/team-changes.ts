// Reports what kind of things changed in teams, to browsers that show them. One poll serves all: the audit log and the outbox are read.

import type { Clock, Timer } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Log } from '../base/log.ts'
import type { TeamEvent } from '../events/events.ts'
import type { AuditLog } from './audit.ts'

/** Kinds of things of a team. */
export const TEAM_CHANGES = [
  'domains',
  'mailboxes',
  'providers',
  'delivery',
  'inbound',
  'suppressions',
  'webhooks',
  'members',
  'agents',
  'keys',
  'billing',
  'audit',
] as const
export type TeamChange = (typeof TEAM_CHANGES)[number]

/** Changes are reported at most this often, ms. */
export const TEAM_POLL_MS = 1000
/** Rows of one poll: after more everything may have changed. */
const ROWS_MAX = 500

/** By the name of the operation; the first that matches. */
const BY_ACTION: readonly (readonly [RegExp, TeamChange])[] = [
  [/Provider|DeliveryGroup|RoutingRule|Limit/, 'providers'],
  [/Webhook/, 'webhooks'],
  [/Suppression/, 'suppressions'],
  [/Member|Team$/, 'members'],
  [/Agent|Approval|Invite/, 'agents'],
  [/ApiKey|ConsoleKey|TeamKey/, 'keys'],
  [/Mailbox|Alias|Forward|AppPassword|Remote|RemovedMessages/, 'mailboxes'],
  [/Domain|Dkim|MtaSts/, 'domains'],
  [/Credit|Billing/, 'billing'],
  [/Email|Queue|Delivery/, 'delivery'],
]

interface Deps {
  clock: Clock
  log: Log
  audit: Pick<AuditLog, 'newest' | 'actionsAfter'>
  events: { newestNumber(): number; typesAfter(n: number, teamIds: readonly string[], limit: number): TeamEvent[] }
}

/** Receives what changed in a team; `closing` is the last call. */
export interface TeamSubscriber {
  teamChanged(teamId: string, changed: readonly TeamChange[]): void
  closing(): void
}

export class TeamChanges implements Service {
  readonly name = 'team-changes'
  readonly #deps: Deps
  readonly #subscribers = new Map<string, Set<TeamSubscriber>>()
  #audited = 0
  #dispatched = 0
  #timer: Timer | undefined
  #isStopped = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    for (const subscriber of new Set([...this.#subscribers.values()].flatMap((all) => [...all]))) subscriber.closing()
    this.#subscribers.clear()
  }

  /** @returns unsubscribes @throws ProductError service_unavailable while the appliance is shutting down */
  subscribe(teamId: string, subscriber: TeamSubscriber): () => void {
    if (this.#isStopped)
      throw new ProductError('service_unavailable', 'The appliance is shutting down. Try again later.')
    if (this.#subscribers.size === 0) this.#begin()
    const all = this.#subscribers.get(teamId) ?? new Set()
    this.#subscribers.set(teamId, all.add(subscriber))
    return () => {
      all.delete(subscriber)
      if (all.size === 0 && this.#subscribers.get(teamId) === all) this.#subscribers.delete(teamId)
      if (this.#subscribers.size === 0) this.#timer?.cancel()
    }
  }

  #begin(): void {
    const { audit, events, clock } = this.#deps
    this.#audited = audit.newest()
    this.#dispatched = events.newestNumber()
    this.#timer?.cancel()
    this.#timer = clock.every(TEAM_POLL_MS, () => this.#poll())
  }

  #poll(): void {
    try {
      for (const [teamId, changed] of this.#read()) {
        for (const subscriber of this.#subscribers.get(teamId) ?? []) subscriber.teamChanged(teamId, [...changed])
      }
    } catch (error) {
      this.#deps.log.error({ event: 'people.team_changes_failed', err: error }, 'Changes of teams not read')
    }
  }

  #read(): Map<string, Set<TeamChange>> {
    const { audit, events } = this.#deps
    const teams = [...this.#subscribers.keys()]
    const [audited, dispatched] = [audit.newest(), events.newestNumber()]
    // Numbers restart once retention has deleted all rows.
    const entries = audit.actionsAfter(Math.min(this.#audited, audited), teams, ROWS_MAX)
    const rows = events.typesAfter(Math.min(this.#dispatched, dispatched), teams, ROWS_MAX)
    this.#audited = audited
    this.#dispatched = dispatched
    const changed = new Map<string, Set<TeamChange>>()
    const add = (teamId: string, ...kinds: TeamChange[]) => {
      const known = changed.get(teamId) ?? new Set()
      for (const kind of kinds) known.add(kind)
      changed.set(teamId, known)
    }
    if (entries.length >= ROWS_MAX || rows.length >= ROWS_MAX) for (const team of teams) add(team, ...TEAM_CHANGES)
    for (const { teamId, action } of entries) add(teamId, 'audit', ...changesOf(action))
    for (const { teamId, type } of rows) {
      if (type.startsWith('message.')) add(teamId, type.startsWith('message.received') ? 'inbound' : 'delivery')
      else if (type.startsWith('remote_account.')) add(teamId, 'mailboxes')
    }
    return changed
  }
}

/** The kind of things that an operation changes; none for one that changes nothing of a team. */
export function changesOf(action: string): TeamChange[] {
  const found = BY_ACTION.find(([form]) => form.test(action))
  return found === undefined ? [] : [found[1]]
}
