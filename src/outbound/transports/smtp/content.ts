// The bytes of a message for DATA: the signed content unchanged, plus dot-stuffing and the end-of-data indicator.

import { isAscii } from 'node:buffer'
import { headerEnd } from '../../../mime/header-end.ts'

const CR = 13
const LF = 10
const DOT = 46
/** Below this size, copying into one buffer is cheaper than several writes. */
const ONE_PIECE_BYTES = 128 * 1024

export interface DataContent {
  /** In order; the last one contains the end-of-data indicator. Empty once they have been sent: the reply may take ten minutes. */
  pieces: readonly Uint8Array[]
  sizeBytes: number
  /** True for non-ASCII octets: the server must offer 8BITMIME (RFC 6152). */
  eightBit: boolean
  /** True for non-ASCII octets in the header: the server must offer SMTPUTF8 (RFC 6531). */
  utf8Header: boolean
}

/**
 * The content of DATA (RFC 5321 §4.5.2).
 * @returns null for a bare CR or LF: some servers accept it as a line ending, which allows a forged end of data (SMTP smuggling);
 *   repairing it would break the signature
 */
export function contentOf(bytes: Uint8Array): DataContent | null {
  const dots = countDots(bytes)
  if (dots === null) return null
  const eightBit = !isAscii(bytes)
  const stuffed = dots === 0 ? bytes : stuff(bytes, dots)
  const end = Buffer.from(endsInBreak(bytes) ? '.\r\n' : '\r\n.\r\n')
  return {
    pieces: stuffed.length < ONE_PIECE_BYTES ? [Buffer.concat([stuffed, end])] : [stuffed, end],
    sizeBytes: bytes.length,
    eightBit,
    utf8Header: eightBit && !isAscii(bytes.subarray(0, headerEnd(bytes))),
  }
}

/** Number of lines that begin with a dot; null if there is a bare CR or LF. */
function countDots(bytes: Uint8Array): number | null {
  let dots = bytes[0] === DOT ? 1 : 0
  let breaks = 0
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) return null
    if (bytes[at + 1] === DOT) dots++
    breaks++
  }
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) breaks--
  return breaks === 0 ? dots : null
}

/** Doubles a dot at the start of a line (RFC 5321 §4.5.2). */
function stuff(bytes: Uint8Array, dots: number): Uint8Array {
  const out = new Uint8Array(bytes.length + dots)
  let from = 0
  let to = 0
  const copy = (end: number) => {
    out.set(bytes.subarray(from, end), to)
    to += end - from
    from = end
  }
  for (let at = -1; at !== bytes.length; ) {
    if (bytes[at + 1] === DOT) {
      copy(at + 1)
      out[to++] = DOT
    }
    const next = bytes.indexOf(LF, at + 1)
    at = next < 0 ? bytes.length : next
  }
  copy(bytes.length)
  return out
}

function endsInBreak(bytes: Uint8Array): boolean {
  return bytes.length === 0 || bytes.at(-1) === LF
}
