// Usage of mailboxes, for records that must be shown even while the store cannot be read.

import type { Context } from '../../context.ts'
import type { Reader } from '../../db/db.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { Account } from '../../store/rows/records.ts'

/** The account of each mailbox by its id; empty while the store cannot be read, so that members of usage are left out. */
export function usageOf(app: Context, mailboxIds: readonly string[]): Map<string, Account> {
  try {
    return app.store.accounts.byMailboxes(mailboxIds)
  } catch (error) {
    app.log.warn({ event: 'api.usage_unavailable', err: error }, 'Usage of mailboxes unavailable')
    return new Map()
  }
}

/** Bytes that these mailboxes take together; null while the store cannot be read. */
export function usedBytesOf(app: Context, mailboxIds: Iterable<string>): number | null {
  try {
    return app.store.accounts.usedBytesOf(mailboxIds)
  } catch (error) {
    app.log.warn({ event: 'api.usage_unavailable', err: error }, 'Usage of mailboxes unavailable')
    return null
  }
}

/** What belongs to a mailbox. */
export interface MailboxFacts {
  /** Active API keys. */
  keys: number
  /** Active app passwords. */
  appPasswords: number
  /** The outside account that the mailbox is. */
  remoteAccountId: string | null
  /** ms; null for a mailbox that is not deleted. */
  restorableUntil: number | null
}

export function factsOf(
  { directory: { keys, appPasswords, deletedMailboxes }, sync }: Context,
  mailboxIds: readonly string[],
  reader?: Reader,
): (mailbox: Mailbox) => MailboxFacts {
  const [ofKeys, ofAppPasswords] = [keys, appPasswords].map((one) => one.countByMailbox(mailboxIds, reader))
  const remotes = sync.accounts.mirrorsOf(mailboxIds, reader)
  return (mailbox) => ({
    keys: ofKeys!.get(mailbox.id) ?? 0,
    appPasswords: ofAppPasswords!.get(mailbox.id) ?? 0,
    remoteAccountId: remotes.get(mailbox.id) ?? null,
    restorableUntil: deletedMailboxes.restorableUntil(mailbox),
  })
}
