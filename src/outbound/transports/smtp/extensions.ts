// The extensions of a server: the keywords of its EHLO reply (RFC 5321 §4.1.1.1).

import type { ServerReply } from './reply.ts'

export interface Extensions {
  /** RFC 2920. */
  pipelining: boolean
  /** RFC 3207. */
  startTls: boolean
  /** RFC 6152. */
  eightBitMime: boolean
  /** RFC 6531. */
  smtpUtf8: boolean
  /** RFC 1870. */
  size: boolean
  /** Largest message the server accepts, in bytes; null if not announced. */
  sizeMax: number | null
  /** SASL mechanisms of AUTH, in upper case (RFC 4954). */
  auth: string[]
}

/** The extensions of a server without EHLO: none. */
export const NO_EXTENSIONS: Extensions = {
  pipelining: false,
  startTls: false,
  eightBitMime: false,
  smtpUtf8: false,
  size: false,
  sizeMax: null,
  auth: [],
}

const KEYWORD = /^([A-Z0-9][A-Z0-9-]*)(?:[ =](.*))?$/

export function readExtensions(reply: ServerReply): Extensions {
  const offered = new Map<string, string>()
  for (const line of reply.lines.slice(1)) {
    const match = KEYWORD.exec(line.toUpperCase().trim())
    // Some servers repeat AUTH as "AUTH=LOGIN" for old clients.
    if (match) offered.set(match[1]!, `${offered.get(match[1]!) ?? ''} ${match[2] ?? ''}`.trim())
  }
  const size = offered.get('SIZE') ?? ''
  return {
    pipelining: offered.has('PIPELINING'),
    startTls: offered.has('STARTTLS'),
    eightBitMime: offered.has('8BITMIME'),
    smtpUtf8: offered.has('SMTPUTF8'),
    size: offered.has('SIZE'),
    // RFC 1870 §4: 0 means no limit.
    sizeMax: /^\d{1,15}$/.test(size) && Number(size) > 0 ? Number(size) : null,
    auth: (offered.get('AUTH') ?? '').split(/[ =]+/).filter((name) => name !== ''),
  }
}
