// The report inside a message: XML or JSON, as it is, as gzip or zip (RFC 7489 §7.2.1.1, RFC 8460 §5.3), unpacked within bounds.

import { inflateRawSync } from 'node:zlib'
import { decodeBody } from '../mime/decode.ts'
import type { Part } from '../mime/message.ts'
import { readStructure } from '../mime/structure.ts'
import { XML_MAX } from '../reports/dmarc-aggregate.ts'

/** `tls`: RFC 8460. */
export interface AttachedReport {
  kind: 'dmarc' | 'tls'
  content: Buffer
}

/** Bytes of a packed report. */
export const PACKED_MAX = 5 * 1024 * 1024
/** Packed parts of a message that are unpacked; reporters send one. Each may take the time and the memory of {@link XML_MAX}. */
const PACKED_PARTS_MAX = 2
const ZIP_LOCAL = 0x04034b50
const ZIP_CENTRAL = 0x02014b50
const ZIP_STORED = 0
const ZIP_DEFLATED = 8

/** The first part that is a report; null for a message without one. @throws Error for one that cannot be unpacked */
export function attachedReport(message: Uint8Array): AttachedReport | null {
  let packedParts = 0
  for (const part of leaves(readStructure(message).root)) {
    if (part.bodyEnd - part.bodyStart > 2 * PACKED_MAX) continue
    const body = Buffer.from(decodeBody(message.subarray(part.bodyStart, part.bodyEnd), part.encoding))
    if ((isGzip(body) || isZip(body)) && ++packedParts > PACKED_PARTS_MAX) return null
    const content = body.length > PACKED_MAX ? null : unpacked(body)
    if (content?.includes('<feedback')) return { kind: 'dmarc', content }
    if (content !== null && isObject(content) && content.includes('"policies"')) return { kind: 'tls', content }
  }
  return null
}

/** Known by its content: reporters name the type in many ways. Null for other content. */
function unpacked(bytes: Buffer): Buffer | null {
  if (isGzip(bytes)) return bounded(() => inflateRawSync(gzipBody(bytes), LIMIT))
  if (isZip(bytes)) return bounded(() => firstFile(bytes))
  return bytes.subarray(0, 1024).includes('<') || isObject(bytes) ? bytes : null
}

function isGzip(bytes: Buffer): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b
}

function isZip(bytes: Buffer): boolean {
  return bytes.length > 30 && bytes.readUInt32LE(0) === ZIP_LOCAL
}

/** Whether a JSON object may begin here. */
function isObject(bytes: Buffer): boolean {
  return /^\s*\{/.test(bytes.subarray(0, 64).toString('latin1'))
}

const LIMIT = { maxOutputLength: XML_MAX }

function bounded(unpack: () => Buffer): Buffer {
  try {
    return unpack()
  } catch (cause) {
    throw new Error('The report cannot be unpacked, or is larger than 50 MiB.', { cause })
  }
}

/** What follows the header of a gzip file (RFC 1952 §2.3). Some reporters add bytes behind its end, which zlib takes for another file. */
function gzipBody(bytes: Buffer): Buffer {
  const flags = bytes[3]!
  let at = 10
  if ((flags & 4) !== 0) at += 2 + bytes.readUInt16LE(at)
  for (const text of [8, 16]) if ((flags & text) !== 0) at = bytes.indexOf(0, at) + 1
  return bytes.subarray((flags & 2) === 0 ? at : at + 2)
}

/** The first file of a zip archive, by its central directory: only this has the sizes in all of them. @throws Error */
function firstFile(zip: Buffer): Buffer {
  const at = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
  if (at < 0 || zip.readUInt32LE(at) !== ZIP_CENTRAL) throw new Error('no central directory')
  const method = zip.readUInt16LE(at + 10)
  const packedSize = zip.readUInt32LE(at + 20)
  const local = zip.readUInt32LE(at + 42)
  if (zip.readUInt32LE(local) !== ZIP_LOCAL) throw new Error('no file')
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  const packed = zip.subarray(start, start + packedSize)
  if (method === ZIP_DEFLATED) return inflateRawSync(packed, LIMIT)
  if (method !== ZIP_STORED) throw new Error('unknown method')
  return packed
}

function* leaves(part: Part): Generator<Part> {
  if (part.parts.length === 0) yield part
  else if (part.type.startsWith('multipart/')) for (const inside of part.parts) yield* leaves(inside)
}
