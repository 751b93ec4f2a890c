// Mailboxes: addresses with a quota, and who receives what is sent to an address.

import type { Clock } from '../base/clock.ts'
import { conflict, invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Config } from '../config/config.ts'
import type { Db, Reader, Row, SqlValue, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import type { Domains, ReceivingDomain } from './domains.ts'
import type { IssuedKey, Keys } from './keys.ts'
import { baseLocal } from './local-part.ts'
import {
  checkAddress,
  checkQuota,
  checkSendScope,
  DISPLAY_NAME_MAX,
  QUOTA_DEFAULT_BYTES,
  REASON_MAX,
  type SendScope,
} from './mailbox-input.ts'
import { checkName } from './teams.ts'

export type MailboxStatus = 'active' | 'suspended' | 'deleted'

export interface Mailbox {
  id: string
  teamId: string
  domainId: string
  email: string
  displayName: string | null
  quotaBytes: number
  sendScope: SendScope
  status: MailboxStatus
  statusReason: string | null
  isAgent: boolean
  agentRegistrationId: string | null
  createdAt: number
  updatedAt: number
  suspendedAt: number | null
  deletedAt: number | null
}

export interface MailboxInput {
  email: string
  displayName?: string
  quotaBytes?: number
  sendScope?: SendScope
}

/** What can be changed of a mailbox; what is left out stays. */
export interface MailboxChange {
  displayName?: string | null
  quotaBytes?: number
  sendScope?: SendScope
}

export interface MailboxFilter {
  /** Active and suspended ones unless given. */
  statuses?: readonly MailboxStatus[]
  domainId?: string
  /** A part of the address or of the display name. */
  search?: string
  isAgent?: boolean
  limit: number
  after: PageKey | null
}

/** Who receives what is sent to an address, or why nobody does. */
export type Receiver =
  | { reason: null; mailbox: Mailbox; domain: ReceivingDomain }
  | { reason: 'unknown_domain' }
  /** `domain` is null for names that belong to the appliance rather than to a team. */
  | { reason: 'unknown_recipient'; domain: ReceivingDomain | null }
  | { reason: 'mailbox_suspended'; mailbox: Mailbox; domain: ReceivingDomain }
  /** `deferred` while the sender should try again later; afterwards the mail is refused (decisions §2.3). */
  | { reason: 'team_suspended'; domain: ReceivingDomain; deferred: boolean }

interface MailboxParts {
  db: Db
  clock: Clock
  config: Config
  domains: Domains
  keys: Keys
  /** Makes the mail side of a new mailbox: folders and counters. */
  openAccount(tx: Tx, mailboxId: string): Promise<void>
}

/** How long mail for a suspended team is deferred before it is refused. */
export const SUSPENDED_DEFER_MS = 7 * 86_400_000
// RFC 2142 §4-5, RFC 5321 §4.5.1: these reach somebody at every domain.
const ROLE_NAMES = ['postmaster', 'abuse']

export class Mailboxes {
  readonly #parts: MailboxParts

  constructor(parts: MailboxParts) {
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

  async get(teamId: string, id: string): Promise<Mailbox | undefined> {
    const row = await this.#parts.db.read.get('SELECT * FROM mailboxes WHERE id = ? AND team_id = ?', [id, teamId])
    return row && presentMailbox(row)
  }

  async byId(id: string): Promise<Mailbox | undefined> {
    const row = await this.#parts.db.read.get('SELECT * FROM mailboxes WHERE id = ?', [id])
    return row && presentMailbox(row)
  }

  /** The mailbox of exactly this address at the domain that receives for its name; never a deleted one. */
  async byEmail(email: string): Promise<Mailbox | undefined> {
    const cut = email.lastIndexOf('@')
    const domain = await this.#parts.domains.byName(email.slice(cut + 1).toLowerCase())
    return domain && this.#at(this.#parts.db.read, domain.id, email.toLowerCase())
  }

  /** Newest first. */
  async list(teamId: string, filter: MailboxFilter): Promise<Page<Mailbox>> {
    const statuses = filter.statuses ?? ['active', 'suspended']
    const where = ['team_id = ?', `status IN (${statuses.map(() => '?').join(', ')})`]
    const values: SqlValue[] = [teamId, ...statuses]
    const add = (condition: string, ...given: SqlValue[]) => {
      where.push(condition)
      values.push(...given)
    }
    if (filter.domainId !== undefined) add('domain_id = ?', filter.domainId)
    if (filter.isAgent !== undefined) add('is_agent = ?', filter.isAgent)
    if (filter.search !== undefined) add('instr(search_text, ?) > 0', filter.search.toLowerCase())
    if (filter.after !== null) add('(created_at, n) < (?, ?)', ...filter.after)
    const { db } = this.#parts
    // A search may have to look at every mailbox of the team.
    const reader = filter.search === undefined ? db.read : db.scan
    const rows = await reader.all(
      `SELECT * FROM mailboxes WHERE ${where.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, filter.limit + 1],
    )
    return pageOf(rows, filter.limit, (row) => [row.created_at as number, row.n as number], presentMailbox)
  }

  /**
   * Who receives what is sent to `localPart` at `domain`: two reads by index, a third for role names.
   * @param localPart as written in the envelope: any case, quoted or not, with or without a `+tag`
   * @param domain lower-case A-labels; null for the bare `<postmaster>` of RFC 5321 §4.5.1
   */
  async receiver(localPart: string, domain: string | null): Promise<Receiver> {
    const local = baseLocal(localPart)
    const { domains, config, db, clock } = this.#parts
    if (domain === null || config.MAIL_HOSTS.includes(domain)) return this.#operator(local)
    const target = await domains.byName(domain)
    if (target === undefined) return { reason: 'unknown_domain' }
    if (target.teamSuspendedAt !== null) {
      const deferred = clock.now() < target.teamSuspendedAt + SUSPENDED_DEFER_MS
      return { reason: 'team_suspended', domain: target, deferred }
    }
    const mailbox = (await this.#at(db.read, target.id, `${local}@${domain}`)) ?? (await this.#roleOwner(target, local))
    if (mailbox === undefined) return { reason: 'unknown_recipient', domain: target }
    return { reason: mailbox.status === 'active' ? null : 'mailbox_suspended', mailbox, domain: target }
  }

  /**
   * @param usedBytes what the mailbox holds today; a quota below it is refused
   * @param check sees the current record inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict (deleted), validation_error
   */
  update(
    teamId: string,
    id: string,
    change: MailboxChange,
    usedBytes: number,
    check?: (current: Mailbox) => void,
  ): Promise<Mailbox> {
    return this.#change(teamId, id, (mailbox) => {
      check?.(mailbox)
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      const quotaBytes = change.quotaBytes === undefined ? mailbox.quotaBytes : checkQuota(change.quotaBytes)
      if (quotaBytes !== mailbox.quotaBytes && quotaBytes < usedBytes) {
        throw invalid('quota_bytes', 'below_usage', `The mailbox already holds ${usedBytes} bytes.`)
      }
      return {
        ...mailbox,
        quotaBytes,
        displayName: change.displayName === undefined ? mailbox.displayName : checkDisplayName(change.displayName),
        sendScope: change.sendScope === undefined ? mailbox.sendScope : checkSendScope(change.sendScope),
      }
    })
  }

  /** Mail to it is refused and it cannot send; reading goes on. @throws ProductError not_found, conflict (deleted) */
  suspend(teamId: string, id: string, reason?: string): Promise<Mailbox> {
    return this.#change(teamId, id, (mailbox, now) => {
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      const statusReason = reason === undefined ? null : checkName(reason, REASON_MAX, 'reason')
      return { ...mailbox, status: 'suspended', statusReason, suspendedAt: mailbox.suspendedAt ?? now }
    })
  }

  /** @throws ProductError not_found, conflict (deleted) */
  reactivate(teamId: string, id: string): Promise<Mailbox> {
    return this.#change(teamId, id, (mailbox) => {
      if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
      return { ...mailbox, status: 'active', statusReason: null, suspendedAt: null }
    })
  }

  /** Final: its keys end, its address is free at once. Doing it twice is no error. @throws ProductError not_found */
  delete(teamId: string, id: string, check?: (current: Mailbox) => void): Promise<Mailbox> {
    return this.#change(teamId, id, async (mailbox, now, tx) => {
      if (mailbox.status === 'deleted') return mailbox
      check?.(mailbox)
      await this.#parts.keys.revokeOf(tx, id)
      return { ...mailbox, status: 'deleted', deletedAt: now }
    })
  }

  /** Whether a domain has mailboxes that are not deleted. */
  async anyAt(tx: Tx, domainId: string): Promise<boolean> {
    const row = await tx.get(`SELECT 1 AS found FROM mailboxes WHERE domain_id = ? AND status <> 'deleted' LIMIT 1`, [
      domainId,
    ])
    return row !== undefined
  }

  async #createIn(tx: Tx, teamId: string, input: MailboxInput): Promise<Mailbox> {
    const { domains, clock, openAccount } = this.#parts
    const address = checkAddress(input.email)
    const displayName = checkDisplayName(input.displayName ?? null)
    const domain = await domains.ofTeam(tx, teamId, address.domain)
    if (domain === undefined) throw invalid('email', 'not_found', `The team has no domain ${address.domain}.`)
    if (domain.verificationStatus !== 'verified') {
      throw invalid('email', 'unverified_domain', `The domain ${address.domain} is not verified.`)
    }
    if ((await this.#at(tx, domain.id, address.email)) !== undefined) throw conflict('The address is in use.', 'email')
    const now = clock.now()
    const mailbox: Mailbox = {
      id: newId('mailbox'),
      teamId,
      domainId: domain.id,
      email: address.email,
      displayName,
      quotaBytes: checkQuota(input.quotaBytes ?? QUOTA_DEFAULT_BYTES),
      sendScope: checkSendScope(input.sendScope ?? { type: 'all' }),
      status: 'active',
      statusReason: null,
      isAgent: false,
      agentRegistrationId: null,
      createdAt: now,
      updatedAt: now,
      suspendedAt: null,
      deletedAt: null,
    }
    await tx.insert('mailboxes', mailboxRow(mailbox))
    await openAccount(tx, mailbox.id)
    return mailbox
  }

  async #change(
    teamId: string,
    id: string,
    change: (mailbox: Mailbox, now: number, tx: Tx) => Mailbox | Promise<Mailbox>,
  ): Promise<Mailbox> {
    return this.#parts.db.write(async (tx) => {
      const row = await tx.get('SELECT * FROM mailboxes WHERE id = ? AND team_id = ?', [id, teamId])
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
    })
  }

  async #at(reader: Reader, domainId: string, email: string): Promise<Mailbox | undefined> {
    const row = await reader.get(`SELECT * FROM mailboxes WHERE domain_id = ? AND email = ? AND status <> 'deleted'`, [
      domainId,
      email,
    ])
    return row && presentMailbox(row)
  }

  // The oldest mailbox of the domain, else of the team, stands for the team's owners.
  async #roleOwner(domain: ReceivingDomain, local: string): Promise<Mailbox | undefined> {
    if (!ROLE_NAMES.includes(local)) return undefined
    const oldest = async (condition: string, value: string) => {
      const row = await this.#parts.db.read.get(
        `SELECT * FROM mailboxes WHERE ${condition} AND status = 'active' AND is_agent = 0 ORDER BY created_at, n LIMIT 1`,
        [value],
      )
      return row && presentMailbox(row)
    }
    return (await oldest('domain_id = ?', domain.id)) ?? (await oldest('team_id = ?', domain.teamId))
  }

  // Role names of the appliance itself reach the oldest mailbox of all: it is the operator's.
  async #operator(local: string): Promise<Receiver> {
    const nobody = { reason: 'unknown_recipient', domain: null } as const
    if (!ROLE_NAMES.includes(local)) return nobody
    const row = await this.#parts.db.read.get(
      `SELECT * FROM mailboxes WHERE status = 'active' AND is_agent = 0 ORDER BY n LIMIT 1`,
    )
    const domain = row && (await this.#parts.domains.receivingById(row.domain_id as string))
    return domain ? { reason: null, mailbox: presentMailbox(row), domain } : nobody
  }
}

function checkDisplayName(name: string | null): string | null {
  return name === null ? null : checkName(name, DISPLAY_NAME_MAX, 'display_name')
}

function mailboxRow(mailbox: Mailbox): Row {
  return {
    id: mailbox.id,
    team_id: mailbox.teamId,
    domain_id: mailbox.domainId,
    email: mailbox.email,
    display_name: mailbox.displayName,
    search_text: `${mailbox.email}\n${mailbox.displayName ?? ''}`.toLowerCase(),
    quota_bytes: mailbox.quotaBytes,
    send_scope: JSON.stringify(mailbox.sendScope),
    status: mailbox.status,
    status_reason: mailbox.statusReason,
    is_agent: mailbox.isAgent,
    agent_registration_id: mailbox.agentRegistrationId,
    created_at: mailbox.createdAt,
    updated_at: mailbox.updatedAt,
    suspended_at: mailbox.suspendedAt,
    deleted_at: mailbox.deletedAt,
  }
}

function presentMailbox(row: Row): Mailbox {
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    domainId: row.domain_id as string,
    email: row.email as string,
    displayName: row.display_name as string | null,
    quotaBytes: row.quota_bytes as number,
    sendScope: JSON.parse(row.send_scope as string) as SendScope,
    status: row.status as MailboxStatus,
    statusReason: row.status_reason as string | null,
    isAgent: row.is_agent === 1,
    agentRegistrationId: row.agent_registration_id as string | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    suspendedAt: row.suspended_at as number | null,
    deletedAt: row.deleted_at as number | null,
  }
}
