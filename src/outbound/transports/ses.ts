// The shared Amazon SES account of the operator: mail of every team it is enabled for leaves through it.

import type { Provider } from '../records.ts'
import type { SesParts } from './accounts/parts.ts'
import type { Transport } from './transport.ts'

export async function openSes(_parts: SesParts, _provider: Provider): Promise<Transport> {
  throw new Error('not built')
}
