// Registrations: creates an agent and its inbox together, within limits per source and in total.

import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import { conflict, ProductError } from '../base/errors.ts'
import { randomName } from '../base/ids.ts'
import { newSecret, sha256 } from '../base/secrets.ts'
import type { Reader, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import { placeholders, Where } from '../db/sql-text.ts'
import type { AgentDeps } from './deps.ts'
import { type AgentNetwork, networksOf } from './networks.ts'
import type { Proof } from './proof-of-work.ts'
import { AGENT_REGISTRATIONS, type Registration, type RegistrationState } from './records.ts'

export interface NewRegistration {
  /** `areg_…` */
  id: string
  /** Address of the inbox, at `AGENT_MAILBOX_DOMAIN`. */
  email: string
  clientName: string | null
  /** Client IP address, IPv6 as its /64. */
  source: string
  /** The Idempotency-Key of the request. */
  key: string
  /** Null where no proof of work is required: then the agent gets a durable token. */
  proof: Proof | null
}

export interface RegistrationFilter {
  /** Part of the address or of the name the agent gave itself. */
  search?: string
  state?: RegistrationState
  /** ms, inclusive */
  createdAfter?: number
  limit: number
  after: PageKey | null
}

/** A new registration; its secret is returned only here. */
export interface NewAgent {
  registration: Registration
  /** `clm_…` or `sat_…` */
  secret: string
}

/** docs/design/sending.md §11 and docs/design/contract.md §8. */
export const PER_SOURCE_AND_DAY = 3
export const PER_HOUR = 500
/** Quota before an owner approved, bytes. */
export const EARLY_QUOTA_BYTES = 500 * 1024 * 1024
const CLAIM_MS = 30 * DAY_MS
/** How long the source is kept, ms. */
const SOURCE_MS = 30 * DAY_MS
const PROVISION_MAX = 100
const RANDOM_LENGTH = 10
const TEAM_NAME_MAX = 100

export class Registrations {
  readonly #deps: AgentDeps

  constructor(deps: AgentDeps) {
    this.#deps = deps
  }

  /**
   * Creates a team, an inbox with its mail account, and a registration, and spends the proof, in one unit of work.
   * @param also runs in the same unit of work
   * @throws ProductError conflict (the key, the proof or the address was used), rate_limit_exceeded
   */
  async register(input: NewRegistration, also: (tx: Tx, registered: NewAgent) => void = () => {}): Promise<NewAgent> {
    const { db, domains, config } = this.#deps
    const domain = await domains.system(config.AGENT_MAILBOX_DOMAIN)
    return db.write((tx) => {
      const scope = sha256(JSON.stringify([input.source, input.key]))
      const source = this.#sourceOf(input.source)
      refuseUsedKey(tx, scope)
      if (input.proof !== null) this.#spend(tx, input.proof)
      const networks = networksOf(this.#deps.vault, input.source)
      this.#checkLimits(tx, source, networks)
      const registered = this.#insert(tx, input, { domainId: domain.id, scope, source, networks })
      also(tx, registered)
      return registered
    })
  }

  /** The address of an inbox. @param localPart null: a random one */
  addressOf(localPart: string | null): string {
    return `${localPart ?? `agent-${randomName(RANDOM_LENGTH)}`}@${this.#deps.config.AGENT_MAILBOX_DOMAIN}`
  }

  /** Whether an address is free now; another agent may take it before the registration. */
  isFree(email: string): boolean {
    return this.#deps.mailboxes.byEmail(email) === undefined
  }

  /** True when more than half of the hourly limit is used: challenges are harder then. */
  isBusy(): boolean {
    const { db, clock } = this.#deps
    return countSince(db.read, startOf(clock.now(), HOUR_MS)) > PER_HOUR / 2
  }

  byId(reader: Reader, id: string): Registration | undefined {
    return this.#by(reader, 'id = ?', id)
  }

  byN(reader: Reader, n: number): Registration | undefined {
    return this.#by(reader, 'n = ?', n)
  }

  byClaim(reader: Reader, token: string): Registration | undefined {
    return this.#by(reader, 'claim_hash = ?', sha256(token))
  }

  byDurable(reader: Reader, token: string): Registration | undefined {
    return this.#by(reader, 'durable_hash = ?', sha256(token))
  }

  /** The registrations of these teams. */
  ofTeams(teamIds: readonly string[]): Registration[] {
    if (teamIds.length === 0) return []
    const marks = placeholders(teamIds)
    return AGENT_REGISTRATIONS.all(this.#deps.db.read, `WHERE team_id IN (${marks}) ORDER BY n DESC`, teamIds)
  }

  /** All registrations, the newest first. */
  list(filter: RegistrationFilter): Page<Registration> {
    const where = new Where()
    if (filter.state !== undefined) where.add('state = ?', filter.state)
    if (filter.search !== undefined) {
      where.add(`instr(lower(email || ' ' || coalesce(client_name, '')), ?) > 0`, filter.search.toLowerCase())
    }
    if (filter.createdAfter !== undefined) where.add('created_at >= ?', filter.createdAfter)
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const registrations = AGENT_REGISTRATIONS.all(
      this.#deps.db.read,
      `WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    return pageOf(registrations, filter.limit, ({ createdAt, n }) => [createdAt, n])
  }

  /** The number of registrations by state; states without any are omitted. */
  async byState(): Promise<{ state: RegistrationState; count: number }[]> {
    return this.#deps.db.scan.all('SELECT state, count(*) AS count FROM agent_registrations GROUP BY state')
  }

  /** Creates the mail accounts of inboxes that an earlier version registered without one, in batches. @returns how many */
  async provisionDue(): Promise<number> {
    const { db, clock, store } = this.#deps
    const due = db.read.all<{ n: number; mailbox_id: string; email: string }>(
      'SELECT n, mailbox_id, email FROM agent_registrations WHERE provisioned_at IS NULL ORDER BY n LIMIT ?',
      [PROVISION_MAX],
    )
    for (const { n, mailbox_id, email } of due) {
      await db.write((tx) => {
        const { changes } = tx.run(
          'UPDATE agent_registrations SET provisioned_at = ? WHERE n = ? AND provisioned_at IS NULL',
          [clock.now(), n],
        )
        if (changes > 0) store.edit.openAccount(tx, mailbox_id, email)
      })
    }
    return due.length
  }

  /** Deletes old client addresses and expired proofs. @returns how many */
  async prune(): Promise<number> {
    const { db, clock } = this.#deps
    const now = clock.now()
    const due = db.read.get(
      `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM agent_registrations WHERE source IS NOT NULL AND created_at <= ?)
         OR EXISTS (SELECT 1 FROM agent_proofs WHERE expires_at <= ?)`,
      [now - SOURCE_MS, now],
    )
    if (due === undefined) return 0
    return db.write((tx) => {
      const sources = tx.run(
        `UPDATE agent_registrations SET source = NULL, network = NULL, wide_network = NULL
         WHERE source IS NOT NULL AND created_at <= ?`,
        [now - SOURCE_MS],
      )
      const proofs = tx.run('DELETE FROM agent_proofs WHERE expires_at <= ?', [now])
      return sources.changes + proofs.changes
    })
  }

  #by(reader: Reader, condition: string, value: string | number | Uint8Array): Registration | undefined {
    return AGENT_REGISTRATIONS.get(reader, `WHERE ${condition}`, [value])
  }

  /** The unique key decides which of several concurrent uses of one proof is the first. */
  #spend(tx: Tx, proof: Proof): void {
    const { changes } = tx.run('INSERT INTO agent_proofs (nonce, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING', [
      proof.nonce,
      proof.expiresAt,
    ])
    if (changes === 0) throw conflict('This proof was used already. Request a new challenge.', 'proof_of_work')
  }

  #checkLimits(tx: Tx, source: Uint8Array, networks: readonly AgentNetwork[]): void {
    const now = this.#deps.clock.now()
    const day = startOf(now, DAY_MS)
    const own = tx.get<{ count: number }>(
      'SELECT count(*) AS count FROM agent_registrations WHERE source = ? AND created_at >= ?',
      [source, day],
    )
    if (own!.count >= PER_SOURCE_AND_DAY) {
      throw tooMany(
        `One IP address can register ${PER_SOURCE_AND_DAY} inboxes per day. Try again tomorrow.`,
        day + DAY_MS - now,
      )
    }
    const hour = startOf(now, HOUR_MS)
    for (const { column, mac, part } of networks) {
      if (countSince(tx, hour, `${column} = ?`, [mac]) < PER_HOUR * part) continue
      const sentence = 'Too many inboxes were registered from this network in this hour. Try again later.'
      throw tooMany(sentence, hour + HOUR_MS - now)
    }
    if (countSince(tx, hour) >= PER_HOUR) {
      throw tooMany('Too many inboxes were registered in this hour. Try again later.', hour + HOUR_MS - now)
    }
  }

  #insert(
    tx: Tx,
    { id, email, clientName, proof }: NewRegistration,
    {
      domainId,
      scope,
      source,
      networks,
    }: { domainId: string; scope: Uint8Array; source: Uint8Array; networks: readonly AgentNetwork[] },
  ): NewAgent {
    const { clock, teams, mailboxes, store } = this.#deps
    const now = clock.now()
    const team = teams.createForAgent(tx, email.slice(0, TEAM_NAME_MAX))
    const inbox = { teamId: team.id, domainId, email, quotaBytes: EARLY_QUOTA_BYTES, registrationId: id }
    const mailbox = mailboxes.createForAgent(tx, inbox)
    store.edit.openAccount(tx, mailbox.id, email)
    const secret = newSecret(proof === null ? 'sat_' : 'clm_')
    const hash = sha256(secret)
    const n = AGENT_REGISTRATIONS.insert(tx, {
      id,
      teamId: team.id,
      mailboxId: mailbox.id,
      email,
      clientName,
      source,
      network: networks.find(({ column }) => column === 'network')?.mac,
      wideNetwork: networks.find(({ column }) => column === 'wide_network')?.mac,
      requestScope: scope,
      state: 'unclaimed',
      claimHash: proof === null ? null : hash,
      claimExpiresAt: proof === null ? null : now + CLAIM_MS,
      durableHash: proof === null ? hash : null,
      createdAt: now,
      provisionedAt: now,
    })
    return { registration: this.byN(tx, n)!, secret }
  }

  #sourceOf(address: string): Buffer {
    return this.#deps.vault.mac('agent-source', address)
  }
}

function refuseUsedKey(tx: Tx, scope: Uint8Array): void {
  const used = tx.get('SELECT 1 AS found FROM agent_registrations WHERE request_scope = ?', [scope])
  if (used === undefined) return
  throw conflict(
    'This Idempotency-Key was used for an earlier registration, whose token cannot be shown again. Use a new key.',
  )
}

function countSince(reader: Reader, since: number, condition = '1 = 1', values: readonly Uint8Array[] = []): number {
  const row = reader.get<{ count: number }>(
    `SELECT count(*) AS count FROM agent_registrations WHERE ${condition} AND created_at >= ?`,
    [...values, since],
  )
  return row!.count
}

/** Windows are fixed and in UTC (docs/design/contract.md §8). */
function startOf(now: number, length: number): number {
  return now - (now % length)
}

function tooMany(message: string, waitMs: number): ProductError {
  return new ProductError('rate_limit_exceeded', message, { retryAfter: Math.ceil(waitMs / 1000) })
}
