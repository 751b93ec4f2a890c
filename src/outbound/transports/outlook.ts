// A connected Microsoft account: mail leaves through Microsoft Graph, under the account's own address.

import type { Provider } from '../records.ts'
import type { AccountParts } from './accounts/parts.ts'
import type { Transport } from './transport.ts'

export async function openOutlook(_parts: AccountParts, _provider: Provider): Promise<Transport> {
  throw new Error('not built')
}
