// PROXY protocol, versions 1 and 2: a proxy sends the client's address in a header before the first byte of the connection.

import type { Socket } from 'node:net'
import { isIPv4, isIPv6 } from 'node:net'
import type { Clock } from '../base/clock.ts'

/** Time a PROXY header may take to arrive in ms. */
export const PROXY_MS = 10_000

/** Longest header of version 1 in bytes with its CRLF (section 2.1 of the protocol). */
export const MAX_V1_BYTES = 107
/** Longest header of version 2 in bytes: addresses and some TLVs (certificate, endpoint id). */
export const MAX_V2_BYTES = 2048

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const V2_FIXED = 16

/** PP2_TYPE_SSL and PP2_CLIENT_SSL (section 2.2.6): the client spoke TLS to the proxy. */
const TLV_SSL = 0x20
const CLIENT_SSL = 0x01

/** The client's address and port; null for a connection of the proxy itself (health check). */
export interface ProxySource {
  address: string
  port: number
  /** Set when the client spoke TLS to the proxy; only a header of version 2 says so. */
  tls?: true
}

/** `more`: not complete yet. `wrong`: no header, or a malformed one. */
export type ProxyHeader = 'more' | 'wrong' | { bytes: number; source: ProxySource | null }

/** Reads a header at the start of `bytes`. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const shared = Math.min(bytes.length, SIGNATURE.length)
  if (bytes.subarray(0, shared).equals(SIGNATURE.subarray(0, shared))) {
    return bytes.length < V2_FIXED ? 'more' : readBinary(bytes)
  }
  const start = bytes.subarray(0, 6).toString('latin1')
  if (!'PROXY '.startsWith(start)) return 'wrong'
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf('\r\n')
  if (end < 0) return bytes.length < MAX_V1_BYTES ? 'more' : 'wrong'
  return readText(bytes.subarray(0, end).toString('latin1'), end + 2)
}

function readText(header: string, bytes: number): ProxyHeader {
  const [, family, source, target, port, targetPort, ...rest] = header.split(' ')
  if (family === 'UNKNOWN') return { bytes, source: null }
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : () => false
  if (!isAddress(source ?? '') || !isAddress(target ?? '') || rest.length > 0) return 'wrong'
  if (!isPort(port) || !isPort(targetPort)) return 'wrong'
  return { bytes, source: { address: source!, port: Number(port) } }
}

function isPort(text: string | undefined): boolean {
  return text !== undefined && /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65535
}

function readBinary(bytes: Buffer): ProxyHeader {
  const [version, command] = [bytes[12]! >> 4, bytes[12]! & 0x0f]
  const family = bytes[13]!
  const length = bytes.readUInt16BE(14)
  const end = V2_FIXED + length
  if (version !== 2 || command > 1 || end > MAX_V2_BYTES) return 'wrong'
  if (bytes.length < end) return 'more'
  // LOCAL, or PROXY without addresses: a connection of the proxy itself.
  if (command === 0 || family === 0) return { bytes: end, source: null }
  if (family === 0x11 && length >= 12) {
    const source = { address: bytes.subarray(16, 20).join('.'), port: bytes.readUInt16BE(24) }
    return { bytes: end, source: { ...source, ...tlsMark(bytes.subarray(V2_FIXED + 12, end)) } }
  }
  if (family === 0x21 && length >= 36) {
    const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(V2_FIXED + i * 2).toString(16))
    const source = { address: groups.join(':'), port: bytes.readUInt16BE(48) }
    return { bytes: end, source: { ...source, ...tlsMark(bytes.subarray(V2_FIXED + 36, end)) } }
  }
  return 'wrong'
}

/** The mark among the additional fields; a field that is cut off is ignored. */
function tlsMark(fields: Buffer): { tls?: true } {
  for (let at = 0; at + 3 <= fields.length; ) {
    const end = at + 3 + fields.readUInt16BE(at + 1)
    if (end > fields.length) return {}
    // The value begins with the bits of the client, followed by the result of its verification (four bytes).
    if (fields[at] === TLV_SSL && end - at >= 3 + 5) return (fields[at + 3]! & CLIENT_SSL) === 0 ? {} : { tls: true }
    at = end
  }
  return {}
}

/**
 * Reads the header from a new socket and leaves the bytes behind it unread.
 * @returns 'wrong' for a malformed or missing header, a closed connection, and after PROXY_MS
 */
export function takeProxyHeader(socket: Socket, clock: Clock): Promise<{ source: ProxySource | null } | 'wrong'> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0)
    const timer = clock.after(PROXY_MS, () => finish('wrong'))
    const finish = (result: { source: ProxySource | null } | 'wrong') => {
      timer.cancel()
      socket.off('readable', read).off('end', fail).off('close', fail)
      resolve(result)
    }
    const fail = () => finish('wrong')
    const read = () => {
      for (let piece = socket.read(); piece !== null; piece = socket.read()) bytes = Buffer.concat([bytes, piece])
      const header = readProxyHeader(bytes)
      if (header === 'more') return
      if (header === 'wrong') return finish('wrong')
      if (bytes.length > header.bytes) socket.unshift(bytes.subarray(header.bytes))
      finish({ source: header.source })
    }
    socket.on('readable', read).on('end', fail).on('close', fail)
  })
}
