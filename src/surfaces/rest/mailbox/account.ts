// The account behind a mailbox credential.

import { ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { MailboxPrincipal } from '../../../directory/principal.ts'
import type { Account } from '../../../store/records.ts'

const PROVISIONING_RETRY_SECONDS = 10

/** @throws ProductError service_unavailable while the mailbox is still being set up (specification §3) */
export async function accountOf(app: Context, principal: MailboxPrincipal): Promise<Account> {
  const account = await app.store.accounts.byMailbox(principal.mailboxId)
  if (account !== undefined) return account
  throw new ProductError('service_unavailable', 'The mailbox is still being set up.', {
    retryAfter: PROVISIONING_RETRY_SECONDS,
  })
}
