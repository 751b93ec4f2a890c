// Content-Transfer-Encodings undone piece by piece: the same bytes as transfer.ts makes of the whole, without holding it.

import { Base64Groups, decodeQuotedPrintable } from './transfer.ts'

export interface TransferDecoder {
  /** What the next piece decodes to, as far as it is certain. */
  push(piece: Uint8Array): Uint8Array
  /** What was still waiting for more. */
  end(): Uint8Array
}

/** @returns null for encodings that change nothing (7bit, 8bit, binary and unknown ones) */
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

/** Every line stands for itself: whole lines are decoded, the beginning of the next one waits. */
class QuotedPrintableStream implements TransferDecoder {
  #waiting: Uint8Array[] = []

  push(piece: Uint8Array): Uint8Array {
    const cut = piece.lastIndexOf(LF) + 1
    if (cut === 0) {
      this.#waiting.push(piece)
      return NOTHING
    }
    const lines = Buffer.concat([...this.#waiting, piece.subarray(0, cut)])
    this.#waiting = cut < piece.length ? [piece.subarray(cut)] : []
    return decodeQuotedPrintable(lines)
  }

  end(): Uint8Array {
    return decodeQuotedPrintable(Buffer.concat(this.#waiting))
  }
}
