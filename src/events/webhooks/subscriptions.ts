// Webhook subscriptions: URL, event filter, signing secret and status.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { conflict, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { Blocked, type SafeFetch } from '../../base/safe-fetch.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { RowCache } from '../../db/row-cache.ts'
import { Where } from '../../db/sql-text.ts'
import type { RecordOf } from '../../db/table.ts'
import { type DisabledReason, WEBHOOKS, type Webhook, type WebhookTarget, WITH_SECRETS } from './records.ts'
import { newSigningSecret } from './sign.ts'
import { checkUrl } from './url.ts'

/** Settings of a subscription; omitted members stay unchanged in an update. */
export interface WebhookInput {
  url?: string
  eventTypes?: readonly string[]
  description?: string | null
  mailboxIds?: readonly string[] | null
  domainIds?: readonly string[] | null
  enabled?: boolean
  /** Who makes it, or changes more than its description: `usr_…`, `key_…` or `operator`. */
  setBy?: string
}

export const PER_TEAM_MAX = 20
/** A subscription is disabled after this many failed events in a row over at least this time (docs/design/events.md §5). */
const FAILURES_MAX = 20
const FAILING_FOR_MS = 3 * DAY_MS
/** Maximum grace period of a rotated secret, seconds. */
export const GRACE_SECONDS_MAX = 604_800
const PURPOSE = 'webhook'
const NAME = 'webhook'
/** Decrypted secrets cached in memory. */
const SECRETS_MAX = 1000
/** Subscriptions kept in memory while nothing changes. */
const ROWS_MAX = 1000

interface Deps {
  db: Db
  clock: Clock
  vault: Vault
  fetch: SafeFetch
}

export class Webhooks {
  readonly #deps: Deps
  readonly #secrets = new Map<string, string>()
  readonly #targets: RowCache<number, RecordOf<typeof WITH_SECRETS>>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#targets = new RowCache(deps.db, ROWS_MAX)
  }

  /**
   * @returns the subscription and its signing secret, which is not shown again
   * @throws ProductError validation_error (the address), conflict (too many)
   */
  async create(
    teamId: string,
    input: WebhookInput & { url: string; eventTypes: readonly string[]; setBy: string },
  ): Promise<{ webhook: Webhook; secret: string }> {
    const { db, clock, vault } = this.#deps
    const url = await this.#checkAddress(input.url)
    const secret = newSigningSecret()
    const id = newId('webhook')
    const enabled = input.enabled ?? true
    const webhook = await db.write((tx) => {
      const row = tx.get<{ count: number }>('SELECT count(*) AS count FROM webhooks WHERE team_id = ?', [teamId])
      if (row!.count >= PER_TEAM_MAX) throw conflict(`The team already has ${PER_TEAM_MAX} webhooks.`)
      WEBHOOKS.insert(tx, {
        ...input,
        id,
        teamId,
        url,
        status: enabled ? 'enabled' : 'disabled',
        disabledReason: enabled ? null : 'by_user',
        secretSealed: vault.seal(PURPOSE, secret),
        signingSecretHint: secret.slice(-4),
        createdAt: clock.now(),
        updatedAt: clock.now(),
      })
      return this.#byId(tx, teamId, id)!
    })
    return { webhook, secret }
  }

  get(teamId: string, id: string, reader: Reader = this.#deps.db.read): Webhook | undefined {
    return this.#byId(reader, teamId, id)
  }

  /** A subscription of any team. */
  byId(id: string): Webhook | undefined {
    return WEBHOOKS.get(this.#deps.db.read, 'WHERE id = ?', [id])
  }

  /** How many webhooks a team has. */
  count(teamId: string): number {
    const sql = 'SELECT count(*) AS count FROM webhooks WHERE team_id = ?'
    return this.#deps.db.read.get<{ count: number }>(sql, [teamId])!.count
  }

  /** Newest first. */
  list(
    teamId: string,
    filter: { status?: 'enabled' | 'disabled'; limit: number; after: PageKey | null },
  ): Page<Webhook> {
    const where = new Where().add('team_id = ?', teamId)
    if (filter.status !== undefined) where.add('status = ?', filter.status)
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const webhooks = WEBHOOKS.all(this.#deps.db.read, `WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`, [
      ...where.values,
      filter.limit + 1,
    ])
    return pageOf(webhooks, filter.limit, ({ createdAt, n }) => [createdAt, n])
  }

  /**
   * Updates the given members. Enabling resets the count of failures; disabling drops pending deliveries.
   * @param precondition checks the record inside the unit of work
   * @throws ProductError not_found, validation_error, and what the precondition throws
   */
  async update(
    teamId: string,
    id: string,
    input: WebhookInput,
    precondition: (current: Webhook) => void = () => {},
  ): Promise<Webhook> {
    const url = input.url === undefined ? undefined : await this.#checkAddress(input.url)
    return this.#deps.db.write((tx) => {
      const current = this.#byId(tx, teamId, id)
      if (current === undefined) throw notFound(NAME)
      precondition(current)
      WEBHOOKS.update(tx, { ...input, url, updatedAt: this.#deps.clock.now() }, 'WHERE n = ?', [current.n])
      if (input.enabled === true) this.#enable(tx, current.n)
      if (input.enabled === false && current.status === 'enabled') this.disable(tx, current.n, 'by_user')
      return this.#byId(tx, teamId, id)!
    })
  }

  /** Deletes a subscription and its pending deliveries. @throws ProductError not_found, and what the precondition throws */
  async remove(teamId: string, id: string, precondition: (current: Webhook) => void = () => {}): Promise<void> {
    await this.#deps.db.write((tx) => {
      const current = this.#byId(tx, teamId, id)
      if (current === undefined) throw notFound(NAME)
      precondition(current)
      // Retention deletes its deliveries and attempts later: a long list must not block other writes.
      tx.run('DELETE FROM webhooks WHERE n = ?', [current.n])
    })
  }

  /**
   * Rotates the signing secret; for `graceSeconds` requests carry a signature with the old one too.
   * @throws ProductError not_found, and what the precondition throws
   */
  async rotateSecret(
    teamId: string,
    id: string,
    graceSeconds: number,
    precondition: (current: Webhook) => void = () => {},
  ): Promise<{ webhook: Webhook; secret: string }> {
    const { db, clock, vault } = this.#deps
    const secret = newSigningSecret()
    const webhook = await db.write((tx) => {
      const now = clock.now()
      const current = this.#byId(tx, teamId, id)
      if (current === undefined) throw notFound(NAME)
      precondition(current)
      tx.run(
        `UPDATE webhooks SET previous_secret_sealed = CASE WHEN ? > 0 THEN secret_sealed END,
           previous_until = CASE WHEN ? > 0 THEN ? END, secret_sealed = ?, secret_hint = ?, secret_rotated_at = ?,
           updated_at = ?
         WHERE n = ?`,
        [
          graceSeconds,
          graceSeconds,
          now + graceSeconds * 1000,
          vault.seal(PURPOSE, secret),
          secret.slice(-4),
          now,
          now,
          current.n,
        ],
      )
      return this.#byId(tx, teamId, id)!
    })
    return { webhook, secret }
  }

  /** The subscription and its valid secrets; undefined when it was deleted. */
  target(n: number): WebhookTarget | undefined {
    const { clock, db } = this.#deps
    // Most requests follow others of the same subscription.
    const webhook = this.#targets.get(n, () => WITH_SECRETS.get(db.read, 'WHERE n = ?', [n]))
    if (webhook === undefined) return undefined
    const { previousSecretUntil: until, secretSealed, previousSecretSealed } = webhook
    const inGrace = until !== null && until > clock.now()
    const secrets = {
      secret: this.#opened(secretSealed),
      previousSecret: inGrace ? this.#opened(previousSecretSealed!) : null,
    }
    return { webhook, secrets }
  }

  /** Cached by the sealed form: decryption costs more than signing a request. */
  #opened(sealed: Uint8Array): string {
    const key = Buffer.from(sealed).toString('latin1')
    const known = this.#secrets.get(key)
    if (known !== undefined) return known
    if (this.#secrets.size >= SECRETS_MAX) this.#secrets.clear()
    const secret = this.#deps.vault.open(PURPOSE, sealed).toString()
    this.#secrets.set(key, secret)
    return secret
  }

  /** All subscriptions of a team. */
  allOf(teamId: string): Webhook[] {
    return WEBHOOKS.all(this.#deps.db.read, 'WHERE team_id = ? ORDER BY n', [teamId])
  }

  /** The enabled subscriptions that one of these members and keys made, newest first. */
  madeBy(teamId: string, makers: readonly string[], reader: Reader = this.#deps.db.read): Webhook[] {
    const rest = `WHERE team_id = ? AND status = 'enabled' AND set_by IN (SELECT value FROM json_each(?)) ORDER BY n DESC`
    return WEBHOOKS.all(reader, rest, [teamId, JSON.stringify(makers)])
  }

  disableMadeBy(tx: Tx, teamId: string, makers: readonly string[]): void {
    for (const { n } of this.madeBy(teamId, makers, tx)) this.disable(tx, n, 'by_user')
  }

  /** The enabled subscriptions of a team. */
  enabledOf(reader: Reader, teamId: string): Webhook[] {
    return WEBHOOKS.all(reader, `WHERE team_id = ? AND status = 'enabled' ORDER BY n`, [teamId])
  }

  byN(n: number, reader: Reader = this.#deps.db.read): Webhook | undefined {
    return WEBHOOKS.get(reader, 'WHERE n = ?', [n])
  }

  /** Records the time and success of an attempt. */
  noteAttempt(tx: Tx, n: number, success: boolean): void {
    const now = this.#deps.clock.now()
    const cleared = success ? ', last_success_at = ?, consecutive_failures = 0, failing_since = NULL' : ''
    tx.run(`UPDATE webhooks SET last_delivery_at = ?${cleared} WHERE n = ?`, success ? [now, now, n] : [now, n])
  }

  /**
   * Counts an event whose last attempt failed, and disables the subscription after too many of them.
   * @returns true when this call disabled it
   */
  noteExhausted(tx: Tx, n: number, isClockHeld = false): boolean {
    const now = this.#deps.clock.now()
    const row = tx.get<{ consecutive_failures: number; failing_since: number; status: string }>(
      `UPDATE webhooks SET consecutive_failures = consecutive_failures + 1, failing_since = coalesce(failing_since, ?)
       WHERE n = ? RETURNING consecutive_failures, failing_since, status`,
      [now, n],
    )
    // A clock in doubt does not say for how long it has been failing.
    if (row === undefined || row.status !== 'enabled' || isClockHeld) return false
    if (row.consecutive_failures < FAILURES_MAX || now - row.failing_since < FAILING_FOR_MS) return false
    this.disable(tx, n, 'too_many_failures')
    return true
  }

  /** Disables a subscription; the dispatcher drops its pending deliveries. */
  disable(tx: Tx, n: number, reason: DisabledReason): void {
    tx.run(`UPDATE webhooks SET status = 'disabled', disabled_reason = ?, updated_at = ? WHERE n = ?`, [
      reason,
      this.#deps.clock.now(),
      n,
    ])
  }

  #enable(tx: Tx, n: number): void {
    tx.run(
      `UPDATE webhooks SET status = 'enabled', disabled_reason = NULL, consecutive_failures = 0, failing_since = NULL
       WHERE n = ?`,
      [n],
    )
  }

  #byId(reader: Reader, teamId: string, id: string): Webhook | undefined {
    return WEBHOOKS.get(reader, 'WHERE id = ? AND team_id = ?', [id, teamId])
  }

  async #checkAddress(text: string): Promise<string> {
    const url = checkUrl(text, this.#deps.fetch.allowsLoopback)
    try {
      await this.#deps.fetch.addressesOf(url.hostname)
    } catch (error) {
      if (!(error instanceof Blocked)) return url.href
      throw invalid(
        'url',
        'forbidden_value',
        'The URL resolves to an address outside the public Internet. Use a public host.',
      )
    }
    return url.href
  }
}

/** Subscriptions that were disabled because of failures, not by a user (docs/design/events.md §5). */
export function autoDisabledWebhooks(reader: Reader): Webhook[] {
  return WEBHOOKS.all(
    reader,
    `WHERE status = 'disabled' AND disabled_reason IN ('too_many_failures', 'url_not_allowed')`,
  )
}
