// Mailboxes as a whole: the record in the directory together with its mail account, its sending accounts and the sign-ins through it.

import type { Agents } from '../agents/agents.ts'
import { conflict } from '../base/errors.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { IssuedKey } from '../directory/key-record.ts'
import { checkSendScope, type MailboxChange, type SendScope } from '../directory/mailbox-input.ts'
import type { Mailbox, MailboxInput } from '../directory/mailboxes.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { People } from '../people/people.ts'
import type { Store } from '../store/store.ts'
import type { Sync } from '../sync/sync.ts'

export interface MailboxDeps {
  db: Db
  directory: Pick<Directory, 'mailboxes' | 'aliases' | 'keys'>
  store: Pick<Store, 'openAccount'> & { quotas: Pick<Store['quotas'], 'recordStorageLimitChange'> }
  sync: { accounts: Pick<Sync['accounts'], 'ofMailbox' | 'mirrorOf' | 'deleteIn' | 'ended'> }
  outbound: Pick<Outbound, 'foreignIn'> & { providers: Pick<Outbound['providers'], 'removeOwnedIn'> } & {
    queuedMessages: Pick<Outbound['queuedMessages'], 'cancelOf'>
  }
  agents: Pick<Agents, 'endSignInsThrough'>
  people: Pick<People, 'welcomeMailbox' | 'forgetMailbox'>
}

/** Receives the current record inside the unit of work; throws to refuse. */
type Check = (current: Mailbox, tx: Tx) => void

export class MailboxAdministration {
  readonly #deps: MailboxDeps

  constructor(deps: MailboxDeps) {
    this.#deps = deps
  }

  /** @throws ProductError validation_error (also for a domain that is not the team's or not verified), conflict */
  create(teamId: string, input: MailboxInput): Promise<Mailbox> {
    return this.#deps.db.write((tx) => this.#createIn(tx, teamId, input))
  }

  /** Creates a mailbox and its first API key in one unit of work. @throws ProductError as `create` */
  createWithKey(teamId: string, input: MailboxInput, createdBy: string): Promise<{ mailbox: Mailbox; key: IssuedKey }> {
    return this.#deps.db.write((tx) => {
      const mailbox = this.#createIn(tx, teamId, input)
      const name = mailbox.email.slice(0, mailbox.email.lastIndexOf('@'))
      const key = this.#deps.directory.keys.issueIn(tx, {
        teamId,
        kind: 'mailbox',
        mailboxId: mailbox.id,
        name,
        createdBy,
      })
      return { mailbox, key }
    })
  }

  /**
   * @param usedBytes the current usage; a quota below it is refused
   * @param check receives the current record inside the unit of work; throws to refuse
   * @throws ProductError not_found, conflict (deleted), validation_error
   */
  update(teamId: string, id: string, change: MailboxChange, usedBytes: number, check?: Check): Promise<Mailbox> {
    const { db, directory, store } = this.#deps
    return db.write((tx) => {
      let quotaBefore: number | undefined
      const mailbox = directory.mailboxes.updateIn(tx, teamId, id, change, usedBytes, (current) => {
        quotaBefore = current.quotaBytes
        check?.(current, tx)
        if (change.sendScope !== undefined) this.#refuseScope(tx, current)
      })
      if (change.sendScope !== undefined) this.#checkScope(tx, teamId, change.sendScope)
      if (mailbox.quotaBytes !== quotaBefore) store.quotas.recordStorageLimitChange(tx, id)
      return mailbox
    })
  }

  /**
   * Deletes a mailbox for good: revokes its keys, frees its address and aliases immediately, ends the sign-ins through it and cancels
   * its queued messages. The person who signs in with its address is forgotten. Idempotent.
   * @throws ProductError not_found, conflict while that person is the last owner of a team
   */
  async delete(teamId: string, id: string, check?: Check): Promise<Mailbox> {
    const mailbox = await this.#deps.db.writeFreeing((tx) => this.deleteIn(tx, teamId, id, check))
    await this.cancelQueued(id)
    return mailbox
  }

  /** As `delete`, inside a unit of work of the caller, who calls `cancelQueued` after it. */
  deleteIn(tx: Tx, teamId: string, id: string, check?: Check): Mailbox {
    const { directory, agents, people } = this.#deps
    const before = directory.mailboxes.getIn(tx, teamId, id)?.status
    const deleted = directory.mailboxes.deleteIn(tx, teamId, id, check)
    this.#endOutsideAccounts(tx, deleted)
    agents.endSignInsThrough(tx, id)
    // The address of one that was deleted earlier may belong to another person now.
    if (before !== 'deleted') people.forgetMailbox(tx, deleted)
    return deleted
  }

  /** Cancels the queued messages of a mailbox. */
  async cancelQueued(id: string): Promise<void> {
    await this.#deps.outbound.queuedMessages.cancelOf(id)
  }

  /** Removes an alias; mail to it is rejected from then on. @throws ProductError not_found */
  async removeAlias(teamId: string, mailboxId: string, id: string): Promise<void> {
    const { db, directory, agents } = this.#deps
    await db.write((tx) => {
      directory.aliases.removeIn(tx, teamId, mailboxId, id)
      // A sign-in link may have been mailed to this address, which another mailbox can get now.
      agents.endSignInsThrough(tx, mailboxId)
    })
  }

  #createIn(tx: Tx, teamId: string, input: MailboxInput): Mailbox {
    const { directory, store, people } = this.#deps
    const mailbox = directory.mailboxes.createIn(tx, teamId, input)
    this.#checkScope(tx, teamId, mailbox.sendScope)
    store.openAccount(tx, mailbox.id, mailbox.email)
    people.welcomeMailbox(tx, mailbox)
    return mailbox
  }

  /** Ends the outside account that the mailbox is, and those it collects from, with their sending accounts. */
  #endOutsideAccounts(tx: Tx, { id, teamId }: Mailbox): void {
    const { sync, outbound } = this.#deps
    sync.accounts.ended.forgetOf(tx, id)
    for (const account of sync.accounts.ofMailbox(id, tx)) {
      sync.accounts.deleteIn(tx, teamId, account.id, 'forgotten')
      if (account.providerId !== null) outbound.providers.removeOwnedIn(tx, teamId, account.providerId)
    }
  }

  /** The mailbox of an outside account sends through that account. @throws ProductError conflict */
  #refuseScope(tx: Tx, { id, domainId }: Mailbox): void {
    if (domainId !== null || this.#deps.sync.accounts.mirrorOf(id, tx)?.providerId == null) return
    throw conflict('The mailbox sends through its outside account. Change the SMTP settings there.', 'send_scope')
  }

  #checkScope(tx: Tx, teamId: string, scope: SendScope): void {
    checkSendScope(scope, this.#deps.outbound.foreignIn(tx, teamId, scope))
  }
}
