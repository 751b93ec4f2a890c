// Registrations: an agent and its inbox, made together, within limits that no stranger can wear out for others.

import { conflict, ProductError } from '../base/errors.ts'
import { randomName } from '../base/ids.ts'
import { newSecret, sha256 } from '../base/secrets.ts'
import type { Reader, SqlValue, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import type { AgentParts } from './deps.ts'
import type { Proof } from './proof-of-work.ts'
import { type Registration, type RegistrationState, registrationOf } from './records.ts'

export interface NewRegistration {
  /** `areg_…` */
  id: string
  /** Address of the inbox, at the domain of agents. */
  email: string
  clientName: string | null
  /** Address the request came from, IPv6 as its /64. */
  source: string
  /** The Idempotency-Key of the request. */
  key: string
  /** The work that was done; null where none is asked for: then the agent gets a token that lasts. */
  proof: Proof | null
}

export interface RegistrationFilter {
  state?: RegistrationState
  /** ms, inclusive */
  createdAfter?: number
  limit: number
  after: PageKey | null
}

/** What a new agent is told; its secret is told once. */
export interface Registered {
  registration: Registration
  /** `clm_…` or `sat_…` */
  secret: string
}

/** Decisions §8 and §11.5. */
export const PER_SOURCE_AND_DAY = 3
export const PER_HOUR = 500
/** Storage before an owner approved, bytes. */
export const EARLY_QUOTA_BYTES = 500 * 1024 * 1024
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const CLAIM_MS = 30 * DAY_MS
/** Sources are forgotten after so long. */
const SOURCE_MS = 30 * DAY_MS
const PROVISION_MAX = 100
const MADE_UP_LENGTH = 10
const TEAM_NAME_MAX = 100

export class Registrations {
  readonly #parts: AgentParts

  constructor(parts: AgentParts) {
    this.#parts = parts
  }

  /**
   * Makes a team, an inbox whose mail side is still to be set up, and a registration: all or nothing, the proof included.
   * @param also runs in the same unit of work
   * @throws ProductError conflict (the key, the proof or the address was used), rate_limit_exceeded
   */
  async register(
    input: NewRegistration,
    also: (tx: Tx, registered: Registered) => Promise<void> = async () => {},
  ): Promise<Registered> {
    const { db, domains, config } = this.#parts
    const domain = await domains.system(config.AGENT_MAILBOX_DOMAIN)
    return db.write(async (tx) => {
      const scope = sha256(JSON.stringify([input.source, input.key]))
      const source = this.#sourceOf(input.source)
      await refuseUsedKey(tx, scope)
      if (input.proof !== null) await this.#spend(tx, input.proof)
      await this.#checkLimits(tx, source)
      const registered = await this.#insert(tx, input, { domainId: domain.id, scope, source })
      await also(tx, registered)
      return registered
    })
  }

  /** The address of an inbox. @param localPart null: one is made up */
  addressOf(localPart: string | null): string {
    return `${localPart ?? `agent-${randomName(MADE_UP_LENGTH)}`}@${this.#parts.config.AGENT_MAILBOX_DOMAIN}`
  }

  /** Whether an address can still be had; another agent may be faster. */
  async isFree(email: string): Promise<boolean> {
    return (await this.#parts.mailboxes.byEmail(email)) === undefined
  }

  /** True while more than half of what an hour allows has come: work is made dearer then. */
  async isCrowded(): Promise<boolean> {
    const { db, clock } = this.#parts
    return (await countSince(db.read, startOf(clock.now(), HOUR_MS))) > PER_HOUR / 2
  }

  async byId(reader: Reader, id: string): Promise<Registration | undefined> {
    return this.#by(reader, 'id = ?', id)
  }

  async byN(reader: Reader, n: number): Promise<Registration | undefined> {
    return this.#by(reader, 'n = ?', n)
  }

  async byClaim(reader: Reader, token: string): Promise<Registration | undefined> {
    return this.#by(reader, 'claim_hash = ?', sha256(token))
  }

  async byDurable(reader: Reader, token: string): Promise<Registration | undefined> {
    return this.#by(reader, 'durable_hash = ?', sha256(token))
  }

  /** The registrations whose teams these are. */
  async ofTeams(teamIds: readonly string[]): Promise<Registration[]> {
    if (teamIds.length === 0) return []
    const marks = teamIds.map(() => '?').join(', ')
    const rows = await this.#parts.db.read.all(
      `SELECT * FROM agent_registrations WHERE team_id IN (${marks}) ORDER BY n DESC`,
      teamIds,
    )
    return rows.map(registrationOf)
  }

  /** All registrations, the newest first. */
  async list(filter: RegistrationFilter): Promise<Page<Registration>> {
    const where = ['1 = 1']
    const values: SqlValue[] = []
    const add = (condition: string, ...given: SqlValue[]) => {
      where.push(condition)
      values.push(...given)
    }
    if (filter.state !== undefined) add('state = ?', filter.state)
    if (filter.createdAfter !== undefined) add('created_at >= ?', filter.createdAfter)
    if (filter.after !== null) add('(created_at, n) < (?, ?)', ...filter.after)
    const rows = await this.#parts.db.read.all(
      `SELECT * FROM agent_registrations WHERE ${where.join(' AND ')} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...values, filter.limit + 1],
    )
    return pageOf(rows, filter.limit, (row) => [row.created_at as number, row.n as number], registrationOf)
  }

  /** How many there are, by state; a state nobody is in is left out. */
  async byState(): Promise<{ state: RegistrationState; count: number }[]> {
    return this.#parts.db.scan.all('SELECT state, count(*) AS count FROM agent_registrations GROUP BY state')
  }

  /** Sets up the mail side of the inboxes that wait for it. @returns how many */
  async provisionDue(): Promise<number> {
    const { db, clock, openAccount } = this.#parts
    const due = await db.read.all<{ n: number; mailbox_id: string; email: string }>(
      'SELECT n, mailbox_id, email FROM agent_registrations WHERE provisioned_at IS NULL ORDER BY n LIMIT ?',
      [PROVISION_MAX],
    )
    for (const { n, mailbox_id, email } of due) {
      await db.write(async (tx) => {
        const { changes } = await tx.run(
          'UPDATE agent_registrations SET provisioned_at = ? WHERE n = ? AND provisioned_at IS NULL',
          [clock.now(), n],
        )
        if (changes > 0) await openAccount(tx, mailbox_id, email)
      })
    }
    return due.length
  }

  /** Forgets where registrations came from, and proofs nobody can show again. */
  async forget(): Promise<number> {
    const { db, clock } = this.#parts
    const now = clock.now()
    const due = await db.read.get(
      `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM agent_registrations WHERE source IS NOT NULL AND created_at <= ?)
         OR EXISTS (SELECT 1 FROM agent_proofs WHERE expires_at <= ?)`,
      [now - SOURCE_MS, now],
    )
    if (due === undefined) return 0
    return db.write(async (tx) => {
      const sources = await tx.run(
        'UPDATE agent_registrations SET source = NULL WHERE source IS NOT NULL AND created_at <= ?',
        [now - SOURCE_MS],
      )
      const proofs = await tx.run('DELETE FROM agent_proofs WHERE expires_at <= ?', [now])
      return sources.changes + proofs.changes
    })
  }

  async #by(reader: Reader, condition: string, value: string | number | Uint8Array): Promise<Registration | undefined> {
    const row = await reader.get(`SELECT * FROM agent_registrations WHERE ${condition}`, [value])
    return row && registrationOf(row)
  }

  /** The database alone decides which of many sends of one proof is the first. */
  async #spend(tx: Tx, proof: Proof): Promise<void> {
    const { changes } = await tx.run(
      'INSERT INTO agent_proofs (nonce, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
      [proof.nonce, proof.expiresAt],
    )
    if (changes === 0) throw conflict('This proof was used already; ask for a new challenge.', 'proof_of_work')
  }

  async #checkLimits(tx: Tx, source: Uint8Array): Promise<void> {
    const now = this.#parts.clock.now()
    const day = startOf(now, DAY_MS)
    const own = await tx.get<{ count: number }>(
      'SELECT count(*) AS count FROM agent_registrations WHERE source = ? AND created_at >= ?',
      [source, day],
    )
    if (own!.count >= PER_SOURCE_AND_DAY) {
      throw tooMany(`From one address ${PER_SOURCE_AND_DAY} inboxes can be registered a day.`, day + DAY_MS - now)
    }
    const hour = startOf(now, HOUR_MS)
    if ((await countSince(tx, hour)) >= PER_HOUR) {
      throw tooMany('Too many inboxes were registered in this hour.', hour + HOUR_MS - now)
    }
  }

  async #insert(
    tx: Tx,
    { id, email, clientName, proof }: NewRegistration,
    { domainId, scope, source }: { domainId: string; scope: Uint8Array; source: Uint8Array },
  ): Promise<Registered> {
    const { clock, teams, mailboxes } = this.#parts
    const now = clock.now()
    const team = await teams.createForAgent(tx, email.slice(0, TEAM_NAME_MAX))
    const inbox = { teamId: team.id, domainId, email, quotaBytes: EARLY_QUOTA_BYTES, registrationId: id }
    const mailbox = await mailboxes.createForAgent(tx, inbox)
    const secret = newSecret(proof === null ? 'sat_' : 'clm_')
    const hash = sha256(secret)
    const n = await tx.insert('agent_registrations', {
      id,
      team_id: team.id,
      mailbox_id: mailbox.id,
      email,
      client_name: clientName,
      source,
      request_scope: scope,
      state: 'unclaimed',
      claim_hash: proof === null ? null : hash,
      claim_expires_at: proof === null ? null : now + CLAIM_MS,
      durable_hash: proof === null ? hash : null,
      created_at: now,
    })
    return { registration: (await this.byN(tx, n))!, secret }
  }

  #sourceOf(address: string): Buffer {
    return this.#parts.vault.mac('agent-source', address)
  }
}

async function refuseUsedKey(tx: Tx, scope: Uint8Array): Promise<void> {
  const used = await tx.get('SELECT 1 AS found FROM agent_registrations WHERE request_scope = ?', [scope])
  if (used === undefined) return
  throw conflict('This Idempotency-Key has registered an inbox before; its token can no longer be revealed.')
}

async function countSince(reader: Reader, since: number): Promise<number> {
  const row = await reader.get<{ count: number }>(
    'SELECT count(*) AS count FROM agent_registrations WHERE created_at >= ?',
    [since],
  )
  return row!.count
}

/** Windows are fixed and in UTC (specification §8). */
function startOf(now: number, length: number): number {
  return now - (now % length)
}

function tooMany(message: string, waitMs: number): ProductError {
  return new ProductError('rate_limit_exceeded', message, { retryAfter: Math.ceil(waitMs / 1000) })
}
