// Creating, changing, suspending and deleting mailboxes.

import type { Clock } from '../../base/clock.ts'
import type { WrongSpan } from '../../base/clock-guard.ts'
import { conflict, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Config } from '../../config/config.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Domains } from '../domains/domains.ts'
import type { Filters } from '../domains/filters.ts'
import type { IssuedKey, KeyInput } from '../keys/key-record.ts'
import type { Keys } from '../keys/keys.ts'
import type { SignIns } from '../keys/sign-ins.ts'
import { domainName } from '../names/domain-name.ts'
import { type Addressing, dropPatternsTo } from './addressing.ts'
import { aliasesOf, dropAliases, forgetAliases } from './aliases.ts'
import type { AppPasswords } from './app-passwords.ts'
import { dropForwards, purgeForwardRequests } from './forwards.ts'
import {
  checkAddress,
  checkDisplayName,
  checkQuota,
  checkReason,
  type MailboxChange,
  OUTSIDE_QUOTA_DEFAULT_BYTES,
  QUOTA_DEFAULT_BYTES,
  type SendScope,
} from './mailbox-input.ts'
import { insertMailbox, type Mailbox, updateMailbox } from './mailbox-record.ts'
import { MailboxReads, refuseTaken } from './mailboxes-reads.ts'
import { type RetiredAddresses, releaseRetired } from './retired-addresses.ts'
import type { SieveScripts } from './sieve-scripts.ts'

export type { Mailbox, MailboxStatus } from './mailbox-record.ts'

export interface MailboxInput {
  email: string
  displayName?: string
  quotaBytes?: number
  sendScope?: SendScope
}

interface MailboxDeps {
  db: Db
  clock: Clock
  config: Config
  domains: Domains
  addressing: Pick<Addressing, 'leadsTo'>
  retired: RetiredAddresses
  keys: Keys
  appPasswords: Pick<AppPasswords, 'revokeOf' | 'purgeOf'>
  signIns: Pick<SignIns, 'purgeOf'>
  filters: Filters
  sieveScripts: SieveScripts
}

/** Receives the current record inside the unit of work; throws to refuse. */
export type MailboxCheck = (current: Mailbox, tx: Tx) => void
type Check = MailboxCheck
type Change = (mailbox: Mailbox, now: number, tx: Tx) => Mailbox

/** The initial state of a mailbox. */
const INITIAL = {
  displayName: null,
  sendScope: { type: 'all' },
  status: 'active',
  statusReason: null,
  isAgent: false,
  agentRegistrationId: null,
  suspendedAt: null,
  deletedAt: null,
  scriptKey: null,
} as const

export class Mailboxes extends MailboxReads {
  readonly #deps: MailboxDeps

  constructor(deps: MailboxDeps) {
    super(deps)
    this.#deps = deps
  }

  /**
   * Issues a key in one unit of work with the check, so that no key outlives a deleted mailbox.
   * @throws ProductError not_found, conflict, validation_error
   */
  issueKey(
    teamId: string,
    id: string,
    input: Pick<KeyInput, 'name' | 'permissions' | 'expiresAt' | 'createdBy'>,
    check?: Check,
  ): Promise<IssuedKey> {
    return this.#deps.db.write((tx) => {
      const mailbox = this.getIn(tx, teamId, id)
      if (mailbox === undefined) throw notFound('mailbox')
      check?.(mailbox, tx)
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      return this.#deps.keys.issueIn(tx, { ...input, teamId, kind: 'mailbox', mailboxId: id })
    })
  }

  /**
   * Changes a mailbox. The caller checks the send scope and records a changed quota for clients, see `administration/mailboxes.ts`.
   * @param usedBytes the current usage; a quota below it is refused
   * @param check receives the current record; throws to refuse
   * @throws ProductError not_found, conflict (deleted), validation_error
   */
  updateIn(tx: Tx, teamId: string, id: string, change: MailboxChange, usedBytes: number, check?: Check): Mailbox {
    return this.#changeIn(tx, teamId, id, (mailbox) => {
      check?.(mailbox, tx)
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      const quotaBytes = change.quotaBytes === undefined ? mailbox.quotaBytes : checkQuota(change.quotaBytes)
      if (quotaBytes !== mailbox.quotaBytes && quotaBytes < usedBytes) {
        throw invalid('quota_bytes', 'below_usage', `The mailbox already uses ${usedBytes} bytes. Set a larger quota.`)
      }
      return {
        ...mailbox,
        quotaBytes,
        displayName: change.displayName === undefined ? mailbox.displayName : checkDisplayName(change.displayName),
        sendScope: change.sendScope ?? mailbox.sendScope,
      }
    })
  }

  /** Suspends a mailbox: mail to it is rejected and it cannot send; reading works. @throws ProductError not_found, conflict (deleted) */
  suspend(teamId: string, id: string, reason?: string, check?: Check): Promise<Mailbox> {
    return this.#deps.db.write((tx) => this.suspendIn(tx, teamId, id, reason, check))
  }

  /** As `suspend`, inside a unit of work of the caller. */
  suspendIn(tx: Tx, teamId: string, id: string, reason?: string, check?: Check): Mailbox {
    return this.#changeIn(tx, teamId, id, (mailbox, now) => {
      check?.(mailbox, tx)
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      return {
        ...mailbox,
        status: 'suspended',
        statusReason: checkReason(reason),
        suspendedAt: mailbox.suspendedAt ?? now,
      }
    })
  }

  /** @param check receives the record inside the unit of work; throws to refuse @throws ProductError not_found, conflict (deleted) */
  reactivate(teamId: string, id: string, check?: Check): Promise<Mailbox> {
    return this.#deps.db.write((tx) => this.reactivateIn(tx, teamId, id, check))
  }

  /** As `reactivate`, inside a unit of work of the caller. */
  reactivateIn(tx: Tx, teamId: string, id: string, check?: Check): Mailbox {
    return this.#changeIn(tx, teamId, id, (mailbox) => {
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      check?.(mailbox, tx)
      return { ...mailbox, status: 'active', statusReason: null, suspendedAt: null }
    })
  }

  /** Erases the settings of a deleted mailbox after its content; only its address is kept, for the logs. */
  async purge(id: string): Promise<void> {
    const { db, clock, keys, appPasswords, signIns, filters, sieveScripts } = this.#deps
    await db.write((tx) => {
      keys.purgeOf(tx, id)
      appPasswords.purgeOf(tx, id)
      signIns.purgeOf(tx, id)
      filters.drop(tx, id)
      sieveScripts.drop(tx, id)
      purgeForwardRequests(tx, id)
      forgetAliases(tx, id)
      tx.run('DELETE FROM mailbox_erasures WHERE mailbox_id = ?', [id])
      tx.run(
        `UPDATE mailboxes SET display_name = NULL, search_text = '', status_reason = NULL, script_key = NULL, purged_at = ?
         WHERE id = ? AND status = 'deleted'`,
        [clock.now(), id],
      )
    })
  }

  /** Counts the retention of a mailbox from now where a wrong clock deleted it: see the spans, before it was created, or ahead of now. @param slackMs ms */
  async redateDeleted(slackMs: number, wrong: readonly WrongSpan[]): Promise<void> {
    const now = this.#deps.clock.now()
    await this.#deps.db.write((tx) =>
      tx.run(
        `UPDATE mailboxes SET deleted_at = ? WHERE purged_at IS NULL
           AND (deleted_at < created_at - ? OR deleted_at > ?${wrong.map(() => ' OR deleted_at BETWEEN ? AND ?').join('')})`,
        [now, slackMs, now + slackMs, ...wrong.flatMap(({ from, until }) => [from, until])],
      ),
    )
  }

  /**
   * Deletes a mailbox, until it is restored or its content is erased: revokes its keys and app passwords, frees its address and aliases immediately. Idempotent. The caller ends the sign-ins
   * through it in the same unit of work.
   * @throws ProductError not_found
   */
  deleteIn(tx: Tx, teamId: string, id: string, check?: Check): Mailbox {
    return this.#changeIn(tx, teamId, id, (mailbox, now) => {
      if (mailbox.status === 'deleted') return mailbox
      check?.(mailbox, tx)
      this.#deps.keys.revokeOf(tx, id)
      this.#deps.appPasswords.revokeOf(tx, id)
      this.#retire(tx, mailbox)
      dropPatternsTo(tx, id)
      dropAliases(tx, id)
      dropForwards(tx, id)
      return { ...mailbox, status: 'deleted', deletedAt: now }
    })
  }

  /**
   * Checks that a team may use an address for a new mailbox or alias, and takes it: one that was retired is in use again.
   * @throws ProductError validation_error (also for a domain that is not the team's or not verified), conflict
   */
  takeAddress(tx: Tx, teamId: string, written: string): { email: string; domainId: string } {
    const { email, domain: name } = checkAddress(written)
    const domain = this.#deps.domains.ofTeam(tx, teamId, name)
    if (domain === undefined) throw invalid('email', 'not_found', `The team has no domain ${name}. Add it first.`)
    if (domain.verificationStatus !== 'verified') {
      throw invalid('email', 'unverified_domain', `The domain ${name} is not verified. Verify it first.`)
    }
    refuseTaken(tx, domain.id, email)
    this.#refuseOutside(tx, teamId, email)
    releaseRetired(tx, domain.id, email)
    return { email, domainId: domain.id }
  }

  /**
   * Creates the record of a mailbox. The caller checks the send scope and creates the mail account in the same unit of work, see
   * `administration/mailboxes.ts`.
   * @throws ProductError validation_error (also for a domain that is not the team's or not verified), conflict
   */
  createIn(tx: Tx, teamId: string, input: MailboxInput): Mailbox {
    const displayName = checkDisplayName(input.displayName ?? null)
    const address = this.takeAddress(tx, teamId, input.email)
    const now = this.#deps.clock.now()
    const mailbox: Mailbox = {
      ...INITIAL,
      ...address,
      id: newId('mailbox'),
      teamId,
      displayName,
      quotaBytes: checkQuota(input.quotaBytes ?? QUOTA_DEFAULT_BYTES),
      sendScope: input.sendScope ?? { type: 'all' },
      createdAt: now,
      updatedAt: now,
    }
    insertMailbox(tx, mailbox)
    return mailbox
  }

  /**
   * Creates the record of a mailbox that is an account at another server: it has that address, and no domain of the team. Else as `createIn`.
   * @param given.email lower-case
   * @throws ProductError validation_error, conflict
   */
  createOutsideIn(tx: Tx, teamId: string, given: MailboxInput & { sendScope: SendScope }): Mailbox {
    const { email, sendScope } = given
    const displayName = checkDisplayName(given.displayName ?? null)
    const quotaBytes = checkQuota(given.quotaBytes ?? OUTSIDE_QUOTA_DEFAULT_BYTES)
    this.refuseTakenOutside(tx, teamId, email)
    const now = this.#deps.clock.now()
    const base = { ...INITIAL, id: newId('mailbox'), teamId, domainId: null, createdAt: now, updatedAt: now }
    const mailbox: Mailbox = { ...base, email, displayName, quotaBytes, sendScope }
    insertMailbox(tx, mailbox)
    return mailbox
  }

  /** Creates the inbox of a new agent in the unit of work of its registration; its mail account is created later. @throws ProductError conflict */
  createForAgent(
    tx: Tx,
    inbox: { teamId: string; domainId: string; email: string; quotaBytes: number; registrationId: string },
  ): Mailbox {
    refuseTaken(tx, inbox.domainId, inbox.email)
    const { registrationId, ...given } = inbox
    const now = this.#deps.clock.now()
    const mailbox: Mailbox = {
      ...INITIAL,
      ...given,
      id: newId('mailbox'),
      isAgent: true,
      agentRegistrationId: registrationId,
      createdAt: now,
      updatedAt: now,
    }
    insertMailbox(tx, mailbox)
    return mailbox
  }

  /** Raises the quota of a mailbox to at least `bytes`; the caller records the change for clients. */
  raiseQuota(tx: Tx, id: string, bytes: number): void {
    tx.run('UPDATE mailboxes SET quota_bytes = max(quota_bytes, ?), updated_at = ? WHERE id = ?', [
      bytes,
      this.#deps.clock.now(),
      id,
    ])
  }

  /** Sets the active Sieve script of a mailbox. @param key hash of its text; null for none */
  setScript(tx: Tx, id: string, key: string | null): void {
    tx.run('UPDATE mailboxes SET script_key = ? WHERE id = ?', [key, id])
  }

  /** Refuses the address of an outside account that a mailbox of the team, or an alias of one, has. @throws ProductError conflict */
  refuseTakenOutside(tx: Tx, teamId: string, email: string): void {
    const at = domainName(email.slice(email.lastIndexOf('@') + 1))
    const domain = at === null ? undefined : this.#deps.domains.ofTeam(tx, teamId, at)
    if (domain !== undefined) refuseTaken(tx, domain.id, email)
    this.#refuseOutside(tx, teamId, email)
  }

  /** @throws ProductError conflict for the address of an outside account that is a mailbox of the team */
  #refuseOutside(tx: Tx, teamId: string, email: string): void {
    if (this.outsideAt(email, tx).some((one) => one.teamId === teamId)) {
      throw conflict('The address is already in use by an outside account.', 'email')
    }
  }

  /** The domain of agents has no patterns, so that their ended addresses need not be remembered. */
  #retire(tx: Tx, { id, domainId, email, isAgent }: Mailbox): void {
    if (domainId === null || isAgent) return
    for (const own of [{ domainId, email }, ...aliasesOf(tx, id)]) this.#deps.retired.addIn(tx, own.domainId, own.email)
  }

  #changeIn(tx: Tx, teamId: string, id: string, change: Change): Mailbox {
    const mailbox = this.getIn(tx, teamId, id)
    if (mailbox === undefined) throw notFound('mailbox')
    const now = this.#deps.clock.now()
    const next = change(mailbox, now, tx)
    if (next === mailbox) return mailbox
    updateMailbox(tx, { ...next, updatedAt: now })
    return { ...next, updatedAt: now }
  }
}
