// The account behind a mailbox credential.

import { conflict, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Reader } from '../../db/db.ts'
import type { Mailbox } from '../../directory/mailboxes.ts'
import type { MailboxPrincipal } from '../../directory/principal.ts'
import type { Account } from '../../store/records.ts'

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

/**
 * The mailbox of an account, asked for in the unit of work that changes it: it may have come to an end while a mail was read.
 * @param called how a refusal calls it
 * @throws ProductError conflict for one that is suspended or deleted by now
 */
export async function writableMailbox(
  tx: Reader,
  app: Context,
  { mailboxId }: Account,
  called = 'The mailbox',
): Promise<Mailbox> {
  const mailbox = await app.directory.mailboxes.byId(mailboxId, tx)
  if (mailbox?.status === 'suspended') throw conflict(`${called} is suspended: it can be read, not changed.`)
  if (mailbox === undefined || mailbox.status === 'deleted') throw conflict(`${called} is deleted.`)
  return mailbox
}
