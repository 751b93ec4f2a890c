// Writes and reads DER (X.690 §8, §10), as far as certificates and requests for them need it.

// Tags of ASN.1 (X.690 §8).
export const BOOLEAN = 0x01
export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OCTET_STRING = 0x04
export const OBJECT_ID = 0x06
export const UTF8_STRING = 0x0c
export const UTC_TIME = 0x17
export const GENERALIZED_TIME = 0x18
export const SEQUENCE = 0x30
export const SET = 0x31
/** Context-specific tags: [0] and [3] constructed, [0] and [2] primitive. */
export const EXPLICIT_0 = 0xa0
export const EXPLICIT_3 = 0xa3
export const IMPLICIT_0 = 0x80
/** GeneralName dNSName (RFC 5280 §4.2.1.6). */
const DNS_NAME = 0x82

const SUBJECT_ALT_NAME = '551d11'
/** Bytes of a length that are read: nothing foreign is as long as 16 MiB. */
const LENGTH_BYTES_MAX = 3

/** Encodes one element. */
export function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...long), content])
}

/** @param hex the encoded value of the object identifier */
export function oid(hex: string): Buffer {
  return der(OBJECT_ID, Buffer.from(hex, 'hex'))
}

/** An extension of a certificate (RFC 5280 §4.2). */
export function extension(hex: string, value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [der(BOOLEAN, Buffer.of(0xff))] : []
  return der(SEQUENCE, oid(hex), ...critical, der(OCTET_STRING, value))
}

/** The extension subjectAltName with host names. */
export function subjectAltName(hosts: readonly string[]): Buffer {
  return extension(SUBJECT_ALT_NAME, der(SEQUENCE, ...hosts.map((host) => der(DNS_NAME, Buffer.from(host)))))
}

/** PEM (RFC 7468). */
export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

/** An element as it was read. */
export interface DerElement {
  tag: number
  content: Buffer
}

/** The elements of a constructed value, in order. @throws RangeError for bytes that are not DER */
export function readDer(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = []
  for (let at = 0; at < bytes.length; ) {
    const { start, length } = lengthAt(bytes, at + 1)
    if (start + length > bytes.length) throw new RangeError('The DER element is cut off.')
    elements.push({ tag: bytes[at]!, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return elements
}

function lengthAt(bytes: Buffer, at: number): { start: number; length: number } {
  const first = bytes[at]
  if (first === undefined) throw new RangeError('The DER element is cut off.')
  if (first < 0x80) return { start: at + 1, length: first }
  const count = first & 0x7f
  if (count === 0 || count > LENGTH_BYTES_MAX || at + 1 + count > bytes.length) {
    throw new RangeError('The DER element has an unusable length.')
  }
  return { start: at + 1 + count, length: bytes.readUIntBE(at + 1, count) }
}
