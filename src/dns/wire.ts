// Names and records on the wire, never compressed (RFC 1035 §3.1, §3.2.1), and where the records of a message lie.

import { isIPv6 } from 'node:net'

/** Types of records that can be written here, by number. */
export const WIRE_TYPES = {
  A: 1,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  TLSA: 52,
  TSIG: 250,
  CAA: 257,
} as const
export type WireType = keyof typeof WIRE_TYPES
export const CLASSES = { IN: 1, NONE: 254, ANY: 255 } as const

/** A character string has at most 255 bytes (RFC 1035 §3.3). */
const STRING_MAX = 255
const LABEL_MAX = 63
const HEADER_BYTES = 12

export interface WireRecord {
  name: string
  type: WireType
  class: keyof typeof CLASSES
  /** Seconds. */
  ttl: number
  data: Buffer
}

export function uint16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index)
  return bytes
}

/** Lower case, as a signature covers it (RFC 8945 §4.3.3). @throws Error for a label of no or too many characters */
export function nameBytes(name: string): Buffer {
  const labels = name
    .toLowerCase()
    .replace(/\.$/, '')
    .split('.')
    .filter((label, _, all) => all.length > 1 || label !== '')
  const parts = labels.map((label) => {
    const bytes = Buffer.from(label, 'latin1')
    if (bytes.length === 0 || bytes.length > LABEL_MAX) throw new Error(`${name} is no domain name.`)
    return Buffer.concat([Buffer.of(bytes.length), bytes])
  })
  return Buffer.concat([...parts, Buffer.of(0)])
}

export function recordBytes({ name, type, class: kind, ttl, data }: WireRecord): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(WIRE_TYPES[type], 0)
  fixed.writeUInt16BE(CLASSES[kind], 2)
  fixed.writeUInt32BE(ttl, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([nameBytes(name), fixed, data])
}

/** @param value as in a zone file, without quotation marks around a text @throws Error for a value of another form */
export function dataOf(type: WireType, value: string): Buffer {
  const words = value.split(' ')
  const numbers = words.slice(0, -1).map(Number)
  switch (type) {
    case 'A':
      return Buffer.from(value.split('.').map(Number))
    case 'AAAA':
      return addressBytes(value)
    case 'CNAME':
      return nameBytes(value)
    case 'MX':
    case 'SRV':
      return Buffer.concat([uint16(...numbers), nameBytes(words.at(-1)!)])
    case 'TXT':
      return textBytes(value)
    case 'CAA': {
      const tag = Buffer.from(words[1]!)
      const text = words.slice(2).join(' ').replace(/^"|"$/g, '')
      return Buffer.concat([Buffer.of(numbers[0]!, tag.length), tag, Buffer.from(text)])
    }
    case 'TLSA':
      return Buffer.concat([Buffer.from(numbers), Buffer.from(words.at(-1)!, 'hex')])
    default:
      throw new Error(`Records of type ${type} are not written.`)
  }
}

function textBytes(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const strings: Buffer[] = []
  for (let start = 0; start === 0 || start < bytes.length; start += STRING_MAX)
    strings.push(bytes.subarray(start, start + STRING_MAX))
  return stringBytes(strings)
}

/** @param strings each of at most 255 bytes */
export function stringBytes(strings: readonly Buffer[]): Buffer {
  return Buffer.concat(strings.flatMap((string) => [Buffer.of(string.length), string]))
}

function addressBytes(value: string): Buffer {
  if (!isIPv6(value)) throw new Error(`${value} is no IPv6 address.`)
  const [head = '', tail] = value.split('::')
  const groups = (text: string) => text.split(':').filter(Boolean)
  const [before, after] = [groups(head), tail === undefined ? [] : groups(tail)]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return uint16(...[...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16)))
}

/** Where the last record of a message begins, and where its data does. @throws RangeError for a message that ends too early */
export function lastRecord(message: Buffer): { start: number; dataStart: number } {
  const count = (index: number) => message.readUInt16BE(4 + 2 * index)
  let at = HEADER_BYTES
  for (let question = 0; question < count(0); question++) at = endOfName(message, at) + 4
  let last = { start: at, dataStart: at }
  for (let record = 0; record < count(1) + count(2) + count(3); record++) {
    const fixed = endOfName(message, at)
    last = { start: at, dataStart: fixed + 10 }
    at = last.dataStart + message.readUInt16BE(fixed + 8)
  }
  return last
}

/** Behind a name, which may end with a pointer (RFC 1035 §4.1.4). @throws RangeError */
export function endOfName(message: Buffer, start: number): number {
  let at = start
  for (;;) {
    const length = message.readUInt8(at)
    if (length >= 0xc0) return at + 2
    at += length + 1
    if (length === 0) return at
  }
}
