// Our own MTA: finds the mail servers of a domain in DNS and hands the mail to the first that takes it.

import type { OutboundParts } from '../parts.ts'
import type { Transport } from './transport.ts'

/** All recipients of one hand-over have the same domain. */
export function openDirect(_parts: OutboundParts): Transport {
  throw new Error('not built')
}
