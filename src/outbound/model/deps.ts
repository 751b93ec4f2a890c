// The dependencies shared by all modules of `outbound/`.

import type { Clock } from '../../base/clock.ts'
import type { ClockDoubt } from '../../base/clock-guard.ts'
import type { ProductError } from '../../base/errors.ts'
import type { LargeMemory } from '../../base/lent-memory.ts'
import type { Log } from '../../base/log.ts'
import type { Notifier } from '../../base/notifier.ts'
import type { Resolver } from '../../base/resolver.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Outbox } from '../../events/outbox.ts'
import type { Store } from '../../store/store.ts'

/** A limit on what a mailbox sends, in addition to the quotas of its sending accounts. */
export interface SendLimit {
  /** Reserves quota for the recipients in the unit of work that queues the message. @returns null when reserved, else the error */
  take(tx: Tx, mailboxId: string, recipients: number): ProductError | null
}

/** The persons who decide about messages of programs. */
export interface Approvers {
  /** Addresses, lower-case. */
  of(reader: Reader, mailbox: { id: string; teamId: string }): string[]
}

/** An access token for the SMTP server of an outside account, or why there is none. */
export type MailTokenAnswer = { kind: 'given'; token: string } | { kind: 'refused' | 'failed'; text: string }

/** Access tokens of outside accounts that sign in by consent. */
export interface MailTokens {
  /** @param remoteAccountId `racc_…` */
  of(remoteAccountId: string, signal: AbortSignal): Promise<MailTokenAnswer>
}

export interface OutboundDeps {
  db: Db
  /** Memory for large messages. */
  memory: LargeMemory
  clock: Clock
  /** While it doubts the clock, no queued delivery expires. */
  guard: ClockDoubt
  /** The expected time while the clock is in doubt: see `base/clock-guard.ts`. */
  trustedClock: Clock
  log: Log
  config: Config
  vault: Vault
  resolver: Resolver
  directory: Directory
  store: Store
  outbox: Outbox
  notifier: Notifier
}
