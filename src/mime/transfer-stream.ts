// Decodes Content-Transfer-Encodings as a stream: the same result as transfer.ts, without the whole body in memory.

import { Base64Groups, decodeQuotedPrintable } from './transfer.ts'

export interface TransferDecoder {
  /** The bytes the next piece decodes to; an incomplete rest is buffered. */
  push(piece: Uint8Array): Uint8Array
  /** The bytes of the buffered rest. */
  end(): Uint8Array
}

/** @returns null for identity encodings (7bit, 8bit, binary and unknown ones) */
export function decodeStream(encoding: string | null): TransferDecoder | null {
  if (encoding === 'base64') return new Base64Stream()
  return encoding === 'quoted-printable' ? new QuotedPrintableStream() : null
}

const NOTHING = new Uint8Array(0)

class Base64Stream implements TransferDecoder {
  readonly #groups = new Base64Groups()

  push(piece: Uint8Array): Uint8Array {
    return this.#groups.decode(piece)
  }

  end(): Uint8Array {
    return NOTHING
  }
}

const LF = 10

/** Lines are independent: complete lines are decoded, the start of the next one is buffered. */
class QuotedPrintableStream implements TransferDecoder {
  #buffered: Uint8Array[] = []

  push(piece: Uint8Array): Uint8Array {
    const cut = piece.lastIndexOf(LF) + 1
    if (cut === 0) {
      this.#buffered.push(piece)
      return NOTHING
    }
    const lines = Buffer.concat([...this.#buffered, piece.subarray(0, cut)])
    this.#buffered = cut < piece.length ? [piece.subarray(cut)] : []
    return decodeQuotedPrintable(lines)
  }

  end(): Uint8Array {
    return decodeQuotedPrintable(Buffer.concat(this.#buffered))
  }
}
