// The events of outside accounts (docs/design/outside-accounts.md §6), written in the unit of work of the change they report.

import type { Clock } from '../../base/clock.ts'
import { HOUR_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import type { EventType } from '../../events/event-types.ts'
import type { Outbox } from '../../events/outbox.ts'
import type { HeldRemoval, RemoteAccount, RemoteErrorKind, RemovalSide } from './records.ts'

interface Deps {
  clock: Clock
  outbox: Outbox
}

/** How much of an imported account is not here. */
export interface MissingParts {
  /** Messages that are skipped. */
  messages: number
  /** Folders that are ignored because their server refuses them, or for want of room. */
  folders: number
}

type Subject = Pick<RemoteAccount, 'id' | 'teamId' | 'mailboxId'>

/** A shorter interruption is not reported, ms. */
const REPORTED_MS = HOUR_MS

/** What is held back, in a sentence for people. */
export function heldSentence(side: RemovalSide, { messages }: HeldRemoval): string {
  return side === 'here'
    ? `${messages} messages are gone at the server. They are kept here for 24 hours: confirm the removal, or put them back.`
    : `${messages} messages were deleted here. They are kept at the server until you confirm the removal, or put them back.`
}

export class Announcements {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The import is done. @param startedAt when it began, ms @param missing what of the account is not here */
  imported(
    tx: Tx,
    account: Subject,
    { messages, startedAt, missing }: { messages: number; startedAt: number; missing: MissingParts },
  ): void {
    const facts = { messages, messages_skipped: missing.messages, folders_ignored: missing.folders }
    const duration = { duration_s: this.#secondsSince(startedAt) }
    this.#record(tx, account, 'remote_account.imported', { ...facts, ...duration })
  }

  /** The account needs a person, or a removal is held back. @param detail one sentence, without secrets */
  failed(tx: Tx, account: Subject, reason: RemoteErrorKind, detail: string): void {
    this.#record(tx, account, 'remote_account.failed', { reason, detail })
  }

  /** The account works again; written only after a long interruption. @param downSince when it began, ms */
  recovered(tx: Tx, account: Subject, downSince: number): void {
    if (this.#deps.clock.now() - downSince <= REPORTED_MS) return
    this.#record(tx, account, 'remote_account.recovered', { down_s: this.#secondsSince(downSince) })
  }

  #record(tx: Tx, { id, teamId, mailboxId }: Subject, type: EventType, facts: Record<string, unknown>): void {
    const data = { remote_account_id: id, mailbox_id: mailboxId, ...facts }
    this.#deps.outbox.record(tx, { teamId, type, mailboxId, domainId: null, at: this.#deps.clock.now(), data })
  }

  #secondsSince(time: number): number {
    return Math.max(0, Math.round((this.#deps.clock.now() - time) / 1000))
  }
}
