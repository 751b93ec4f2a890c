// OAuth states of authorization flows in progress: each is valid once, for ten minutes.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../base/secrets.ts'
import type { Reader } from '../../db/db.ts'
import type { ConnectedType } from '../model/connected-services.ts'
import type { OutboundDeps } from '../model/deps.ts'

/** Lifetime of a state, in ms. */
export const STATE_MS = 600_000
/** Flows that one person or key may have open in a team: the oldest gives way, and flows of others stay. */
export const STATES_EACH = 10
const MAC_PURPOSE = 'oauth-state'
const SEAL_PURPOSE = 'oauth-verifier'
const MAC_BYTES = 16
const FORM = /^([0-9a-z]{1,12})\.([\w-]{43})\.([\w-]{22})$/

/** The request that started the flow. */
export interface Begun {
  teamId: string
  type: ConnectedType
  name: string
  /** PKCE code verifier (RFC 7636 §4.1). */
  verifier: string
  redirectAfter: string | null
  /** The session (`ses_…`) of the person who began it: only its browser completes it. Null for a key, whose holder hands the link on: that person is asked. */
  sessionId: string | null
  /** Who began it: the member, the key, or `operator`. */
  createdBy: string
  /** What the consent is for, when it is for an outside account. */
  mail: MailTarget | null
}

/** The outside account that a consent makes. */
export interface MailTarget {
  mode: 'mirror' | 'collect'
  /** `collect`: the hosted mailbox. */
  mailboxId: string | null
}

export type Returned = { kind: 'fresh'; begun: Begun } | { kind: 'unknown' | 'expired' | 'used' | 'other_session' }

/**
 * A state is `<end>.<random>.<mac>`: a forged one is rejected without a database read, and an expired one is distinguished from
 * a used one. Only its hash is stored.
 */
export class OAuthStates {
  readonly #deps: Pick<OutboundDeps, 'db' | 'clock' | 'vault'>

  constructor(deps: Pick<OutboundDeps, 'db' | 'clock' | 'vault'>) {
    this.#deps = deps
  }

  async begin(begun: Begun): Promise<{ state: string; expiresAt: number }> {
    const { db, clock, vault } = this.#deps
    const expiresAt = clock.now() + STATE_MS
    const open = `${expiresAt.toString(36)}.${randomBytes(32).toString('base64url')}`
    const state = `${open}.${this.#macOf(begun.type, open)}`
    await db.write((tx) => {
      tx.run(
        `DELETE FROM oauth_states WHERE hash IN (SELECT hash FROM oauth_states WHERE team_id = ? AND created_by IS ?
         ORDER BY expires_at DESC LIMIT -1 OFFSET ?)`,
        [begun.teamId, begun.createdBy, STATES_EACH - 1],
      )
      tx.insert('oauth_states', {
        hash: sha256(state),
        team_id: begun.teamId,
        type: begun.type,
        name: begun.name,
        verifier_sealed: vault.seal(SEAL_PURPOSE, JSON.stringify({ verifier: begun.verifier, mail: begun.mail })),
        redirect_after: begun.redirectAfter,
        session_id: begun.sessionId,
        created_by: begun.createdBy,
        expires_at: expiresAt,
      })
    })
    return { state, expiresAt }
  }

  /**
   * Redeems a state; each can be redeemed only once. In another browser than it was begun in it stays.
   * @param sessionId of the browser that returned; null without one
   */
  async take(type: ConnectedType, state: string, sessionId: string | null): Promise<Returned> {
    return this.#deps.db.write((tx) => {
      const returned = this.read(type, state, sessionId, tx)
      if (returned.kind === 'fresh') tx.run('DELETE FROM oauth_states WHERE hash = ?', [sha256(state)])
      return returned
    })
  }

  /** As `take`, and the state stays. */
  read(type: ConnectedType, state: string, sessionId: string | null, reader: Reader = this.#deps.db.read): Returned {
    const { clock, vault } = this.#deps
    const [, end, random, mac] = FORM.exec(state) ?? []
    if (end === undefined || !sameText(this.#macOf(type, `${end}.${random}`), mac!)) return { kind: 'unknown' }
    if (Number.parseInt(end, 36) <= clock.now()) return { kind: 'expired' }
    const row = reader.get('SELECT * FROM oauth_states WHERE hash = ?', [sha256(state)])
    if (row === undefined) return { kind: 'used' }
    const begunIn = row.session_id as string | null
    if (begunIn !== null && begunIn !== sessionId) return { kind: 'other_session' }
    const begun = {
      teamId: row.team_id as string,
      type,
      name: row.name as string,
      redirectAfter: row.redirect_after as string | null,
      sessionId: begunIn,
      createdBy: (row.created_by as string | null) ?? 'operator',
      ...unsealed(vault.open(SEAL_PURPOSE, row.verifier_sealed as Uint8Array).toString()),
    }
    return { kind: 'fresh', begun }
  }

  /** Deletes the states that have expired. @returns how many */
  async prune(): Promise<number> {
    const { db, clock } = this.#deps
    const now = clock.now()
    if (db.read.get('SELECT 1 AS due FROM oauth_states WHERE expires_at <= ? LIMIT 1', [now]) === undefined) return 0
    return (await db.write((tx) => tx.run('DELETE FROM oauth_states WHERE expires_at <= ?', [now]))).changes
  }

  #macOf(type: ConnectedType, open: string): string {
    return this.#deps.vault.mac(MAC_PURPOSE, `${type}.${open}`).subarray(0, MAC_BYTES).toString('base64url')
  }
}

/** A state of a version without outside accounts is the verifier alone. */
function unsealed(text: string): Pick<Begun, 'verifier' | 'mail'> {
  if (!text.startsWith('{')) return { verifier: text, mail: null }
  return JSON.parse(text) as Pick<Begun, 'verifier' | 'mail'>
}

/** Compares two texts of equal length in constant time. */
function sameText(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
