// Compression of text responses: the coding is negotiated (RFC 9110 §12.5.3), large texts are compressed by the thread pool.

import { promisify } from 'node:util'
import { constants, gzip, gzipSync, zstdCompress, zstdCompressSync } from 'node:zlib'
import { Semaphore } from '../base/semaphore.ts'
import type { RequestContext } from './request-context.ts'

/** A content coding the server produces. */
export type Coding = 'zstd' | 'gzip'

/** Shorter responses are not compressed, bytes: one packet carries them either way. */
export const COMPRESS_MIN = 1024
/** Longer responses are not compressed, bytes: text and result are in memory at once. */
export const COMPRESS_MAX = 16_777_216
/** Up to this size compressing takes less time than handing it to the thread pool and back, bytes. */
export const INLINE_MAX = 32_768
/** Concurrent compressions in the thread pool: it has four threads, which also flush the write-ahead log. */
export const POOL_MAX = 2
/** Responses that wait for the pool; further ones are sent uncompressed. */
export const WAITING_MAX = 16
const POOL_CHUNK = 65_536

// Fast levels: JSON shrinks to about a fifth, and a higher level saves a tenth of that for twice the time.
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const GZIP = { level: 4 }

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i
const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.-]+\+)?json\b)/
const NO_TRANSFORM = /(?:^|[\s,])no-transform(?:$|[\s,])/i

const pool = new Semaphore(POOL_MAX)
const compressGzip = promisify(gzip)
const compressZstd = promisify(zstdCompress)

/**
 * The coding for an `Accept-Encoding`: the one with the highest weight, zstd before gzip; null to send the text as it is. Without the
 * header every coding is permitted, but only identity is understood for certain. A list that excludes identity and names no coding of ours
 * gets identity too (RFC 9110 §12.4.1), instead of an error. `*` stands for gzip: zstd is used only where it is named.
 */
export function codingOf(header: string | undefined): Coding | null {
  if (header === undefined) return null
  const weights = weightsOf(header)
  const gzipWeight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
  const zstdWeight = weights.get('zstd') ?? 0
  const best = Math.max(gzipWeight, zstdWeight)
  if (best === 0 || (weights.get('identity') ?? 0) > best) return null
  return zstdWeight === best ? 'zstd' : 'gzip'
}

/** The codings of files that were compressed beforehand, the best first, that an `Accept-Encoding` permits. */
export function codingsOf(header: string): ('br' | 'gzip')[] {
  const weights = weightsOf(header)
  return (['br', 'gzip'] as const).filter((name) => (weights.get(name) ?? weights.get('*') ?? 0) > 0)
}

/** Weights by coding, in lower case; a malformed weight excludes its coding. */
function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const item of header.split(',')) {
    const [coding, weight, ...more] = item.split(';').map((part) => part.trim())
    const value = weight === undefined ? 1 : Number(more.length > 0 ? 0 : (WEIGHT.exec(weight)?.[1] ?? 0))
    if (coding !== '') weights.set(coding!.toLowerCase(), value)
  }
  return weights
}

/** Whether a response of this size may be compressed, bytes. Others do not depend on `Accept-Encoding` and have no `Vary` for it. */
export function isCompressibleSize(sizeBytes: number): boolean {
  return sizeBytes >= COMPRESS_MIN && sizeBytes <= COMPRESS_MAX
}

/** Whether a type is text that compression shrinks; images, archives and messages are not. */
export function isTextType(type: string): boolean {
  return TEXT_TYPE.test(type)
}

/**
 * The coding for the response to a request, and `Vary` if it depends on `Accept-Encoding`. Responses with a secret are never compressed
 * (see "Compression" in src/README.md), nor those of a request or route that says `no-transform`.
 */
export function negotiateCoding(request: RequestContext): Coding | null {
  const { match, res } = request
  if (match.entry?.route.secret === true) return null
  request.vary('Accept-Encoding')
  const accepted = request.header('accept-encoding')
  if (accepted === undefined) return null
  const rules = [request.header('cache-control'), res.getHeader('Cache-Control')]
  return rules.some((text) => NO_TRANSFORM.test(String(text ?? ''))) ? null : codingOf(accepted)
}

/** @returns the compressed bytes; null for bytes that are sent as they are, because of their size or because too many wait */
export function compress(bytes: Buffer, coding: Coding): Buffer | null | Promise<Buffer> {
  const { length } = bytes
  if (!isCompressibleSize(length)) return null
  if (length <= INLINE_MAX) {
    return coding === 'zstd' ? zstdCompressSync(bytes, { ...ZSTD, pledgedSrcSize: length }) : gzipSync(bytes, GZIP)
  }
  if (pool.waiting >= WAITING_MAX) return null
  const options = { chunkSize: POOL_CHUNK }
  return pool.during(1, () =>
    coding === 'zstd'
      ? compressZstd(bytes, { ...ZSTD, ...options, pledgedSrcSize: length })
      : compressGzip(bytes, { ...GZIP, ...options }),
  )
}

// Documents that never change are frozen by their creator; each is compressed once per coding.
const known = new WeakMap<object, Map<Coding, Buffer>>()

/** As {@link compress}; the result for a frozen source is kept with it. */
export async function compressOnce(source: object, bytes: Buffer, coding: Coding): Promise<Buffer | null> {
  const before = known.get(source)?.get(coding)
  if (before !== undefined) return before
  const compressed = await compress(bytes, coding)
  if (compressed === null) return null
  const codings = known.get(source) ?? new Map<Coding, Buffer>()
  known.set(source, codings.set(coding, compressed))
  return compressed
}
