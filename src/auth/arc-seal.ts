// Seals a forwarded message with ARC (RFC 8617), so that the next server can trust our results. Loads mailauth.

import mailauthArc from 'mailauth/lib/arc/index.js'
import type { ArcData } from 'mailauth/parts'
import { storedResults } from '../mime/forward.ts'
import { headerEnd } from '../mime/header-end.ts'
import { relaxedBodyHash } from './body-hash.ts'
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
  const end = headerEnd(bytes)
  const rows = headerRows(bytes.subarray(0, end))
  const { headers } = await mailauthArc.createSeal(false, {
    headers: { parsed: parserRows(rows) },
    arc: { chain: cv === 'pass' && validChain(rows) },
    seal: {
      bodyHash: relaxedBodyHash(bytes.subarray(end + 4)),
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
