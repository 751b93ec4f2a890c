// Lists the members of a tar archive (POSIX ustar, GNU and pax names) from a stream.

import { decodeCharset } from '../../mime/charset.ts'
import { ENTRIES_MAX, type ListedEntry } from './extracted-content.ts'

const BLOCK = 512
const NAME_MAX = 4096

/** True when the first block is a tar header with a valid checksum. */
export function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < BLOCK) return false
  const said = octal(bytes, 148, 8)
  let sum = 0
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 32 : bytes[at]!
  return said > 0 && said === sum
}

export class TarLister {
  readonly entries: ListedEntry[] = []
  /** Number of members, including those that are not listed. */
  count = 0
  isBroken = false
  /** Incomplete header or long name. */
  #chunks: Uint8Array[] = []
  #have = 0
  #need = BLOCK
  /** Bytes of content to skip. */
  #skip = 0
  #reading: 'header' | 'name' | 'pax' = 'header'
  #size = 0
  #longName: string | null = null
  #ended = false

  push(piece: Uint8Array): void {
    let at = 0
    while (at < piece.length && !this.#ended) {
      if (this.#skip > 0) {
        const passed = Math.min(this.#skip, piece.length - at)
        this.#skip -= passed
        at += passed
        continue
      }
      const part = piece.subarray(at, at + this.#need - this.#have)
      this.#chunks.push(part)
      this.#have += part.length
      at += part.length
      if (this.#have === this.#need) this.#take(Buffer.concat(this.#chunks))
    }
  }

  #take(bytes: Uint8Array): void {
    this.#chunks = []
    this.#have = 0
    this.#need = BLOCK
    if (this.#reading === 'header') {
      this.#header(bytes)
      return
    }
    const text = decodeCharset(bytes.subarray(0, this.#size), 'utf-8')
    this.#longName = this.#reading === 'name' ? text.replace(/\0.*$/s, '') : (paxPath(text) ?? this.#longName)
    this.#reading = 'header'
  }

  #header(block: Uint8Array): void {
    if (block.every((byte) => byte === 0)) {
      this.#ended = true
      return
    }
    if (!isTar(block)) {
      this.isBroken = true
      this.#ended = true
      return
    }
    const size = octal(block, 124, 12)
    const kind = String.fromCharCode(block[156]!)
    const padded = Math.ceil(size / BLOCK) * BLOCK
    if ((kind === 'L' || kind === 'x') && size <= NAME_MAX && size > 0) {
      this.#reading = kind === 'L' ? 'name' : 'pax'
      this.#size = size
      this.#need = padded
      return
    }
    this.#skip = padded
    if (kind === 'g' || kind === 'K' || kind === 'L' || kind === 'x') return
    this.#count(block, kind === '5' ? 0 : size)
  }

  #count(block: Uint8Array, sizeBytes: number): void {
    const prefix = block[257] === 117 ? textOf(block, 345, 155) : ''
    const name = textOf(block, 0, 100)
    const path = this.#longName ?? (prefix === '' ? name : `${prefix}/${name}`)
    this.#longName = null
    this.count++
    if (this.entries.length < ENTRIES_MAX) this.entries.push({ path, sizeBytes })
  }
}

function paxPath(text: string): string | null {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1] ?? null
}

function textOf(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length)
  const end = field.indexOf(0)
  return decodeCharset(end < 0 ? field : field.subarray(0, end), null)
}

/** Octal digits, or GNU's binary form for large values. */
function octal(bytes: Uint8Array, start: number, length: number): number {
  if ((bytes[start]! & 0x80) !== 0) {
    let value = 0
    for (let at = start + length - 8; at < start + length; at++) value = value * 256 + bytes[at]!
    return Number.isSafeInteger(value) ? value : Number.MAX_SAFE_INTEGER
  }
  const text = Buffer.from(bytes.subarray(start, start + length)).toString('latin1')
  const digits = /^[\s\0]*([0-7]{1,12})/.exec(text)?.[1]
  return digits === undefined ? 0 : Number.parseInt(digits, 8)
}
