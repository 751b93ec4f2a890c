// A device with passkeys, as a browser would use it (WebAuthn Level 3): ES256 keys, no attestation.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { Json } from './appliance.ts'

interface Credential {
  id: Buffer
  userHandle: string
  key: KeyObject
}

/** What a test changes about the device. */
export interface Behaviour {
  /** Whether the person is verified (PIN, fingerprint). */
  verifies?: boolean
  /** Origin of the page that asks. */
  origin?: string
  /** Host the passkey is for. */
  rpId?: string
  /** Whether a page of another site embeds the page that asks. */
  crossOrigin?: boolean
  /** Handle of the person, base64url; null to leave it out. */
  userHandle?: string | null
  /** Whether the public key is no point of its curve. */
  isOffCurve?: boolean
}

const FLAG_PRESENT = 0x01
const FLAG_VERIFIED = 0x04
const FLAG_ATTESTED = 0x40

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Buffer) => bytes.toString('base64url')

export class Authenticator {
  readonly #origin: string
  readonly credentials: Credential[] = []
  counter = 0

  constructor(origin: string) {
    this.#origin = origin
  }

  /** `navigator.credentials.create`, as JSON. */
  create(options: Json, behaviour: Behaviour = {}): Json {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const id = randomBytes(32)
    this.credentials.push({ id, userHandle: options.user.id, key: privateKey })
    const { x, y } = publicKey.export({ format: 'jwk' })
    const second = Buffer.from(y!, 'base64url')
    if (behaviour.isOffCurve) second[31]! ^= 1
    const cose = map([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x!, 'base64url')],
      [-3, second],
    ])
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const attested = Buffer.concat([Buffer.alloc(16), length, id, cose])
    const authData = Buffer.concat([this.#authData(options.rp.id, FLAG_ATTESTED, behaviour), attested])
    const attestationObject = map([
      ['fmt', 'none'],
      ['attStmt', Buffer.alloc(0)],
      ['authData', authData],
    ])
    // `attStmt` is an empty map, which the writer below has no value for.
    const at = attestationObject.indexOf(Buffer.from('attStmt')) + 'attStmt'.length
    attestationObject[at] = 0xa0
    const response = {
      attestationObject: base64url(attestationObject),
      clientDataJSON: this.#clientData('webauthn.create', options.challenge, behaviour),
      transports: ['internal'],
    }
    return { id: base64url(id), rawId: base64url(id), type: 'public-key', clientExtensionResults: {}, response }
  }

  /** `navigator.credentials.get`, as JSON. @param index of the passkey that is used */
  get(options: Json, behaviour: Behaviour = {}, index = 0): Json {
    const { id, key, userHandle } = this.credentials[index]!
    this.counter++
    const authenticatorData = this.#authData(options.rpId, 0, behaviour)
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, behaviour)
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    const response = {
      authenticatorData: base64url(authenticatorData),
      clientDataJSON,
      signature: base64url(sign('sha256', signed, key)),
      ...(behaviour.userHandle === null ? {} : { userHandle: behaviour.userHandle ?? userHandle }),
    }
    return { id: base64url(id), rawId: base64url(id), type: 'public-key', clientExtensionResults: {}, response }
  }

  #authData(rpId: string, more: number, { verifies = true, rpId: other }: Behaviour): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    const flags = FLAG_PRESENT | more | (verifies ? FLAG_VERIFIED : 0)
    return Buffer.concat([sha256(other ?? rpId), Buffer.from([flags]), counter])
  }

  #clientData(type: string, challenge: string, { origin = this.#origin, crossOrigin = false }: Behaviour): string {
    return base64url(Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin })))
  }
}

/** CBOR (RFC 8949) of a map with integers, texts and bytes. */
function map(entries: [string | number, string | number | Buffer][]): Buffer {
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, value]) => [item(key), item(value)])])
}

function item(value: string | number | Buffer): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([head(typeof value === 'string' ? 3 : 2, bytes.length), bytes])
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255])
}
