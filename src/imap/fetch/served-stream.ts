// Turns stored bytes into the bytes of an answer, piece by piece: line ends and NUL repaired, encodings decoded, a range cut out.

import { Buffer } from 'node:buffer'
import { withCrlf } from '../../mime/line-ends.ts'
import { decodeStream, type TransferDecoder } from '../../mime/transfer-stream.ts'
import type { ServedBytes } from './sections.ts'

const NOTHING = new Uint8Array(0)
const LF = 10
/** RFC 9051 §9: literals hold no NUL; what stands for it is no UTF-8, so that it cannot be mistaken for text. */
const NUL_SHOWN = 0x80

/** The bytes of one resolved section; at most one piece is in memory at a time. */
export class ServedStream {
  readonly #plan: ServedBytes
  readonly #decoder: TransferDecoder | null
  #last = LF
  #skip: number
  #left: number

  constructor(plan: ServedBytes) {
    this.#plan = plan
    this.#decoder = decodeStream(plan.encoding)
    this.#skip = plan.skip
    this.#left = plan.size
  }

  /** True when the answer is complete: what follows need not be read. */
  get isComplete(): boolean {
    return this.#left === 0
  }

  /** The served bytes of the next piece of the stored range. */
  push(piece: Uint8Array): Uint8Array {
    if (this.#left === 0) return NOTHING
    const repaired = this.#plan.fixesLf ? this.#withCrlf(piece) : piece
    const decoded = this.#decoder ? this.#decoder.push(repaired) : repaired
    return this.#cut(this.#plan.fixesNul ? withoutNul(decoded) : decoded)
  }

  /** The served bytes of what is buffered; call it behind the last piece. */
  end(): Uint8Array {
    return this.#decoder ? this.#cut(this.#decoder.end()) : NOTHING
  }

  #withCrlf(piece: Uint8Array): Uint8Array {
    const repaired = withCrlf(piece, this.#last)
    this.#last = piece.at(-1) ?? this.#last
    return repaired
  }

  #cut(bytes: Uint8Array): Uint8Array {
    const from = Math.min(this.#skip, bytes.length)
    const cut = bytes.subarray(from, from + this.#left)
    this.#skip -= from
    this.#left -= cut.length
    return cut
  }
}

/** All served bytes of a section whose stored range is in memory. */
export function servedBytes(plan: ServedBytes, stored: Uint8Array): Uint8Array {
  const stream = new ServedStream(plan)
  const first = stream.push(stored)
  const rest = stream.end()
  return rest.length === 0 ? first : Buffer.concat([first, rest])
}

/** The bytes with 0x80 for every NUL. */
export function withoutNul(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(0)) return bytes
  return bytes.map((byte) => (byte === 0 ? NUL_SHOWN : byte))
}
