// Reading mailboxes: by id and address, in lists, and by recipient address.

import type { Clock } from '../../base/clock.ts'
import { conflict } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import type { Db, Reader, SqlValue, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { RowCache } from '../../db/row-cache.ts'
import { placeholders, Where } from '../../db/sql-text.ts'
import type { RowOf } from '../../db/table.ts'
import { untagged } from '../../mime/local-part.ts'
import type { Domains } from '../domains/domains.ts'
import { teamSuspendedAt } from '../keys/teams.ts'
import { domainName } from '../names/domain-name.ts'
import type { Addressing } from './addressing.ts'
import { aliasAt } from './aliases.ts'
import {
  MAILBOXES,
  type Mailbox,
  type MailboxStatus,
  mailboxOf,
  OUTSIDE,
  readMailbox,
  readMailboxes,
} from './mailbox-record.ts'
import { findReceiver, type ReachedMailbox, type ReceiverLookup } from './receiver.ts'
import type { RetiredAddresses } from './retired-addresses.ts'

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

interface Deps {
  db: Db
  clock: Clock
  config: Config
  domains: Domains
  addressing: Pick<Addressing, 'leadsTo'>
  retired: Pick<RetiredAddresses, 'has'>
}

/** Mailboxes in memory. */
const KNOWN_MAX = 1000

/** The read-only half of `Mailboxes`. */
export class MailboxReads {
  readonly #deps: Deps
  /** By address: read for each recipient of a message. */
  readonly #known: RowCache<string, Mailbox>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#known = new RowCache(deps.db, KNOWN_MAX)
  }

  /** Undefined also for a purged mailbox, which only logs refer to. */
  get(teamId: string, id: string): Mailbox | undefined {
    return this.getIn(this.#deps.db.read, teamId, id)
  }

  /** As `get`, inside a unit of work of the caller. */
  getIn(reader: Reader, teamId: string, id: string): Mailbox | undefined {
    return readMailbox(reader, 'WHERE id = ? AND team_id = ? AND purged_at IS NULL', [id, teamId])
  }

  /** Whether a mailbox is the team's, also when purged. */
  wasOf(teamId: string, id: string): boolean {
    const row = this.#deps.db.read.get('SELECT 1 FROM mailboxes WHERE id = ? AND team_id = ?', [id, teamId])
    return row !== undefined
  }

  byId(id: string, reader: Reader = this.#deps.db.read): Mailbox | undefined {
    return readMailbox(reader, 'WHERE id = ?', [id])
  }

  /** The mailbox of exactly this address at the domain that receives for its name; never a deleted one. */
  byEmail(email: string): Mailbox | undefined {
    const cut = email.lastIndexOf('@')
    const name = domainName(email.slice(cut + 1))
    const domain = name === null ? undefined : this.#deps.domains.byName(name)
    return domain && this.at(domain.id, `${email.slice(0, Math.max(cut, 0)).toLowerCase()}@${name}`)
  }

  /** The mailbox with this address or alias (see `loginName`) at the domain that receives for its name; never a deleted one. */
  byLogin(name: string): Mailbox | undefined {
    const domain = this.#deps.domains.byName(name.slice(name.lastIndexOf('@') + 1))
    const found = domain && this.reachedAt(domain.id, name)
    // Those that a throw-away address was made for know it.
    return found?.isThrowAway ? undefined : found?.mailbox
  }

  /** The mailboxes that are accounts at other servers with this lower-case address: at most one of each team, oldest first. */
  outsideAt(email: string, reader: Reader = this.#deps.db.read): Mailbox[] {
    return readMailboxes(reader, `WHERE domain_id = '${OUTSIDE}' AND email = ? AND status <> 'deleted' ORDER BY n`, [
      email,
    ])
  }

  /** The deleted mailboxes, of any team, with this id or address that are not erased yet, oldest first. */
  deletedAt(text: string): Mailbox[] {
    const rest = 'WHERE deleted_at IS NOT NULL AND purged_at IS NULL AND (id = ? OR email = ?) ORDER BY n'
    return readMailboxes(this.#deps.db.read, rest, [text, text.toLowerCase()])
  }

  /** The states of the given mailboxes, purged ones included. */
  statesOf(ids: readonly string[]): MailboxState[] {
    const rows = this.#deps.db.read.all<{ id: string; status: MailboxStatus; suspended_at: number | null }>(
      `SELECT id, status, ${teamSuspendedAt('mailboxes.team_id')} AS suspended_at FROM mailboxes WHERE id IN (${placeholders(ids)})`,
      ids,
    )
    return rows.map(({ id, status, suspended_at }) => ({ id, status, isTeamSuspended: suspended_at !== null }))
  }

  /** How many mailboxes a team has. */
  count(teamId: string): number {
    const sql = `SELECT count(*) AS count FROM mailboxes WHERE team_id = ? AND status <> 'deleted'`
    return this.#deps.db.read.get<{ count: number }>(sql, [teamId])!.count
  }

  /** The mailboxes of a team by id, each with its quota in bytes. */
  quotas(teamId: string): Map<string, number> {
    const sql = `SELECT id, quota_bytes FROM mailboxes WHERE team_id = ? AND status <> 'deleted'`
    const rows = this.#deps.db.read.all<{ id: string; quota_bytes: number }>(sql, [teamId])
    return new Map(rows.map(({ id, quota_bytes }) => [id, quota_bytes]))
  }

  /** Newest first. */
  async list(teamId: string, filter: MailboxFilter): Promise<Page<Mailbox>> {
    const statuses = filter.statuses ?? ['active', 'suspended']
    const where = new Where()
      .add('team_id = ? AND purged_at IS NULL', teamId)
      .add(`status IN (${placeholders(statuses)})`, ...statuses)
    if (filter.domainId !== undefined) where.add('domain_id = ?', filter.domainId)
    if (filter.isAgent !== undefined) where.add('is_agent = ?', filter.isAgent)
    if (filter.search !== undefined) where.add('instr(search_text, ?) > 0', filter.search.toLowerCase())
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const { db } = this.#deps
    // A search may scan every mailbox of the team.
    const reader = filter.search === undefined ? db.read : db.scan
    const rows = await reader.all<RowOf<typeof MAILBOXES> & { n: number }>(
      `SELECT n, ${MAILBOXES.columns} FROM mailboxes WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    const keyOf = ({ created_at, n }: (typeof rows)[number]) => [created_at, n]
    return pageOf(rows, filter.limit, keyOf, (row) => mailboxOf(MAILBOXES.record(row)))
  }

  /** The recipient mailbox of an address; see `findReceiver`. */
  receiver(localPart: string, domain: string | null): ReceiverLookup {
    const { domains, addressing, retired, config, clock } = this.#deps
    const own = { mailHosts: config.MAIL_HOSTS, now: clock.now() }
    return findReceiver({ mailboxes: this, domains, addressing, retired, ...own }, localPart, domain)
  }

  /** The mailbox of exactly this lower-case address at a domain; never a deleted one. */
  at(domainId: string, email: string): Mailbox | undefined {
    return this.#known.get(`${domainId} ${email}`, () => {
      const mailbox = readAt(this.#deps.db.read, domainId, email)
      return mailbox && Object.freeze(mailbox)
    })
  }

  /** The mailbox with exactly this lower-case address, alias or throw-away address; never a deleted one. */
  reachedAt(domainId: string, email: string): ReachedMailbox | undefined {
    const own = this.at(domainId, email)
    if (own !== undefined) return { mailbox: own, isThrowAway: false, isPaused: false }
    const alias = aliasAt(this.#deps.db.read, domainId, email)
    const mailbox = alias && this.byId(alias.mailboxId)
    return mailbox && { mailbox, isThrowAway: alias!.madeFor !== null, isPaused: alias!.pausedAt !== null }
  }

  /** The oldest active mailbox of a domain, of a team, or of the whole appliance that receives here; agents excluded. */
  oldest(of: { domainId: string } | { teamId: string } | 'all'): Mailbox | undefined {
    const first = (condition: string, ...values: SqlValue[]) =>
      readMailbox(this.#deps.db.read, `WHERE ${condition} LIMIT 1`, values)
    const eligible = `status = 'active' AND is_agent = 0 AND domain_id <> '${OUTSIDE}'`
    if (of === 'all') return first(`${eligible} ORDER BY n`)
    if ('domainId' in of) return first(`domain_id = ? AND ${eligible} ORDER BY n`, of.domainId)
    // The order of the index, so that SQLite does not sort.
    return first(`team_id = ? AND ${eligible} ORDER BY created_at, n`, of.teamId)
  }

  /** The address of a mailbox, unless deleted, whose send scope contains that account or group. */
  namingInScope(tx: Tx, teamId: string, id: string): string | undefined {
    const row = tx.get<{ email: string }>(
      `SELECT email FROM mailboxes WHERE team_id = ? AND status <> 'deleted' AND instr(send_scope, ?) > 0 LIMIT 1`,
      [teamId, `"${id}"`],
    )
    return row?.email
  }

  /** Whether a domain has mailboxes that are not deleted. */
  anyAt(tx: Tx, domainId: string): boolean {
    const row = tx.get(`SELECT 1 AS found FROM mailboxes WHERE domain_id = ? AND status <> 'deleted' LIMIT 1`, [
      domainId,
    ])
    return row !== undefined
  }

  /** Whether a mailbox, unless deleted, has that address at a domain; a `+tag` is ignored. */
  hasAddress(reader: Reader, id: string, domainId: string, email: string): boolean {
    const found = readAt(reader, domainId, untagged(email))
    return found?.id === id
  }
}

/** What decides whether sessions of a mailbox go on. */
export interface MailboxState {
  id: string
  status: MailboxStatus
  isTeamSuspended: boolean
}

/** The mailbox of exactly this lower-case address at a domain; never a deleted one. */
function readAt(reader: Reader, domainId: string, email: string): Mailbox | undefined {
  // The bound value must not decide whether the partial index can be used: the statement would be prepared again with each execution.
  const rest = `WHERE domain_id = +? AND email = ? AND status <> 'deleted' AND domain_id <> '${OUTSIDE}'`
  return readMailbox(reader, rest, [domainId, email])
}

/** @throws ProductError conflict for the address of a mailbox or alias at a domain */
export function refuseTaken(tx: Tx, domainId: string, email: string): void {
  const holder = readAt(tx, domainId, email)?.id ?? aliasAt(tx, domainId, email)?.mailboxId
  if (holder !== undefined) throw conflict('The address is already in use.', 'email')
}

/** The address of a mailbox, of any team and status. */
export function mailboxAddress(reader: Reader, id: string): string | undefined {
  return reader.get<{ email: string }>('SELECT email FROM mailboxes WHERE id = ?', [id])?.email
}
