// DKIM body canonicalisation and hashing: one pass for all signatures, in linear time for any body.

import { createHash, type Hash } from 'node:crypto'

const CR = 13
const LF = 10
const SPACE = 32
const TAB = 9
const CRLF = Buffer.from('\r\n')
/** The body is canonicalised in chunks of this size. */
const WINDOW_BYTES = 64 * 1024
const BREAKS = Buffer.from('\r\n'.repeat(8192))

/** A body hash: of the whole body, or of as many bytes as l= says. */
export class BodyHash {
  /** All canonical bytes, and the number of hashed ones. */
  canonicalizedLength = 0
  bodyHashedBytes = 0
  readonly #hash: Hash
  readonly #limit: number
  #digest: string | null = null

  /** @param limit bytes to hash at most; Infinity for all */
  constructor(algorithm: string, limit: number) {
    this.#hash = createHash(algorithm)
    this.#limit = limit
  }

  update(bytes: Uint8Array): void {
    this.canonicalizedLength += bytes.length
    const room = this.#limit - this.bodyHashedBytes
    if (room <= 0) return
    const taken = bytes.length <= room ? bytes : bytes.subarray(0, room)
    this.bodyHashedBytes += taken.length
    this.#hash.update(taken)
  }

  digest(encoding: 'base64'): string {
    this.#digest ??= this.#hash.digest(encoding)
    return this.#digest
  }
}

/** The body hash of a signature that we make (bh=): SHA-256 of the whole body in the relaxed form. */
export function relaxedBodyHash(body: Uint8Array): string {
  const hash = new BodyHash('sha256', Number.POSITIVE_INFINITY)
  hashRelaxed(body, [hash])
  return hash.digest('base64')
}

/** RFC 6376 3.4.3: removes empty lines at the end; an empty body becomes one empty line. */
export function hashSimple(body: Uint8Array, hashes: readonly BodyHash[]): void {
  const bytes = withLineEnds(body)
  let end = bytes.length
  while (end >= 2 && bytes[end - 2] === CR && bytes[end - 1] === LF) end -= 2
  for (const hash of hashes) {
    hash.update(bytes.subarray(0, end))
    hash.update(CRLF)
  }
}

/** Converts bare LF to CRLF: senders that leave a bare LF signed it as a line end. */
function withLineEnds(body: Uint8Array): Uint8Array {
  for (let at = body.indexOf(LF); at >= 0; at = body.indexOf(LF, at + 1)) {
    if (body[at - 1] === CR) continue
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
    return Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1')
  }
  return body
}

/** RFC 6376 3.4.4: reduces white space to one space, removes it at line ends, and removes empty lines at the end. */
export function hashRelaxed(body: Uint8Array, hashes: readonly BodyHash[]): void {
  const window = Math.min(WINDOW_BYTES, body.length)
  // Each byte becomes at most two, and a space may be pending from before.
  const piece = new Uint8Array(2 * window + 1)
  let pendingBreaks = 0
  let pendingSpace = false
  let any = false
  for (let from = 0; from < body.length; from += window) {
    const to = Math.min(from + window, body.length)
    let filled = 0
    let at = from
    while (at < to) {
      let byte = body[at]!
      if (byte === SPACE || byte === TAB) pendingSpace = true
      else if (byte === LF) {
        pendingBreaks++
        pendingSpace = false
      } else if (byte !== CR || body[at + 1] !== LF) {
        any = true
        if (pendingBreaks > 0) filled = writeBreaks(pendingBreaks, piece, filled, 2 * (to - at) + 1, hashes)
        pendingBreaks = 0
        if (pendingSpace) piece[filled++] = SPACE
        pendingSpace = false
        piece[filled++] = byte
        // Mostly the rest of a word follows: copy it without further checks.
        for (byte = body[at + 1] ?? 0; byte > SPACE && at + 1 < to; byte = body[at + 1] ?? 0) {
          piece[filled++] = byte
          at++
        }
      }
      at++
    }
    for (const hash of hashes) hash.update(piece.subarray(0, filled))
  }
  if (any) for (const hash of hashes) hash.update(CRLF)
}

/** Writes line breaks, directly to the hashes when the chunk has no room for them and the following bytes. */
function writeBreaks(breaks: number, piece: Uint8Array, filled: number, room: number, hashes: readonly BodyHash[]) {
  let end = filled
  if (end + 2 * breaks + room <= piece.length) {
    for (let n = 0; n < breaks; n++) {
      piece[end++] = CR
      piece[end++] = LF
    }
    return end
  }
  for (const hash of hashes) {
    hash.update(piece.subarray(0, end))
    for (let left = breaks; left > 0; left -= BREAKS.length / 2) hash.update(BREAKS.subarray(0, 2 * left))
  }
  return 0
}
