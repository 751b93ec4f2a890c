// Packed bytes unpacked piece by piece, never to more than is allowed.

import { Gunzip, Inflate } from 'fflate'
import { UnpacksTooLarge } from './extracted.ts'

/** Bytes of the shortest gzip file: head, an empty stream, checksum and size. */
const GZIP_MIN = 20
/** What is unpacked at a time: even a bomb makes only some 16 MiB of it. */
const PIECE = 16 * 1024

/** How much may still be unpacked of one file. */
export class Allowance {
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

/** Bytes of raw DEFLATE (RFC 1951). @throws UnpacksTooLarge, and an error for what is no such stream */
export function inflate(packed: Uint8Array, allowance: Allowance): Uint8Array {
  const pieces: Uint8Array[] = []
  pour(packed, allowance, new Inflate(), (piece) => pieces.push(piece))
  return Buffer.concat(pieces)
}

/** Hands on what a gzip file (RFC 1952) holds, stretch by stretch. @throws as {@link inflate} */
export function gunzip(packed: Uint8Array, allowance: Allowance, take: (piece: Uint8Array) => void): void {
  if (packed.length < GZIP_MIN) throw new Error('The packed bytes end too early.')
  pour(packed, allowance, new Gunzip(), take)
}

function pour(
  packed: Uint8Array,
  allowance: Allowance,
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
  if (!isWhole) throw new Error('The packed bytes end too early.')
}
