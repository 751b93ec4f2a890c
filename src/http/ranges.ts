// Which bytes of a content a request wants (RFC 9110 14; decisions §10.10).

import { namesStrongTag } from './etag.ts'

/** Bytes from `start` up to, not including, `end`; `unsatisfiable` when they lie outside. */
export type ByteRange = { start: number; end: number } | 'unsatisfiable'

/**
 * @param range the `Range` header
 * @param ifRange the `If-Range` header: the range counts only while it names the content's strong tag
 * @returns the one range asked for; null when the whole content is the answer (no, several or unreadable ranges)
 */
export function byteRangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  size: number,
  etag: string,
): ByteRange | null {
  const match = range === undefined ? null : /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(range)
  if (match === null || (match[1] === '' && match[2] === '')) return null
  // A date in If-Range is weaker than a tag; we send no dates, so it names nothing.
  if (ifRange !== undefined && !namesStrongTag(ifRange, etag)) return null
  if (match[1] === '') {
    const last = Number(match[2])
    return last === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - last), end: size }
  }
  const start = Number(match[1])
  const end = match[2] === '' ? size : Math.min(size, Number(match[2]) + 1)
  // RFC 9110 14.1.1: a last position below the first makes the header invalid, that is, as if it were not there.
  if (match[2] !== '' && Number(match[2]) < start) return null
  return start >= size ? 'unsatisfiable' : { start, end }
}
