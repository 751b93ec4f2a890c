// Reads public key records of DKIM and ARC (RFC 6376 §3.6.1 and §6.1.2, RFC 8463 §4, RFC 8301 §3.2).

import { createPublicKey, type KeyObject } from 'node:crypto'
import { colonList, readTagList, withoutSpaces } from './tag-list.ts'

/** RFC 8301 3.2: shorter RSA keys must not count. */
export const MIN_KEY_BITS = 1024
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** SubjectPublicKeyInfo in front of a raw Ed25519 key (RFC 8410 §4). */
const ED25519_START = Buffer.from('302a300506032b6570032100', 'hex')
const ED25519_BYTES = 32
const SEQUENCE = 0x30
const INTEGER = 0x02

export interface PublicKeyRecord {
  publicKey: KeyObject
  keyType: string
  /** t= in lower case. */
  flags: readonly string[]
}

/** Codes are those of mailauth, whose check of ARC names the reason by them. */
export type KeyProblemCode =
  | 'EINVALIDVAL'
  | 'EINVALIDVER'
  | 'EINVALIDSERVICE'
  | 'EINVALIDHASH'
  | 'EINVALIDTYPE'
  | 'ESHORTKEY'

/** A record that holds no key for a signature. */
export class KeyProblem extends Error {
  readonly code: KeyProblemCode

  constructor(code: KeyProblemCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * @param record the strings of a TXT record, joined
 * @param hash hash algorithm of the signature: the record may name those it is for
 * @throws KeyProblem
 */
export function readKeyRecord(record: string, hash: string): PublicKeyRecord {
  const { tags, first, isValid } = readTagList(withoutSpaces(record))
  const value = tags.get('p') ?? ''
  // RFC 6376 §6.1.2: a record that does not have the form is ignored; an empty p= revokes the key.
  if (!isValid) throw new KeyProblem('EINVALIDVAL', 'The key record is no tag list.')
  if (!BASE64.test(value)) throw new KeyProblem('EINVALIDVAL', 'The key record has no key.')
  const version = tags.get('v')
  if (version !== undefined && (version !== 'DKIM1' || first !== 'v')) {
    throw new KeyProblem('EINVALIDVER', 'The key record is of another version.')
  }
  requireListed(tags.get('s'), ['email', '*'], 'EINVALIDSERVICE')
  requireListed(tags.get('h'), [hash], 'EINVALIDHASH')
  const keyType = (tags.get('k') ?? 'rsa').toLowerCase()
  return { publicKey: keyOf(Buffer.from(value, 'base64'), keyType), keyType, flags: colonList(tags.get('t')) }
}

function requireListed(list: string | undefined, accepted: readonly string[], code: KeyProblemCode): void {
  if (list === undefined || colonList(list).some((item) => accepted.includes(item))) return
  throw new KeyProblem(code, `The key is for ${list} only.`)
}

function keyOf(bytes: Buffer, keyType: string): KeyObject {
  const isEd25519 = keyType === 'ed25519'
  if (isEd25519 && bytes.length !== ED25519_BYTES) throw new KeyProblem('EINVALIDVAL', 'An Ed25519 key has 32 bytes.')
  if (!isEd25519 && keyType !== 'rsa') throw new KeyProblem('EINVALIDTYPE', `The key type ${keyType} is not known.`)
  const key = isEd25519 ? publicKeyOf(Buffer.concat([ED25519_START, bytes]), 'spki') : rsaKeyOf(bytes)
  if (key.asymmetricKeyType !== keyType) throw new KeyProblem('EINVALIDTYPE', 'The key is of another type.')
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < MIN_KEY_BITS) throw new KeyProblem('ESHORTKEY', `The key has ${bits} bits only.`)
  return key
}

/** RFC 6376 §3.6.1 names RSAPublicKey; what is published in practice is SubjectPublicKeyInfo, whose first member is a sequence. */
function rsaKeyOf(bytes: Buffer): KeyObject {
  return publicKeyOf(bytes, firstMember(bytes) === INTEGER ? 'pkcs1' : 'spki')
}

/** Tag of the first member of a DER sequence; undefined for other bytes. */
function firstMember(bytes: Buffer): number | undefined {
  if (bytes[0] !== SEQUENCE) return undefined
  const length = bytes[1] ?? 0
  return bytes[length < 0x80 ? 2 : 2 + (length & 0x7f)]
}

function publicKeyOf(key: Buffer, type: 'spki' | 'pkcs1'): KeyObject {
  try {
    return createPublicKey({ key, format: 'der', type })
  } catch (cause) {
    throw Object.assign(new KeyProblem('EINVALIDTYPE', 'The key cannot be read.'), { cause })
  }
}
