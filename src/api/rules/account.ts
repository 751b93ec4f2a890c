// The account of a mailbox credential.

import { conflict, ProductError } from '../../base/errors.ts'
import type { TurnOwner } from '../../base/fair-turns.ts'
import type { Context } from '../../context.ts'
import type { Reader } from '../../db/db.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { MailboxPrincipal } from '../../directory/names/principal.ts'
import type { Account } from '../../store/rows/records.ts'

const PROVISIONING_RETRY_SECONDS = 10

/** @throws ProductError service_unavailable while the mailbox is still being set up (docs/design/contract.md §3) */
export function accountOf(app: Context, principal: Pick<MailboxPrincipal, 'mailboxId'>): Account {
  const account = app.store.accounts.byMailbox(principal.mailboxId)
  if (account !== undefined) return account
  throw new ProductError('service_unavailable', 'The mailbox is still being set up. Try again in a few seconds.', {
    retryAfter: PROVISIONING_RETRY_SECONDS,
  })
}

/**
 * The account of a mailbox that is about to be changed.
 * @throws ProductError conflict for a mailbox that can only be read (docs/design/mailbox.md §1), service_unavailable as `accountOf`
 */
export function writableAccountOf(app: Context, principal: MailboxPrincipal): Account {
  const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
  if (mailbox?.status === 'suspended')
    throw conflict(
      'The mailbox is suspended: it can be read, but not changed. Ask an administrator of the team to reactivate it.',
    )
  return accountOf(app, principal)
}

/**
 * The mailbox of an account, read again in the unit of work that changes it: it may have been deleted meanwhile.
 * @param called name of the mailbox in the error message
 * @throws ProductError conflict when it is now suspended or deleted
 */
export function writableMailbox(tx: Reader, app: Context, { mailboxId }: Account, called = 'The mailbox'): Mailbox {
  const mailbox = app.directory.mailboxes.byId(mailboxId, tx)
  if (mailbox?.status === 'suspended') throw conflict(`${called} is suspended: it can be read, but not changed.`)
  if (mailbox === undefined || mailbox.status === 'deleted') throw conflict(`${called} is deleted.`)
  return mailbox
}

/** Whose work in the shared threads it is: the mailboxes of a team share its turns, and inboxes that anyone may register come last. */
export function turnOwnerOf(app: Context, { mailboxId }: Account): TurnOwner {
  const mailbox = app.directory.mailboxes.byId(mailboxId)
  return { source: mailbox?.teamId ?? mailboxId, isPreferred: mailbox?.isAgent === false }
}
