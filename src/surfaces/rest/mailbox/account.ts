// The account behind a mailbox credential.

import { conflict, ProductError } from '../../../base/errors.ts'
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

/**
 * The account of a mailbox in which something is about to change.
 * @throws ProductError conflict for a mailbox that may be read only (decisions §10.1), service_unavailable as `accountOf`
 */
export async function writableAccountOf(app: Context, principal: MailboxPrincipal): Promise<Account> {
  const mailbox = await app.directory.mailboxes.byId(principal.mailboxId)
  if (mailbox?.status === 'suspended') throw conflict('The mailbox is suspended: it can be read, not changed.')
  return accountOf(app, principal)
}
