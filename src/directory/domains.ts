// Domains: whose name mail is taken for, proven by DNS.

import type { Clock } from '../base/clock.ts'
import { conflict, notFound, ProductError } from '../base/errors.ts'
import { newId, randomName } from '../base/ids.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Config } from '../config/config.ts'
import type { Db, Reader, Row, SqlValue, Tx } from '../db/db.ts'
import { type Page, pageOf } from '../db/page.ts'
import { type DkimAlgorithm, type DkimKeys, newDkimPair } from './dkim-keys.ts'
import type { DomainCheck, DomainFindings } from './domain-checks.ts'
import { newDomain } from './domain-life.ts'
import { checkDomainName, domainName, isReserved } from './domain-name.ts'
import {
  type Domain,
  type DomainFilter,
  type DomainStanding,
  type LookAtSes,
  presentDomain,
  type ReceivingDomain,
  receivingOf,
  STANDING,
  standingOf,
  stateColumns,
} from './domain-record.ts'
import { refuseTaken, yieldTo } from './domains-claims.ts'
import { DomainLooks } from './domains-verification.ts'
import type { Filters } from './filters.ts'
import { SYSTEM_TEAM_ID, teamSuspendedAt } from './teams.ts'

export type { Domain, DomainStanding, ReceivingDomain } from './domain-record.ts'

interface DomainParts {
  db: Db
  clock: Clock
  resolver: Resolver
  config: Config
  filters: Filters
  dkimKeys: DkimKeys
  /** Whether mailboxes that are not deleted have addresses at a domain. */
  inUse(tx: Tx, domainId: string): Promise<boolean>
  lookAtSes: LookAtSes
  /** Whether a mailbox that is not deleted lies at a domain and has that address, tags aside. */
  liesAt(reader: Reader, mailboxId: string, domainId: string, email: string): Promise<boolean>
}
/** Sees the current record and throws to refuse. */
type Check = (current: Domain) => void

const TOKEN_LENGTH = 32
/** Domains one automatic round looks at, and how many of them at once. */
const ROUND_MAX = 100
const AT_ONCE = 10

export class Domains {
  readonly #parts: DomainParts
  readonly #looks: DomainLooks

  constructor(parts: DomainParts) {
    this.#parts = parts
    this.#looks = new DomainLooks(parts)
  }

  /**
   * @param written as a person writes it, U-labels included
   * @throws ProductError validation_error, conflict (the team has it, or another team has proven it)
   */
  async create(teamId: string, written: string): Promise<Domain> {
    const { db, clock, config, dkimKeys } = this.#parts
    const name = checkDomainName(written, config)
    await refuseTaken(db.read, teamId, name)
    const pair = await newDkimPair('rsa')
    const id = newId('domain')
    return db.write(async (tx) => {
      await refuseTaken(tx, teamId, name)
      const state = newDomain(clock.now(), isReserved(name))
      if (state.status === 'verified') await yieldTo(tx, name, id)
      await tx.insert('domains', {
        id,
        team_id: teamId,
        name,
        ...stateColumns(state),
        receives: state.status === 'verified',
        verification_token: randomName(TOKEN_LENGTH),
        created_at: state.createdAt,
      })
      await dkimKeys.add(tx, { id, name }, pair, isReserved(name))
      return this.#present(tx, (await this.#row(tx, teamId, id))!)
    })
  }

  async get(teamId: string, id: string): Promise<Domain | undefined> {
    const row = await this.#row(this.#parts.db.read, teamId, id)
    return row && this.#present(this.#parts.db.read, row)
  }

  /** What the team's own domain of a name in stored form may do; undefined when it has none. */
  async ofTeam(reader: Reader, teamId: string, name: string): Promise<DomainStanding | undefined> {
    const row = await reader.get(`SELECT ${STANDING} FROM domains WHERE team_id = ? AND name = ?`, [teamId, name])
    return row && standingOf(row)
  }

  /**
   * What whoever sends may do with the domain of an address: the team's own, or, for a mailbox that lies there, one of the
   * appliance. An agent's team can do nothing with the domain all agents share but send from its own address.
   * @param sender `mailboxId` is null for root keys
   */
  async standingFor(
    reader: Reader,
    sender: { teamId: string; mailboxId: string | null },
    email: string,
  ): Promise<DomainStanding | undefined> {
    const name = domainName(email.slice(email.lastIndexOf('@') + 1))
    if (name === null) return undefined
    const own = await this.ofTeam(reader, sender.teamId, name)
    if (own !== undefined || sender.mailboxId === null || name !== this.#parts.config.AGENT_MAILBOX_DOMAIN) return own
    const shared = await this.ofTeam(reader, SYSTEM_TEAM_ID, name)
    return shared && (await this.#parts.liesAt(reader, sender.mailboxId, shared.id, email)) ? shared : undefined
  }

  /**
   * The appliance's own domain of a name, made where it is missing: its proof is the setting that names it.
   * @param name one of the appliance's own names, in stored form
   */
  async system(name: string): Promise<Domain> {
    const { db, clock, dkimKeys, config } = this.#parts
    const known = await this.ofTeam(db.read, SYSTEM_TEAM_ID, name)
    if (known !== undefined) return (await this.get(SYSTEM_TEAM_ID, known.id))!
    if (name !== config.AGENT_MAILBOX_DOMAIN && !config.MAIL_HOSTS.includes(name)) throw notFound('domain')
    const pair = await newDkimPair('rsa')
    return db.write(async (tx) => {
      const made = await this.ofTeam(tx, SYSTEM_TEAM_ID, name)
      const id = made?.id ?? newId('domain')
      if (made === undefined) {
        await yieldTo(tx, name, id)
        await tx.insert('domains', {
          id,
          team_id: SYSTEM_TEAM_ID,
          name,
          ...stateColumns(newDomain(clock.now(), true)),
          next_check_at: clock.now(),
          receives: true,
          verification_token: randomName(TOKEN_LENGTH),
          created_at: clock.now(),
        })
        await dkimKeys.add(tx, { id, name }, pair, isReserved(name))
      }
      return this.#present(tx, (await this.#row(tx, SYSTEM_TEAM_ID, id))!)
    })
  }

  /** Newest first. */
  async list(teamId: string, filter: DomainFilter): Promise<Page<Domain>> {
    const where = ['team_id = ?']
    const values: SqlValue[] = [teamId]
    const add = (condition: string, ...given: SqlValue[]) => {
      where.push(condition)
      values.push(...given)
    }
    if (filter.status !== undefined) add('verification_status = ?', filter.status)
    if (filter.search !== undefined) add('instr(name, ?) > 0', filter.search.toLowerCase())
    if (filter.after !== null) add('(created_at, n) < (?, ?)', ...filter.after)
    const rows = await this.#parts.db.read.all(
      `SELECT * FROM domains WHERE ${where.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, filter.limit + 1],
    )
    const present = await this.#presenter(this.#parts.db.read, rows)
    return pageOf(rows, filter.limit, (row) => [row.created_at as number, row.n as number], present)
  }

  /**
   * Looks at DNS now and moves the domain on.
   * @param check sees the current record, before the look and inside the unit of work, and throws to refuse
   * @throws ProductError not_found, service_unavailable (no name server answered), conflict (another team was first)
   */
  async verify(teamId: string, id: string, check?: Check): Promise<{ domain: Domain; checks: DomainCheck[] }> {
    const row = await this.#row(this.#parts.db.read, teamId, id)
    if (row === undefined) throw notFound('domain')
    const before = await this.#present(this.#parts.db.read, row)
    check?.(before)
    const findings = await this.#looks.look(before)
    if (findings.verification === 'unknown') {
      throw new ProductError(
        'service_unavailable',
        'The name servers of the domain could not be asked; try again later.',
      )
    }
    const domain = await this.#parts.db.write(async (tx) => {
      const current = await this.#row(tx, teamId, id)
      if (current) check?.(await this.#present(tx, current))
      const after = await this.#looks.apply(tx, row.n as number, findings, true)
      return after && this.#present(tx, after)
    })
    if (domain === undefined) throw notFound('domain')
    return { domain, checks: findings.checks }
  }

  /** What DNS says of a domain now; nothing is changed by looking. */
  async inspect(domain: Domain): Promise<DomainFindings> {
    return this.#looks.inspect(domain)
  }

  /**
   * Gives the domain another key to sign with, which it does once DNS shows its record; or its first one of a kind.
   * @throws ProductError not_found, conflict while the last key of its kind was never seen in DNS
   */
  async rotateKey(teamId: string, id: string, algorithm: DkimAlgorithm): Promise<Domain> {
    const { db, dkimKeys } = this.#parts
    const pair = await newDkimPair(algorithm)
    return db.write(async (tx) => {
      const row = await this.#row(tx, teamId, id)
      if (row === undefined) throw notFound('domain')
      await dkimKeys.add(tx, { id, name: row.name as string }, pair, isReserved(row.name as string))
      await this.#looks.soon(tx, row)
      return this.#present(tx, row)
    })
  }

  /**
   * Looks at the domains whose time has come.
   * @param signal ends the round early; what was not looked at stays due
   * @returns how many were looked at
   */
  async recheckDue(signal?: AbortSignal): Promise<number> {
    const { db, clock } = this.#parts
    const due = await db.read.all('SELECT * FROM domains WHERE next_check_at <= ? ORDER BY next_check_at LIMIT ?', [
      clock.now(),
      ROUND_MAX,
    ])
    let looked = 0
    while (looked < due.length && !signal?.aborted) {
      const group = due.slice(looked, looked + AT_ONCE)
      await Promise.all(
        group.map(async (row) => {
          const findings = await this.#looks.look(await this.#present(this.#parts.db.read, row))
          await db.write((tx) => this.#looks.apply(tx, row.n as number, findings, false))
        }),
      )
      looked += group.length
    }
    return looked
  }

  /** Has the proven domains of a team looked at in the next round: how they are to be sent from has changed. */
  async checkSoon(tx: Tx, teamId: string): Promise<void> {
    await tx.run(`UPDATE domains SET next_check_at = ? WHERE team_id = ? AND verification_status = 'verified'`, [
      this.#parts.clock.now(),
      teamId,
    ])
  }

  /** The one domain mail for a name belongs to: proven, or lapsed while nobody else has proven it since. */
  async byName(name: string): Promise<ReceivingDomain | undefined> {
    return this.#receiving('name = ? AND receives = 1', name)
  }

  /** The same for a domain whose id is known. */
  async receivingById(id: string): Promise<ReceivingDomain | undefined> {
    return this.#receiving('id = ? AND receives = 1', id)
  }

  /** @throws ProductError not_found, conflict while mailboxes that are not deleted have addresses at the domain */
  async delete(teamId: string, id: string, check?: Check): Promise<void> {
    const { db, filters, dkimKeys, inUse } = this.#parts
    await db.write(async (tx) => {
      const row = await this.#row(tx, teamId, id)
      if (row === undefined) throw notFound('domain')
      check?.(await this.#present(tx, row))
      if (await inUse(tx, id)) throw conflict('The domain still has mailboxes or aliases; delete them first.')
      await filters.drop(tx, id)
      await dkimKeys.drop(tx, id)
      await tx.run('DELETE FROM domains WHERE id = ?', [id])
    })
  }

  async #row(reader: Reader, teamId: string, id: string): Promise<Row | undefined> {
    return reader.get('SELECT * FROM domains WHERE id = ? AND team_id = ?', [id, teamId])
  }

  async #receiving(condition: string, value: string): Promise<ReceivingDomain | undefined> {
    const row = await this.#parts.db.read.get(
      `SELECT id, team_id, name, ${teamSuspendedAt('domains.team_id')} AS suspended_at FROM domains WHERE ${condition}`,
      [value],
    )
    return row && receivingOf(row)
  }

  async #present(reader: Reader, row: Row): Promise<Domain> {
    return (await this.#presenter(reader, [row]))(row)
  }

  async #presenter(reader: Reader, rows: readonly Row[]): Promise<(row: Row) => Domain> {
    const { dkimKeys, config, clock } = this.#parts
    const keys = await dkimKeys.of(
      reader,
      rows.map((row) => row.id as string),
    )
    const view = { mailHosts: config.MAIL_HOSTS, now: clock.now() }
    return (row) => presentDomain(row, { ...view, keys: keys.get(row.id as string)! })
  }
}
