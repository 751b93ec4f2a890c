// Repairs line ends: CRLF for every bare LF.

import { Buffer } from 'node:buffer'

const LF = 10
const CR = 13

/** The bytes with CRLF for every bare LF, the same array where there is none; `before` is the byte in front of them. */
export function withCrlf(bytes: Uint8Array, before: number = LF): Uint8Array {
  let bare = 0
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if ((at === 0 ? before : bytes[at - 1]) !== CR) bare++
  }
  if (bare === 0) return bytes
  const out = Buffer.allocUnsafe(bytes.length + bare)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === LF && (at === 0 ? before : bytes[at - 1]) !== CR) out[length++] = CR
    out[length++] = byte
  }
  return out
}
