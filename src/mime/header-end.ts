// Where the header of a message ends whose lines all end in CRLF.

import { Buffer } from 'node:buffer'

/** Bytes in front of the CRLF CRLF that ends the header; all bytes of a message without a body. The body begins four bytes later. */
export function headerEnd(bytes: Uint8Array): number {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf('\r\n\r\n')
  return end < 0 ? bytes.length : end
}
