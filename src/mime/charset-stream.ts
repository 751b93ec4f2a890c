// Decodes bytes in a named character set as a stream: characters that are cut between two pieces are read whole. Never throws.

import { asBuffer, charsetKind, decodeCharset, looksJapanese, withoutRepeatedEscapes } from './charset.ts'

export interface CharsetDecoder {
  /** Text of the next piece; an incomplete character at its end is held. */
  push(piece: Uint8Array): string
  /** Text of what is held. */
  end(): string
}

/** The same text as `decodeCharset`, but that a guess is made for each piece. */
export function charsetStream(charset: string | null): CharsetDecoder {
  const known = charsetKind(charset)
  switch (known.kind) {
    case 'utf8':
      return standardStream('utf-8')
    case 'standard':
      return standardStream(known.label)
    case 'iso-2022-jp':
      return new JapaneseStream()
    case 'guessed':
      return new GuessedStream()
    default:
      return new LineStream(known.name)
  }
}

function standardStream(label: string): CharsetDecoder {
  const decoder = new TextDecoder(label)
  return { push: (piece) => decoder.decode(piece, { stream: true }), end: () => decoder.decode() }
}

const LF = 10
const NOTHING = Buffer.alloc(0)

/** Holds back the end of each piece that cannot be decoded yet. */
abstract class HoldingStream implements CharsetDecoder {
  #held: Buffer = NOTHING

  push(piece: Uint8Array): string {
    const bytes = this.#held.length === 0 ? asBuffer(piece) : Buffer.concat([this.#held, piece])
    const end = this.complete(bytes)
    this.#held = Buffer.from(bytes.subarray(end))
    return this.decode(bytes.subarray(0, end))
  }

  end(): string {
    const held = this.#held
    this.#held = NOTHING
    return this.decode(held)
  }

  /** How many of the bytes can be decoded. */
  protected abstract complete(bytes: Buffer): number
  protected abstract decode(bytes: Buffer): string
}

/** ESC ( and ESC $ of ISO-2022-JP, whole or begun: consecutive ones are decoded together. */
const ESCAPES_AT_END = /(?:\x1b(?:[($][BJI@]?)?)+$/
const ESCAPES_BYTES = 32

function escapesAtEnd(bytes: Buffer): number {
  const tail = bytes.toString('latin1', Math.max(0, bytes.length - ESCAPES_BYTES))
  return ESCAPES_AT_END.exec(tail)?.[0].length ?? 0
}

class JapaneseStream extends HoldingStream {
  readonly #decoder = new TextDecoder('iso-2022-jp')

  protected complete(bytes: Buffer): number {
    return bytes.length - escapesAtEnd(bytes)
  }

  protected decode(bytes: Buffer): string {
    return this.#decoder.decode(withoutRepeatedEscapes(bytes), { stream: true })
  }

  override end(): string {
    return super.end() + this.#decoder.decode()
  }
}

/** Bytes at the end that begin a character of UTF-8. */
function cutUtf8(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return length > back ? back : 0
  }
  return 0
}

/** Without a named charset. */
class GuessedStream extends HoldingStream {
  #japanese: JapaneseStream | null = null

  protected complete(bytes: Buffer): number {
    return this.#japanese === null ? bytes.length - Math.max(cutUtf8(bytes), escapesAtEnd(bytes)) : bytes.length
  }

  protected decode(bytes: Buffer): string {
    if (this.#japanese === null && looksJapanese(bytes)) this.#japanese = new JapaneseStream()
    return this.#japanese?.push(bytes) ?? decodeCharset(bytes, null)
  }

  override end(): string {
    return super.end() + (this.#japanese?.end() ?? '')
  }
}

/** Charsets of libmime, whose decoders take whole texts: line by line, those with four bytes per character by characters. */
class LineStream extends HoldingStream {
  readonly #name: string

  constructor(name: string) {
    super()
    this.#name = name
  }

  protected complete(bytes: Buffer): number {
    if (/^(?:utf-?32|ucs-?4)/i.test(this.#name)) return bytes.length - (bytes.length % 4)
    // A line as long as a piece is cut.
    return bytes.lastIndexOf(LF) + 1 || bytes.length
  }

  protected decode(bytes: Buffer): string {
    return decodeCharset(bytes, this.#name)
  }
}
