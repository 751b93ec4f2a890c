// Domains of teams, verified by DNS.

import type { Clock } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { newId, randomName } from '../../base/ids.ts'
import type { Resolver } from '../../base/resolver.ts'
import type { Config } from '../../config/config.ts'
import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import { type Page, pageOf } from '../../db/page.ts'
import { RowCache } from '../../db/row-cache.ts'
import { Where } from '../../db/sql-text.ts'
import { domainOf } from '../../mime/address.ts'
import type { StsMode } from '../../tls-policy/sts.ts'
import { SYSTEM_TEAM_ID, teamSuspendedAt } from '../keys/teams.ts'
import { type ClientRecordCheck, checkClientRecords } from '../names/client-records.ts'
import { checkDomainName, domainName, isReserved } from '../names/domain-name.ts'
import type { CheckChange, DatedCheck } from './check-changes.ts'
import type { DkimAlgorithm, DkimKey, DkimKeys, NewDkimPair } from './dkim-keys.ts'
import type { DomainFindings } from './domain-checks.ts'
import { newDomain } from './domain-lifecycle.ts'
import {
  changesOf,
  checksOf,
  type Domain,
  type DomainFilter,
  type DomainStatus,
  domainStatusOf,
  presentDomain,
  type ReceivingDomain,
  receivingOf,
  STATUS_COLUMNS,
  stateColumns,
} from './domain-record.ts'
import { type DomainInspection, DomainVerifier, failOtherClaims, refuseTaken } from './domains-verification.ts'
import type { Filters } from './filters.ts'

export type { Domain, DomainStatus, ReceivingDomain } from './domain-record.ts'

interface DomainDeps {
  db: Db
  clock: Clock
  resolver: Resolver
  config: Config
  filters: Filters
  dkimKeys: DkimKeys
  /** Makes key pairs. */
  newDkimPair: NewDkimPair
  /** Whether mailboxes that are not deleted have addresses at a domain. */
  inUse(tx: Tx, domainId: string): boolean
  /** Forgets patterns, retired addresses and those that patterns matched. */
  dropAddressing(tx: Tx, domainId: string): void
  /** Whether a mailbox, unless deleted, has that address at a domain; a `+tag` is ignored. */
  hasAddress(reader: Reader, mailboxId: string, domainId: string, email: string): boolean
}
/** Receives the current record; throws to refuse. */
type Check = (current: Domain) => void

const TOKEN_LENGTH = 32
/** Receiving domains in memory. */
const KNOWN_MAX = 1000

export class Domains {
  readonly #deps: DomainDeps
  readonly #verifier: DomainVerifier
  /** By name: read for each recipient of a message. */
  readonly #known: RowCache<string, ReceivingDomain>

  constructor(deps: DomainDeps) {
    this.#deps = deps
    this.#known = new RowCache(deps.db, KNOWN_MAX)
    this.#verifier = new DomainVerifier(deps)
  }

  /**
   * @param written as a person writes it, U-labels included
   * @throws ProductError validation_error, conflict (the team has it, or another team has verified it)
   */
  async create(teamId: string, written: string): Promise<Domain> {
    const { db, clock, config, dkimKeys, newDkimPair } = this.#deps
    const name = checkDomainName(written, config)
    refuseTaken(db.read, teamId, name)
    const pair = await newDkimPair('rsa')
    const id = newId('domain')
    return db.write((tx) => {
      refuseTaken(tx, teamId, name)
      const state = newDomain(clock.now(), isReserved(name))
      if (state.status === 'verified') failOtherClaims(tx, name, id)
      tx.insert('domains', {
        id,
        team_id: teamId,
        name,
        ...stateColumns(state),
        receives: state.status === 'verified',
        verification_token: randomName(TOKEN_LENGTH),
        created_at: state.createdAt,
      })
      dkimKeys.add(tx, { id, name }, pair, isReserved(name))
      return this.#present(tx, this.#row(tx, teamId, id)!)
    })
  }

  get(teamId: string, id: string): Domain | undefined {
    const row = this.#row(this.#deps.db.read, teamId, id)
    return row && this.#present(this.#deps.db.read, row)
  }

  /** The status of the team's own domain of a name in stored form; undefined without one. */
  ofTeam(reader: Reader, teamId: string, name: string): DomainStatus | undefined {
    const row = reader.get(`SELECT ${STATUS_COLUMNS} FROM domains WHERE team_id = ? AND name = ?`, [teamId, name])
    return row && domainStatusOf(row)
  }

  /**
   * The status of the sender's domain by the sender address: a domain of the team, or for an agent's own address the domain that all agents
   * share.
   * @param sender `mailboxId` is null for root keys
   */
  statusFor(
    reader: Reader,
    sender: { teamId: string; mailboxId: string | null },
    email: string,
  ): DomainStatus | undefined {
    const name = domainName(domainOf(email))
    if (name === null) return undefined
    const own = this.ofTeam(reader, sender.teamId, name)
    if (own !== undefined || sender.mailboxId === null || name !== this.#deps.config.AGENT_MAILBOX_DOMAIN) return own
    const shared = this.ofTeam(reader, SYSTEM_TEAM_ID, name)
    return shared && this.#deps.hasAddress(reader, sender.mailboxId, shared.id, email) ? shared : undefined
  }

  /**
   * The appliance's own domain of a name, created when missing: the setting that names it is its proof.
   * @param name one of the appliance's own names, in stored form
   */
  async system(name: string): Promise<Domain> {
    const { db, clock, dkimKeys, config, newDkimPair } = this.#deps
    const known = this.ofTeam(db.read, SYSTEM_TEAM_ID, name)
    if (known !== undefined) return this.get(SYSTEM_TEAM_ID, known.id)!
    if (name !== config.AGENT_MAILBOX_DOMAIN && !config.MAIL_HOSTS.includes(name)) throw notFound('domain')
    const pair = await newDkimPair('rsa')
    return db.write((tx) => {
      const made = this.ofTeam(tx, SYSTEM_TEAM_ID, name)
      const id = made?.id ?? newId('domain')
      if (made === undefined) {
        failOtherClaims(tx, name, id)
        tx.insert('domains', {
          id,
          team_id: SYSTEM_TEAM_ID,
          name,
          ...stateColumns(newDomain(clock.now(), true)),
          next_check_at: clock.now(),
          receives: true,
          verification_token: randomName(TOKEN_LENGTH),
          created_at: clock.now(),
        })
        dkimKeys.add(tx, { id, name }, pair, isReserved(name))
      }
      return this.#present(tx, this.#row(tx, SYSTEM_TEAM_ID, id)!)
    })
  }

  /** How many domains a team has. */
  count(teamId: string): number {
    const sql = 'SELECT count(*) AS count FROM domains WHERE team_id = ?'
    return this.#deps.db.read.get<{ count: number }>(sql, [teamId])!.count
  }

  /** Newest first. */
  list(teamId: string, filter: DomainFilter): Page<Domain> {
    const where = new Where().add('team_id = ?', teamId)
    if (filter.status !== undefined) where.add('verification_status = ?', filter.status)
    if (filter.search !== undefined) where.add('instr(name, ?) > 0', filter.search.toLowerCase())
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const rows = this.#deps.db.read.all(
      `SELECT * FROM domains WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    const present = this.#presenter(this.#deps.db.read, rows)
    return pageOf(rows, filter.limit, (row) => [row.created_at as number, row.n as number], present)
  }

  /** As `get`, inside a unit of work. */
  getIn(tx: Tx, teamId: string, id: string): Domain | undefined {
    const row = this.#row(tx, teamId, id)
    return row && this.#present(tx, row)
  }

  /** Checks DNS without changing the domain. */
  async inspect(domain: Domain): Promise<DomainFindings> {
    return this.#verifier.inspect(domain)
  }

  /** Looks up the records for mail programs. */
  async checkClientRecords(domain: Domain): Promise<ClientRecordCheck[]> {
    return checkClientRecords(this.#deps.resolver, domain.records.client)
  }

  /**
   * Adds a DKIM key, which signs once its DNS record is found; the first of its algorithm or a rotation.
   * @param check called with the domain before the change; it throws when the caller knows another version
   * @throws ProductError not_found, conflict while the last key of the algorithm was never found in DNS
   */
  async rotateKey(teamId: string, id: string, algorithm: DkimAlgorithm, check?: Check): Promise<Domain> {
    const { db, dkimKeys, newDkimPair } = this.#deps
    const pair = await newDkimPair(algorithm)
    return db.write((tx) => {
      const row = this.#row(tx, teamId, id)
      if (row === undefined) throw notFound('domain')
      check?.(this.#present(tx, row))
      dkimKeys.add(tx, { id, name: row.name as string }, pair, isReserved(row.name as string))
      this.#verifier.recheckSoon(tx, row)
      return this.#present(tx, row)
    })
  }

  /** @throws ProductError not_found */
  async setMtaStsMode(teamId: string, id: string, mode: StsMode, check?: Check): Promise<Domain> {
    return this.#deps.db.write((tx) => {
      const row = this.#row(tx, teamId, id)
      if (row === undefined) throw notFound('domain')
      check?.(this.#present(tx, row))
      tx.run('UPDATE domains SET mta_sts_mode = ? WHERE id = ?', [mode, id])
      return this.#present(tx, { ...row, mta_sts_mode: mode })
    })
  }

  /** Of the domain that receives for a name; undefined without one. */
  mtaStsModeOf(name: string): StsMode | undefined {
    const sql = 'SELECT mta_sts_mode AS mode FROM domains WHERE name = ? AND receives = 1'
    return this.#deps.db.read.get<{ mode: StsMode }>(sql, [name])?.mode
  }

  /** The DKIM keys of a domain, the oldest first; undefined for a domain of another team. */
  keysOf(teamId: string, id: string): DkimKey[] | undefined {
    const { db, dkimKeys } = this.#deps
    if (this.#row(db.read, teamId, id) === undefined) return undefined
    return dkimKeys.of(db.read, [id]).get(id)
  }

  /** Checks DNS for the verification of a domain, without changing it; the appliance's own names need no proof. */
  async findings(domain: Domain): Promise<DomainFindings> {
    return this.#verifier.findings(domain)
  }

  /**
   * Applies the findings of a check to a domain.
   * @param requested true for a check requested by a user; an automatic one changes nothing when the check is no longer due
   * @returns the domain afterwards; undefined when it was deleted
   * @throws ProductError conflict when another team has verified the name
   */
  applyFindings(tx: Tx, id: string, findings: DomainInspection, requested: boolean): Domain | undefined {
    const row = this.#verifier.apply(tx, id, findings, requested)
    return row && this.#present(tx, row)
  }

  /** The findings of the last check, and what the last checks found changed; undefined for a domain of another team. */
  checks(teamId: string, id: string): { checks: DatedCheck[]; changes: CheckChange[] } | undefined {
    const row = this.#row(this.#deps.db.read, teamId, id)
    return row && { checks: checksOf(row), changes: changesOf(row) }
  }

  /** The domains whose check is due, the longest overdue first. */
  due(limit: number): Domain[] {
    const { db, clock } = this.#deps
    const rows = db.read.all('SELECT * FROM domains WHERE next_check_at <= ? ORDER BY next_check_at LIMIT ?', [
      clock.now(),
      limit,
    ])
    return rows.map(this.#presenter(db.read, rows))
  }

  /** Schedules a check of the verified domains of a team in the next round, after its sending accounts changed. */
  checkSoon(tx: Tx, teamId: string): void {
    tx.run(`UPDATE domains SET next_check_at = ? WHERE team_id = ? AND verification_status = 'verified'`, [
      this.#deps.clock.now(),
      teamId,
    ])
  }

  /** The one domain that receives for a name: verified, or lapsed without a later verification by another team. */
  byName(name: string): ReceivingDomain | undefined {
    return this.#known.get(name, () => {
      const domain = this.#receiving('name = ? AND receives = 1', name)
      return domain && Object.freeze(domain)
    })
  }

  /** Those of some names that the appliance receives for. */
  receivingAmong(names: readonly string[]): Set<string> {
    const sql = 'SELECT name FROM domains WHERE name IN (SELECT value FROM json_each(?)) AND receives = 1'
    const rows = this.#deps.db.read.all<{ name: string }>(sql, [JSON.stringify(names)])
    return new Set(rows.map(({ name }) => name))
  }

  /** As `byName`, by id. */
  receivingById(id: string): ReceivingDomain | undefined {
    return this.#receiving('id = ? AND receives = 1', id)
  }

  /** The characters that begin sub-addresses at a domain of a team. */
  separators(reader: Reader, teamId: string, id: string): string | undefined {
    const sql = 'SELECT separators FROM domains WHERE id = ? AND team_id = ?'
    return reader.get<{ separators: string }>(sql, [id, teamId])?.separators
  }

  setSeparatorsIn(tx: Tx, id: string, separators: string): void {
    tx.run('UPDATE domains SET separators = ? WHERE id = ?', [separators, id])
  }

  /** @throws ProductError not_found, conflict while mailboxes that are not deleted have addresses at the domain */
  async delete(teamId: string, id: string, check?: Check): Promise<void> {
    const { db, filters, dkimKeys, inUse, dropAddressing } = this.#deps
    await db.write((tx) => {
      const row = this.#row(tx, teamId, id)
      if (row === undefined) throw notFound('domain')
      check?.(this.#present(tx, row))
      if (inUse(tx, id)) throw conflict('The domain still has mailboxes or aliases. Delete them first.')
      filters.drop(tx, id)
      dkimKeys.drop(tx, id)
      dropAddressing(tx, id)
      tx.run('DELETE FROM domains WHERE id = ?', [id])
    })
  }

  #row(reader: Reader, teamId: string, id: string): Row | undefined {
    return reader.get('SELECT * FROM domains WHERE id = ? AND team_id = ?', [id, teamId])
  }

  #receiving(condition: string, value: string): ReceivingDomain | undefined {
    const row = this.#deps.db.read.get(
      `SELECT id, team_id, name, separators, ${teamSuspendedAt('domains.team_id')} AS suspended_at FROM domains WHERE ${condition}`,
      [value],
    )
    return row && receivingOf(row)
  }

  #present(reader: Reader, row: Row): Domain {
    return this.#presenter(reader, [row])(row)
  }

  #presenter(reader: Reader, rows: readonly Row[]): (row: Row) => Domain {
    const { dkimKeys, config, clock } = this.#deps
    const keys = dkimKeys.of(
      reader,
      rows.map((row) => row.id as string),
    )
    const view = { config, now: clock.now() }
    return (row) => presentDomain(row, { ...view, keys: keys.get(row.id as string)! })
  }
}
