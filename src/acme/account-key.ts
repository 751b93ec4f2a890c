// The key of an ACME account: signs requests (RFC 8555 §6.2), and makes key authorizations (§8.1).

import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, FlattenedSign, type JWK } from 'jose'

const ALGORITHM = 'ES256'

/** The credentials by which an account is bound to one the operator has with the authority elsewhere (RFC 8555 §7.3.4). */
export interface ExternalAccount {
  kid: string
  /** The MAC key, base64url. */
  key: string
}

export class AccountKey {
  readonly #key: KeyObject
  readonly #public: JWK

  /** @param der PKCS #8 of a P-256 key */
  constructor(der: Uint8Array) {
    this.#key = createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
    const { kty, crv, x, y } = this.#key.export({ format: 'jwk' })
    this.#public = { kty: kty!, crv: crv!, x: x!, y: y! }
  }

  /** A new key as PKCS #8, DER. */
  static async generate(): Promise<Buffer> {
    const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
    return privateKey.export({ type: 'pkcs8', format: 'der' })
  }

  /**
   * The body of a request.
   * @param payload null for POST-as-GET (§6.3)
   * @param kid URL of the account; null for a request that carries the key itself
   */
  async sign(payload: object | null, header: { url: string; nonce: string; kid: string | null }): Promise<string> {
    const { kid, ...rest } = header
    const bytes = Buffer.from(payload === null ? '' : JSON.stringify(payload))
    const who = kid === null ? { jwk: this.#public } : { kid }
    const signed = new FlattenedSign(bytes).setProtectedHeader({ alg: ALGORITHM, ...who, ...rest })
    return JSON.stringify(await signed.sign(this.#key))
  }

  /** The member externalAccountBinding of a new account: the public key, signed with the MAC key of the authority. */
  async bind({ kid, key }: ExternalAccount, url: string): Promise<object> {
    const signed = new FlattenedSign(Buffer.from(JSON.stringify(this.#public)))
    return signed.setProtectedHeader({ alg: 'HS256', kid, url }).sign(Buffer.from(key, 'base64url'))
  }

  /** The key authorization of a token (§8.1). */
  async authorize(token: string): Promise<string> {
    return `${token}.${await calculateJwkThumbprint(this.#public, 'sha256')}`
  }
}
