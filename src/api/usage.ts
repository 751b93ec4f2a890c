// Usage of mailboxes, for records that must be shown even while the store cannot be read.

import type { Context } from '../context.ts'
import type { Account } from '../store/records.ts'

/** The account of each mailbox by its id; empty while the store cannot be read, so that members of usage are left out. */
export function usageOf(app: Context, mailboxIds: readonly string[]): Map<string, Account> {
  try {
    return app.store.accounts.byMailboxes(mailboxIds)
  } catch (error) {
    app.log.warn({ event: 'api.usage_unavailable', err: error }, 'Usage of mailboxes unavailable')
    return new Map()
  }
}
