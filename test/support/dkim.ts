// An independent DKIM signer (RFC 6376), so that the library is not tested against itself.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface SigningKey {
  privateKey: KeyObject
  algorithm: 'rsa-sha256' | 'ed25519-sha256' | 'rsa-sha1'
  /** Its TXT record. */
  record: string
}

export function rsaKey(bits = 2048, algorithm: SigningKey['algorithm'] = 'rsa-sha256'): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const der = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return { privateKey, algorithm, record: `v=DKIM1; k=rsa; p=${der}` }
}

export function ed25519Key(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  // RFC 8463 §4: the 32 bytes of the key alone.
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
  return { privateKey, algorithm: 'ed25519-sha256', record: `v=DKIM1; k=ed25519; p=${raw}` }
}

/** The same key in every run: generating one is slow. */
export function keyFromPem(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem)
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' }).toString('base64')
  return { privateKey, algorithm: 'rsa-sha256', record: `v=DKIM1; k=rsa; p=${der}` }
}

export interface Signing {
  key: SigningKey
  domain: string
  selector?: string
  /** Fields to sign, in lower case. */
  fields?: string[]
  /** Further tags, such as "x=1; l=5". */
  tags?: string
  /** Canonicalisation of header and body; only `simple` is implemented for the body. */
  form?: string
  /** Hashed instead of the body, and signed instead of the fields. */
  body?: Uint8Array
  lines?: string[]
}

const FIELDS = ['from', 'to', 'subject', 'date', 'message-id']

/** The message with a DKIM-Signature in front. Lines end in CRLF; latin1 text stands for bytes. */
export function signMail(mail: string, signing: Signing): string {
  const split = mail.indexOf('\r\n\r\n')
  const header = mail.slice(0, split + 2)
  const body = signing.body ?? canonicalBody(mail.slice(split + 4))
  const { key, domain, selector = 's1', tags, form = 'relaxed/simple' } = signing
  const fields =
    signing.lines?.map((line) => line.slice(0, line.indexOf(':')).toLowerCase()) ?? signing.fields ?? FIELDS
  const hash = key.algorithm.split('-')[1]!
  const bodyHash = createHash(hash).update(body).digest('base64')
  const unsigned =
    `DKIM-Signature: v=1; a=${key.algorithm}; c=${form}; d=${domain}; s=${selector};` +
    `${tags === undefined ? '' : ` ${tags};`}\r\n h=${fields.join(':')};\r\n bh=${bodyHash};\r\n b=`
  const lines = signing.lines?.map((line) => `${line}\r\n`).join('') ?? signedFields(header, fields)
  const own = form.startsWith('relaxed') ? relaxed(unsigned) : unsigned
  const data = Buffer.from(lines + own, 'latin1')
  return `${unsigned}${signature(key, hash, data)}\r\n${mail}`
}

function signature(key: SigningKey, hash: string, data: Buffer): string {
  const bytes = key.algorithm.startsWith('rsa')
    ? sign(hash, data, key.privateKey)
    : // RFC 8463 3: Ed25519 signs the hash.
      sign(null, createHash('sha256').update(data).digest(), key.privateKey)
  return bytes.toString('base64').replace(/.{70}/g, '$&\r\n ')
}

/** The last field of each name first (RFC 6376 §5.4.2); a missing name signs nothing. */
function signedFields(header: string, names: string[]): string {
  const fields = header.split(/\r\n(?![ \t])/).filter((field) => field !== '')
  let out = ''
  for (const name of names) {
    const at = fields.findLastIndex((field) => field.slice(0, field.indexOf(':')).trim().toLowerCase() === name)
    if (at >= 0) out += `${relaxed(fields.splice(at, 1)[0]!)}\r\n`
  }
  return out
}

function relaxed(field: string): string {
  const colon = field.indexOf(':')
  const value = field
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .trim()
  return `${field.slice(0, colon).trim().toLowerCase()}:${value}`
}

function canonicalBody(body: string): Uint8Array {
  return Buffer.from(`${body.replace(/(?:\r\n)+$/, '')}\r\n`, 'latin1')
}
