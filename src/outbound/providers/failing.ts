// Sending accounts in `error`, across all teams; their owners must be notified (docs/design/sending.md §2).

import type { Reader } from '../../db/db.ts'
import type { Provider } from '../model/records.ts'
import { presentProvider } from './row.ts'

export function failingProviders(reader: Reader): Provider[] {
  return reader.all(`SELECT * FROM providers WHERE status = 'error'`).map(presentProvider)
}
