// Seals a forwarded message with ARC (RFC 8617), so that the next server can trust our results. Loads mailauth.

import { Buffer } from 'node:buffer'
import mailauthArc from 'mailauth/lib/arc/index.js'
import type { ArcData } from 'mailauth/parts'
import { storedResults } from '../mime/forward.ts'
import { BodyHash, hashRelaxed } from './body-hash.ts'
import type { DkimSigningKey } from './dkim-sign.ts'
import { type HeaderRow, headerRows } from './header-rows.ts'
import { arcChain, parserRows } from './parsed-fields.ts'

export interface ArcSealing extends DkimSigningKey {
  /** The value of our own Authentication-Results field. */
  results: string
  /** ms, for `t=` */
  now: number
}

/** What `cv=` says of the chain that arrived, by our result (RFC 8617 §4.4). Without a final result there is nothing to seal. */
const CHAIN_STATES: ReadonlyMap<string, 'none' | 'pass' | 'fail'> = new Map([
  ['none', 'none'],
  ['pass', 'pass'],
  ['fail', 'fail'],
])

/**
 * The three ARC fields of the next instance, each with its line break, to prepend to the message.
 * @param bytes CRLF line ends
 * @returns "" when the chain cannot be continued: it has failed before, is too long, or was not checked
 */
export async function arcSeal(bytes: Uint8Array, sealing: ArcSealing): Promise<string> {
  const { domain, selector, algorithm, privateKey, results, now } = sealing
  const cv = CHAIN_STATES.get(storedResults(results).get('arc') ?? 'none')
  if (cv === undefined) return ''
  const { header, body } = split(bytes)
  const rows = headerRows(header)
  const { headers } = await mailauthArc.createSeal(false, {
    headers: { parsed: parserRows(rows) },
    arc: { chain: cv === 'pass' && validChain(rows) },
    seal: {
      bodyHash: relaxedHash(body),
      ...{ signingDomain: domain, selector, algorithm, cv, authResults: results },
      privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }),
      signTime: new Date(now),
      strict: true,
    },
  })
  return headers.map((field) => `${field.trimEnd()}\r\n`).join('')
}

/** Without one nothing is sealed as passed. */
function validChain(rows: readonly HeaderRow[]): ArcData['chain'] {
  try {
    return arcChain(rows)
  } catch {
    return false
  }
}

function split(bytes: Uint8Array): { header: Uint8Array; body: Uint8Array } {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf('\r\n\r\n')
  const [headerEnd, bodyStart] = end < 0 ? [bytes.length, bytes.length] : [end + 2, end + 4]
  return { header: bytes.subarray(0, headerEnd), body: bytes.subarray(bodyStart) }
}

function relaxedHash(body: Uint8Array): string {
  const hash = new BodyHash('sha256', Number.POSITIVE_INFINITY)
  hashRelaxed(body, [hash])
  return hash.digest('base64')
}
