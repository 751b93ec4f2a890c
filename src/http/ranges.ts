// The byte range a request asks for (RFC 9110 §14; docs/design/mailbox.md §10).

import { namesStrongTag } from './etag.ts'

/** Bytes from `start` to `end`, exclusive; `unsatisfiable` when they are outside the content. */
export type ByteRange = { start: number; end: number } | 'unsatisfiable'

/**
 * @param range the `Range` header
 * @param ifRange the `If-Range` header: the range applies only if it is the strong tag of the content
 * @returns the requested range; null for the whole content (no, several or malformed ranges)
 */
export function byteRangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  size: number,
  etag: string,
): ByteRange | null {
  const match = range === undefined ? null : /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(range)
  if (match === null || (match[1] === '' && match[2] === '')) return null
  // A date in If-Range is weaker than a tag; the server sends no dates, so it matches nothing.
  if (ifRange !== undefined && !namesStrongTag(ifRange, etag)) return null
  if (match[1] === '') {
    const last = Number(match[2])
    return last === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - last), end: size }
  }
  const start = Number(match[1])
  const end = match[2] === '' ? size : Math.min(size, Number(match[2]) + 1)
  // RFC 9110 §14.1.1: a last position below the first makes the header invalid, and it is ignored.
  if (match[2] !== '' && Number(match[2]) < start) return null
  return start >= size ? 'unsatisfiable' : { start, end }
}
