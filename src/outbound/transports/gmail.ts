// A connected Google account: mail leaves through the Gmail API, under the account's own address.

import type { Provider } from '../records.ts'
import type { AccountParts } from './accounts/parts.ts'
import type { Transport } from './transport.ts'

export async function openGmail(_parts: AccountParts, _provider: Provider): Promise<Transport> {
  throw new Error('not built')
}
