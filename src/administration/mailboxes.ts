// Mailboxes as a whole: the record in the directory together with its mail account, its sending accounts and the sign-ins through it.

import type { Agents } from '../agents/agents.ts'
import { conflict, notFound } from '../base/errors.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { IssuedKey } from '../directory/keys/key-record.ts'
import type { Alias } from '../directory/mailboxes/aliases.ts'
import type { ThrowAwayAddress, ThrowAwayChange } from '../directory/mailboxes/aliases-throw-away.ts'
import { checkSendScope, type MailboxChange, type SendScope } from '../directory/mailboxes/mailbox-input.ts'
import type { Mailbox, MailboxInput } from '../directory/mailboxes/mailboxes.ts'
import type { MailboxRestoration } from '../directory/mailboxes/mailboxes-deleted.ts'
import type { Outbound, SendingAccounts } from '../outbound/outbound.ts'
import type { People } from '../people/people.ts'
import type { Identities } from '../store/mailbox/identities.ts'
import type { Purge } from '../store/mailbox/purge.ts'
import type { Quotas } from '../store/mailbox/quotas.ts'
import type { Store } from '../store/store.ts'
import type { Sync } from '../sync/sync.ts'
import { removeForeignIdentities } from './addressing.ts'

export interface MailboxDeps {
  db: Db
  directory: Pick<Directory, 'mailboxes' | 'deletedMailboxes' | 'aliases' | 'throwAway' | 'keys'>
  store: {
    accounts: Pick<Store['accounts'], 'byMailbox'>
    edit: Pick<Store['edit'], 'openAccount'>
    sending: {
      quotas: Pick<Quotas, 'recordStorageLimitChange'>
      identities: Pick<Identities, 'readdressIn' | 'addAddressIn' | 'removeAddressesIn'>
    }
    upkeep: { purge: Pick<Purge, 'next'> }
  }
  sync: { accounts: Pick<Sync['accounts'], 'ofMailbox' | 'mirrorOf' | 'deleteIn' | 'ended'> }
  outbound: {
    accounts: Pick<SendingAccounts, 'foreignIn'> & { providers: Pick<SendingAccounts['providers'], 'removeOwnedIn'> }
    queue: { messages: Pick<Outbound['queue']['messages'], 'cancelOf' | 'drain'> }
    held: Pick<Outbound['held'], 'eraseOf'>
  }
  agents: Pick<Agents, 'endSignInsThrough'> & {
    registrations: Pick<Agents['registrations'], 'byId'>
    tokens: Pick<Agents['tokens'], 'revokeOf'>
  }
  people: Pick<People, 'welcomeMailbox' | 'forgetMailbox'>
}

/** Receives the current record inside the unit of work; throws to refuse. */
type Check = (current: Mailbox, tx: Tx) => void

/** Batches of content that are erased while a request waits for it. */
const ERASED_AT_ONCE = 100

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
      if (mailbox.quotaBytes !== quotaBefore) store.sending.quotas.recordStorageLimitChange(tx, id)
      return mailbox
    })
  }

  /**
   * Deletes a mailbox; it can be restored while it is kept. Revokes its keys, frees its address and aliases immediately, ends the sign-ins through it and cancels
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

  /**
   * Restores a deleted mailbox with its content, folders, ids and settings. Its credentials stay revoked, its forwards and outside accounts ended,
   * and people are given access again; the member who signs in with its address has it at once.
   * @param email another address, for one that is in use now
   * @throws ProductError not_found (also once its content is erased), conflict, validation_error
   */
  restore(teamId: string, id: string, email?: string, check?: Check): Promise<MailboxRestoration> {
    const { db, directory, store, people } = this.#deps
    return db.write((tx) => {
      const restored = directory.deletedMailboxes.restoreIn(tx, teamId, id, {
        email,
        scopeOf: (scope) => withoutForeign(scope, this.#deps.outbound.accounts.foreignIn(tx, teamId, scope)),
        check: (current) => {
          check?.(current, tx)
          if (current.status === 'deleted') this.#endAgentTokens(tx, current)
        },
      })
      const { mailbox, before } = restored
      const account = store.accounts.byMailbox(id, tx)
      if (account !== undefined && mailbox.email !== before.email) {
        store.sending.identities.readdressIn(tx, account, before.email, mailbox.email)
      }
      // Aliases that another mailbox has now are lost.
      if (restored.lostAliases.length > 0) removeForeignIdentities(this.#deps, tx, mailbox)
      people.welcomeMailbox(tx, mailbox)
      return restored
    })
  }

  /**
   * Erases a deleted mailbox before its time. It is not found from then on; content that is not erased when this returns is left to the job.
   * @throws ProductError not_found, conflict (not deleted)
   */
  async erase(teamId: string, id: string, check?: Check): Promise<Mailbox> {
    const { db, directory } = this.#deps
    const mailbox = await db.write((tx) => directory.deletedMailboxes.eraseIn(tx, teamId, id, check))
    let batches = 0
    await this.eraseContent(id, () => ++batches > ERASED_AT_ONCE)
    return mailbox
  }

  /** Erases the content of a mailbox whose erasure has begun, in batches. @returns false when stopped before the end */
  async eraseContent(id: string, isStopped: () => boolean): Promise<boolean> {
    const { db, outbound, store, directory } = this.#deps
    const steps = [() => outbound.queue.messages.drain(id), () => store.upkeep.purge.next(id)]
    for (const next of steps) while ((await next()) > 0) if (isStopped()) return false
    if (isStopped()) return false
    await db.write((tx) => outbound.held.eraseOf(tx, id))
    await directory.mailboxes.purge(id)
    return true
  }

  /** Cancels the queued messages of a mailbox. */
  async cancelQueued(id: string): Promise<void> {
    await this.#deps.outbound.queue.messages.cancelOf(id)
  }

  /** Adds an alias with its identity. @throws ProductError as `Aliases.addIn` */
  addAlias(teamId: string, mailboxId: string, written: string): Promise<Alias> {
    const { db, directory, store } = this.#deps
    return db.write((tx) => {
      const { alias, mailbox } = directory.aliases.addIn(tx, teamId, mailboxId, written)
      const account = store.accounts.byMailbox(mailboxId, tx)
      if (account !== undefined && !mailbox.isAgent) store.sending.identities.addAddressIn(tx, account, alias.email)
      return alias
    })
  }

  /** Removes an alias with its identities; mail to it is rejected from then on. @throws ProductError not_found */
  async removeAlias(teamId: string, mailboxId: string, id: string): Promise<void> {
    const { db, directory, agents } = this.#deps
    await db.write((tx) => {
      const { mailbox } = directory.aliases.removeIn(tx, teamId, mailboxId, id)
      removeForeignIdentities(this.#deps, tx, mailbox)
      // A sign-in link may have been mailed to this address, which another mailbox can get now.
      agents.endSignInsThrough(tx, mailboxId)
    })
  }

  /** Makes a throw-away address. @throws ProductError as `ThrowAwayAddresses.createIn` */
  addThrowAway(teamId: string, mailboxId: string, madeFor: string): Promise<ThrowAwayAddress> {
    const { db, directory } = this.#deps
    return db.write((tx) => directory.throwAway.createIn(tx, teamId, mailboxId, madeFor))
  }

  /** @throws ProductError not_found, validation_error */
  changeThrowAway(mailboxId: string, id: string, change: ThrowAwayChange): Promise<ThrowAwayAddress> {
    const { db, directory } = this.#deps
    return db.write((tx) => directory.throwAway.changeIn(tx, mailboxId, id, change))
  }

  /** Ends a throw-away address with its identities; mail to it is rejected from then on. @throws ProductError not_found */
  async endThrowAway(teamId: string, mailboxId: string, id: string): Promise<void> {
    const { db, directory, agents } = this.#deps
    await db.write((tx) => {
      const mailbox = directory.mailboxes.getIn(tx, teamId, mailboxId)
      if (mailbox === undefined) throw notFound('mailbox')
      directory.throwAway.endIn(tx, mailboxId, id)
      removeForeignIdentities(this.#deps, tx, mailbox)
      // A sign-in link may have been mailed to this address, as for aliases.
      agents.endSignInsThrough(tx, mailboxId)
    })
  }

  #createIn(tx: Tx, teamId: string, input: MailboxInput): Mailbox {
    const { directory, store, people } = this.#deps
    const mailbox = directory.mailboxes.createIn(tx, teamId, input)
    this.#checkScope(tx, teamId, mailbox.sendScope)
    store.edit.openAccount(tx, mailbox.id, mailbox.email)
    people.welcomeMailbox(tx, mailbox)
    return mailbox
  }

  /** The inbox of an ended registration stays deleted; the agent of another one gets new tokens. @throws ProductError conflict */
  #endAgentTokens(tx: Tx, { agentRegistrationId }: Mailbox): void {
    if (agentRegistrationId === null) return
    const { registrations, tokens } = this.#deps.agents
    const registration = registrations.byId(tx, agentRegistrationId)
    if (registration === undefined || registration.state === 'revoked' || registration.state === 'expired') {
      throw conflict('The registration of this agent has ended. Its inbox cannot be restored.')
    }
    tokens.revokeOf(tx, registration.n)
  }

  /** Ends the outside account that the mailbox is, and those it collects from, with their sending accounts. */
  #endOutsideAccounts(tx: Tx, { id, teamId }: Mailbox): void {
    const { sync, outbound } = this.#deps
    sync.accounts.ended.forgetOf(tx, id)
    for (const account of sync.accounts.ofMailbox(id, tx)) {
      sync.accounts.deleteIn(tx, teamId, account.id, 'forgotten')
      if (account.providerId !== null) outbound.accounts.providers.removeOwnedIn(tx, teamId, account.providerId)
    }
  }

  /** The mailbox of an outside account sends through that account. @throws ProductError conflict */
  #refuseScope(tx: Tx, { id, domainId }: Mailbox): void {
    if (domainId !== null || this.#deps.sync.accounts.mirrorOf(id, tx)?.providerId == null) return
    throw conflict('The mailbox sends through its outside account. Change the SMTP settings there.', 'send_scope')
  }

  #checkScope(tx: Tx, teamId: string, scope: SendScope): void {
    checkSendScope(scope, this.#deps.outbound.accounts.foreignIn(tx, teamId, scope))
  }
}

/** A send scope without accounts that were deleted since; all accounts when none is left. */
function withoutForeign(scope: SendScope, foreign: ReadonlySet<string>): SendScope {
  const isOwn = (id: string) => !foreign.has(id)
  if (scope.type === 'all') return scope
  if (scope.type === 'group') {
    const groupIds = scope.groupIds.filter(isOwn)
    return groupIds.length === 0 ? { type: 'all' } : { ...scope, groupIds }
  }
  const providerIds = scope.providerIds.filter(isOwn)
  return providerIds.length === 0 ? { type: 'all' } : { ...scope, providerIds }
}
