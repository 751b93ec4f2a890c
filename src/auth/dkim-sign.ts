// Signs outgoing messages with DKIM: rsa-sha256 and ed25519-sha256, relaxed/relaxed (RFC 6376, RFC 8463).

import { Buffer } from 'node:buffer'
import { hash, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { headerEnd } from '../mime/header-end.ts'
import { relaxedBodyHash } from './body-hash.ts'

export interface DkimSigningKey {
  domain: string
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  privateKey: KeyObject
}

/**
 * Fields that are displayed or processed. Each is listed once more than it occurs (oversigned), so that an attacker cannot
 * prepend another one and replay the message (RFC 6376 8.15).
 */
const OVERSIGNED = [
  ...['from', 'to', 'cc', 'subject', 'date', 'message-id', 'reply-to'],
  ...['mime-version', 'content-type', 'content-transfer-encoding'],
]
/** Signed as often as they occur; a mailing list may add its own. */
const SIGNED = [
  ...[
    'in-reply-to',
    'references',
    'list-id',
    'list-help',
    'list-unsubscribe',
    'list-unsubscribe-post',
    'list-subscribe',
  ],
  ...['list-post', 'list-owner', 'list-archive'],
]
/** Characters of a line of base64, and of the list of names, in the signature field. */
const LINE = 72

const signAsync = promisify<string | null, Uint8Array, KeyObject, Buffer>(sign)

/**
 * The DKIM-Signature fields of a message, one per key, each with its line break, to prepend to it.
 * Signing runs in Node's thread pool.
 * @param bytes a complete message with CRLF line ends
 * @param now ms, for `t=`
 */
export async function dkimSignatures(bytes: Uint8Array, keys: readonly DkimSigningKey[], now: number): Promise<string> {
  const end = headerEnd(bytes)
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, end).toString('latin1')
  const signed = chosenFields(header)
  const names = foldedNames(signed.map(({ name }) => name))
  const lines = signed.map(({ name, value }) => (value === null ? '' : relaxedField(name, value))).join('')
  const bodyHash = relaxedBodyHash(bytes.subarray(end + 4))
  const signatures = keys.map(async ({ domain, selector, algorithm, privateKey }) => {
    const unsigned =
      `v=1; a=${algorithm}; c=relaxed/relaxed; d=${domain};\r\n s=${selector}; t=${Math.floor(now / 1000)};\r\n` +
      ` h=${names};\r\n bh=${bodyHash};\r\n b=`
    // RFC 6376 3.7: the signature field comes last, with an empty b= and without a line break.
    const text = Buffer.from(lines + relaxedField('dkim-signature', unsigned).slice(0, -2), 'latin1')
    // RFC 8463 3: Ed25519 signs the hash; the RSA function hashes the text itself.
    const isRsa = algorithm === 'rsa-sha256'
    const signature = await signAsync(
      isRsa ? 'sha256' : null,
      isRsa ? text : hash('sha256', text, 'buffer'),
      privateKey,
    )
    return `DKIM-Signature: ${unsigned}${signature
      .toString('base64')
      .match(/.{1,72}/g)!
      .join('\r\n ')}\r\n`
  })
  return (await Promise.all(signatures)).join('')
}

interface SignedField {
  name: string
  /** The raw value, bytes as latin1; null for a field that does not occur. */
  value: string | null
}

/**
 * RFC 6376 5.4.2: fields with the same name are signed from the last to the first. We composed the message, so its header is within all
 * limits and each field is signed completely.
 */
function chosenFields(header: string): SignedField[] {
  const byName = new Map<string, SignedField[]>()
  for (const field of header.split(/\r\n(?![\t ])/)) {
    const colon = field.indexOf(':')
    // RFC 5322 §2.2: a line without a colon is no field, whatever its text is.
    if (colon < 0) continue
    const name = field.slice(0, colon).trimEnd().toLowerCase()
    byName.set(name, [{ name, value: field.slice(colon + 1) }, ...(byName.get(name) ?? [])])
  }
  const occurrences = (name: string) => byName.get(name) ?? []
  return [
    ...OVERSIGNED.flatMap((name) => [...occurrences(name), { name, value: null }]),
    ...SIGNED.flatMap(occurrences),
  ]
}

/** RFC 6376 3.4.2: unfolded, with white space reduced: spaces and tabs only, a byte of UTF-8 may be another white space in Latin-1. */
function relaxedField(name: string, value: string): string {
  return `${name}:${value
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '')}\r\n`
}

/** RFC 6376 3.5: the list may be folded at colons. */
function foldedNames(names: readonly string[]): string {
  let list = ''
  let column = 0
  for (const name of names) {
    const item = list === '' ? name : `:${name}`
    if (column + item.length > LINE) {
      list += `:\r\n  ${name}`
      column = name.length
      continue
    }
    list += item
    column += item.length
  }
  return list
}
