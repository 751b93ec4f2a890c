// Messages with their sender as an address, as records and as the rows of inserts have them.

import type { RowOf } from '../../db/table.ts'
import { EMAILS, type Email } from '../model/records.ts'

export type EmailRow = RowOf<typeof EMAILS>

export function emailOf(row: EmailRow): Email {
  const { fromEmail: email, fromName: name, isChanged, ...message } = EMAILS.record(row)
  return { ...message, from: { email, name }, ...(isChanged ? { isChanged } : {}) }
}
