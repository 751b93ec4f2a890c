// Decompresses data in chunks, with a limit on the expanded size.

import { Gunzip, Inflate } from 'fflate'
import { UnpacksTooLarge } from './extracted-content.ts'

/** Bytes of the shortest gzip file: header, an empty stream, checksum and size. */
const GZIP_MIN = 20
/** Compressed bytes per step: even a zip bomb expands this to at most about 16 MiB. */
const PIECE = 16 * 1024

/** Remaining bytes one file may expand to. */
export class UnpackAllowance {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** @throws UnpacksTooLarge */
  take(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw new UnpacksTooLarge()
  }
}

/** Bytes of raw DEFLATE (RFC 1951). @throws UnpacksTooLarge, and an error for invalid data */
export function inflate(packed: Uint8Array, allowance: UnpackAllowance): Uint8Array {
  const pieces: Uint8Array[] = []
  pour(packed, allowance, new Inflate(), (piece) => pieces.push(piece))
  return Buffer.concat(pieces)
}

/** Passes the content of a gzip file (RFC 1952) to `take` in chunks. @throws as {@link inflate} */
export function gunzip(packed: Uint8Array, allowance: UnpackAllowance, take: (piece: Uint8Array) => void): void {
  if (packed.length < GZIP_MIN) throw new Error('The compressed data is truncated.')
  pour(packed, allowance, new Gunzip(), take)
}

function pour(
  packed: Uint8Array,
  allowance: UnpackAllowance,
  stream: Inflate | Gunzip,
  take: (piece: Uint8Array) => void,
): void {
  let isWhole = false
  stream.ondata = (piece, isLast) => {
    allowance.take(piece.length)
    isWhole ||= isLast
    take(piece)
  }
  for (let at = 0; at < packed.length; at += PIECE) {
    stream.push(packed.subarray(at, at + PIECE), at + PIECE >= packed.length)
  }
  if (!isWhole) throw new Error('The compressed data is truncated.')
}
