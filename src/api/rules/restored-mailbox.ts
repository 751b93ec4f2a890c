// A restored mailbox, as routes and commands show it.

import type { Context } from '../../context.ts'
import type { MailboxRestoration } from '../../directory/mailboxes/mailboxes-deleted.ts'
import { presentMailboxAdmin, type RestoredMailbox } from '../schemas/mailbox.ts'
import { factsOf, usageOf } from './usage.ts'

export function presentRestored(app: Context, { mailbox, lostAliases }: MailboxRestoration): RestoredMailbox {
  const account = usageOf(app, [mailbox.id]).get(mailbox.id)
  return { ...presentMailboxAdmin(mailbox, account, factsOf(app, [mailbox.id])(mailbox)), lost_aliases: lostAliases }
}
