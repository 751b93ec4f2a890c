// Sealed passwords and tokens of accounts, connected OAuth accounts, and the shared account.

import { conflict } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Tx } from '../../db/db.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { PROVIDERS, type Provider } from '../model/records.ts'
import { NO_QUOTAS } from './input.ts'
import { findProvider } from './row.ts'

/** An account connected by OAuth. */
export interface ConnectedAccount {
  teamId: string
  type: 'gmail_api' | 'outlook_api'
  name: string
  oauthEmail: string
  refreshToken: string
}

const PURPOSE = 'provider'
const SHARED_NAME = 'Amazon SES'
/** Status reason of the shared account while the operator has not enabled it for the team. */
const NOT_ENABLED = 'The operator has not enabled Amazon SES for this team.'

export class Connections {
  readonly #deps: OutboundDeps

  constructor(deps: OutboundDeps) {
    this.#deps = deps
  }

  seal(secret: string): Uint8Array {
    return this.#deps.vault.seal(PURPOSE, secret)
  }

  /** Decrypts the current secrets; reads the row on every call, because another thread may have changed it. */
  secretsOf(provider: Pick<Provider, 'id'>): { smtpPassword: string | null; refreshToken: string | null } {
    const { db, vault } = this.#deps
    const row = db.read.get<{ password: Uint8Array | null; token: Uint8Array | null }>(
      'SELECT smtp_password_sealed AS password, refresh_token_sealed AS token FROM providers WHERE id = ?',
      [provider.id],
    )
    const open = (sealed: Uint8Array | null | undefined) => (sealed ? vault.open(PURPOSE, sealed).toString() : null)
    return { smtpPassword: open(row?.password), refreshToken: open(row?.token) }
  }

  /**
   * Creates a connected account, or updates the token of the team's account with that type and address. The account becomes
   * `pending` and is checked immediately; an inactive one stays inactive.
   * @throws ProductError conflict (too many accounts)
   */
  createOAuth(tx: Tx, account: ConnectedAccount, most: number): Provider {
    const { teamId, type, oauthEmail } = account
    const now = this.#deps.clock.now()
    const sealed = this.seal(account.refreshToken)
    const known = tx.get<{ n: number }>('SELECT n FROM providers WHERE team_id = ? AND type = ? AND oauth_email = ?', [
      teamId,
      type,
      oauthEmail,
    ])
    if (known !== undefined) {
      tx.run(
        `UPDATE providers SET refresh_token_sealed = ?, connection_version = connection_version + 1, updated_at = ?,
           failures = 0, checked_ok_at = NULL, status_reason = NULL,
           status = CASE status WHEN 'inactive' THEN 'inactive' ELSE 'pending' END,
           check_due_at = CASE status WHEN 'inactive' THEN NULL ELSE ? END, check_wait_ms = NULL
         WHERE n = ?`,
        [sealed, now, now, known.n],
      )
    } else {
      this.checkRoom(tx, teamId, most)
      PROVIDERS.insert(tx, {
        id: newId('provider'),
        teamId,
        type,
        name: account.name,
        status: 'pending',
        fromEmail: oauthEmail,
        oauthEmail,
        refreshTokenSealed: sealed,
        quotas: NO_QUOTAS,
        checkDueAt: now,
        createdAt: now,
        updatedAt: now,
      })
    }
    tx.afterCommit(() => this.#deps.notifier.notify('providers'))
    return findProvider(tx, 'WHERE team_id = ? AND type = ? AND oauth_email = ?', [teamId, type, oauthEmail])!
  }

  /** Stores a rotated refresh token; the connection version stays the same. */
  keepRotated(tx: Tx, id: string, refreshToken: string): void {
    tx.run('UPDATE providers SET refresh_token_sealed = ? WHERE id = ?', [this.seal(refreshToken), id])
  }

  /** Creates or activates the team's row of the shared account, or deactivates it. */
  ensureShared(tx: Tx, teamId: string, enabled: boolean): void {
    const now = this.#deps.clock.now()
    const row = tx.get<{ n: number }>('SELECT n FROM providers WHERE team_id = ? AND is_shared = 1', [teamId])
    if (row === undefined) {
      if (!enabled) return
      PROVIDERS.insert(tx, {
        id: newId('provider'),
        teamId,
        type: 'amazon_ses',
        name: SHARED_NAME,
        status: 'active',
        isShared: true,
        quotas: NO_QUOTAS,
        createdAt: now,
        updatedAt: now,
      })
      return
    }
    tx.run(
      `UPDATE providers SET status = ?, status_reason = ?, failures = 0, check_due_at = NULL, check_wait_ms = NULL,
         updated_at = ? WHERE n = ?`,
      [enabled ? 'active' : 'inactive', enabled ? null : NOT_ENABLED, now, row.n],
    )
  }

  sharedOf(teamId: string): Provider | undefined {
    return findProvider(this.#deps.db.read, 'WHERE team_id = ? AND is_shared = 1', [teamId])
  }

  /** @throws ProductError conflict when the team has reached its limit of accounts */
  checkRoom(tx: Tx, teamId: string, most: number): void {
    const row = tx.get<{ count: number }>('SELECT count(*) AS count FROM providers WHERE team_id = ?', [teamId])
    if (row!.count >= most) throw conflict(`The team already has ${most} providers.`)
  }
}
