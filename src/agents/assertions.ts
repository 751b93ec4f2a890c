// Assertions of identity: short signed statements (JWS, ES256) an agent trades for tokens, and the keys that sign them.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, type JWK, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../base/clock.ts'
import { randomName } from '../base/ids.ts'
import type { Vault } from '../base/secrets.ts'
import type { Db } from '../db/db.ts'

/** What an assertion says. */
export interface Assertion {
  registrationId: string
  /** 1 before an owner decided, 2 for one that came through the claim token and may send. */
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
const TYPE = 'agent-identity+jwt'
const DAY_MS = 86_400_000
/** How long an assertion lives, ms, by version (decisions §11.3, §11.7). */
const LIFETIME_MS = { 1: 30 * DAY_MS, 2: 90 * DAY_MS } as const
const PURPOSE = 'agent-key'
const TOKEN_MAX = 4096
/** The key that signs and the one before it. */
const KEYS_SHOWN = 2
// A second of a peer's clock is no reason to take what is over.
const TOLERANCE = 0

interface SigningKey {
  kid: string
  private: KeyObject
}

export class Assertions {
  readonly #parts: { db: Db; clock: Clock; vault: Vault; issuer: string }
  #current: { kid: string; key: SigningKey } | undefined

  /** @param parts `issuer` is the address of the authorization server */
  constructor(parts: { db: Db; clock: Clock; vault: Vault; issuer: string }) {
    this.#parts = parts
  }

  /** A new assertion for a registration. */
  async sign(registrationId: string, email: string, version: 1 | 2): Promise<SignedAssertion> {
    const { clock, issuer } = this.#parts
    const key = await this.#signing()
    const now = Math.floor(clock.now() / 1000)
    const end = now + LIFETIME_MS[version] / 1000
    const token = await new SignJWT({ email, ver: version })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: key.kid })
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
   * What an assertion of ours says; undefined for everything else.
   * @param options `expired` takes one that is over as well, for ending what it stands for
   */
  async read(token: string, options: { expired?: boolean } = {}): Promise<Assertion | undefined> {
    const { clock, issuer } = this.#parts
    if (token.length > TOKEN_MAX) return undefined
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#publicKey(kid), {
        algorithms: [ALGORITHM],
        typ: TYPE,
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

  /** The public keys as the world may read them: the one that signs, and the one before. */
  async jwks(): Promise<{ keys: JWK[] }> {
    await this.#signing()
    const rows = await this.#parts.db.read.all<{ public: string }>(
      'SELECT public FROM agent_keys ORDER BY created_at DESC, kid LIMIT ?',
      [KEYS_SHOWN],
    )
    return { keys: rows.map((row) => JSON.parse(row.public) as JWK) }
  }

  /** Signs with a new key from now on; what the one before signed holds until the next time. @returns its `kid` */
  async rotate(): Promise<string> {
    const { db, clock, vault } = this.#parts
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = pair.publicKey.export({ format: 'jwk' }) as JWK
    const kid = await calculateJwkThumbprint(jwk)
    const published = JSON.stringify({ ...jwk, kid, alg: ALGORITHM, use: 'sig' })
    const sealed = vault.seal(PURPOSE, pair.privateKey.export({ type: 'pkcs8', format: 'der' }))
    await db.write(async (tx) => {
      const last = await tx.get<{ created_at: number }>('SELECT max(created_at) AS created_at FROM agent_keys')
      // Two in one millisecond still have an order.
      const at = Math.max(clock.now(), (last?.created_at ?? 0) + 1)
      await tx.insert('agent_keys', { kid, public: published, private_sealed: sealed, created_at: at })
      await tx.run(
        'DELETE FROM agent_keys WHERE kid NOT IN (SELECT kid FROM agent_keys ORDER BY created_at DESC LIMIT ?)',
        [KEYS_SHOWN],
      )
    })
    this.#current = undefined
    return kid
  }

  async #signing(): Promise<SigningKey> {
    const { db, vault } = this.#parts
    const newest = await this.#newest()
    if (newest === undefined) {
      await this.rotate()
      return this.#signing()
    }
    // A command of the operator may have changed it.
    if (this.#current?.kid === newest) return this.#current.key
    const row = await db.read.get<{ private_sealed: Uint8Array }>(
      'SELECT private_sealed FROM agent_keys WHERE kid = ?',
      [newest],
    )
    const der = vault.open(PURPOSE, row!.private_sealed)
    const key = { kid: newest, private: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
    this.#current = { kid: newest, key }
    return key
  }

  async #newest(): Promise<string | undefined> {
    const row = await this.#parts.db.read.get<{ kid: string }>(
      'SELECT kid FROM agent_keys ORDER BY created_at DESC, kid LIMIT 1',
    )
    return row?.kid
  }

  async #publicKey(kid: string | undefined): Promise<KeyObject> {
    const row = await this.#parts.db.read.get<{ public: string }>('SELECT public FROM agent_keys WHERE kid = ?', [
      kid ?? '',
    ])
    if (row === undefined) throw new Error('No key of ours.')
    return createPublicKey({ key: JSON.parse(row.public), format: 'jwk' })
  }
}
