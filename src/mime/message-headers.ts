// The header fields mail programs list messages by: which are kept beside a stored message, and how they are packed.

import { Buffer } from 'node:buffer'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { asBuffer } from './charset.ts'
import { HEADER_DICTIONARY } from './header-dictionary.ts'
import { type HeaderField, readHeaders } from './headers.ts'

/** Bytes of all kept fields of a message; a field that does not fit is omitted, and the packed form has a mark for it. */
export const KEPT_HEADERS_MAX = 16 * 1024

/** Lower-case names of the fields that are kept. */
export const KEPT_FIELDS: ReadonlySet<string> = new Set([
  ...['date', 'from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'subject', 'message-id', 'in-reply-to', 'references'],
  ...['resent-date', 'resent-from', 'resent-message-id', 'mime-version', 'content-type', 'content-transfer-encoding'],
  ...['content-disposition', 'content-description', 'content-language', 'list-id', 'list-post', 'list-unsubscribe'],
  ...['list-unsubscribe-post', 'list-subscribe', 'list-archive', 'x-priority', 'priority', 'importance', 'precedence'],
  ...['auto-submitted', 'disposition-notification-to', 'return-receipt-to', 'return-path', 'delivered-to'],
  ...['x-original-to', 'newsgroups', 'followup-to', 'user-agent', 'x-mailer', 'organization', 'archived-at', 'x-label'],
  ...['x-tuid', 'x-universally-unique-identifier', 'x-uniform-type-identifier', 'chat-version'],
])

/** First byte of the packed form: how the rest is stored, and whether fields were omitted. */
const PLAIN = 1
const ZSTD = 2
const CUT = 0x80

/** Measured: below, compressing (35 µs) and unpacking at each reading (16 µs) save some 200 bytes of a row. */
const COMPRESS_FROM_BYTES = 512

/** The dictionary must not be changed: stored headers are unpacked with it. Another one needs another first byte. */
const dictionary = Buffer.from(HEADER_DICTIONARY, 'base64')
const COMPRESSION = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 15 },
  dictionary,
}
const DECOMPRESSION = { dictionary, maxOutputLength: KEPT_HEADERS_MAX }

/** The kept fields of one message. */
export interface KeptHeaders {
  /** The fields as written, folding and line ends included, in the order of the message. */
  readonly bytes: Buffer
  /** The same with offsets in `bytes`. */
  readonly fields: HeaderField[]
  /** True when a field of {@link KEPT_FIELDS} was omitted: only the message itself has all of them. */
  readonly isCut: boolean
}

/** What {@link packHeaders} packed; its fields are read when they are needed. */
class UnpackedHeaders implements KeptHeaders {
  readonly bytes: Buffer
  readonly isCut: boolean
  #fields: HeaderField[] | null = null

  constructor(bytes: Buffer, isCut: boolean) {
    this.bytes = bytes
    this.isCut = isCut
  }

  get fields(): HeaderField[] {
    this.#fields ??= readHeaders(this.bytes).fields
    return this.#fields
  }
}

/** Packs the kept ones of a message's fields: a version byte and the fields as written, compressed where that is shorter. */
export function packHeaders(message: Uint8Array, fields: readonly HeaderField[]): Uint8Array {
  const kept: Uint8Array[] = []
  let length = 0
  let cut = 0
  for (const { name, start, end } of fields) {
    if (!KEPT_FIELDS.has(name)) continue
    if (length + end - start > KEPT_HEADERS_MAX) cut = CUT
    else {
      kept.push(message.subarray(start, end))
      length += end - start
    }
  }
  const bytes = Buffer.concat(kept, length)
  const packed = length < COMPRESS_FROM_BYTES ? bytes : zstdCompressSync(bytes, COMPRESSION)
  return packed.length < length ? marked(ZSTD | cut, packed) : marked(PLAIN | cut, bytes)
}

/**
 * Unpacks what {@link packHeaders} made.
 * @throws Error when the bytes are damaged
 */
export function unpackHeaders(packed: Uint8Array): KeptHeaders {
  const format = packed[0] ?? 0
  const content = packed.subarray(1)
  const kind = format & ~CUT
  if (kind !== PLAIN && kind !== ZSTD) throw new Error(`Kept headers of an unknown format ${format}.`)
  if (content.length > KEPT_HEADERS_MAX) throw new Error('Kept headers are too long.')
  const bytes = kind === ZSTD ? zstdDecompressSync(content, DECOMPRESSION) : asBuffer(content)
  return new UnpackedHeaders(bytes, (format & CUT) !== 0)
}

/**
 * Finds all fields of some names in unpacked headers, much faster than reading all fields.
 * @param names lower-case, of {@link KEPT_FIELDS}
 */
export class FieldFinder {
  readonly #names: ReadonlySet<string>
  readonly #pattern: RegExp

  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
    // Packed headers are whole fields, one behind the other: a line that does not begin with white space begins a field. Only LF ends
    // lines: `^` would match behind CR as well.
    const name = [...this.#names].join('|')
    this.#pattern = new RegExp(`(?<![^\\n])(?:${name})[ \\t]*:[^\\n]*(?:\\n[ \\t][^\\n]*)*\\n?`, 'gi')
  }

  /** The fields as written, each byte as one character, in the order of the message. */
  find(headers: KeptHeaders): string[] {
    const { bytes } = headers
    if (headers instanceof UnpackedHeaders) return bytes.toString('latin1').match(this.#pattern) ?? []
    const found = headers.fields.filter(({ name }) => this.#names.has(name))
    return found.map(({ start, end }) => bytes.toString('latin1', start, end))
  }
}

/** A new array: zlib's results are slices of a shared pool, which would be copied whole to another thread. */
function marked(format: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(content.length + 1)
  bytes[0] = format
  bytes.set(content, 1)
  return bytes
}
