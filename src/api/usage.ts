// Usage of mailboxes, for records that must be shown even while the store cannot be read.

import type { Context } from '../context.ts'
import type { Reader } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
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

/** How many active API keys and app passwords each mailbox has. */
export function countCredentials(
  { keys, appPasswords }: Directory,
  mailboxIds: readonly string[],
  reader?: Reader,
): (mailboxId: string) => { keys: number; appPasswords: number } {
  const [ofKeys, ofAppPasswords] = [keys, appPasswords].map((one) => one.countByMailbox(mailboxIds, reader))
  return (id) => ({ keys: ofKeys!.get(id) ?? 0, appPasswords: ofAppPasswords!.get(id) ?? 0 })
}
