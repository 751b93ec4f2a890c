// Domains: whose name mail is taken for, proven by DNS.

import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../base/clock.ts'
import { conflict, notFound, ProductError } from '../base/errors.ts'
import { newId, randomName } from '../base/ids.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Vault } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Reader, Row, SqlValue, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import { checkDomain, type DomainCheck, type DomainFindings } from './domain-checks.ts'
import { newDomain, nextState, type VerificationStatus } from './domain-life.ts'
import { checkDomainName, isReserved } from './domain-name.ts'
import { type Domain, presentDomain, type ReceivingDomain, stateColumns, stateOf } from './domain-record.ts'
import type { Filters } from './filters.ts'
import { teamSuspendedAt } from './teams.ts'

export type { Domain, ReceivingDomain } from './domain-record.ts'

export interface DomainFilter {
  status?: VerificationStatus
  /** A part of the name. */
  search?: string
  limit: number
  after: PageKey | null
}

interface DomainParts {
  db: Db
  clock: Clock
  vault: Vault
  resolver: Resolver
  config: Config
  filters: Filters
  /** Whether mailboxes that are not deleted lie at a domain. */
  inUse(tx: Tx, domainId: string): Promise<boolean>
}

/** What the sealed private keys of DKIM are for; the vault opens them for nothing else. */
export const DKIM_PURPOSE = 'dkim'
const SELECTOR = 's1'
const TOKEN_LENGTH = 32
/** Domains one automatic round looks at, and how many of them at once. */
const ROUND_MAX = 100
const AT_ONCE = 10

export class Domains {
  readonly #parts: DomainParts

  constructor(parts: DomainParts) {
    this.#parts = parts
  }

  /**
   * @param written as a person writes it, U-labels included
   * @throws ProductError validation_error, conflict (the team has it, or another team has proven it)
   */
  async create(teamId: string, written: string): Promise<Domain> {
    const { db, clock, vault, config } = this.#parts
    const name = checkDomainName(written, config)
    await refuseTaken(db.read, teamId, name)
    const keys = await promisify(generateKeyPair)('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    })
    const id = newId('domain')
    const sealed = vault.seal(DKIM_PURPOSE, keys.privateKey)
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
        dkim_selector: SELECTOR,
        dkim_public: keys.publicKey.toString('base64'),
        dkim_private_sealed: sealed,
        created_at: state.createdAt,
      })
      return this.#present((await tx.get('SELECT * FROM domains WHERE id = ?', [id]))!)
    })
  }

  async get(teamId: string, id: string): Promise<Domain | undefined> {
    const row = await this.#row(this.#parts.db.read, teamId, id)
    return row && this.#present(row)
  }

  /** The team's own row for a name in stored form. */
  async ofTeam(reader: Reader, teamId: string, name: string): Promise<Domain | undefined> {
    const row = await reader.get('SELECT * FROM domains WHERE team_id = ? AND name = ?', [teamId, name])
    return row && this.#present(row)
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
    return pageOf(
      rows,
      filter.limit,
      (row) => [row.created_at as number, row.n as number],
      (row) => this.#present(row),
    )
  }

  /**
   * Looks at DNS now and moves the domain on.
   * @throws ProductError not_found, service_unavailable (no name server answered), conflict (another team was first)
   */
  async verify(teamId: string, id: string): Promise<{ domain: Domain; checks: DomainCheck[] }> {
    const row = await this.#row(this.#parts.db.read, teamId, id)
    if (row === undefined) throw notFound('domain')
    const findings = await this.#look(row)
    if (findings.verification === 'unknown') {
      throw new ProductError(
        'service_unavailable',
        'The name servers of the domain could not be asked; try again later.',
      )
    }
    const after = await this.#parts.db.write((tx) => this.#apply(tx, row.n as number, findings, true))
    if (after === undefined) throw notFound('domain')
    return { domain: this.#present(after), checks: findings.checks }
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
          const findings = await this.#look(row)
          await db.write((tx) => this.#apply(tx, row.n as number, findings, false))
        }),
      )
      looked += group.length
    }
    return looked
  }

  /** The one domain mail for a name belongs to: proven, or lapsed while nobody else has proven it since. */
  async byName(name: string): Promise<ReceivingDomain | undefined> {
    return this.#receiving('name = ? AND receives = 1', name)
  }

  /** The same for a domain whose id is known. */
  async receivingById(id: string): Promise<ReceivingDomain | undefined> {
    return this.#receiving('id = ? AND receives = 1', id)
  }

  /** @throws ProductError not_found, conflict while a mailbox at the domain is not deleted */
  async delete(teamId: string, id: string): Promise<void> {
    const { db, filters, inUse } = this.#parts
    await db.write(async (tx) => {
      const row = await this.#row(tx, teamId, id)
      if (row === undefined) throw notFound('domain')
      if (await inUse(tx, id)) throw conflict('The domain still has mailboxes; delete them first.')
      await filters.drop(tx, id)
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
    if (row === undefined) return undefined
    return {
      id: row.id as string,
      teamId: row.team_id as string,
      name: row.name as string,
      teamSuspendedAt: row.suspended_at as number | null,
    }
  }

  #present(row: Row): Domain {
    return presentDomain(row, this.#parts.config.MAIL_HOSTS)
  }

  #look(row: Row): Promise<DomainFindings> {
    return checkDomain(this.#parts.resolver, this.#present(row).records, isReserved(row.name as string))
  }

  /** @returns the row afterwards; undefined when it is gone */
  async #apply(tx: Tx, n: number, findings: DomainFindings, asked: boolean): Promise<Row | undefined> {
    const row = await tx.get('SELECT * FROM domains WHERE n = ?', [n])
    const now = this.#parts.clock.now()
    if (row === undefined) return undefined
    const state = stateOf(row)
    // Somebody else has looked in the meantime: one day must not count twice.
    if (!asked && (state.nextCheckAt === null || state.nextCheckAt > now)) return row
    const next = nextState(state, findings.verification, asked, now)
    const name = row.name as string
    if (next.status === 'verified' && state.status !== 'verified') {
      await refuseProven(tx, row.team_id as string, name)
      await yieldTo(tx, name, row.id as string)
    }
    const changed = {
      ...row,
      ...stateColumns(next),
      receives: next.status === 'verified' ? 1 : row.receives,
      dkim_ok: findings.dkim === 'unknown' ? row.dkim_ok : Number(findings.dkim === 'found'),
    }
    await tx.run(
      `UPDATE domains SET verification_status = ?, verified_at = ?, missing_days = ?, next_check_at = ?, receives = ?,
         dkim_ok = ? WHERE n = ?`,
      [
        changed.verification_status,
        changed.verified_at,
        changed.missing_days,
        changed.next_check_at,
        changed.receives,
        changed.dkim_ok,
        n,
      ],
    )
    return changed
  }
}

async function refuseTaken(reader: Reader, teamId: string, name: string): Promise<void> {
  const own = await reader.get('SELECT 1 AS taken FROM domains WHERE team_id = ? AND name = ?', [teamId, name])
  if (own !== undefined) throw conflict('The team already has this domain.', 'domain')
  await refuseProven(reader, teamId, name)
}

async function refuseProven(reader: Reader, teamId: string, name: string): Promise<void> {
  const other = await reader.get(
    `SELECT 1 AS taken FROM domains WHERE name = ? AND verification_status = 'verified' AND team_id <> ?`,
    [name, teamId],
  )
  if (other !== undefined) throw conflict('The domain is verified by another team.', 'domain')
}

// The first to verify wins: others who wait have failed, and one whose proof has lapsed takes no more mail.
async function yieldTo(tx: Tx, name: string, winnerId: string): Promise<void> {
  await tx.run(
    `UPDATE domains SET verification_status = 'failed', receives = 0, next_check_at = NULL WHERE name = ? AND id <> ?`,
    [name, winnerId],
  )
}
