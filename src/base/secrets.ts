// API keys and secrets: generation, checksum validation, hashing and encryption.

import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BODY_LENGTH = 40
const CHECK_LENGTH = 6

/** The prefixes of docs/design/http.md §2. */
export type KeyPrefix = 'srk_' | 'smk_' | 'sok_' | 'sat_' | 'sax_' | 'clm_'

/** A new secret: prefix, 40 base62 characters, and a CRC-32 of 6, so that mistyped keys are rejected without a database read. */
export function newSecret(prefix: KeyPrefix): string {
  let body = ''
  while (body.length < BODY_LENGTH) {
    // 248 is the largest multiple of 62 below 256: larger bytes are discarded, so that all characters are equally likely.
    for (const byte of randomBytes(64)) if (byte < 248 && body.length < BODY_LENGTH) body += BASE62[byte % 62]
  }
  return prefix + body + checksum(body)
}

/** True when the format and the checksum are valid; the key need not exist. */
export function isSecret(value: string): boolean {
  const match = /^(srk_|smk_|sok_|sat_|sax_|clm_)([0-9A-Za-z]{40})([0-9A-Za-z]{6})$/.exec(value)
  return match !== null && checksum(match[2]!) === match[3]
}

/** Whether a credential is one of an agent, by its prefix alone. */
export function isAgentSecret(value: string): boolean {
  return value.startsWith('sax_') || value.startsWith('sat_')
}

function checksum(body: string): string {
  let rest = crc32(body) >>> 0
  let out = ''
  for (let i = 0; i < CHECK_LENGTH; i++) {
    out = BASE62[rest % 62] + out
    rest = Math.floor(rest / 62)
  }
  return out
}

export function sha256(value: string | Uint8Array): Buffer {
  return hash('sha256', value, 'buffer')
}

/** Derived keys kept in memory. */
const KEYS_MAX = 200

/** The root secret, from which all other keys are derived, so that only one file has to be protected. */
export class Vault {
  readonly #root: Buffer
  /** Derived keys by purpose: deriving one costs more than using it. */
  readonly #keys = new Map<string, Buffer>()

  /** @param root at least 32 bytes of `APP_SECRET` */
  constructor(root: Buffer) {
    this.#root = root
  }

  #key(purpose: string): Buffer {
    const known = this.#keys.get(purpose)
    if (known !== undefined) return known
    const key = Buffer.from(hkdfSync('sha256', this.#root, '', `mailstead/${purpose}`, 32))
    // Some purposes name a mailbox.
    if (this.#keys.size >= KEYS_MAX) this.#keys.clear()
    this.#keys.set(purpose, key)
    return key
  }

  /** HMAC-SHA-256 with a key that is used for this purpose only. */
  mac(purpose: string, value: string | Uint8Array): Buffer {
    return this.macer(purpose)(value)
  }

  /** The same for many values: deriving the key costs more than using it. */
  macer(purpose: string): (value: string | Uint8Array) => Buffer {
    const key = this.#key(purpose)
    return (value) => createHmac('sha256', key).update(value).digest()
  }

  /** AES-256-GCM: 12 bytes nonce, ciphertext, 16 bytes tag. */
  seal(purpose: string, plain: string | Uint8Array): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key(purpose), nonce)
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }

  /** Throws when the bytes were not sealed with this root secret for this purpose. */
  open(purpose: string, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed)
    const decipher = createDecipheriv('aes-256-gcm', this.#key(purpose), bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
  }
}
