// Deleted mailboxes: restored while they are kept, and erased after that or when an owner asks for it (docs/design/directory.md §6.3).

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { conflict, notFound, ProductError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import type { Db, Tx } from '../../db/db.ts'
import { restoreAliases } from './aliases.ts'
import type { SendScope } from './mailbox-input.ts'
import { type Mailbox, updateMailbox } from './mailbox-record.ts'
import type { MailboxCheck, Mailboxes } from './mailboxes.ts'

/** Why the mailbox of an ended outside account is suspended. */
export const ACCOUNT_ENDED = 'Its outside account was removed.'

interface Deps {
  db: Db
  clock: Clock
  config: Pick<Config, 'DELETED_MAILBOX_RETENTION_DAYS'>
  mailboxes: Pick<Mailboxes, 'getIn' | 'takeAddress' | 'refuseTakenOutside'>
}

export interface Restoration {
  /** Another address; the previous one unless given. */
  email?: string
  /** The part of a send scope whose accounts still exist. */
  scopeOf: (scope: SendScope) => SendScope
  check?: MailboxCheck
}

export interface MailboxRestoration {
  mailbox: Mailbox
  before: Mailbox
  /** Aliases that another mailbox has now, or whose domain is gone. */
  lostAliases: string[]
}

export class DeletedMailboxes {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Until when a mailbox can be restored, ms; null for one that is not deleted. */
  restorableUntil({ deletedAt }: Mailbox): number | null {
    return deletedAt === null ? null : deletedAt + this.#deps.config.DELETED_MAILBOX_RETENTION_DAYS * DAY_MS
  }

  /**
   * Restores the record of a deleted mailbox with its settings and its aliases; a suspended one stays suspended, and so is that of an outside
   * account, which is read only. Its credentials stay revoked.
   * @throws ProductError not_found (also once it is due to be erased), conflict (not deleted, the address is in use), validation_error
   */
  restoreIn(tx: Tx, teamId: string, id: string, { email, scopeOf, check }: Restoration): MailboxRestoration {
    const before = this.#require(tx, teamId, id, check)
    const address = this.#addressOf(tx, before, email)
    const now = this.#deps.clock.now()
    const isOutside = before.domainId === null
    const mailbox: Mailbox = {
      ...before,
      ...address,
      sendScope: scopeOf(before.sendScope),
      status: isOutside || before.suspendedAt !== null ? 'suspended' : 'active',
      ...(isOutside ? { statusReason: ACCOUNT_ENDED, suspendedAt: before.suspendedAt ?? now } : {}),
      deletedAt: null,
      updatedAt: now,
    }
    updateMailbox(tx, mailbox)
    const lostAliases = restoreAliases(tx, id, (alias) => this.#isFree(tx, teamId, alias))
    return { mailbox, before, lostAliases }
  }

  /**
   * Ends the retention of a deleted mailbox: it is not found from then on, and its content is erased.
   * @throws ProductError not_found, conflict (not deleted)
   */
  eraseIn(tx: Tx, teamId: string, id: string, check?: MailboxCheck): Mailbox {
    const mailbox = this.#require(tx, teamId, id, check)
    this.#begin(tx, [id])
    return mailbox
  }

  /**
   * Begins to erase mailboxes whose retention has ended: a unit of work that restores one finds all of its content, or none of it.
   * @returns how many
   */
  beginDue(limit: number): Promise<number> {
    const { db, clock, config } = this.#deps
    const before = clock.now() - config.DELETED_MAILBOX_RETENTION_DAYS * DAY_MS
    const sql = 'SELECT id FROM mailboxes WHERE deleted_at <= ? AND purged_at IS NULL ORDER BY deleted_at, n LIMIT ?'
    // No write transaction when nothing is due.
    if (db.read.get(sql, [before, 1]) === undefined) return Promise.resolve(0)
    return db.write((tx) => {
      const ids = tx.all<{ id: string }>(sql, [before, limit]).map(({ id }) => id)
      this.#begin(tx, ids)
      return ids.length
    })
  }

  /** Mailboxes whose content is to be erased. */
  erasing(limit: number): string[] {
    const sql = 'SELECT mailbox_id AS id FROM mailbox_erasures ORDER BY mailbox_id LIMIT ?'
    return this.#deps.db.read.all<{ id: string }>(sql, [limit]).map(({ id }) => id)
  }

  #begin(tx: Tx, ids: readonly string[]): void {
    const now = this.#deps.clock.now()
    for (const id of ids) {
      tx.run('INSERT INTO mailbox_erasures (mailbox_id) VALUES (?)', [id])
      tx.run('UPDATE mailboxes SET purged_at = ? WHERE id = ?', [now, id])
    }
  }

  #require(tx: Tx, teamId: string, id: string, check?: MailboxCheck): Mailbox {
    const mailbox = this.#deps.mailboxes.getIn(tx, teamId, id)
    if (mailbox === undefined) throw notFound('mailbox')
    check?.(mailbox, tx)
    const until = this.restorableUntil(mailbox)
    if (until === null) throw conflict('The mailbox is not deleted.')
    if (until <= this.#deps.clock.now()) throw notFound('mailbox')
    return mailbox
  }

  #addressOf(tx: Tx, { teamId, domainId, email }: Mailbox, other = email): Pick<Mailbox, 'email' | 'domainId'> {
    const { mailboxes } = this.#deps
    if (domainId !== null) return mailboxes.takeAddress(tx, teamId, other)
    if (other !== email)
      throw conflict('The mailbox is an outside account: it keeps the address of that account.', 'email')
    mailboxes.refuseTakenOutside(tx, teamId, email)
    return { email, domainId }
  }

  #isFree(tx: Tx, teamId: string, email: string): boolean {
    try {
      this.#deps.mailboxes.takeAddress(tx, teamId, email)
      return true
    } catch (error) {
      if (error instanceof ProductError) return false
      throw error
    }
  }
}
