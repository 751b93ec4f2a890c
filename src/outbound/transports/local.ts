// Mail to mailboxes of this appliance: stored like mail that came in by SMTP, without a network between.

import type { OutboundParts } from '../parts.ts'
import type { Transport } from './transport.ts'

export function openLocal(_parts: OutboundParts): Transport {
  const unbuilt = () => Promise.reject(new Error('not built'))
  return { hand: unbuilt, check: unbuilt, close: async () => {} }
}
