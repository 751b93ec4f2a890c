// Mailboxes: addresses with a quota, made, changed and ended.

import type { Clock } from '../base/clock.ts'
import { conflict, invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import { dropAliases } from './aliases-rows.ts'
import type { Domains } from './domains.ts'
import type { Filters } from './filters.ts'
import type { KeyInput } from './key-input.ts'
import type { IssuedKey, Keys } from './keys.ts'
import {
  checkAddress,
  checkDisplayName,
  checkQuota,
  checkReason,
  checkSendScope,
  type ForeignIn,
  type MailboxChange,
  QUOTA_DEFAULT_BYTES,
  type SendScope,
} from './mailbox-input.ts'
import { type Mailbox, mailboxRow, presentMailbox } from './mailbox-record.ts'
import { MailboxReads, refuseTaken } from './mailboxes-reads.ts'
import type { SieveScripts } from './sieve-scripts.ts'

export type { Mailbox, MailboxStatus } from './mailbox-record.ts'

export interface MailboxInput {
  email: string
  displayName?: string
  quotaBytes?: number
  sendScope?: SendScope
}

interface MailboxParts {
  db: Db
  clock: Clock
  config: Config
  domains: Domains
  keys: Keys
  filters: Filters
  sieveScripts: SieveScripts
  /** Makes the mail side of a new mailbox: folders and counters. */
  openAccount(tx: Tx, mailboxId: string, email: string): Promise<void>
  /** Tells clients of a mailbox that the room it may take was changed. */
  noteRoom(tx: Tx, mailboxId: string): Promise<void>
  foreignIn: ForeignIn
  /** Ends links and sessions that went through a mailbox. */
  endSignInsThrough(tx: Tx, mailboxId: string): Promise<void>
}

/** Sees the current record inside the unit of work, and throws to refuse. */
type Check = (current: Mailbox, tx: Tx) => void | Promise<void>
type Change = (mailbox: Mailbox, now: number, tx: Tx) => Mailbox | Promise<Mailbox>

/** What a mailbox is before anything happened to it. */
const BLANK = {
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
  readonly #parts: MailboxParts

  constructor(parts: MailboxParts) {
    super(parts)
    this.#parts = parts
  }

  /** @throws ProductError validation_error (also for a domain that is not the team's or not verified), conflict */
  create(teamId: string, input: MailboxInput): Promise<Mailbox> {
    return this.#parts.db.write((tx) => this.#createIn(tx, teamId, input))
  }

  /** The same together with its first API key, both or neither. */
  createWithKey(teamId: string, input: MailboxInput, createdBy: string): Promise<{ mailbox: Mailbox; key: IssuedKey }> {
    return this.#parts.db.write(async (tx) => {
      const mailbox = await this.#createIn(tx, teamId, input)
      const name = mailbox.email.slice(0, mailbox.email.lastIndexOf('@'))
      const key = await this.#parts.keys.issueIn(tx, {
        teamId,
        kind: 'mailbox',
        mailboxId: mailbox.id,
        name,
        createdBy,
      })
      return { mailbox, key }
    })
  }

  /** A key made while the mailbox ends would outlive it: one unit of work. @throws ProductError not_found, conflict, validation_error */
  issueKey(
    teamId: string,
    id: string,
    input: Pick<KeyInput, 'name' | 'permissions' | 'expiresAt' | 'createdBy'>,
    check?: Check,
  ): Promise<IssuedKey> {
    return this.#parts.db.write(async (tx) => {
      const mailbox = await this.getIn(tx, teamId, id)
      if (mailbox === undefined) throw notFound('mailbox')
      await check?.(mailbox, tx)
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      return this.#parts.keys.issueIn(tx, { ...input, teamId, kind: 'mailbox', mailboxId: id })
    })
  }

  /**
   * @param usedBytes what the mailbox holds today; a quota below it is refused
   * @param check sees the current record inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict (deleted), validation_error
   */
  update(teamId: string, id: string, change: MailboxChange, usedBytes: number, check?: Check): Promise<Mailbox> {
    const { foreignIn, noteRoom } = this.#parts
    return this.#change(teamId, id, async (mailbox, _now, tx) => {
      await check?.(mailbox, tx)
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      const sendScope =
        change.sendScope === undefined
          ? mailbox.sendScope
          : await checkSendScope(tx, teamId, change.sendScope, foreignIn)
      const quotaBytes = change.quotaBytes === undefined ? mailbox.quotaBytes : checkQuota(change.quotaBytes)
      if (quotaBytes !== mailbox.quotaBytes && quotaBytes < usedBytes) {
        throw invalid('quota_bytes', 'below_usage', `The mailbox already holds ${usedBytes} bytes.`)
      }
      if (quotaBytes !== mailbox.quotaBytes) await noteRoom(tx, id)
      return {
        ...mailbox,
        quotaBytes,
        displayName: change.displayName === undefined ? mailbox.displayName : checkDisplayName(change.displayName),
        sendScope,
      }
    })
  }

  /** Mail to it is refused and it cannot send; reading goes on. @throws ProductError not_found, conflict (deleted) */
  suspend(teamId: string, id: string, reason?: string, check?: Check): Promise<Mailbox> {
    return this.#parts.db.write((tx) => this.suspendIn(tx, teamId, id, reason, check))
  }

  /** The same inside a unit of work of the caller. */
  suspendIn(tx: Tx, teamId: string, id: string, reason?: string, check?: Check): Promise<Mailbox> {
    return this.#changeIn(tx, teamId, id, async (mailbox, now) => {
      await check?.(mailbox, tx)
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      return {
        ...mailbox,
        status: 'suspended',
        statusReason: checkReason(reason),
        suspendedAt: mailbox.suspendedAt ?? now,
      }
    })
  }

  /** @param check sees the record inside the unit of work, and throws to refuse @throws ProductError not_found, conflict (deleted) */
  reactivate(teamId: string, id: string, check?: Check): Promise<Mailbox> {
    return this.#change(teamId, id, async (mailbox, _now, tx) => {
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      await check?.(mailbox, tx)
      return { ...mailbox, status: 'active', statusReason: null, suspendedAt: null }
    })
  }

  /** The end of a deleted mailbox whose content is erased: what is left of it is its address, for the logs. */
  async purge(id: string): Promise<void> {
    const { db, clock, keys, filters, sieveScripts } = this.#parts
    await db.write(async (tx) => {
      await keys.purgeOf(tx, id)
      await filters.drop(tx, id)
      await sieveScripts.drop(tx, id)
      await tx.run(
        `UPDATE mailboxes SET display_name = NULL, search_text = '', status_reason = NULL, script_key = NULL, purged_at = ?
         WHERE id = ? AND status = 'deleted'`,
        [clock.now(), id],
      )
    })
  }

  /** A mailbox that was deleted by a wrong clock, before it was made or ahead of now, is kept from now on. @param slackMs ms */
  async redateDeleted(slackMs: number): Promise<void> {
    const now = this.#parts.clock.now()
    await this.#parts.db.write((tx) =>
      tx.run(
        'UPDATE mailboxes SET deleted_at = ? WHERE purged_at IS NULL AND (deleted_at < created_at - ? OR deleted_at > ?)',
        [now, slackMs, now + slackMs],
      ),
    )
  }

  /** Final: its keys end, its address and its aliases are free at once. Doing it twice is no error. @throws ProductError not_found */
  delete(teamId: string, id: string, check?: Check): Promise<Mailbox> {
    return this.#change(teamId, id, async (mailbox, now, tx) => {
      if (mailbox.status === 'deleted') return mailbox
      await check?.(mailbox, tx)
      await this.#parts.keys.revokeOf(tx, id)
      await dropAliases(tx, id)
      await this.#parts.endSignInsThrough(tx, id)
      return { ...mailbox, status: 'deleted', deletedAt: now }
    })
  }

  /**
   * An address a team may give to a new mailbox or alias.
   * @throws ProductError validation_error (also for a domain that is not the team's or not verified), conflict
   */
  async freeAddress(tx: Tx, teamId: string, written: string): Promise<{ email: string; domainId: string }> {
    const { email, domain: name } = checkAddress(written)
    const domain = await this.#parts.domains.ofTeam(tx, teamId, name)
    if (domain === undefined) throw invalid('email', 'not_found', `The team has no domain ${name}.`)
    if (domain.verificationStatus !== 'verified') {
      throw invalid('email', 'unverified_domain', `The domain ${name} is not verified.`)
    }
    await refuseTaken(tx, domain.id, email)
    return { email, domainId: domain.id }
  }

  async #createIn(tx: Tx, teamId: string, input: MailboxInput): Promise<Mailbox> {
    const { clock, openAccount, foreignIn } = this.#parts
    const displayName = checkDisplayName(input.displayName ?? null)
    const address = await this.freeAddress(tx, teamId, input.email)
    const now = clock.now()
    const mailbox: Mailbox = {
      ...BLANK,
      ...address,
      id: newId('mailbox'),
      teamId,
      displayName,
      quotaBytes: checkQuota(input.quotaBytes ?? QUOTA_DEFAULT_BYTES),
      sendScope: await checkSendScope(tx, teamId, input.sendScope ?? { type: 'all' }, foreignIn),
      createdAt: now,
      updatedAt: now,
    }
    await tx.insert('mailboxes', mailboxRow(mailbox))
    await openAccount(tx, mailbox.id, mailbox.email)
    return mailbox
  }

  /** The inbox of a new agent, as part of its registration; its mail side is set up later. @throws ProductError conflict */
  async createForAgent(
    tx: Tx,
    inbox: { teamId: string; domainId: string; email: string; quotaBytes: number; registrationId: string },
  ): Promise<Mailbox> {
    await refuseTaken(tx, inbox.domainId, inbox.email)
    const { registrationId, ...given } = inbox
    const now = this.#parts.clock.now()
    const mailbox: Mailbox = {
      ...BLANK,
      ...given,
      id: newId('mailbox'),
      isAgent: true,
      agentRegistrationId: registrationId,
      createdAt: now,
      updatedAt: now,
    }
    await tx.insert('mailboxes', mailboxRow(mailbox))
    return mailbox
  }

  /** Gives a mailbox at least so much room. */
  async raiseQuota(tx: Tx, id: string, bytes: number): Promise<void> {
    await tx.run('UPDATE mailboxes SET quota_bytes = max(quota_bytes, ?), updated_at = ? WHERE id = ?', [
      bytes,
      this.#parts.clock.now(),
      id,
    ])
    await this.#parts.noteRoom(tx, id)
  }

  /** Says which script is run over the mail of a mailbox. */
  async setScript(tx: Tx, id: string, key: string | null): Promise<void> {
    await tx.run('UPDATE mailboxes SET script_key = ? WHERE id = ?', [key, id])
  }

  #change(teamId: string, id: string, change: Change): Promise<Mailbox> {
    return this.#parts.db.write((tx) => this.#changeIn(tx, teamId, id, change))
  }

  async #changeIn(tx: Tx, teamId: string, id: string, change: Change): Promise<Mailbox> {
    const row = await tx.get('SELECT * FROM mailboxes WHERE id = ? AND team_id = ? AND purged_at IS NULL', [id, teamId])
    if (row === undefined) throw notFound('mailbox')
    const now = this.#parts.clock.now()
    const mailbox = presentMailbox(row)
    const next = await change(mailbox, now, tx)
    if (next === mailbox) return mailbox
    const columns = mailboxRow({ ...next, updatedAt: now })
    const names = Object.keys(columns)
    await tx.run(`UPDATE mailboxes SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE n = ?`, [
      ...Object.values(columns),
      row.n,
    ])
    return { ...next, updatedAt: now }
  }
}
