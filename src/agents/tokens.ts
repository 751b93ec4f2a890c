// Access tokens of agents: opaque, for one resource and one hour, revoked with their registration.

import { MINUTE_MS } from '../base/durations.ts'
import { isSecret, newSecret, sha256 } from '../base/secrets.ts'
import type { Row, Tx } from '../db/db.ts'
import { placeholders } from '../db/sql-text.ts'
import { teamSuspendedAt } from '../directory/keys/teams.ts'
import type { MailboxPrincipal, Recognised } from '../directory/names/principal.ts'
import type { AgentDeps } from './deps.ts'

/** The resource of a token: the Management and Mailbox API, the Sending API, or the tools for assistants. */
export const TOKEN_AUDIENCES = ['app', 'send', 'mcp'] as const
export type TokenAudience = (typeof TOKEN_AUDIENCES)[number]

/** The maximum scopes of a token by resource (docs/design/contract.md §5.2). */
export const AUDIENCE_SCOPES: Readonly<Record<TokenAudience, readonly string[]>> = {
  app: ['mailbox.read', 'email.receive'],
  send: ['email.send'],
  mcp: ['mailbox.read', 'email.receive', 'email.send'],
}
/** The scope that needs the approval of an owner. */
export const SENDING_SCOPE = 'email.send'

/** Lifetime of an access token, seconds. */
export const TOKEN_SECONDS = 3600
const DEAD = `('revoked', 'expired')`

export class AgentTokens {
  readonly #deps: Pick<AgentDeps, 'db' | 'clock'>
  /** Registrations whose last use is being written. */
  readonly #noting = new Set<number>()

  constructor(deps: Pick<AgentDeps, 'db' | 'clock'>) {
    this.#deps = deps
  }

  /** Creates a token in the unit of work that checked the grant. */
  mint(tx: Tx, registration: number, audience: TokenAudience, scopes: readonly string[]): string {
    const token = newSecret('sax_')
    tx.insert('agent_tokens', {
      hash: sha256(token),
      registration,
      audience,
      scope: scopes.join(' '),
      expires_at: this.#deps.clock.now() + TOKEN_SECONDS * 1000,
    })
    return token
  }

  /**
   * The principal of a token; undefined for one that is malformed, unknown, expired or revoked. A token for another resource is
   * recognised without permissions; a durable token reads at the tools too.
   */
  recognise(secret: string, resource: TokenAudience): Recognised<MailboxPrincipal> | undefined {
    if (!isSecret(secret)) return undefined
    const found = secret.startsWith('sat_') ? this.#durable(secret) : this.#access(secret)
    if (found === undefined) return undefined
    this.#noteUse(found)
    const isFor = found.audience === resource || (secret.startsWith('sat_') && resource === 'mcp')
    const scopes = (found.scope as string).split(' ')
    const { id, team_id: teamId, mailbox_id: mailboxId } = found as Record<string, string>
    const principal: MailboxPrincipal = {
      kind: 'mailbox',
      keyId: id!,
      teamId: teamId!,
      mailboxId: mailboxId!,
      permissions: isFor ? scopes : [],
      agent: { registrationId: id!, scope: scopes.join(' ') },
    }
    return { principal, suspended: found.suspended_at !== null }
  }

  /** Those of the given hashes of tokens that are accepted now, as hexadecimal text. */
  acceptedAmong(hashes: readonly Uint8Array[]): Set<string> {
    const { db, clock } = this.#deps
    const marks = placeholders(hashes)
    const rows = db.read.all<{ hash: Uint8Array }>(
      `SELECT t.hash FROM agent_tokens t JOIN agent_registrations r ON r.n = t.registration
         WHERE t.hash IN (${marks}) AND t.expires_at > ? AND r.state NOT IN ${DEAD}
       UNION ALL SELECT durable_hash FROM agent_registrations WHERE durable_hash IN (${marks}) AND state NOT IN ${DEAD}`,
      [...hashes, clock.now(), ...hashes],
    )
    return new Set(rows.map(({ hash }) => Buffer.from(hash).toString('hex')))
  }

  /** @returns the number of the registration and the audience; undefined for an unknown token */
  find(tx: Tx, token: string): { registration: number; audience: TokenAudience } | undefined {
    return tx.get<{ registration: number; audience: TokenAudience }>(
      'SELECT registration, audience FROM agent_tokens WHERE hash = ?',
      [sha256(token)],
    )
  }

  revoke(tx: Tx, token: string): void {
    tx.run('DELETE FROM agent_tokens WHERE hash = ?', [sha256(token)])
  }

  /** Revokes the tokens of a registration: all, or those that can send. */
  revokeOf(tx: Tx, registration: number, which: 'all' | 'sending' = 'all'): void {
    const sends = `' ' || scope || ' ' LIKE '% ${SENDING_SCOPE} %'`
    tx.run(`DELETE FROM agent_tokens WHERE registration = ? AND (? = 'all' OR ${sends})`, [registration, which])
  }

  /** Deletes expired tokens. @returns how many */
  async prune(): Promise<number> {
    const { db, clock } = this.#deps
    const now = clock.now()
    // No write transaction when nothing is due.
    if (db.read.get('SELECT 1 AS due FROM agent_tokens WHERE expires_at <= ? LIMIT 1', [now]) === undefined) return 0
    return (await db.write((tx) => tx.run('DELETE FROM agent_tokens WHERE expires_at <= ?', [now]))).changes
  }

  #access(token: string): Row | undefined {
    const { db, clock } = this.#deps
    return db.read.get(
      `SELECT r.*, t.audience, t.scope, ${teamSuspendedAt('r.team_id')} AS suspended_at
       FROM agent_tokens t JOIN agent_registrations r ON r.n = t.registration
       WHERE t.hash = ? AND t.expires_at > ? AND r.state NOT IN ${DEAD}`,
      [sha256(token), clock.now()],
    )
  }

  #durable(token: string): Row | undefined {
    return this.#deps.db.read.get(
      `SELECT r.*, 'app' AS audience, '${AUDIENCE_SCOPES.app.join(' ')}' AS scope, ${teamSuspendedAt('r.team_id')} AS suspended_at
       FROM agent_registrations r WHERE r.durable_hash = ? AND r.state NOT IN ${DEAD}`,
      [sha256(token)],
    )
  }

  // As with API keys: written in the background, at most once a minute per registration.
  #noteUse(row: Row): void {
    const { db, clock } = this.#deps
    const n = row.n as number
    const minute = clock.now() - (clock.now() % MINUTE_MS)
    if ((row.last_used_at as number | null) === minute || this.#noting.has(n)) return
    this.#noting.add(n)
    db.write((tx) => tx.run('UPDATE agent_registrations SET last_used_at = ? WHERE n = ?', [minute, n]))
      .catch(() => {})
      .finally(() => this.#noting.delete(n))
  }
}
