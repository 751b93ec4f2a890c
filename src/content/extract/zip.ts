// Reads the directory and members of a ZIP archive (APPNOTE 4.3) in memory.

import { decodeCharset } from '../../mime/charset.ts'
import { inflate, type UnpackAllowance } from './unpack.ts'

const END_OF_DIRECTORY = 0x06054b50
const ZIP64_END = 0x06064b50
const DIRECTORY_ENTRY = 0x02014b50
const LOCAL_ENTRY = 0x04034b50
const ZIP64_FIELD = 1
const COMMENT_MAX = 65_535
/** Maximum members read; an archive may claim any number. */
const MEMBERS_MAX = 100_000

export interface ZipMember {
  path: string
  sizeBytes: number
  packedBytes: number
  encrypted: boolean
  isFolder: boolean
  method: number
  /** Offset of its local header. */
  at: number
}

export interface Zip {
  members: ZipMember[]
  /** Number of members the archive declares. */
  count: number
}

/** @throws Error when it is not an archive, or is truncated */
export function readZip(bytes: Uint8Array): Zip {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findEnd(view)
  let count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  if (at === 0xffffffff || count === 0xffff) {
    // The ZIP64 locator directly precedes the end record.
    const far = Number(view.getBigUint64(end - 20 + 8, true))
    if (view.getUint32(far, true) === ZIP64_END) {
      count = Number(view.getBigUint64(far + 32, true))
      at = Number(view.getBigUint64(far + 48, true))
    }
  }
  const members: ZipMember[] = []
  while (members.length < Math.min(count, MEMBERS_MAX) && at + 46 <= bytes.length) {
    if (view.getUint32(at, true) !== DIRECTORY_ENTRY) break
    const nameLength = view.getUint16(at + 28, true)
    const extraLength = view.getUint16(at + 30, true)
    members.push(memberAt(bytes, view, at))
    at += 46 + nameLength + extraLength + view.getUint16(at + 32, true)
  }
  if (members.length === 0 && count > 0) throw new Error('The directory of the archive cannot be read.')
  return { members, count }
}

function findEnd(view: DataView): number {
  const last = view.byteLength - 22
  for (let at = last; at >= Math.max(0, last - COMMENT_MAX); at--) {
    if (view.getUint32(at, true) === END_OF_DIRECTORY) return at
  }
  throw new Error('The archive has no directory.')
}

function memberAt(bytes: Uint8Array, view: DataView, at: number): ZipMember {
  const flags = view.getUint16(at + 8, true)
  const nameLength = view.getUint16(at + 28, true)
  const name = bytes.subarray(at + 46, at + 46 + nameLength)
  // Bit 11 means UTF-8; otherwise names are in code page 437.
  const path = decodeCharset(name, flags & 0x800 ? 'utf-8' : 'cp437')
  const sizes = wideSizes(view, at)
  return {
    path,
    sizeBytes: sizes.size,
    packedBytes: sizes.packed,
    encrypted: (flags & 1) !== 0,
    isFolder: path.endsWith('/'),
    method: view.getUint16(at + 10, true),
    at: sizes.at,
  }
}

/** Sizes and offset of a member, from the ZIP64 field when they exceed 32 bits. */
function wideSizes(view: DataView, entry: number): { size: number; packed: number; at: number } {
  const found = {
    size: view.getUint32(entry + 24, true),
    packed: view.getUint32(entry + 20, true),
    at: view.getUint32(entry + 42, true),
  }
  const from = entry + 46 + view.getUint16(entry + 28, true)
  const to = Math.min(from + view.getUint16(entry + 30, true), view.byteLength)
  for (let at = from; at + 4 <= to; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== ZIP64_FIELD) continue
    let next = at + 4
    for (const name of ['size', 'packed', 'at'] as const) {
      if (found[name] !== 0xffffffff || next + 8 > to) continue
      found[name] = Number(view.getBigUint64(next, true))
      next += 8
    }
  }
  return found
}

/**
 * The content of one member.
 * @throws UnpacksTooLarge, and an error for a member that is encrypted, uses another method, or is not at its offset
 */
export function readMember(bytes: Uint8Array, member: ZipMember, allowance: UnpackAllowance): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (member.encrypted) throw new Error('The member is encrypted.')
  if (view.getUint32(member.at, true) !== LOCAL_ENTRY) throw new Error('The member is not at its offset.')
  const start = member.at + 30 + view.getUint16(member.at + 26, true) + view.getUint16(member.at + 28, true)
  const packed = bytes.subarray(start, start + member.packedBytes)
  if (member.method === 0) {
    allowance.take(packed.length)
    return packed
  }
  if (member.method !== 8) throw new Error('The compression method of the member is not supported.')
  return inflate(packed, allowance)
}
