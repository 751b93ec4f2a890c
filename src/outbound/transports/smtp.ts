// A sending account that speaks SMTP: somebody's mail server that takes our mail and passes it on.

import type { OutboundParts } from '../parts.ts'
import type { Provider } from '../records.ts'
import type { Transport } from './transport.ts'

/** @param password what the account signs in with; null for one without */
export function openSmtp(_parts: OutboundParts, _provider: Provider, _password: string | null): Transport {
  throw new Error('not built')
}
