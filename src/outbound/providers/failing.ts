// Sending accounts in `error`, across all teams; their owners must be notified (docs/design/sending.md §2).

import type { Reader } from '../../db/db.ts'
import type { Provider } from '../model/records.ts'
import { listProviders } from './row.ts'

export function failingProviders(reader: Reader): Provider[] {
  return listProviders(reader, `WHERE status = 'error'`)
}
