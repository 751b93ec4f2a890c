// What a session announces (RFC 5804 §1.7).

import type { SignedIn } from '../access/signed-in.ts'
import { offeredMechanisms, type TlsEnd } from '../net/sasl.ts'
import { EXTENSIONS } from '../sieve/extensions.ts'
import { REDIRECTS_MAX } from '../sieve/outcome.ts'
import { formatString } from './replies.ts'

/** Comparators and encodings that are part of the core language need no announcement, but may be named in `require`. */
const ANNOUNCED = [...EXTENSIONS].filter(
  (name) => name !== 'comparator-i;octet' && name !== 'comparator-i;ascii-casemap',
)

/** One line each. */
export function formatCapabilities({
  tlsEnd,
  access,
}: {
  tlsEnd: TlsEnd
  access: Pick<SignedIn, 'email'> | null
}): string {
  const capabilities: [name: string, value?: string][] = [
    ['IMPLEMENTATION', 'Mailstead'],
    ['SASL', access === null ? offeredMechanisms(tlsEnd).join(' ') : ''],
    ['SIEVE', ANNOUNCED.join(' ')],
    // RFC 5804 §1.7: the methods of enotify.
    ['NOTIFY', 'mailto'],
    ...(tlsEnd === null ? [['STARTTLS'] as [string]] : []),
    ['MAXREDIRECTS', String(REDIRECTS_MAX)],
    ['UNAUTHENTICATE'],
    ['VERSION', '1.0'],
    ...(access === null ? [] : [['OWNER', access.email] as [string, string]]),
  ]
  return capabilities
    .map(([name, value]) => `"${name}"${value === undefined ? '' : ` ${formatString(value)}`}\r\n`)
    .join('')
}
