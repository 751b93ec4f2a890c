// Identity assertions: signed JWTs (ES256) that an agent exchanges for tokens (RFC 7523), and the keys that sign them.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { JWK } from 'jose'
import type { Clock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'
import { randomName } from '../base/ids.ts'
import type { Vault } from '../base/secrets.ts'
import type { Db } from '../db/db.ts'

/** The claims of an assertion. */
export interface Assertion {
  registrationId: string
  /** 1 when issued before the owner's decision; 2 when issued to the claim token of an approved agent, which may send. */
  version: 1 | 2
  /** ms */
  expiresAt: number
}

export interface SignedAssertion {
  token: string
  /** ms */
  expiresAt: number
}

const ALGORITHM = 'ES256'
const JWT_TYPE = 'agent-identity+jwt'
/** Lifetime of an assertion by version, ms (docs/design/agents.md §3, §5). */
const LIFETIME_MS = { 1: 30 * DAY_MS, 2: 90 * DAY_MS } as const
const PURPOSE = 'agent-key'
const TOKEN_MAX = 4096
/** The signing key and its predecessor. */
const KEYS_SHOWN = 2
// Seconds. The issuer is this appliance, so there is no clock skew to allow for.
const TOLERANCE = 0

interface SigningKey {
  kid: string
  private: KeyObject
}

export class Assertions {
  readonly #deps: { db: Db; clock: Clock; vault: Vault; issuer: string }
  #current: { kid: string; key: SigningKey } | undefined

  /** @param deps `issuer` is the address of the authorization server */
  constructor(deps: { db: Db; clock: Clock; vault: Vault; issuer: string }) {
    this.#deps = deps
  }

  /** Signs a new assertion for a registration. */
  async sign(registrationId: string, email: string, version: 1 | 2): Promise<SignedAssertion> {
    const { clock, issuer } = this.#deps
    const key = await this.#signing()
    const { SignJWT } = await import('jose')
    const now = Math.floor(clock.now() / 1000)
    const end = now + LIFETIME_MS[version] / 1000
    const token = await new SignJWT({ email, ver: version })
      .setProtectedHeader({ alg: ALGORITHM, typ: JWT_TYPE, kid: key.kid })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(registrationId)
      .setJti(randomName())
      .setIssuedAt(now)
      .setExpirationTime(end)
      .sign(key.private)
    return { token, expiresAt: end * 1000 }
  }

  /**
   * Verifies an assertion of this appliance; undefined for any other text.
   * @param options `expired` accepts an expired one too, for revoking its registration
   */
  async read(token: string, options: { expired?: boolean } = {}): Promise<Assertion | undefined> {
    const { clock, issuer } = this.#deps
    if (token.length > TOKEN_MAX) return undefined
    const { jwtVerify } = await import('jose')
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#publicKey(kid), {
        algorithms: [ALGORITHM],
        typ: JWT_TYPE,
        issuer,
        audience: issuer,
        requiredClaims: ['sub', 'exp', 'jti', 'ver'],
        currentDate: new Date(options.expired === true ? 0 : clock.now()),
        clockTolerance: TOLERANCE,
      })
      const { sub, exp, ver } = payload
      if (ver !== 1 && ver !== 2) return undefined
      return { registrationId: sub!, version: ver, expiresAt: exp! * 1000 }
    } catch {
      return undefined
    }
  }

  /** The published public keys: the signing key and its predecessor. */
  async jwks(): Promise<{ keys: JWK[] }> {
    await this.#signing()
    const rows = this.#deps.db.read.all<{ public: string }>(
      'SELECT public FROM agent_keys ORDER BY created_at DESC, kid LIMIT ?',
      [KEYS_SHOWN],
    )
    return { keys: rows.map((row) => JSON.parse(row.public) as JWK) }
  }

  /** Creates a new signing key; assertions of its predecessor stay valid until the next rotation. @returns its `kid` */
  async rotate(): Promise<string> {
    const { db, clock, vault } = this.#deps
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = pair.publicKey.export({ format: 'jwk' }) as JWK
    const { calculateJwkThumbprint } = await import('jose')
    const kid = await calculateJwkThumbprint(jwk)
    const published = JSON.stringify({ ...jwk, kid, alg: ALGORITHM, use: 'sig' })
    const sealed = vault.seal(PURPOSE, pair.privateKey.export({ type: 'pkcs8', format: 'der' }))
    await db.write((tx) => {
      const last = tx.get<{ created_at: number }>('SELECT max(created_at) AS created_at FROM agent_keys')
      // Two rotations in one millisecond still have an order.
      const at = Math.max(clock.now(), (last?.created_at ?? 0) + 1)
      tx.insert('agent_keys', { kid, public: published, private_sealed: sealed, created_at: at })
      tx.run('DELETE FROM agent_keys WHERE kid NOT IN (SELECT kid FROM agent_keys ORDER BY created_at DESC LIMIT ?)', [
        KEYS_SHOWN,
      ])
    })
    this.#current = undefined
    return kid
  }

  async #signing(): Promise<SigningKey> {
    const { db, vault } = this.#deps
    const newest = this.#newest()
    if (newest === undefined) {
      await this.rotate()
      return this.#signing()
    }
    // An operator command in another process may have rotated the key.
    if (this.#current?.kid === newest) return this.#current.key
    const row = db.read.get<{ private_sealed: Uint8Array }>('SELECT private_sealed FROM agent_keys WHERE kid = ?', [
      newest,
    ])
    const der = vault.open(PURPOSE, row!.private_sealed)
    const key = { kid: newest, private: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
    this.#current = { kid: newest, key }
    return key
  }

  #newest(): string | undefined {
    const row = this.#deps.db.read.get<{ kid: string }>(
      'SELECT kid FROM agent_keys ORDER BY created_at DESC, kid LIMIT 1',
    )
    return row?.kid
  }

  #publicKey(kid: string | undefined): KeyObject {
    const row = this.#deps.db.read.get<{ public: string }>('SELECT public FROM agent_keys WHERE kid = ?', [kid ?? ''])
    if (row === undefined) throw new Error('Unknown key.')
    return createPublicKey({ key: JSON.parse(row.public), format: 'jwk' })
  }
}
