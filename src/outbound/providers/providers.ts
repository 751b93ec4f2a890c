// The sending accounts of teams: create, read, update, activate, deactivate, test and delete.

import { conflict, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { RowCache } from '../../db/row-cache.ts'
import { Where } from '../../db/sql-text.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { PROVIDERS, type Provider, type ProviderStatus, type ProviderType } from '../model/records.ts'
import { type ConnectedAccount, Connections } from './connections.ts'
import type { Groups } from './groups.ts'
import { Health } from './health.ts'
import {
  checkChange,
  mergeQuotas,
  type NewProvider,
  NO_QUOTAS,
  OWNED_SERVER,
  type ProviderChange,
  refuseForeign,
  refuseOtherServer,
  touchesConnection,
} from './input.ts'
import { forgetCounts } from './quotas.ts'
import { dropRulesTo, ruleNaming } from './routing-rules.ts'
import { findProvider, listProviders } from './row.ts'
import { activated, allowedActions, reconnected, whyNot } from './status.ts'

export type { ConnectedAccount } from './connections.ts'
export type { NewProvider, ProviderChange, QuotaInput, QuotasInput } from './input.ts'
export { type AllowedActions, allowedActions } from './status.ts'

/** Teams whose accounts are kept in memory. */
const TEAMS_MAX = 500

export interface ProviderFilter {
  status?: ProviderStatus
  type?: ProviderType
  limit: number
  after: PageKey | null
}

/** Number of accounts, by type and by status (docs/design/contract.md §2.2). */
export interface ProviderStats {
  total: number
  byType: Record<ProviderType, number>
  byStatus: Record<ProviderStatus, number>
}

interface Deps extends OutboundDeps {
  groups: Pick<Groups, 'naming'>
}

/** Maximum number of accounts per team (docs/design/sending.md §1). */
export const PER_TEAM_MAX = 100
const WHAT = 'provider'

/** Checks the current state inside the unit of work that changes it; throws to refuse. */
type Precondition = (current: Provider) => void

export class Providers {
  readonly health: Health
  readonly connections: Connections
  readonly #deps: Deps
  /** By team: read for each message that is sent. */
  readonly #switchedOn: RowCache<string, readonly Provider[]>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#switchedOn = new RowCache(deps.db, TEAMS_MAX)
    this.health = new Health(deps)
    this.connections = new Connections(deps)
  }

  /** Creates an SMTP account; it is checked immediately and becomes active on success. @throws ProductError validation_error, conflict */
  create(teamId: string, given: NewProvider): Promise<Provider> {
    return this.#deps.db.write((tx) => this.createIn(tx, teamId, given))
  }

  /**
   * As `create`, inside a unit of work of the caller.
   * @param remoteAccountId the outside account it belongs to, where alone it is edited
   */
  createIn(tx: Tx, teamId: string, given: NewProvider, remoteAccountId: string | null = null): Provider {
    const { clock, config } = this.#deps
    const input = checkChange(given, config.ALLOW_PRIVATE_SMTP_HOSTS)
    const quotas = mergeQuotas(NO_QUOTAS, input.quotas)
    this.connections.checkRoom(tx, teamId, PER_TEAM_MAX)
    const now = clock.now()
    const id = newId('provider')
    PROVIDERS.insert(tx, {
      ...input,
      id,
      teamId,
      type: 'smtp',
      status: 'pending',
      smtpPasswordSealed: this.#sealed(input),
      quotas,
      remoteAccountId,
      checkDueAt: now,
      createdAt: now,
      updatedAt: now,
    })
    this.health.checkSoon(tx)
    return this.#find(tx, teamId, id)!
  }

  get(teamId: string, id: string): Provider | undefined {
    return this.#find(this.#deps.db.read, teamId, id)
  }

  byId(id: string): Provider | undefined {
    return findProvider(this.#deps.db.read, 'WHERE id = ?', [id])
  }

  /** How many sending accounts a team has. */
  count(teamId: string): number {
    const sql = 'SELECT count(*) AS count FROM providers WHERE team_id = ?'
    return this.#deps.db.read.get<{ count: number }>(sql, [teamId])!.count
  }

  /** Newest first. */
  list(teamId: string, filter: ProviderFilter): Page<Provider> {
    const where = new Where().add('team_id = ?', teamId)
    if (filter.status !== undefined) where.add('status = ?', filter.status)
    if (filter.type !== undefined) where.add('type = ?', filter.type)
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const providers = listProviders(this.#deps.db.read, `WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`, [
      ...where.values,
      filter.limit + 1,
    ])
    return pageOf(providers, filter.limit, ({ createdAt, n }) => [createdAt, n])
  }

  /** The active accounts of a team. */
  activeOf(teamId: string): Provider[] {
    return this.switchedOn(teamId).filter(({ status }) => status === 'active')
  }

  /** The accounts of a team that are active, or become active when a check succeeds. */
  switchedOn(teamId: string): readonly Provider[] {
    const rest = `WHERE team_id = ? AND status <> 'inactive' ORDER BY n`
    return this.#switchedOn.get(teamId, () => listProviders(this.#deps.db.read, rest, [teamId]))!
  }

  stats(teamId: string): ProviderStats {
    const rows = this.#deps.db.read.all<{ type: ProviderType; status: ProviderStatus; count: number }>(
      'SELECT type, status, count(*) AS count FROM providers WHERE team_id = ? GROUP BY type, status',
      [teamId],
    )
    const stats: ProviderStats = {
      total: 0,
      byType: { smtp: 0, gmail_api: 0, outlook_api: 0, amazon_ses: 0 },
      byStatus: { active: 0, inactive: 0, error: 0, pending: 0 },
    }
    for (const { type, status, count } of rows) {
      stats.total += count
      stats.byType[type] += count
      stats.byStatus[status] += count
    }
    return stats
  }

  /**
   * Updates the given fields; a change of the connection triggers a new check.
   * @throws ProductError not_found, validation_error (also for another server or user name without a password), conflict (not allowed), and
   *   what the precondition throws
   */
  async update(
    teamId: string,
    id: string,
    given: ProviderChange,
    precondition: Precondition = () => {},
  ): Promise<Provider> {
    const change = checkChange(given, this.#deps.config.ALLOW_PRIVATE_SMTP_HOSTS)
    return this.#deps.db.write((tx) => {
      const current = this.#allowed(tx, teamId, id, 'update', precondition)
      refuseOtherServer(change, current)
      return this.#updateIn(tx, current, change)
    })
  }

  /**
   * Updates the sending account of an outside account.
   * @throws ProductError validation_error, also for another server, port or user name without a password: the stored one is not sent there
   */
  updateOwnedIn(tx: Tx, teamId: string, id: string, given: ProviderChange): void {
    const current = this.#find(tx, teamId, id)
    if (current === undefined) throw notFound(WHAT)
    const change = checkChange(given, this.#deps.config.ALLOW_PRIVATE_SMTP_HOSTS)
    refuseOtherServer(change, current, OWNED_SERVER)
    this.#updateIn(tx, current, change)
  }

  /** Removes the sending account of an outside account; messages that it should carry get another route, or wait. */
  removeOwnedIn(tx: Tx, teamId: string, id: string): void {
    const current = this.#find(tx, teamId, id)
    if (current !== undefined) this.#removeIn(tx, current)
  }

  #updateIn(tx: Tx, current: Provider, change: ProviderChange): Provider {
    if (current.type !== 'smtp') refuseForeign(change)
    const next = {
      ...change,
      smtpPasswordSealed: this.#sealed(change),
      quotas: mergeQuotas(current.quotas, change.quotas),
      updatedAt: this.#deps.clock.now(),
    }
    PROVIDERS.update(tx, next, 'WHERE n = ?', [current.n])
    if (touchesConnection(change, current)) this.health.reconnect(tx, current.n, reconnected(current.status))
    return this.#find(tx, current.teamId, current.id)!
  }

  /** What references an account, and the referencing field; null if nothing does. */
  #usedBy(tx: Tx, { teamId, id }: Provider): { field: string; what: string } | null {
    const { groups, directory } = this.#deps
    const group = groups.naming(tx, id)
    if (group !== undefined) return { field: 'members', what: `the delivery group ${group}` }
    const ruled = ruleNaming(tx, id)
    if (ruled !== undefined) return { field: 'rules', what: `the routing rule for ${ruled}` }
    const mailbox = directory.mailboxes.namingInScope(tx, teamId, id)
    return mailbox === undefined ? null : { field: 'send_scope', what: `the send_scope of ${mailbox}` }
  }

  #removeIn(tx: Tx, { n, id }: Provider): void {
    dropRulesTo(tx, id)
    tx.run('DELETE FROM providers WHERE n = ?', [n])
    forgetCounts(tx, n)
  }

  /** @throws ProductError not_found, conflict (shared, or referenced by a group, a routing rule or a mailbox), and what the precondition throws */
  async remove(teamId: string, id: string, precondition: Precondition = () => {}): Promise<void> {
    await this.#deps.db.write((tx) => {
      const current = this.#allowed(tx, teamId, id, 'delete', precondition)
      const named = this.#usedBy(tx, current)
      if (named !== null) {
        const message = `The provider is still used by ${named.what}.`
        throw new ProductError('conflict', message, { issues: [{ field: named.field, code: 'in_use', message }] })
      }
      this.#removeIn(tx, current)
    })
  }

  /** @throws ProductError not_found, conflict */
  async activate(teamId: string, id: string, precondition?: Precondition): Promise<Provider> {
    return this.#deps.db.write((tx) => {
      const current = this.#allowed(tx, teamId, id, 'activate', precondition)
      this.health.activate(tx, current, (checkedOkAt, now) => activated(current, checkedOkAt, now))
      return this.#find(tx, teamId, id)!
    })
  }

  /** Queued messages use another route at their next attempt. @throws ProductError not_found, conflict */
  async deactivate(teamId: string, id: string, precondition?: Precondition): Promise<Provider> {
    return this.#deps.db.write((tx) => {
      const current = this.#allowed(tx, teamId, id, 'deactivate', precondition)
      this.health.deactivate(tx, current.n)
      return this.#find(tx, teamId, id)!
    })
  }

  /** See {@link Connections.createOAuth}. */
  createOAuth(tx: Tx, account: ConnectedAccount): Provider {
    return this.connections.createOAuth(tx, account, PER_TEAM_MAX)
  }

  #allowed(
    tx: Tx,
    teamId: string,
    id: string,
    action: 'update' | 'delete' | 'activate' | 'deactivate',
    precondition: Precondition = () => {},
  ): Provider {
    const current = this.#find(tx, teamId, id)
    if (current === undefined) throw notFound(WHAT)
    precondition(current)
    if (!allowedActions(current)[action]) {
      throw conflict(whyNot(current, action))
    }
    return current
  }

  #find(reader: Reader, teamId: string, id: string): Provider | undefined {
    return findProvider(reader, 'WHERE id = ? AND team_id = ?', [id, teamId])
  }

  #sealed({ smtpPassword }: ProviderChange): Uint8Array | undefined {
    return smtpPassword === undefined ? undefined : this.connections.seal(smtpPassword)
  }
}
